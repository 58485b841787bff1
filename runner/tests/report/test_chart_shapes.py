"""Charts that fill in a shape: nothing stays blank, nothing given is lost, and the result is Vega-Lite. A figure over
runs: whatever the figures are, every run is on its chart and in its trend."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.blocks.spark import spark
from jdkmatrix.report.charts.bars import bars
from jdkmatrix.report.charts.lines import Axis, lines, over_runs, series
from jdkmatrix.report.charts.shapes import Drawing, Shape, blank, blanks, on_a_page, rows
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import vega_lite
from tests.support.experiment_runs import experiments_of
from tests.support.judged_pages import page_in
from tests.support.served_runs import QUICK, made_up

SHAPE = Shape(
    rows("rows").mark_point().encode(x=alt.X("x:Q", title=blank("title"), scale=alt.Scale(domain=blanks("ends"))))
)


def test_a_page_holds_a_shape_once_and_of_each_chart_what_is_its_own() -> None:
    ends = [1, 2]
    one = SHAPE.filled(data={"rows": [{"x": 1}]}, height=10, description="", title="{ends}", ends=ends)
    two = SHAPE.filled(data={"rows": []}, height=9, description="", title="", ends=ends)
    page = on_a_page({"one": one, "two": two})
    assert page["shapes"] == [SHAPE.spec]
    assert [chart["shape"] for chart in page["charts"].values()] == [0, 0]
    assert page["charts"]["one"]["datasets"] == {"rows": {"names": ["x"], "rows": [[1]]}}
    assert page["charts"]["two"]["datasets"] == {"rows": {"names": [], "rows": []}}
    assert on_a_page({}) is None


def test_an_interval_that_reaches_beyond_its_chart_ends_in_an_arrow() -> None:
    means = [
        {"executor": name, "work": "no remote delay", "mean": 1.0, "low": 0.9, "high": high, "label": "1"}
        for name, high in (("wide", 3.0), ("narrow", 1.05), ("lone", None))
    ]
    words = {"title": "", "figure": "", "number_format": "~s", "description": ""}
    drawing = bars(means, [], order=("wide", "narrow", "lone"), highest=1.0, grouped=False, **words)
    assert [(row["high_shown"], row["cut"]) for row in drawing.datasets["means"]] == [
        (1.06, True), (1.05, False), (None, False),
    ]  # fmt: skip
    layers = vega_lite(drawing)["layer"]
    (arrow,) = (one for one in layers if one["mark"].get("shape") == "triangle-right")
    assert arrow["transform"] == [{"filter": "datum.cut"}]
    titles = {told.get("title") for one in layers for told in one["encoding"].get("tooltip", [])}
    assert "task" in titles and "task duration" not in titles, "tasks may differ in their delay alone"


@pytest.mark.parametrize(("most", "numbers"), [(0.8, "~f"), (999, "~f"), (1000, "~s")])
def test_an_axis_has_thousands_in_short_and_no_thousandths(most: float, numbers: str) -> None:
    """With "~s", d3 turns 0.2 into 200m, which reads as a unit."""
    small = series([(0, 0.2), (1, most), (2, None)], [], end_s=2, title="", description="")
    large = lines([], x=Axis("", 0, 2), y=Axis("", 0, most), order=("virtual",), description="")
    assert numbers in small.given.values() and numbers in large.given.values()


def charts(loaded: LoadedRun) -> Iterator[Drawing]:
    """Yield the charts of the run's page and of the pages of its cells."""
    judged = JudgedRun(loaded)
    yield from run_page(judged, experiment_sections(judged.experiments), (), "").charts.values()
    for cell in loaded.cells:
        yield from page_in(judged, cell.key).charts.values()


MANY = replace(QUICK, burn_us=(0, 50), loads=("saturate-50", "rate-2000"), blocks=1)


@pytest.mark.parametrize("made", [made_up, partial(made_up, MANY), partial(experiments_of, forks=1)])
def test_every_chart_is_vega_lite_that_its_schema_accepts(made: Callable[[], LoadedRun]) -> None:
    # The schema takes long to read a chart: validate one of each kind, without its rows.
    kinds = {drawing.shape: drawing for drawing in charts(made())}
    assert len(kinds) >= 2
    for drawing in kinds.values():
        spec = {**vega_lite(drawing), "datasets": {}}
        alt.LayerChart.from_dict(spec, validate=True)
        assert '"{' not in json.dumps(spec), "a blank"


FIGURES = st.floats(1e-150, 1e150)
# A figure, and how far its interval reaches; None if it has no interval.
RUNS = st.lists(st.tuples(FIGURES, st.none() | st.floats(1, 1e3)), min_size=1, max_size=8)


