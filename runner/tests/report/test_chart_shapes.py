"""Charts that fill in a shape: nothing stays blank, nothing given is lost, and what comes out is Vega-Lite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.cell_page.every_cell import CellLinks
from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Rows, on_a_page
from jdkmatrix.report.experiments.cell_page import experiment_page
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import SHAPES, blanks_of, vega_lite
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import cell_page_of
from tests.support.served_runs import QUICK, synthetic_run

PLAIN: dict[str, Any] = {"plain": {"encoding": {"x": {"title": "{title}", "scale": {"domain": "{ends}"}}}}}


def plain(title: str, ends: list[Any], rows: Rows = ()) -> Drawing:
    return Drawing("plain", {"title": title, "ends": ends}, 10, "", {"rows": rows})


@given(st.text() | st.sampled_from(["{title}", "{ends}"]), st.lists(st.text() | st.sampled_from(["{title}"])))
def test_what_is_filled_in_stands_there_as_it_was_given(title: str, ends: list[str]) -> None:
    x = vega_lite(plain(title, ends), PLAIN)["encoding"]["x"]
    assert x == {"title": title, "scale": {"domain": ends}}


def test_a_page_holds_a_shape_once_and_of_each_chart_what_is_its_own() -> None:
    page = on_a_page({"one": plain("1", [1], [{"x": 1}]), "two": plain("2", [2], NamedRows(("x",), [(1,)]))}, PLAIN)
    assert page is not None and page["shapes"] == PLAIN
    assert [chart["shape"] for chart in page["charts"].values()] == ["plain", "plain"]
    assert page["charts"]["one"]["datasets"] == {"rows": [{"x": 1}]}
    assert page["charts"]["two"]["datasets"] == {"rows": {"names": ("x",), "rows": [(1,)]}}
    assert on_a_page({}, PLAIN) is None


def charts(loaded: LoadedRun) -> Iterator[Drawing]:
    """Of the run's page and of the pages of its cells."""
    judged = JudgedRun(loaded)
    experiments = experiment_sections(judged.experiments, judged.order)
    yield from run_page(judged, experiments, (), "").charts.values()
    for cell in judged.cells:
        yield from cell_page_of(loaded, cell.key).charts.values()
    for lone in judged.experiments:
        yield from experiment_page(lone, judged, {}, CellLinks("record.json"), "").charts.values()


@pytest.mark.parametrize("kind", ["one condition", "many conditions", "experiments"])
def test_every_chart_is_vega_lite_that_its_own_schema_accepts(kind: str, tmp_path: Path) -> None:
    match kind:
        case "one condition":
            loaded = synthetic_run(tmp_path, QUICK)
        case "many conditions":
            loaded = synthetic_run(
                tmp_path, replace(QUICK, burn_us=(0, 50), loads=("saturate-50", "rate-2000"), blocks=1)
            )
        case _:
            loaded = experiments_run(tmp_path, forks=1)
    # The schema takes long to read a chart: one of each kind, without its rows.
    kinds = {}
    for drawing in charts(loaded):
        kinds[drawing.shape, *map(type, drawing.blanks.values())] = drawing
        assert drawing.blanks.keys() == blanks_of(SHAPES[drawing.shape])
    assert kinds
    for drawing in kinds.values():
        spec = json.loads(json.dumps({**vega_lite(drawing), "datasets": {}}))  # lists, as the page has them
        alt.LayerChart.from_dict(spec, validate=True)
