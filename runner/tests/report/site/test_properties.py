"""What holds for every page of every kind of run: links lead somewhere, and nothing is shown that is no figure or
text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_run, mixed
from tests.support.judged_pages import cell_page_of
from tests.support.outcome_runs import all_of, failing, hung, silent, with_outcomes
from tests.support.pages import Elements, assert_links_lead_somewhere, figures
from tests.support.ramped_runs import LEVEL, ramped
from tests.support.searched_runs import searched
from tests.support.served_runs import QUICK, Shape, synthetic_run, with_scenario
from tests.support.sites import site_of
from tests.support.stepped_runs import stepped_run

SMALL = replace(QUICK, jdks=("temurin-25",))
MATRIX = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=2, windows=1, accidents=True)


def broken(folder: Path) -> LoadedRun:
    shape = replace(SMALL, executors=("liberty", "virtual", "platform", "fixed-50"), loads=("rate-2000",))
    changes = {"virtual": all_of(silent), "platform": all_of(hung), "fixed-50": all_of(failing)}
    return with_outcomes(synthetic_run(folder, shape), changes)


RUNS: dict[str, Callable[[Path], LoadedRun]] = {
    "closed loops, some cells bad": lambda folder: synthetic_run(folder, MATRIX),
    "a rate, a driver that says less": lambda folder: synthetic_run(
        folder, replace(SMALL, loads=("rate-2000",), driver="wrk2")
    ),
    "searches": lambda folder: searched(synthetic_run(folder, SMALL)),
    "steps": stepped_run,
    "ramps": lambda folder: ramped(folder, LEVEL),
    "servers that answer nothing": broken,
    "a scenario": lambda folder: with_scenario(synthetic_run(folder, SMALL)),
    "nothing measured": lambda folder: replace(synthetic_run(folder, SMALL), cells=()),
    "experiments, some cells bad": lambda folder: experiments_run(folder, accidents=True),
    "servers and experiments": mixed,
}


@pytest.fixture(scope="module", params=list(RUNS))
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return RUNS[request.param](tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def pages(loaded: LoadedRun, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Elements]:
    site = tmp_path_factory.mktemp("site") / "site"
    site_of([loaded], site)
    front = site / "index.html"
    return {page.resolve(): Elements(page) for page in (front, *(set(site.rglob("*.html")) - {front}))}


def test_every_cell_has_a_page(loaded: LoadedRun, pages: dict[Path, Elements]) -> None:
    assert {page.stem for page in pages if page.parent.name == "cells"} == {cell.key.cell_id for cell in loaded.cells}


def test_every_link_leads_somewhere_and_no_id_stands_twice(pages: dict[Path, Elements]) -> None:
    assert_links_lead_somewhere(pages)


def test_every_page_can_be_reached_from_the_front_page(pages: dict[Path, Elements]) -> None:
    """By links alone."""
    found: set[Path] = set()
    waiting = [next(iter(pages))]
    while waiting:
        page = waiting.pop()
        if page in pages and page not in found:
            found.add(page)
            waiting += [(page.parent / target.partition("#")[0]).resolve() for target in pages[page].targets]
    assert found == pages.keys()


def test_no_page_shows_what_is_neither_figure_nor_text(pages: dict[Path, Elements]) -> None:
    for page, elements in pages.items():
        for found in re.finditer(r"\b(?:None|nan|inf|True|False)\b|\{\{|\}\}", elements.text):
            pytest.fail(f"{page.name}: {elements.text[max(0, found.start() - 40) : found.end() + 40]}")
        for name, value in elements.attributes:
            assert not re.search(r"\bNone\b|\bnan\b", value), f"{page.name}: {name}={value}"


def test_every_figure_is_a_number_or_says_why_there_is_none(loaded: LoadedRun) -> None:
    judged = JudgedRun(loaded)
    experiments = experiment_sections(judged.experiments)
    shown = [run_page(judged, experiments, (), ""), *(cell_page_of(loaded, cell.key) for cell in loaded.cells)]
    for page in shown:
        for place, figure in figures((page.lede, page.blocks)):
            assert figure.text, place
            assert figure.sort is None or math.isfinite(figure.sort), place
            if figure.text == "–":
                assert figure.title and figure.sort is None, f"{place}: no reason is given"
