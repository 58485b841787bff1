"""Pages of a run, of its cells and of its method."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import open_all_details, pages_of, reading, wait_until_drawn
from tests.support.hostile_runs import hostile_experiments, hostile_run
from tests.support.sites import site_of

pytestmark = pytest.mark.real


@pytest.fixture
def index(browser: Browser, sites: dict[str, Path]) -> Iterator[Page]:
    with reading(browser, sites["matrix"] / "index.html") as page:
        yield page


def column(page: Page, title: str) -> list[str]:
    """Return the sort keys of a column of the table of cells, top to bottom, visible rows only."""
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
    """Return the figures; missing ones must come last."""
    found = [key for key in keys if key]
    assert keys == found + [""] * (len(keys) - len(found))
    return [float(key) for key in found]


def test_columns_sort_as_what_they_hold_by_mouse_and_keyboard(index: Page) -> None:
    """Figures sort as numbers, missing ones last; one column at a time is sorted."""
    button = index.locator("#cells-table thead button", has_text="Throughput")
    button.click()
    assert head(index, "Throughput") == "descending"
    falling = numbers(column(index, "Throughput"))
    assert falling == sorted(falling, reverse=True) and len(set(falling)) > 10
    # The numbers differ in length: as text they would sort differently.
    assert falling != sorted(falling, key=str, reverse=True)
    button.click()
    assert head(index, "Throughput") == "ascending"
    assert numbers(column(index, "Throughput")) == sorted(falling)
    assert len(column(index, "Throughput")) > len(falling)
    index.locator("#cells-table thead button", has_text="Executor").focus()
    index.keyboard.press("Enter")
    assert head(index, "Executor") == "ascending" and head(index, "Throughput") == "none"
    assert column(index, "Executor") == sorted(column(index, "Executor"))
    index.keyboard.press("Space")
    assert column(index, "Executor") == sorted(column(index, "Executor"), reverse=True)


def test_ratios_sort_as_numbers_and_conditions_by_how_long_a_task_is(browser: Browser, several: Path) -> None:
    """Sorted as text, 0.86 would come before 0.581 and 1,000 µs before 500."""
    with reading(browser, several.parent / "by" / "jdk" / "temurin-25.html") as page:
        page.evaluate(
            """() => {
                 const cells = [...document.querySelectorAll("table.sortable tbody tr")].map((row) => row.cells);
                 const of = [["0.581", "0.581 (0.549–0.615)"], ["1200", "1,200"], ["0.86", "0.86"], ["", "–"]];
                 of.forEach(([key, text], row) => {
                   const { cells: [first], lastElementChild: last } = cells[row][0].parentElement;
                   first.textContent = `tasks of ${["100", "1,000", "500", "2,000"][row]} µs`;
                   last.dataset.sort = key;
                   last.textContent = text;
                 }); }"""
        )
        table = page.locator("table.sortable").first
        cells = table.locator("tbody tr")
        assert cells.count() == 4

        def shown(column: int) -> list[str]:
            found: list[str] = cells.evaluate_all("(rows, at) => rows.map((row) => row.cells[at].textContent)", column)
            return found

        last = table.locator("thead th").count() - 1
        table.locator("thead button").last.click()
        assert [text.split()[0] for text in shown(last)] == ["0.581", "0.86", "1,200", "–"]
        table.locator("thead button").last.click()
        assert [text.split()[0] for text in shown(last)] == ["1,200", "0.86", "0.581", "–"]
        table.locator("thead button").first.click()
        assert shown(0) == [f"tasks of {us} µs" for us in ("100", "500", "1,000", "2,000")]


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


def test_paper_has_what_is_folded_or_scrolls_and_nothing_to_click(index: Page) -> None:
    on_screens = index.locator(":is(.site, .top, .js-only, .skip, .data-of):visible")
    folded = index.locator("details:not([open])")
    assert on_screens.count() > 0 and folded.count() > 0
    index.emulate_media(media="print")
    untold = """() => { document.querySelector('.plot').removeAttribute('data-state'); // as of one in a fold
                        dispatchEvent(new Event('beforeprint'));
                        return [...document.querySelectorAll('figure:has(.plot:not([data-state=drawn])) .alt')]
                          .map((one) => [one.textContent.trim() !== '', getComputedStyle(one).position]); }"""
    said = index.evaluate(untold)
    assert said and all(words == [True, "static"] for words in said), "paper may be laid out before they are drawn"
    expect(folded).to_have_count(0)
    expect(index.locator(".plot:not([data-state=drawn])")).to_have_count(0)
    assert on_screens.count() == 0
    assert index.locator(".plot svg:visible").count() == index.locator(".plot").count() > 0
    assert index.locator(".scroll.tall").count() > 0
    styles = index.eval_on_selector_all(
        ".scroll, pre, .heat td",
        """(all) => all.map((one) => {
             const { overflow, maxHeight, webkitPrintColorAdjust } = getComputedStyle(one);
             return one.matches('td') ? webkitPrintColorAdjust : `${overflow}, ${maxHeight}`; })""",
    )
    assert set(styles) == {"visible, none", "exact"}


def test_without_javascript_tables_and_figures_can_be_read(browser: Browser, sites: dict[str, Path]) -> None:
    with reading(browser, sites["matrix"] / "index.html", settle=False, java_script_enabled=False) as page:
        assert page.locator("#cells-table tbody tr").count() == 24
        assert page.locator("#cells-table tbody tr").first.is_visible()
        assert not page.locator(".controls").is_visible()
        assert page.locator("figure.chart p.alt").first.is_visible()
        assert page.locator(".heat td b").first.is_visible()


def test_a_command_line_is_copied_or_selected(browser: Browser, sites: dict[str, Path]) -> None:
    with reading(browser, pages_of(sites["quick"])["cell"]) as page:
        code = page.locator(".code").first
        code.locator("button").click()
        expect(code.locator("button")).to_have_text(re.compile("Copied|Selected"))
        wanted = code.locator("pre").inner_text()
        assert "'ws server.jar'" in wanted
        if code.locator("button").inner_text() == "Selected":
            assert page.evaluate("getSelection().toString()") == wanted
        else:
            page.get_by_label("Commands").or_(page.locator("body")).first.focus()
            page.context.grant_permissions(["clipboard-read"])
            assert page.evaluate("navigator.clipboard.readText()") == wanted


@pytest.fixture
def listener() -> Iterator[tuple[int, list[str]]]:
    """Yield a port on loopback, and the paths that were requested there."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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
        page = context.new_page()
        page.goto(file.as_uri())
        wait_until_drawn(page)
        pwned, directives = page.evaluate(ATTACKS, port)
        assert pwned is None
        assert " ".join(directives) == "connect-src frame-src img-src script-src-attr script-src-elem style-src-elem"
    assert asked == []
    context.close()


