"""Charts that fill in a shape: nothing stays blank, nothing given is lost, and what comes out is Vega-Lite."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.charts.bars import bars
from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Shape, blank, blanks, on_a_page, rows
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of, vega_lite
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import cell_page_of
from tests.support.served_runs import QUICK, synthetic_run

SHAPE = Shape(
    rows("rows").mark_point().encode(x=alt.X("x:Q", title=blank("title"), scale=alt.Scale(domain=blanks("ends"))))
)


def filled(title: str, ends: list[Any]) -> dict[str, Any]:
    drawing = SHAPE.filled(data={"rows": []}, height=10, description="", title=title, ends=ends)
    x: dict[str, Any] = vega_lite(drawing)["layer"][0]["encoding"]["x"]
    return x


@given(st.text() | st.sampled_from(["{title}", "{ends}"]), st.lists(st.text() | st.sampled_from(["{title}"])))
def test_what_is_filled_in_stands_there_as_it_was_given(title: str, ends: list[str]) -> None:
    x = filled(title, ends)
    assert (x["title"], x["scale"]["domain"]) == (title, ends)


def test_one_chart_changes_no_other() -> None:
    first = filled("one", [1])
    filled("two", [2])["scale"]["domain"].append(3)
    assert (first["title"], first["scale"]["domain"]) == ("one", [1])


def test_a_page_holds_a_shape_once_and_of_each_chart_what_is_its_own() -> None:
    ends = [1, 2]
    one = SHAPE.filled(data={"rows": [{"x": 1}]}, height=10, description="", title="{ends}", ends=ends)
    two = SHAPE.filled(data={"rows": NamedRows(("x",), [(1,)])}, height=9, description="", title="", ends=ends)
    page = on_a_page({"one": one, "two": two})
    assert page["shapes"] == [SHAPE.spec]
    assert [chart["shape"] for chart in page["charts"].values()] == [0, 0]
    assert page["charts"]["one"]["datasets"] == {"rows": [{"x": 1}]}
    assert page["charts"]["two"]["datasets"] == {"rows": {"names": ("x",), "rows": [(1,)]}}
    assert vega_lite(one)["layer"][0]["encoding"]["x"]["title"] == "{ends}", "what is given has no blanks"
    assert vega_lite(one)["datasets"] == vega_lite(two)["datasets"]
    assert on_a_page({}) is None


def test_an_interval_that_reaches_beyond_its_chart_ends_in_an_arrow() -> None:
    means = [
        {"executor": name, "work": "no delay", "mean": 1.0, "low": 0.9, "high": high, "label": "1"}
        for name, high in (("wide", 3.0), ("narrow", 1.05), ("lone", None))
    ]
    words = {"title": "", "figure": "", "number_format": "~s", "description": ""}
    drawing = bars(means, [], order=("wide", "narrow", "lone"), highest=1.0, **words)
    assert [(row["high_shown"], row["cut"]) for row in rows_of(drawing.datasets["means"])] == [
        (1.06, True), (1.05, False), (None, False),
    ]  # fmt: skip
    layers = vega_lite(drawing)["layer"]
    (arrow,) = (one for one in layers if one["mark"].get("shape") == "triangle-right")
    assert arrow["transform"] == [{"filter": "datum.cut"}]
    titles = {told.get("title") for one in layers for told in one["encoding"].get("tooltip", [])}
    assert "task" in titles and "task duration" not in titles, "tasks may differ in their delay alone"


def charts(loaded: LoadedRun) -> Iterator[Drawing]:
    """Of the run's page and of the pages of its cells."""
    judged = JudgedRun(loaded)
    experiments = experiment_sections(judged.experiments)
    yield from run_page(judged, experiments, (), "").charts.values()
    for cell in loaded.cells:
        yield from cell_page_of(loaded, cell.key).charts.values()


MANY = replace(QUICK, burn_us=(0, 50), loads=("saturate-50", "rate-2000"), blocks=1)


@pytest.mark.parametrize("made", [synthetic_run, partial(synthetic_run, shape=MANY), partial(experiments_run, forks=1)])
def test_every_chart_is_vega_lite_that_its_own_schema_accepts(
    made: Callable[[Path], LoadedRun], tmp_path: Path
) -> None:
    # The schema takes long to read a chart: one of each kind, without its rows.
    kinds = {drawing.shape: drawing for drawing in charts(made(tmp_path))}
    assert len(kinds) >= 2
    for drawing in kinds.values():
        spec = {**vega_lite(drawing), "datasets": {}}
        alt.LayerChart.from_dict(spec, validate=True)
        assert '"{' not in json.dumps(spec), "a blank"
