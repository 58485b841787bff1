"""What a reader does with a chart: point at it, and take its data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.browser import open_all_details, open_page, pages_of

pytestmark = pytest.mark.real


@pytest.mark.parametrize("kind", ["index", "cell"])
def test_wherever_the_pointer_is_the_nearest_point_of_a_line_tells_its_figures(
    browser: Browser, sites: dict[str, Path], kind: str
) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, pages_of(sites["quick"])[kind])
    page = opened.page
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
        assert box is not None
        figures = set()
        for share in range(1, 10):
            page.mouse.move(box["x"] + box["width"] * share / 10, box["y"] + box["height"] / 2)
            tooltip.wait_for()
            figures.add(tooltip.inner_text())
        assert len(figures) > 3
    assert opened.complaints == []
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
