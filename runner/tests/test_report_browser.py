"""The site in a real browser: headless Chromium, driven over its own protocol, pages opened as files."""

from __future__ import annotations

import importlib.resources
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise, product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.support.experiment_runs import experiments_run
from tests.support.hostile_runs import hostile_experiments, hostile_run
from tests.support.served_runs import QUICK, Shape, synthetic_run, with_scenario
from tests.support.sites import site_of

TEMPLATES = Path(__file__).parents[2] / "report-templates"
MATRIX = Shape(
    executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True
)
SCHEMES = ("light", "dark")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail(
            "these tests need Chromium on PATH: install the package chromium (Debian: apt-get install chromium)"
        )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sites by name: one condition only, of a published experiment, and a small matrix with failed, invalid and missing
    cells."""
    made = {}
    for name, shape in (("quick", QUICK), ("matrix", MATRIX)):
        folder = tmp_path_factory.mktemp(name)
        run = synthetic_run(folder / "run", shape)
        loaded = with_scenario(run) if name == "quick" else run
        made[name] = site_of([loaded], folder / "site")
    return made


@dataclass
class Opened:
    """A page and everything it complained about or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def settled(self) -> None:
        """Wait until every chart that has a place is drawn."""
        self.page.wait_for_selector("html[data-charts=done]", timeout=60_000)


def open_page(context: BrowserContext, file: Path, *, settle: bool = True) -> Opened:
    opened = Opened(context.new_page())

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            opened.complaints.append(message.text)

    def on_request(request: Request) -> None:
        opened.requests.append(request.url)

    opened.page.on("console", on_console)
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("request", on_request)
    opened.page.goto(file.as_uri())
    if settle:
        opened.settled()
    return opened


WIDER_THAN_THE_PAGE = """
() => [...document.querySelectorAll('body *')]
  .filter((e) => !e.closest('.scroll, pre, nav, svg, .alt, .skip') && e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.outerHTML.slice(0, 80))
"""


def open_all_details(page: Page) -> None:
    """And wait until the charts in them are drawn too."""
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    expect(page.locator(".plot:not([data-state=drawn])")).to_have_count(0, timeout=60_000)


def pages_of(site: Path) -> dict[str, Path]:
    cells = sorted((site / "cells").glob("*.html"))
    return {"index": site / "index.html", "cell": next(c for c in cells if ".virtual." in c.name)}


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


CONTRAST = """
(selectors) => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (layers) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const layer of layers) { canvas.fillStyle = layer; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  for (const selector of selectors) for (const element of document.querySelectorAll(selector)) {
    if (!element.checkVisibility() || !element.textContent.trim()) continue;
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.unshift(getComputedStyle(e).backgroundColor);
    const back = luminance(rgb(['white', ...layers]));
    const front = luminance(rgb(['white', ...layers, getComputedStyle(element).color]));
    const ratio = (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05);
    const name = `${selector} ${element.className}`;
    found[name] = Math.min(found[name] ?? 99, ratio);
  }
  return found;
}
"""


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


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of every kind of experiment without a server, on real results."""
    folder = tmp_path_factory.mktemp("experiments")
    return site_of([experiments_run(folder / "run", accidents=True)], folder / "site")


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


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two runs: many conditions on one host, one on another; its front page."""
    folder = tmp_path_factory.mktemp("answers")
    wide = synthetic_run(folder / "wide", Shape(cpus=(1, 2), burn_us=(0, 100), blocks=5, windows=1))
    other = synthetic_run(folder / "other", replace(QUICK, jdks=("temurin-26",), run_id="elsewhere"))
    session = other.run.sessions[0]
    there = session.model_copy(update={"host": session.host.model_copy(update={"hostname_hash": "ab<b>&\"'"})})
    moved = replace(other, run=other.run.model_copy(update={"sessions": (there,)}))
    site_of([wide, moved], folder / "site")
    return folder / "site" / "index.html"


def picked(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#picker select[name={name}]").select_option(value)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_front_page_answers_first_and_fits(browser: Browser, answers: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = open_page(context, answers)
    page = opened.page
    verdict = page.locator("#said .verdict").bounding_box()
    assert verdict is not None and verdict["y"] + verdict["height"] < 900, "the answer is on the first screen"
    open_all_details(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER_THAN_THE_PAGE) == []
    ratios: dict[str, float] = page.evaluate(
        CONTRAST, ["p", "dt", "dd", "td", "th", "a", "b", "span", "small", "button"]
    )
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}
    levels: list[int] = page.eval_on_selector_all("h1, h2, h3, h4, h5", "all => all.map(h => Number(h.tagName[1]))")
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("th:not([scope])").count() == 0
    assert opened.complaints == [] and opened.requests == [answers.as_uri()]
    context.close()


