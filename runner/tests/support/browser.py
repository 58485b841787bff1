"""Opening the site's pages in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.support.waiting import HANGS_S

_POWER_OF_TEN = re.compile(r"\de[+−-]?\d")


def wait_until_drawn(page: Page) -> None:
    page.wait_for_selector("html[data-charts=done]", timeout=HANGS_S * 1000)


@contextmanager
def reading(
    browser: Browser,
    file: Path,
    *,
    anchor: str = "",
    width: int = 1440,
    scheme: str = "light",
    settle: bool = True,
    files_max: int = 99,
    **settings: Any,
) -> Iterator[Page]:
    """Open a page at this `anchor`, in a context with these `settings`; `settle`: wait until all charts that have a
    place are drawn. Assert that it logs no complaint, that no axis counts in powers of ten, and that the page, and
    those to which it leads, load nothing but files, of which there are at most `files_max`."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        **settings,
    )
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{file.as_uri()}{anchor}")
    if settle:
        wait_until_drawn(page)
    yield page
    assert complaints == []
    labels = page.locator(".plot .role-axis-label text").all_text_contents()
    assert not [label for label in labels if _POWER_OF_TEN.search(label)]
    assert all(url.startswith("file://") for url in requests) and len(requests) <= files_max
    context.close()


def open_all_details(page: Page) -> None:
    """Open all details, and wait until the charts in them are drawn too."""
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    expect(page.locator(".plot:not([data-state=drawn])")).to_have_count(0)


def pages_of(site: Path) -> dict[str, Path]:
    cells = sorted((site / "cells").glob("*.html"))
    return {"index": site / "index.html", "cell": next(c for c in cells if ".virtual." in c.name)}
