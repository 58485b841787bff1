"""Pages of a run, of its cells and of its method."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise, product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import (
    CONTRAST,
    SCHEMES,
    WIDER_THAN_THE_PAGE,
    open_all_details,
    open_page,
    pages_of,
)
from tests.support.hostile_runs import hostile_experiments, hostile_run
from tests.support.sites import site_of

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("name", "kind", "width", "scheme"),
    [
        *product(["matrix"], ["index", "cell"], [1440, 390], ["light", "dark"]),
        ("quick", "index", 1440, "dark"),
        ("quick", "index", 390, "light"),
    ],
)
def test_a_page_draws_everything_fits_and_asks_nobody(
    browser: Browser, sites: dict[str, Path], name: str, kind: str, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = open_page(context, pages_of(sites[name])[kind])
    page = opened.page
    open_all_details(page)
    marks = page.eval_on_selector_all(
        ".plot", "plots => plots.map(p => p.querySelectorAll('svg [role=graphics-symbol]').length)"
    )
    assert len(marks) >= 6 and min(marks) > 0
    widths = page.eval_on_selector_all(".plot svg", "all => all.map(s => s.getBoundingClientRect().width)")
    assert all(150 < w <= width for w in widths)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(WIDER_THAN_THE_PAGE)
    assert wide == []
    assert opened.complaints == []
    assert all(url.startswith("file://") for url in opened.requests)
    assert len(opened.requests) == 2, "the page itself and the site's one library"
    context.close()


@pytest.fixture
def index(browser: Browser, sites: dict[str, Path]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, sites["matrix"] / "index.html")
    yield opened.page
    assert opened.complaints == []
    context.close()


def column(page: Page, title: str) -> list[str]:
    """Sort keys of a column of the table of cells, top to bottom, visible rows only."""
    keys: list[str] = page.evaluate(
        """(title) => {
          const table = document.getElementById('cells-table');
          const at = [...table.tHead.rows[0].cells].findIndex((h) => h.textContent.trim().startsWith(title));
          return [...table.tBodies[0].rows].filter((r) => !r.hidden)
            .map((r) => r.cells[at].dataset.sort ?? r.cells[at].textContent.trim());
        }""",
        title,
    )
    return keys


def head(page: Page, title: str) -> str:
    value = page.locator("#cells-table thead th", has_text=title).first.get_attribute("aria-sort")
    assert value is not None
    return value


def numbers(keys: list[str]) -> list[float]:
    """The figures; those missing must stand at the end."""
    found = [key for key in keys if key]
    assert keys == found + [""] * (len(keys) - len(found))
    return [float(key) for key in found]


def test_figures_sort_as_numbers_with_missing_ones_last(index: Page) -> None:
    button = index.locator("#cells-table thead button", has_text="Throughput")
    button.click()
    assert head(index, "Throughput") == "descending"
    falling = numbers(column(index, "Throughput"))
    assert falling == sorted(falling, reverse=True) and len(set(falling)) > 10
    # Numbers of different lengths: text would sort otherwise.
    assert falling != sorted(falling, key=str, reverse=True)
    button.click()
    assert head(index, "Throughput") == "ascending"
    assert numbers(column(index, "Throughput")) == sorted(falling)
    assert len(column(index, "Throughput")) > len(falling)


def test_the_keyboard_sorts_and_one_column_at_a_time_is_sorted(index: Page) -> None:
    index.locator("#cells-table thead button", has_text="Throughput").click()
    button = index.locator("#cells-table thead button", has_text="Executor")
    button.focus()
    index.keyboard.press("Enter")
    assert head(index, "Executor") == "ascending" and head(index, "Throughput") == "none"
    assert column(index, "Executor") == sorted(column(index, "Executor"))
    index.keyboard.press("Space")
    assert column(index, "Executor") == sorted(column(index, "Executor"), reverse=True)


def test_filters_narrow_the_table_and_say_how_many_are_left(index: Page) -> None:
    output = index.locator("[data-count=cells-table]")
    assert output.inner_text() == "24 of 24 cells"
    index.locator("select[data-axis=executor]").select_option("virtual")
    assert set(column(index, "Executor")) == {"virtual"} and output.inner_text() == "8 of 24 cells"
    index.get_by_label("Filter").fill("TEMURIN-25")
    assert set(column(index, "JDK")) == {"temurin-25"} and output.inner_text() == "4 of 24 cells"
    index.get_by_label("Filter").fill("")
    index.locator("select[data-axis=executor]").select_option("")
    index.locator("select[data-axis=status]").select_option("not steady")
    assert column(index, "Status") == ["not steady 3/3"]
    index.locator("select[data-axis=status]").select_option("")
    assert len(column(index, "Executor")) == 24


def test_charts_follow_the_colour_scheme_while_the_page_is_open(index: Page) -> None:
    def colours() -> list[str]:
        found: list[str] = index.evaluate(
            """() => ['.plot .mark-rect.role-mark path', '.plot .role-axis-label text', 'body'].map((s) => {
                 const style = getComputedStyle(document.querySelector(s));
                 return s === 'body' ? style.backgroundColor : style.fill; })"""
        )
        return found

    index.emulate_media(color_scheme="light")
    light = colours()
    index.emulate_media(color_scheme="dark")
    dark = colours()
    assert all(one != other for one, other in zip(light, dark, strict=True))
    index.emulate_media(color_scheme="light")
    assert colours() == light


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_has_contrast(browser: Browser, sites: dict[str, Path], scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    texts = [
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "dt",
        "dd",
        "small",
        "span",
        "a",
        "b",
        "th",
        "td",
        ".badge",
        ".scale li",
        "summary",
    ]
    for file in pages_of(sites["matrix"]).values():
        page = open_page(context, file).page
        ratios: dict[str, float] = page.evaluate(CONTRAST, texts)
        # WCAG 2.2, 1.4.3: 4.5 for text of normal size.
        assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}
        assert len(ratios) >= 18
    context.close()


@pytest.mark.parametrize("kind", ["index", "cell"])
def test_the_structure_serves_assistive_technology(browser: Browser, sites: dict[str, Path], kind: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = open_page(context, pages_of(sites["matrix"])[kind]).page
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("h1").count() == 1 and page.locator("main").count() == 1
    levels: list[int] = page.eval_on_selector_all("h1, h2, h3, h4, h5", "all => all.map(h => Number(h.tagName[1]))")
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("th:not([scope])").count() == 0
    assert page.eval_on_selector_all("button", "all => all.filter(b => !b.textContent.trim()).length") == 0
    assert page.eval_on_selector_all("input, select", "all => all.filter(c => !c.labels.length).length") == 0
    assert page.eval_on_selector_all(".plot[data-state]", "all => all.filter(p => !p.ariaLabel).length") == 0
    assert page.eval_on_selector_all(".scroll", "all => all.filter(s => s.tabIndex !== 0).length") == 0
    # Every chart has its figures in words beside it.
    assert page.eval_on_selector_all("figure.chart", "all => all.filter(f => !f.querySelector('p')).length") == 0
    context.close()


def test_without_javascript_tables_and_figures_can_be_read(browser: Browser, sites: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1440, "height": 900})
    page = open_page(context, sites["matrix"] / "index.html", settle=False).page
    assert page.locator("#cells-table tbody tr").count() == 24
    assert page.locator("#cells-table tbody tr").first.is_visible()
    assert not page.locator(".controls").is_visible()
    assert page.locator("figure.chart p.alt").first.is_visible()
    assert page.locator(".heat td b").first.is_visible()
    context.close()


def test_a_command_line_is_copied_or_selected(browser: Browser, sites: dict[str, Path]) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = open_page(context, pages_of(sites["quick"])["cell"]).page
    code = page.locator(".code").first
    code.locator("button").click()
    expect(code.locator("button")).to_have_text(re.compile("Copied|Selected"))
    wanted = code.locator("pre").inner_text()
    assert "'ws server.jar'" in wanted
    if code.locator("button").inner_text() == "Selected":
        assert page.evaluate("getSelection().toString()") == wanted
    else:
        page.get_by_label("Commands").or_(page.locator("body")).first.focus()
        context.grant_permissions(["clipboard-read"])
        assert page.evaluate("navigator.clipboard.readText()") == wanted
    context.close()


@pytest.fixture
def listener() -> Iterator[tuple[int, list[str]]]:
    """A port on loopback, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, asked
    server.shutdown()
    server.server_close()