def stays_text(page: Page, *, width: int) -> None:
    assert page.evaluate("window.pwned ?? null") is None
    assert page.locator("img, iframe, object, embed, a[href^='javascript:']").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_text_in_results_stays_text(browser: Browser, tmp_path: Path) -> None:
    site = site_of([hostile_run(tmp_path / "run")], tmp_path / "site")
    pages = [site / "index.html", *(site / "cells").glob("*.html")]
    assert len(pages) == 4
    for file in pages:
        with reading(browser, file, width=390) as page:
            open_all_details(page)
            # Tooltips are text from results too.
            page.locator(".plot .role-mark path").first.hover(force=True)
            stays_text(page, width=390)
            assert page.locator("body script").count() == 3
            assert "49" not in page.locator("h1").inner_text()
            assert "onerror" in page.locator("body").inner_text()
    with reading(browser, site / "method.html", width=390, settle=False) as page:
        stays_text(page, width=390)


def test_hostile_text_in_experiments_stays_text(browser: Browser, tmp_path: Path) -> None:
    site = site_of([hostile_experiments(tmp_path / "run")], tmp_path / "site")
    for file in [site / "index.html", *(site / "cells").glob("*.html")]:
        with reading(browser, file, width=390) as page:
            open_all_details(page)
            for plot in page.locator(".plot").all():
                plot.locator(".role-mark path").first.hover(force=True)
            stays_text(page, width=390)
            assert "onerror" in page.locator("body").inner_text()


def test_the_page_of_experiments_leads_to_a_cell_and_back(browser: Browser, experiments: Path) -> None:
    """It does so by keyboard, from the heat map."""
    with reading(browser, experiments / "index.html", width=390, scheme="dark") as page:
        # Both lines of a row's label are drawn, and so is what is expected.
        assert page.locator("#experiment-spawn .plot").first.locator(".role-axis-label tspan").count() >= 2
        assert page.locator("#experiment-pinning .plot").first.locator(".mark-rect.role-mark").count() == 2
        page.locator(".pins td a").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/cells/*.html")
        open_all_details(page)
        assert page.locator("h1").inner_text().startswith("pinning-")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("nav[aria-label='On this page'] a").first.click()
        page.wait_for_url("**/index.html#experiments")