def test_a_pick_changes_the_answer_and_the_address_which_brings_it_back(browser: Browser, answers: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, answers)
    page = opened.page
    picked(page, jdk="temurin-25", cpus="2", burn_us="100", figure="cpu")
    said = page.locator("#said")
    expect(said.locator(".where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
    expect(said.locator(".verdict b")).to_contain_text("in CPU per request was seen")
    expect(said.locator(".trust a").first).to_have_attribute("href", re.compile("virtual.cpus-2.burn-100us"))
    address = page.url
    assert "cpus=2" in address and "figure=cpu" in address
    again = open_page(context, answers)
    again.page.goto(address)
    expect(again.page.locator("#said .where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
    assert again.page.locator("#said").inner_text() == said.inner_text()
    # The map says the same, and leads from place to place.
    current = page.locator("#map button[aria-current=true]")
    expect(current).to_have_count(1)
    page.locator("#map button").first.click()
    expect(said.locator(".where")).to_contain_text("1 CPU, no added work")
    assert opened.complaints == []
    context.close()


def test_what_was_not_measured_is_said_so_with_the_command_and_the_nearest(browser: Browser, answers: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, answers)
    page = opened.page
    picked(page, jdk="temurin-26", cpus="2")
    said = page.locator("#said")
    expect(said.locator(".verdict")).to_have_text("Not measured under this condition.")
    command = said.locator("pre").inner_text()
    assert re.fullmatch(
        r"matrix run --profile \S+ --server open-liberty --jdk temurin-26 --cpus 2 .*--load saturate-50", command
    )
    said.locator(".nearest button").first.click()
    expect(said.locator(".verdict b")).not_to_have_text("Not measured under this condition.")
    # What no run has can be asked for, too.
    picked(page, jdk="temurin-25", cpus="4", burn_us="200")
    expect(said.locator("pre")).to_contain_text("--jdk temurin-25 --cpus 4 --burn-us 200")
    picked(page, workload="banking", burn_us="0", wait_us="2000", load="share-50")
    expect(said.locator("pre")).to_contain_text("--profile matrix ")
    picked(page, burn_us="1000")
    expect(said).to_contain_text("No profile of the project measures it")
    assert opened.complaints == []
    context.close()


@pytest.mark.parametrize(
    "hostile",
    [
        "#jdk=<img src=x onerror=window.pwned=1>",
        "#constructor=1&__proto__=2&cpus=99",
        "#host=%22%5D&figure=%22%5D,*",
        "#%%%",
    ],
)
def test_an_address_can_only_choose_what_the_page_offers(browser: Browser, answers: Path, hostile: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = Opened(context.new_page())
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.goto(answers.as_uri() + hostile)
    expect(opened.page.locator("#said .verdict b")).to_contain_text("throughput")
    assert opened.page.evaluate("window.pwned ?? null") is None and opened.complaints == []
    context.close()


def test_every_chart_hands_out_its_data(browser: Browser, sites: dict[str, Path]) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    opened = open_page(context, sites["quick"] / "index.html")
    page = opened.page
    assert page.locator(".data-of").count() == page.locator(".plot[data-state=drawn]").count() > 0
    button = page.locator(".chart").first.locator(".data-of")
    button.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    text = Path(download.value.path()).read_text("utf-8")
    head, *rows = text.strip().split("\n")
    assert "executor" in head.split(",") and len(rows) >= 2
    assert all(len(row.split(",")) >= len(head.split(",")) for row in rows)
    assert download.value.suggested_filename.endswith(".csv")
    assert opened.complaints == []
    context.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules of WCAG and of good practice that a program can check."""
    return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def every_kind_of_page(answers: Path, sites: dict[str, Path], experiments: Path) -> dict[str, Path]:
    site = answers.parent
    return {
        "front": answers,
        "claims": site / "claims" / "index.html",
        "history": site / "history" / "index.html",
        "run": sites["matrix"] / "index.html",
        "run of one condition": sites["quick"] / "index.html",
        "run of experiments": experiments / "index.html",
        "method": sites["quick"] / "method.html",
        "cell": pages_of(sites["matrix"])["cell"],
        "cell of an experiment": next((experiments / "cells").glob("*.html")),
    }


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_no_kind_of_page_breaks_a_rule_of_accessibility(
    browser: Browser,
    answers: Path,
    sites: dict[str, Path],
    experiments: Path,
    axe: str,
    width: int,
    scheme: str,
) -> None:
    # The pages' policy would refuse the checker's script.
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        bypass_csp=True,
    )
    for kind, file in every_kind_of_page(answers, sites, experiments).items():
        page = open_page(context, file).page
        open_all_details(page)
        page.evaluate(axe)
        found = page.evaluate(
            "axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 120)}`))"
        )
        assert found == [], kind
        page.close()
    context.close()
