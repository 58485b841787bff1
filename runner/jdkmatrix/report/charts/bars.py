"""Bars of means with their intervals, and of medians beside expected values, with a point for every fork. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import altair as alt

from jdkmatrix.report.charts.shapes import Drawing, Row, Shape, blank, blanks, colour, rows, tooltips

_LABEL_ROOM = 1.3
# Labels of a task that works and waits, and of an executor with a tuning.
_HAS_TWO_LINES = "indexof(datum.label, ', ') > 0 || indexof(datum.label, '+') > 0"
_IN_TWO_LINES = "split(replace(replace(datum.label, ', ', ',\\n'), '+', '\\n+'), '\\n')"
_MIDDLE = {"condition": {"test": _HAS_TWO_LINES, "value": -6.5}, "value": 0}  # else the first line would be there


@cache
def _bars_shape(grouped: bool) -> Shape:
    """Build the shape. `grouped`: executors are listed for each task; else there is one task."""
    row, names, limit = ("work", "works", 90) if grouped else ("executor", "present", 120)
    # Order is given as a scale's domain, never as a sort: Vega-Lite turns a sort's values into an expression.
    scale = alt.Scale(domain=blanks(names))
    axis = alt.Axis(labelLimit=limit, labelExpr=_IN_TWO_LINES, labelOffset=_MIDDLE)
    place: dict[str, Any] = {"y": alt.Y(f"{row}:N", scale=scale, sort=None, title=None, axis=axis)}
    if grouped:
        present = alt.Scale(domain=blanks("present"))
        place["yOffset"] = alt.YOffset("executor:N", scale=present, sort=None)
    along: dict[str, Any] = {"title": blank("title"), "scale": alt.Scale(domain=[0, blank("end")], nice=False)}
    mean = alt.X("mean:Q", axis=alt.Axis(tickCount=4, format=blank("number_format")), **along)
    low, high, value, end = (alt.X(f"{name}:Q", **along) for name in ("low_shown", "high_shown", "value", "end"))
    figure = alt.Tooltip("label:N", title=blank("figure"))
    told = [*tooltips("executor", work="task"), figure]
    bar = rows("means").mark_bar(opacity=0.82, cornerRadiusEnd=2)
    interval = rows("means").transform_filter("isValid(datum.high_shown)").mark_rule(style="interval")
    cut = rows("means").transform_filter("datum.cut").mark_point(style="interval", shape="triangle-right", filled=True)
    point = rows("forks").mark_point(style="fork", filled=True, size=42)
    label = rows("means").mark_text(style="value", align="right")
    return Shape(
        bar.encode(x=mean, color=colour(), tooltip=told, **place),
        interval.encode(x=low, x2="high_shown:Q", **place),
        cut.encode(x=high, tooltip=told, **place),
        point.encode(x=value, tooltip=[alt.Tooltip("executor:N"), alt.Tooltip("fork:Q"), figure], **place),
        label.encode(x=end, text="label:N", **place),
    )


def bars(
    means: Sequence[Row],
    forks: Sequence[Row],
    *,
    order: Sequence[str],
    title: str,
    figure: str,
    number_format: str,
    highest: float,
    grouped: bool,
    description: str,
) -> Drawing:
    """Draw bars of means with their intervals, and every fork as a point; `grouped`: by task, even where there is
    only one.

    `means`: executor, work, mean, low, high (None: no interval), label; `forks`: executor, work, fork, value, label.
    `title` is that of the axis, `figure` names what the labels show.
    `highest` is the largest value, the same for charts that are compared.
    """
    end = highest * _LABEL_ROOM
    present = [name for name in order if any(row["executor"] == name for row in means)]
    works = list(dict.fromkeys(row["work"] for row in means))
    # The labels are beyond this edge. An interval of two forks can be wider than the chart, and then ends here in an
    # arrow: the table has its figures.
    edge = highest * 1.06
    table = [
        {
            **row,
            "low_shown": None if row["low"] is None else max(row["low"], 0),
            "high_shown": None if row["high"] is None else min(row["high"], edge),
            "cut": row["high"] is not None and row["high"] > edge,
            "end": end,
        }
        for row in means
    ]
    return _bars_shape(grouped).filled(
        data={"means": table, "forks": forks},
        height=(17 * len(present) + 12) * len(works) if grouped else 30 * len(present),
        description=description,
        title=title,
        figure=figure,
        number_format=number_format,
        end=end,
        order=order,
        present=present,
        **({"works": works} if grouped else {}),
    )


# How much longer the axis is than the longest bar, to leave room for labels.
_ROOM_BY_LINES = {1: 1.42, 2: 1.85}  # by the lines of a row: long labels leave little of a narrow screen
_ROW_HEIGHT = 34
_LINE_HEIGHT = 13
_NUMBERS = ",.3~r"


@dataclass(frozen=True)
class BarScale:
    """A scale from 0 to `highest`, the same for charts that are compared. `linear_to`: it is linear up to here and
    logarithmic beyond, so that 0 has a place on it; None: linear throughout."""

    title: str
    highest: float
    linear_to: float | None = None
    row_lines: int = 1

    @property
    def end(self) -> float:
        room = _ROOM_BY_LINES[self.row_lines]
        if self.linear_to is None:
            return self.highest * room
        return float(self.linear_to * ((1 + self.highest / self.linear_to) ** room - 1))

    def ticks(self) -> list[float]:
        """Return 0, and at most five powers of ten from the end of the linear part on."""
        tick, found = self.linear_to or 1.0, [0.0]
        while tick <= self.highest * 1.001:
            found.append(tick)
            tick *= 10
        step = max(1, 1 + (len(found) - 2) // 5)
        return [found[0], *found[1::step]]


@lru_cache
def _expected_shape(linear_to: float | None, row_lines: int) -> Shape:
    """Build the shape for a `BarScale` with these two values."""
    labels = alt.Axis(
        labelExpr="split(datum.label, '\\n')",
        labelLimit=170,
        labelLineHeight=_LINE_HEIGHT,
        labelOverlap=False,
        labelOffset=-(row_lines - 1) * _LINE_HEIGHT / 2,
    )
    y = alt.Y("row:N", scale=alt.Scale(domain=blanks("rows")), sort=None, title=None, axis=labels)
    ends: list[Any] = [0, blank("end")]
    if linear_to is None:
        scale, axis = alt.Scale(domain=ends, nice=False), alt.Axis(tickCount=4, format=_NUMBERS)
    else:
        scale = alt.Scale(type="symlog", constant=linear_to, domain=ends, nice=False)
        axis = alt.Axis(values=blanks("ticks"), format=_NUMBERS)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=blank("title"), scale=scale, axis=axis)

    told = tooltips(executor="arm", label="median", expected_label="expected")
    of_fork = [alt.Tooltip("executor:N", title="arm"), alt.Tooltip("fork:Q"), alt.Tooltip("label:N", title="figure")]
    bar = rows("medians").mark_bar(opacity=0.82, cornerRadiusEnd=2, height=16)
    point = rows("forks").mark_point(style="fork", filled=True, size=36)
    expected = rows("medians").transform_filter("isValid(datum.expected)")
    tick = expected.mark_tick(style="expected", thickness=3, height=26)
    label = rows("medians").mark_text(style="value", align="right")
    return Shape(
        bar.encode(y=y, x=x("shown"), x2="zero:Q", color=colour(), tooltip=told),
        point.encode(y=y, x=x("shown"), tooltip=of_fork),
        tick.encode(y=y, x=x("expected"), tooltip=told),
        label.encode(y=y, x=x("end"), text="label:N"),
    )


def expected_bars(
    medians: Sequence[Row], forks: Sequence[Row], *, scale: BarScale, order: Sequence[str], description: str
) -> Drawing:
    """Draw medians beside expected values. `medians`: row (its lines separated by line ends), executor, median,
    expected (None: no tick), label, expected_label; `forks`: row, executor, fork, value, label. Rows are in the order
    of `medians`; values below 0 are drawn at 0."""
    names = [row["row"] for row in medians]
    return _expected_shape(scale.linear_to, scale.row_lines).filled(
        data={
            "medians": [{**row, "shown": max(row["median"], 0), "zero": 0, "end": scale.end} for row in medians],
            "forks": [{**row, "shown": max(row["value"], 0)} for row in forks],
        },
        height=_ROW_HEIGHT * len(names),
        description=description,
        title=scale.title,
        end=scale.end,
        rows=names,
        order=order,
        **({} if scale.linear_to is None else {"ticks": scale.ticks()}),
    )
