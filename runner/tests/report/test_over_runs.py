"""A figure over runs: whatever the figures are, every run is on its chart and in its trend."""

from __future__ import annotations

import math
import re

import altair as alt
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.report.blocks.spark import SparkPoint, spark
from jdkmatrix.report.charts.over_runs import RunAxis, RunPoint, over_runs
from jdkmatrix.report.charts.shapes import Drawing, blank
from tests.support.charts import rows_of, vega_lite

FIGURES = st.floats(1e-150, 1e150)
# A figure, and how far its interval reaches; None: it has none.
RUNS = st.lists(st.tuples(FIGURES, st.none() | st.floats(1, 1e3)), min_size=1, max_size=8)


def drawn(runs: list[tuple[float, float | None]], day_ms: int = 86_400_000) -> Drawing:
    points = []
    for number, (value, reach) in enumerate(runs):
        low, high = (None, None) if reach is None else (value / reach, value * reach)
        about = ("run", "day", "3", "25", "Open Liberty", "abc", "")
        care = "Not steady" if number else ""
        points.append(RunPoint(number * day_ms, about, "a line", "a line", value, low, high, f"{value:.2f}", care))
    marks, axis = [{"t": 0, "number": "1", "tool": False, "level": True}], RunAxis("Ratio", even=1.0)
    return over_runs(points, marks, axis=axis, order=("a line",), of="measured on", description="d")


@given(RUNS)
def test_every_run_is_inside_of_the_axes_and_no_interval_leaves_them(runs: list[tuple[float, float | None]]) -> None:
    drawing = drawn(runs)
    x_low, x_high, low, high = (drawing.words[blank(end)] for end in ("x_low", "x_high", "y_low", "y_high"))
    rows = rows_of(drawing.datasets["points"])
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
    assert drawing.lists[blank("days")] == [0]
    rows = rows_of(drawing.datasets["points"])
    assert all(word for row in rows for word in row.values() if isinstance(word, str)), "tooltips have no empty words"
    assert [(row["hollow"], row["care"]) for row in rows] == [(False, "–"), *[(True, "Not steady")] * 2]


@given(RUNS)
def test_a_trend_has_a_dot_for_each_run_inside_of_its_edges(runs: list[tuple[float, float | None]]) -> None:
    points = [
        SparkPoint(value, reach and value / reach, reach and value * reach, "a", hollow=False) for value, reach in runs
    ]
    svg = str(spark(points, "<0.8> & more"))
    circles = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)"', svg)]
    assert len(circles) == len(runs) and svg.count("<path") == sum(reach is not None for _, reach in runs)
    assert all(2.4 < x < 132 - 2.4 and 2.4 < y < 34 - 2.4 for x, y in circles)
    assert [x for x, _ in circles] == sorted(x for x, _ in circles)
    assert 'aria-label="&lt;0.8&gt; &amp; more"' in svg and "nan" not in svg


def test_an_interval_that_is_cut_off_ends_in_an_arrow() -> None:
    def ends(reach: float) -> tuple[bool, bool]:
        svg = str(spark([SparkPoint(1.0, 1 / reach, reach, "a", hollow=False)], ""))
        return "l3 3l3 -3" in svg, "l3 -3l3 3" in svg

    assert ends(1.9) == (False, False) and ends(2.1) == (True, True)
    row = rows_of(drawn([(1.0, 1.9)]).datasets["points"])[0]
    assert (row["low"], row["high"]) == (row["low_shown"], row["high_shown"])
    row = rows_of(drawn([(1.0, 3.0)]).datasets["points"])[0]
    assert row["low"] < row["low_shown"] and row["high"] > row["high_shown"]
    filters = [
        layer["transform"][0]["filter"] for layer in vega_lite(drawn([(1.0, 3.0)]))["layer"] if "transform" in layer
    ]
    assert {"datum.high > datum.high_shown", "datum.low < datum.low_shown"} <= set(filters)


def test_a_small_scatter_looks_small_and_higher_is_higher() -> None:
    def heights(*values: float) -> list[float]:
        svg = str(spark([SparkPoint(value, None, None, "a", hollow=False) for value in values], ""))
        return [float(y) for y in re.findall(r'cy="([0-9.]+)"', svg)]

    low, high = heights(1.0, 1.01)
    assert 0 < low - high < 2
    low, high = heights(1.0, 2.0)
    assert low - high > 20 and math.isclose(low + high, 34, abs_tol=0.2)