ATTACKS = """
async (port) => {
  const seen = [];
  const violation = new Promise((resolve) => document.addEventListener('securitypolicyviolation', (e) => {
    seen.push(e.effectiveDirective);
    if (new Set(seen).size >= 6) resolve();
  }));
  const add = (tag, set) => { const e = document.createElement(tag); set(e); document.body.append(e); return e; };
  const base = `http://127.0.0.1:${port}/`;
  await fetch(`${base}fetch`).catch(() => {});
  add('img', (e) => { e.src = `${base}image.png`; });
  add('iframe', (e) => { e.src = `${base}frame`; });
  add('script', (e) => { e.src = `${base}script.js`; });
  add('link', (e) => { e.rel = 'stylesheet'; e.href = `${base}style.css`; });
  add('script', (e) => { e.textContent = 'window.pwned = 1'; });
  add('div', (e) => { e.setAttribute('onclick', 'window.pwned = 2'); }).click();
  await violation;
  return [window.pwned ?? null, [...new Set(seen)].sort()];
}
"""


def test_the_policy_lets_nothing_out_and_nothing_in(
    browser: Browser, sites: dict[str, Path], listener: tuple[int, list[str]]
) -> None:
    port, asked = listener
    context = browser.new_context()
    for file in pages_of(sites["quick"]).values():
        pwned, directives = open_page(context, file).page.evaluate(ATTACKS, port)
        assert pwned is None
        assert set(directives) == {
            "connect-src",
            "frame-src",
            "img-src",
            "script-src-attr",
            "script-src-elem",
            "style-src-elem",
        }
    assert asked == []
    context.close()


