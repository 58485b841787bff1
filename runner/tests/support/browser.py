"""Opening the site's pages in a real browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, expect

from tests.support.served_runs import Shape

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
