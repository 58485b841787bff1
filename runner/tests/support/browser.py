"""Opening the site's pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.support.served_runs import Shape

MATRIX = Shape(
    executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True
)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic",
]  # fmt: skip


@dataclass
class Opened:
    """A page and everything it complained about or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def open_page(context: BrowserContext, file: Path, *, settle: bool = True) -> Opened:
    """`settle`: wait until every chart that has a place is drawn."""
    opened = Opened(context.new_page())

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            opened.complaints.append(message.text)

    opened.page.on("console", on_console)
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto(file.as_uri())
    if settle:
        opened.page.wait_for_selector("html[data-charts=done]", timeout=60_000)
    return opened


@contextmanager
def reading(
    browser: Browser,
    file: Path,
    *,
    width: int = 1440,
    scheme: str = "light",
    settle: bool = True,
    files_max: int = 99,
    **settings: Any,
) -> Iterator[Page]:
    """A page, `settle`d or not, in a context with these `settings`; it complains of nothing, and what it loads, and
    those to which it leads, are files."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        **settings,
    )
    opened = open_page(context, file, settle=settle)
    yield opened.page
    assert opened.complaints == []
    assert all(url.startswith("file://") for url in opened.requests) and len(opened.requests) <= files_max
    context.close()


WIDER_THAN_THE_PAGE = """
() => [...document.querySelectorAll('body *')]
  .filter((e) => !e.closest('.scroll, pre, nav, svg, .alt, .skip') && e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.outerHTML.slice(0, 80))
"""


# Words in a chart beyond its edges or shortened, and columns of tables in which words are a few letters a line.
CUT_OFF = """
() => {
  const beyond = [...document.querySelectorAll('.plot svg text')].filter((text) => {
    const [own, all] = [text.getBoundingClientRect(), text.closest('svg').getBoundingClientRect()];
    return own.width && (own.right > all.right + 1 || own.left < all.left - 1 || text.textContent.endsWith('…'));
  });
  const squeezed = [...document.querySelectorAll('tbody th, tbody td')].filter((cell) => {
    const { width } = cell.getBoundingClientRect();
    return width > 0 && width < 50 && cell.textContent.split(/\\s+/).some((word) => word.length > 8);
  });
  return [...beyond, ...squeezed].map((e) => e.textContent.trim().slice(0, 80));
}
"""


def open_all_details(page: Page) -> None:
    """And wait until the charts in them are drawn too."""
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    expect(page.locator(".plot:not([data-state=drawn])")).to_have_count(0, timeout=60_000)


def pages_of(site: Path) -> dict[str, Path]:
    cells = sorted((site / "cells").glob("*.html"))
    return {"index": site / "index.html", "cell": next(c for c in cells if ".virtual." in c.name)}
