"""Every kind of page, wide and narrow, light and dark: it fits, is drawn, is accessible, and loads only files."""

from __future__ import annotations

import importlib.resources
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from jdkmatrix.cli.comparing import write_page
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.compare.changes import compare_sides
from jdkmatrix.report.compare.sides import ComparedSide
from tests.support.browser import open_all_details, pages_of, reading
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import TEMPLATES

pytestmark = pytest.mark.real

# The least number of charts on each.
KINDS = {
    "front": 0, "front with a map": 0, "claims": 0, "history": 2, "history of a condition": 4, "browse": 0,
    "an executor": 0, "a comparison": 0,
    "run": 6, "run of one condition": 6, "cell": 6, "run of experiments": 21, "cell of an experiment": 0, "method": 0,
}  # fmt: skip
# A condition that an address picks has a map of its own.
PICKED = {"front with a map": "#burn_us=500&load=rate-2000"}
# Each kind is seen wide and narrow, once light and once dark; half of them are light where the others are dark.
SEEN = [
    (kind, width, ("light", "dark")[(place + turn) % 2])
    for place, kind in enumerate(KINDS)
    for turn, width in enumerate((1440, 390))
]
# The rules of WCAG and of good practice that a program can check.
AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
# For a rule that is kept, the first element that keeps it is enough. One rule is off by default.
FOUND = """
axe.run({ resultTypes: ['violations'], rules: { 'label-content-name-mismatch': { enabled: true } } }).then((r) => [
  ...r.violations.map((v) => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 120)}`),
  ...(r.passes.some((p) => p.id === 'color-contrast') ? [] : ['no text had its contrast checked']),
])
"""
# How many header cells have no scope, and how many charts no figures in words beside them or no name.
UNTOLD = """
() => ({
  scopes: document.querySelectorAll('th:not([scope])').length,
  words: [...document.querySelectorAll('figure.chart')].filter((f) => !f.querySelector('p')).length,
  names: [...document.querySelectorAll('.plot[data-state]')].filter((p) => !p.ariaLabel).length,
})
"""
WIDER_THAN_THE_PAGE = """
() => [...document.querySelectorAll('body *')]
  .filter((e) => !e.closest('.scroll, pre, nav, svg, .alt, .skip') && e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.outerHTML.slice(0, 80))
"""
# Words in a chart that are shortened or beyond its edges, and table columns that fit only a few letters a line.
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


@pytest.fixture(scope="module")
def pages(
    answers: Path, several: Path, histories: dict[str, Path], sites: dict[str, Path], experiments: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:  # fmt: skip
    site = answers.parent
    return {
        "front": answers,
        "front with a map": several,
        "claims": site / "claims" / "index.html",
        **histories,
        "browse": site / "by" / "index.html",
        "an executor": site / "by" / "executor" / "virtual.html",
        "a comparison": compared(tmp_path_factory.mktemp("compared")),
        "run": sites["matrix"] / "index.html",
        "run of one condition": sites["quick"] / "index.html",
        "cell": pages_of(sites["matrix"])["cell"],
        "run of experiments": experiments / "index.html",
        "cell of an experiment": next((experiments / "cells").glob("*.html")),
        "method": sites["quick"] / "method.html",
    }


def compared(folder: Path) -> Path:
    """Two JDKs of one run."""
    loaded = synthetic_run(folder / "run", replace(QUICK, blocks=5))
    cells = Cells(loaded.run, loaded.cells)
    before, after = (ComparedSide(loaded.run, cells, "jdk", jdk) for jdk in QUICK.jdks)
    write_page(compare_sides(before, after, threshold=0.05), folder / "compared.html", TEMPLATES, names="run")
    return folder / "compared.html"


@pytest.mark.parametrize(("kind", "width", "scheme"), SEEN)
def test_every_kind_of_page(browser: Browser, pages: dict[str, Path], kind: str, width: int, scheme: str) -> None:
    # The pages' policy would refuse the checker's script.
    # A page loads itself and the site's one library.
    with reading(
        browser, pages[kind], anchor=PICKED.get(kind, ""), width=width, scheme=scheme, files_max=2, bypass_csp=True
    ) as page:
        open_all_details(page)
        assert page.locator("#map button").count() > 0 or kind not in PICKED
        marks = page.eval_on_selector_all(
            ".plot",
            "plots => plots.map(p => p.querySelectorAll('svg :is([role=graphics-symbol], .role-mark path)').length)",
        )
        assert len(marks) >= KINDS[kind] and all(marks)
        widths = page.eval_on_selector_all(".plot svg", "all => all.map(s => s.getBoundingClientRect().width)")
        assert all(150 < w <= width for w in widths)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(WIDER_THAN_THE_PAGE) == page.evaluate(CUT_OFF) == []
        assert page.evaluate(UNTOLD) == {"scopes": 0, "words": 0, "names": 0}
        page.evaluate(AXE)
        assert page.evaluate(FOUND) == []
