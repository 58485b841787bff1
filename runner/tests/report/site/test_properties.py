"""Properties of every page of every kind of run: links lead somewhere, and nothing but figures and text is shown.
Whatever is in the index that a site is put together from, the site is written, and text stays text."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.report.site.build import build_site
from jdkmatrix.report.site.render_runs import SiteRun
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.experiment_runs import experiments_of, mixed
from tests.support.judged_pages import page_in
from tests.support.outcome_runs import all_of, failing, hung, silent, with_outcomes
from tests.support.pages import Elements, assert_links_lead_somewhere, figures
from tests.support.ramped_runs import LEVEL, ramped
from tests.support.records import with_logs
from tests.support.served_runs import QUICK, Shape, made_up, with_scenario
from tests.support.sites import background, later, site_of, stored
from tests.support.stepped_runs import searched, stepped_run

SMALL = replace(QUICK, jdks=("temurin-25",))
MATRIX = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=2, windows=1, accidents=True)


def broken() -> LoadedRun:
    shape = replace(SMALL, executors=("liberty", "virtual", "platform", "fixed-50"), loads=("rate-2000",))
    changes = {"virtual": all_of(silent), "platform": all_of(hung), "fixed-50": all_of(failing)}
    return with_outcomes(made_up(shape), changes)


RUNS: dict[str, Callable[[], LoadedRun]] = {
    "closed loops, some cells bad": partial(made_up, MATRIX),
    "a rate, a driver that says less": partial(made_up, replace(SMALL, loads=("rate-2000",), driver="wrk2")),
    "searches": lambda: searched(made_up(SMALL)),
    "steps": stepped_run,
    "ramps": partial(ramped, LEVEL),
    "servers that answer nothing": broken,
    "a scenario": lambda: with_scenario(made_up(SMALL)),
    "nothing measured": lambda: replace(made_up(SMALL), cells=()),
    "experiments, some cells bad": partial(experiments_of, accidents=True),
    "servers and experiments": mixed,
}


@pytest.fixture(scope="module", params=list(RUNS))
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return with_logs(RUNS[request.param](), tmp_path_factory.mktemp("run"), "SYNTHETIC")


@pytest.fixture(scope="module")
def pages(loaded: LoadedRun, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Elements]:
    site = tmp_path_factory.mktemp("site") / "site"
    site_of([loaded], site)
    front = site / "index.html"
    return {page.resolve(): Elements(page) for page in (front, *(set(site.rglob("*.html")) - {front}))}


def test_every_link_leads_somewhere_and_no_id_stands_twice(pages: dict[Path, Elements]) -> None:
    assert_links_lead_somewhere(pages)


def test_every_page_can_be_reached_from_the_front_page(pages: dict[Path, Elements]) -> None:
    """Only links are followed."""
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
    shown = [run_page(judged, experiments, (), ""), *(page_in(judged, cell.key) for cell in loaded.cells)]
    for page in shown:
        for place, figure in figures((page.lede, page.blocks)):
            assert figure.text, place
            assert figure.sort is None or math.isfinite(figure.sort), place
            if figure.text == "–":
                assert figure.title and figure.sort is None, f"{place}: no reason is given"


HOSTILE = "</script><img src=x onerror=alert(1)>\u2028'\"&"
TEXT = st.text(max_size=20) | st.sampled_from((HOSTILE, "../../../..", ""))
SAME_KIND: dict[type, st.SearchStrategy[Any]] = {str: TEXT, int: st.integers(), float: st.floats()}
SCALARS = st.one_of(st.none(), st.booleans(), *SAME_KIND.values())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
)
NAMES = ("a", "b")


def places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in `part` with each of its keys or indices."""
    inside = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inside:
        yield part, key
        yield from places(value)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[SiteRun, ...], Path]:
    """Make two runs, and a site of them."""
    folder = tmp_path_factory.mktemp("fuzz")
    loaded = made_up(replace(QUICK, blocks=2, windows=1))
    for name in NAMES:
        stored(folder / name, later(loaded, name, "2024-01-01"))
    stores = [RunStore(folder / name) for name in NAMES]
    runs = tuple(SiteRun(str(store.directory), store.load, store.stamp()) for store in stores)
    build_site(runs, folder / "site", background())
    return runs, folder / "site"


def put_together_again(made: tuple[tuple[SiteRun, ...], Path], again: Path, change: Callable[[Any], None]) -> None:
    """Build the site anew in `again`, from a copy in which the index of run `a` was changed."""
    runs, site = made
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(site, again, copy_function=os.link)
    digest = again / "runs" / "a" / "digest.json"
    kept = json.loads(digest.read_text())
    change(kept["run"])
    digest.unlink()  # another name of the file of the site that stays
    digest.write_text(json.dumps(kept))
    build_site(runs, again, background())


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_digest_stops_a_site(data: st.DataObject, made: tuple[tuple[SiteRun, ...], Path], tmp_path: Path) -> None:
    def change(run: Any) -> None:
        for _ in range(data.draw(st.integers(1, 3))):
            container, key = data.draw(st.sampled_from([*places(run)]))
            container[key] = data.draw(SAME_KIND.get(type(container[key]), VALUES) | VALUES)

    put_together_again(made, tmp_path / "site", change)
    for page in ("index.html", "claims/index.html", "history/index.html"):
        assert not {"img", "iframe", "object", "embed"} & set(Elements(tmp_path / "site" / page).tags)


@pytest.mark.parametrize("ratio", (-1.0, 0.0, 5e-324, 1e308, math.inf, math.nan))
def test_impossible_ratios_are_read_again(ratio: float, made: tuple[tuple[SiteRun, ...], Path], tmp_path: Path) -> None:
    def change(run: Any) -> None:
        run["conditions"][0]["advice"][0]["ratio"] = ratio

    put_together_again(made, tmp_path / "site", change)
    assert (tmp_path / "site" / "data" / "runs.json").read_text() == (made[1] / "data" / "runs.json").read_text()
