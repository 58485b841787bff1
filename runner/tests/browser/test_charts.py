"""Charts as readers use them: pointing at one, taking its data, reading a history with and without JavaScript."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.records.memory import MemoryReading
from tests.support.browser import open_all_details, pages_of, reading
from tests.support.ramped_runs import ramped
from tests.support.records import altered, with_forks
from tests.support.served_runs import QUICK, made_up, synthetic_run
from tests.support.sites import site_of
from tests.support.stepped_runs import searched, stepped_run

pytestmark = pytest.mark.real


@pytest.mark.parametrize("kind", ["index", "cell"])
def test_wherever_the_pointer_is_the_nearest_point_of_a_line_tells_its_figures(
    browser: Browser, sites: dict[str, Path], kind: str
) -> None:
    with reading(browser, pages_of(sites["quick"])[kind]) as page:
        open_all_details(page)
        told = json.loads(page.locator("#page-charts").text_content() or "")
        lines = [name for name, chart in told["charts"].items() if "params" in told["shapes"][chart["shape"]]]
        assert lines
        tooltip = page.locator("#vg-tooltip-element.visible")
        for name in (lines[0], lines[-1]):
            page.mouse.move(0, 0)
            plot = page.locator(f".plot[data-chart='{name}'] svg .background").first
            plot.scroll_into_view_if_needed()
            box = plot.bounding_box()
            figures = set()
            for share in range(1, 10):
                page.mouse.move(box["x"] + box["width"] * share / 10, box["y"] + box["height"] / 2)
                tooltip.wait_for()
                figures.add(tooltip.inner_text())
            assert len(figures) > 2


def memory(t_s: float) -> MemoryReading:
    resident = {"Java heap": 200 << 20, "thread stacks": 20 << 20, "code cache": 30 << 20}
    rss_bytes = sum(resident.values())
    return MemoryReading(
        t_s=t_s, rss_bytes=rss_bytes, pss_bytes=rss_bytes, private_dirty_bytes=rss_bytes, virt_bytes=2 * rss_bytes,
        swap_bytes=0, heap_used_bytes=150 << 20, heap_committed_bytes=200 << 20, direct_buffer_bytes=1 << 20,
        mapped_buffer_bytes=0, stacks=60, native=None, why_no_native="made up", resident=resident, missing=(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def charted(
    tmp_path_factory: pytest.TempPathFactory, sites: dict[str, Path], experiments: Path, histories: dict[str, Path]
) -> list[Path]:
    """Return pages with charts of every kind."""
    folder = tmp_path_factory.mktemp("charted")
    level = RampedLoad(points=((0, 0), (20, 2000), (30, 2000)), connections=100, warmup_rps=500)
    runs = {
        "steps": stepped_run(),
        "ramp": ramped(level),
        "search": searched(synthetic_run(folder / "search", QUICK)),
        "memory": with_forks(made_up(QUICK), lambda _, fork: altered(fork, {"memory": (memory(10.0), memory(20.0))})),
    }
    made = [site_of([run], folder / name / "site") / "index.html" for name, run in runs.items()]
    quick = sites["quick"] / "index.html"
    return [quick, pages_of(sites["quick"])["cell"], experiments / "index.html", *histories.values(), *made]


def test_every_kind_of_chart_says_what_the_pointer_is_at_and_of_which_executor(
    browser: Browser, charted: list[Path]
) -> None:
    by_executor, seen = 0, set[str]()
    for path in charted:
        with reading(browser, path) as page:
            by_executor += shapes_with_executors(page, path, seen)
    assert by_executor >= 9


def shapes_with_executors(page: Page, path: Path, seen: set[str]) -> int:
    """Return how many kinds of charts on this page name their executors, of those that are not `seen` on another."""
    open_all_details(page)
    found = 0
    told = json.loads(page.locator("#page-charts").text_content() or "")
    of_shape = {chart["shape"]: (name, chart) for name, chart in told["charts"].items()}
    for shape, (name, chart) in of_shape.items():
        if "tooltip" not in json.dumps(told["shapes"][shape]) or chart["datasets"].get("points", {}).get("rows") == []:
            continue  # it is only the line of what was asked for
        columns = {name: one["names"] for name, one in sorted(chart["datasets"].items())}
        kind = json.dumps([told["shapes"][shape], columns], sort_keys=True)
        if kind in seen:
            continue
        seen.add(kind)
        tables = chart["datasets"].values()
        rows = [dict(zip(table["names"], row, strict=True)) for table in tables for row in table["rows"]]
        executors = {row[name] for row in rows for name in ("executor", "series") if name in row}
        said = tooltips(page, name)
        assert said, (path, name)
        for text in said:
            assert not {"undefined", "null", "NaN"} & set(text.split()), (path, name, text)
            if executors:
                of = dict(line.split("\t") for line in text.splitlines())
                assert {of.get(title) for title in ("executor", "arm", "measured on")} & executors, (name, text)
        found += bool(executors)
    return found


def tooltips(page: Page, chart: str) -> set[str]:
    """Return the tooltips shown across a chart, and at the middle of its bars and points."""
    svg = page.locator(f".plot[data-chart='{chart}'] svg")
    svg.scroll_into_view_if_needed()
    places = svg.evaluate(
        """(svg) => {
          const box = (one) => one.getBoundingClientRect();
          const at = ({ x, y, width, height }, share) => [x + width * share, y + height / 2];
          const marks = [...svg.querySelectorAll('.mark-rect path, .mark-symbol path')].slice(0, 4);
          const plot = box(svg.querySelector('.background'));
          return [...[0.2, 0.5, 0.8].map((share) => at(plot, share)), ...marks.map((one) => at(box(one), 0.5))];
        }"""
    )
    said = set()
    for x, y in places:
        page.mouse.move(0, 0)
        page.mouse.move(x, y)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        tooltip = page.locator("#vg-tooltip-element.visible")
        if tooltip.count():
            said.add(tooltip.inner_text())
    return said


def test_a_chart_is_drawn_once_whatever_opens_meanwhile(browser: Browser, sites: dict[str, Path]) -> None:
    opens = "for (const one of document.querySelectorAll('details')) one.open = true;"
    count = "(figures) => figures.map((figure) => figure.querySelectorAll('.data-of').length)"
    with reading(browser, sites["quick"] / "index.html", settle=False) as page:
        page.add_init_script(f"addEventListener('DOMContentLoaded', () => {{ {opens} }})")
        page.reload()
        expect(page.locator(".plot:not([data-state=drawn])")).to_have_count(0)
        assert set(page.eval_on_selector_all("figure", count)) == {1}


def test_every_chart_hands_out_its_data(browser: Browser, sites: dict[str, Path]) -> None:
    with reading(browser, sites["quick"] / "index.html", accept_downloads=True) as page:
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


def test_a_condition_leads_to_a_page_where_a_chart_has_every_run(browser: Browser, histories: dict[str, Path]) -> None:
    with reading(browser, histories["history"]) as page:
        page.locator("#conditions tbody a").first.click()
        plot = page.locator("#ratios .plot").first
        expect(page.locator("html")).to_have_attribute("data-charts", "done")
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("aria-label", re.compile("^Throughput, virtual / pool: temurin-25, 1 CPU, "))
        expect(page.locator("#ratios figcaption p").first).to_contain_text("3 runs, too few alike to show a change")
        rows = page.locator("#runs tbody tr")
        expect(rows).to_have_count(3)
        dots = plot.locator(".mark-symbol").first.locator("path")
        expect(dots).to_have_count(3)
        for number in range(3):
            box = dots.nth(number).bounding_box()
            assert box is not None
            page.mouse.move(0, 0)
            page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            tooltip = page.locator("#vg-tooltip-element.visible")
            expect(tooltip).to_contain_text(f"run-{number + 1}")
            told = dict(line.split("\t") for line in tooltip.inner_text().splitlines())
            row = rows.nth(number)
            for word in told["figure"].replace("(", " ").replace(")", " ").split():
                expect(row.locator("td").nth(1)).to_contain_text(word)
            assert told["blocks"] == "3" and told["JDK"] in row.inner_text() and told["commit"] in row.inner_text()


def test_every_ratio_is_read_without_a_script(browser: Browser, histories: dict[str, Path]) -> None:
    with reading(browser, histories["history"], settle=False, java_script_enabled=False) as page:
        overview = page.locator("#conditions tbody tr").first
        trend = overview.locator("svg[role=img]")
        expect(trend).to_be_visible()
        expect(trend.locator("circle")).to_have_count(3)
        newest = overview.locator("td").nth(3).inner_text().split()[0]
        expect(trend).to_have_attribute("aria-label", re.compile(re.escape(newest)))
        expect(page.locator("#charts figcaption p").first).to_contain_text(newest)
        overview.locator("a").click()
        expect(page.locator("#ratios figcaption p").first).to_contain_text(newest)
        expect(page.locator("#runs tbody tr").last).to_contain_text(newest)
        expect(page.locator("#executors figcaption p").last).to_contain_text("In the newest run with it: liberty ")
