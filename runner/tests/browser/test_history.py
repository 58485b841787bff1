"""The pages of histories: what a reader sees of several runs, with and without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import reading

pytestmark = pytest.mark.real


def test_a_condition_leads_to_its_page_where_a_chart_has_every_run(
    browser: Browser, histories: dict[str, Path]
) -> None:
    with reading(browser, histories["history"]) as page:
        page.locator("#conditions tbody a").first.click()
        plot = page.locator("#ratios .plot").first
        expect(page.locator("html")).to_have_attribute("data-charts", "done")
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("aria-label", re.compile("^Throughput, virtual / pool: temurin-25, 1 CPU, "))
        expect(page.locator("#ratios figcaption p").first).to_contain_text("3 runs, too few to show a change of level.")
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
        expect(page.locator("#executors figcaption p").last).to_contain_text("In the newest run: liberty ")