def test_hostile_text_in_results_stays_text(browser: Browser, tmp_path: Path) -> None:
    site = site_of([hostile_run(tmp_path / "run")], tmp_path / "site")
    pages = [site / "index.html", *(site / "cells").glob("*.html")]
    assert len(pages) == 4
    context = browser.new_context(viewport={"width": 390, "height": 900})
    for file in pages:
        opened = open_page(context, file)
        page = opened.page
        open_all_details(page)
        # Tooltips are text from results too.
        page.locator(".plot .role-mark path").first.hover(force=True)
        assert page.evaluate("window.pwned ?? null") is None
        assert page.locator("img, iframe, object, embed, a[href^='javascript:']").count() == 0
        assert page.locator("body script").count() == 3
        assert "49" not in page.locator("h1").inner_text()
        assert "onerror" in page.locator("body").inner_text()
        assert opened.complaints == []
        assert all(url.startswith("file://") for url in opened.requests)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_the_page_of_the_method_fits_and_asks_nobody(browser: Browser, tmp_path: Path) -> None:
    site = site_of([hostile_run(tmp_path / "run")], tmp_path / "site")
    context = browser.new_context(viewport={"width": 390, "height": 900})
    opened = open_page(context, site / "method.html", settle=False)
    page = opened.page
    assert page.evaluate("window.pwned ?? null") is None
    assert page.locator("img, iframe, object, embed, a[href^='javascript:']").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.complaints == []
    assert all(url.startswith("file://") for url in opened.requests)
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_page_of_experiments_draws_everything_and_fits(
    browser: Browser, experiments: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = open_page(context, experiments / "index.html")
    page = opened.page
    open_all_details(page)
    drawn = page.eval_on_selector_all(
        ".plot", "plots => plots.map(p => p.querySelectorAll('svg .mark-rect.role-mark path').length)"
    )
    assert len(drawn) > 20 and min(drawn) > 0
    # Both lines of a row's label, and what is expected.
    assert page.locator("#experiment-spawn .plot").first.locator(".role-axis-label tspan").count() >= 2
    assert page.locator("#experiment-pinning .plot").first.locator(".mark-rect.role-mark").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER_THAN_THE_PAGE) == []
    ratios: dict[str, float] = page.evaluate(CONTRAST, ["p", "dt", "dd", "td", "th", "a", "b", "span", "small", "code"])
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}
    levels: list[int] = page.eval_on_selector_all("h1, h2, h3, h4, h5", "all => all.map(h => Number(h.tagName[1]))")
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("th:not([scope])").count() == 0
    assert page.eval_on_selector_all("figure.chart", "all => all.filter(f => !f.querySelector('p')).length") == 0
    # From the heat map to a cell by keyboard, and back.
    page.locator(".pins td a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/cells/*.html")
    open_all_details(page)
    assert page.locator("h1").inner_text().startswith("pinning-")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER_THAN_THE_PAGE) == []
    page.locator("nav a").first.click()
    page.wait_for_url("**/index.html#experiments")
    assert opened.complaints == []
    assert all(url.startswith("file://") for url in opened.requests)
    context.close()


def test_hostile_text_in_experiments_stays_text(browser: Browser, tmp_path: Path) -> None:
    site = site_of([hostile_experiments(tmp_path / "run")], tmp_path / "site")
    context = browser.new_context(viewport={"width": 390, "height": 900})
    for file in [site / "index.html", *(site / "cells").glob("*.html")]:
        opened = open_page(context, file)
        page = opened.page
        open_all_details(page)
        for plot in page.locator(".plot").all():
            plot.locator(".role-mark path").first.hover(force=True)
        assert page.evaluate("window.pwned ?? null") is None
        assert page.locator("img, iframe, object, embed, a[href^='javascript:']").count() == 0
        assert "onerror" in page.locator("body").inner_text()
        assert opened.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