def drawn(runs: list[tuple[float, float | None]], day_ms: int = 86_400_000) -> Drawing:
    points = []
    for number, (value, reach) in enumerate(runs):
        low, high = (None, None) if reach is None else (value / reach, value * reach)
        about = {"run": "run", "measured": "day", "blocks": "3", "JDK": "25", "commit": "abc", "new": ""}
        care = {"care": "Not steady" if number else "", "server": "Open Liberty"}
        figure = {"value": value, "low": low, "high": high, "figure": f"{value:.2f}"}
        points.append({"t": number * day_ms, "series": "a line", "line": "a line"} | figure | about | care)
    marks = [{"t": 0, "number": "1", "tool": False, "level": True}]
    order = ("a line",)
    return over_runs(points, marks, title="Ratio", order=order, of="measured on", description="d", even=1.0)


@given(RUNS)
def test_every_run_is_inside_of_the_axes_and_no_interval_leaves_them(runs: list[tuple[float, float | None]]) -> None:
    drawing = drawn(runs)
    x_low, x_high, low, high = (drawing.given[blank(end)] for end in ("x_low", "x_high", "y_low", "y_high"))
    rows = drawing.datasets["points"]
    assert [row["value"] for row in rows] == [value for value, _ in runs]
    for row in rows:
        assert low < row["value"] < high and x_low < row["t"] < x_high
        if row["low"] is not None:
            assert low <= row["low_shown"] <= row["value"] <= row["high_shown"] <= high
    least = min(row["low_shown"] or row["value"] for row in rows)
    most = max(row["high_shown"] or row["value"] for row in rows)
    assert bool(drawing.datasets["even"]) == (least <= 1.0 <= most)


def test_it_is_vega_lite_and_runs_of_one_day_share_a_label() -> None:
    drawing = drawn([(0.8, 1.1), (0.9, None), (0.7, 1.2)], day_ms=40_000_000)
    alt.LayerChart.from_dict({**vega_lite(drawing), "datasets": {}}, validate=True)
    assert drawing.given[blank("days")] == [0]
    rows = drawing.datasets["points"]
    assert all(word for row in rows for word in row.values() if isinstance(word, str)), "tooltips have no empty words"
    assert [(row["hollow"], row["care"]) for row in rows] == [(False, "–"), *[(True, "Not steady")] * 2]


def of_run(value: float, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high, "line": "a", "care": ""}


@given(RUNS)
def test_a_trend_has_a_dot_for_each_run_inside_of_its_edges(runs: list[tuple[float, float | None]]) -> None:
    points = [of_run(value, reach and value / reach, reach and value * reach) for value, reach in runs]
    svg = str(spark(points, "<0.8> & more"))
    circles = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)"', svg)]
    assert len(circles) == len(runs) and svg.count("<path") == sum(reach is not None for _, reach in runs)
    assert all(2.4 < x < 132 - 2.4 and 2.4 < y < 34 - 2.4 for x, y in circles)
    assert [x for x, _ in circles] == sorted(x for x, _ in circles)
    assert 'aria-label="&lt;0.8&gt; &amp; more"' in svg and "nan" not in svg


def test_an_interval_that_is_cut_off_ends_in_an_arrow() -> None:
    def ends(reach: float) -> tuple[bool, bool]:
        svg = str(spark([of_run(1.0, 1 / reach, reach)], ""))
        return "l3 3l3 -3" in svg, "l3 -3l3 3" in svg

    assert ends(1.9) == (False, False) and ends(2.1) == (True, True)
    row = drawn([(1.0, 1.9)]).datasets["points"][0]
    assert (row["low"], row["high"]) == (row["low_shown"], row["high_shown"])
    row = drawn([(1.0, 3.0)]).datasets["points"][0]
    assert row["low"] < row["low_shown"] and row["high"] > row["high_shown"]
    filters = [
        layer["transform"][0]["filter"] for layer in vega_lite(drawn([(1.0, 3.0)]))["layer"] if "transform" in layer
    ]
    assert {"datum.high > datum.high_shown", "datum.low < datum.low_shown"} <= set(filters)


def test_a_small_scatter_looks_small_and_higher_is_higher() -> None:
    def heights(*values: float) -> list[float]:
        svg = str(spark([of_run(value) for value in values], ""))
        return [float(y) for y in re.findall(r'cy="([0-9.]+)"', svg)]

    low, high = heights(1.0, 1.01)
    assert 0 < low - high < 2
    low, high = heights(1.0, 2.0)
    assert low - high > 20 and math.isclose(low + high, 34, abs_tol=0.2)


def test_a_point_between_two_breaks_of_its_line_is_drawn() -> None:
    points = [
        {"executor": "virtual", "fork": fork, "x": x, "y": y}
        for fork, ys in enumerate(((None, 5.0, None, 6.0, 7.0), (8.0,), (9.0, None)), start=1)
        for x, y in enumerate(ys)
    ]
    drawn = lines(points, x=Axis("", 0, 5), y=Axis("", 0, 9), order=("virtual",), description="")
    assert [row["y"] for row in drawn.datasets["alone"]] == [5.0, 8.0, 9.0]
    assert sum(layer["data"] == {"name": "alone"} for layer in vega_lite(drawn)["layer"]) == 1
    whole = lines(points[3:5], x=Axis("", 0, 5), y=Axis("", 0, 9), order=("virtual",), description="")
    assert "alone" not in whole.datasets
