"""What a checker of accessibility finds on every kind of page."""

from __future__ import annotations

import importlib.resources
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from jdkmatrix.cli.comparing import write_page
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.compare.sides import Side, compare_sides
from tests.support.browser import CUT_OFF, open_all_details, open_page, pages_of
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import TEMPLATES

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules of WCAG and of good practice that a program can check."""
    return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two JDKs of one run."""
    folder = tmp_path_factory.mktemp("compared")
    loaded = synthetic_run(folder / "run", replace(QUICK, blocks=5))
    cells = Cells(loaded.run, loaded.cells)
    before, after = (Side(loaded.run, cells, "jdk", jdk) for jdk in QUICK.jdks)
    write_page(compare_sides(before, after, threshold=0.05), folder / "compared.html", TEMPLATES)
    return folder / "compared.html"


def every_kind_of_page(answers: Path, sites: dict[str, Path], experiments: Path, compared: Path) -> dict[str, Path]:
    site = answers.parent
    return {
        "front": answers,
        "claims": site / "claims" / "index.html",
        "history": site / "history" / "index.html",
        "browse": site / "by" / "index.html",
        "an executor": site / "by" / "executor" / "virtual.html",
        "a comparison": compared,
        "run": sites["matrix"] / "index.html",
        "run of one condition": sites["quick"] / "index.html",
        "run of experiments": experiments / "index.html",
        "method": sites["quick"] / "method.html",
        "cell": pages_of(sites["matrix"])["cell"],
        "cell of an experiment": next((experiments / "cells").glob("*.html")),
    }


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_every_kind_of_page_is_accessible_and_readable(
    browser: Browser,
    answers: Path,
    sites: dict[str, Path],
    experiments: Path,
    compared: Path,
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
    for kind, file in every_kind_of_page(answers, sites, experiments, compared).items():
        page = open_page(context, file).page
        open_all_details(page)
        page.evaluate(axe)
        found = page.evaluate(
            "axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes.length}, ${v.nodes[0].html.slice(0, 120)}`))"
        )
        assert found == [], kind
        assert page.evaluate(CUT_OFF) == [], kind
        page.close()
    context.close()
