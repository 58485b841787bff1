"""A figure over the runs of a host: a dot with its interval for each, joined where runs may stand on one line, and what
changed between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import altair as alt

from jdkmatrix.report.charts.shapes import (
    Drawing,
    NamedRows,
    Row,
    Shape,
    blank,
    blanks,
    colour,
    dash,
    dashes,
    hovered,
    rows,
    tooltips,
)

_HEIGHT = 260
_DAY_MS = 86_400_000
_ROOM = 0.06  # of the axes, beyond the outermost points
_ROOM_LEAST = 0.01  # of the figure, so that scatter looks small where it is
_REACH = 2  # intervals end so many times beyond the outermost points: wider ones, which leave no room, in an arrow
_ABOUT = ("run", "measured", "blocks", "JDK", "server", "commit", "new")
_NUMBERS = ",.4~r"
_NOTHING = "–"  # where there is nothing to tell


@dataclass(frozen=True)
class RunPoint:
    """A run; `about` it in words: run, measured, blocks, JDK, server, commit, new. `series` decides its colour and
    dash, `line` joins it with others of the same. `figure`: in words; `care`: why it must be read with care, and is
    hollow; empty where nothing is."""

    t_ms: int
    about: tuple[str, ...]
    series: str
    line: str
    value: float
    low: float | None
    high: float | None
    figure: str
    care: str


@dataclass(frozen=True)
class RunAxis:
    """The axis of a figure, which begins where the figures do. `even`: the value at which neither arm is ahead, for a
    line there, if it is on the axis."""

    title: str
    even: float | None = None


@cache
def _shape() -> Shape:
    title = blank("title")
    dates = alt.Axis(values=blanks("days"), labelExpr="utcFormat(datum.value, '%Y-%m-%d')", grid=False)
    x_scale = alt.Scale(domain=[blank("x_low"), blank("x_high")], nice=False, zero=False)
    y_scale = alt.Scale(domain=[blank("y_low"), blank("y_high")], nice=False, zero=False)
    x = alt.X("t:Q", title=None, scale=x_scale, axis=dates)
    y = alt.Y("value:Q", title=title, scale=y_scale, axis=alt.Axis(tickCount=5, format=_NUMBERS))
    low = alt.Y("low_shown:Q", title=title, scale=y_scale)
    colours, dashed = colour("series"), dash("series")
    told = [alt.Tooltip("series:N", title=blank("of")), *tooltips("figure", *_ABOUT, "care")]

    even = rows("even").mark_rule(style="interval", strokeDash=[4, 3], opacity=0.5)
    marks, points = rows("marks"), rows("points")
    changed = marks.transform_filter("datum.number !== ''")
    interval = points.transform_filter("isValid(datum.low_shown)").mark_rule(strokeWidth=1.6)
    above = points.transform_filter("datum.high > datum.high_shown").mark_point(shape="triangle-up", filled=True)
    below = points.transform_filter("datum.low < datum.low_shown").mark_point(shape="triangle-down", filled=True)
    line = points.mark_line(strokeWidth=1.8, opacity=0.85)
    plain = points.transform_filter("!datum.hollow").mark_point(filled=True, size=64)
    hollow = points.transform_filter("datum.hollow").mark_point(size=64, strokeWidth=1.8)
    near = points.mark_point(filled=True, size=110)
    return Shape(
        even.encode(y=y),
        marks.transform_filter("datum.tool").mark_rule(style="series", strokeDash=[1, 4]).encode(x=x),
        marks.transform_filter("datum.level").mark_rule(style="interval", strokeWidth=3).encode(x=x),
        changed.mark_rule(style="series").encode(x=x),
        changed.mark_text(style="value", align="left", dx=4).encode(x=x, y=alt.value(7), text="number:N"),
        line.encode(x=x, y=y, color=colours, strokeDash=dashed, detail="line:N"),
        interval.encode(x=x, y=low, y2="high_shown:Q", color=colours),
        plain.encode(x=x, y=y, color=colours),
        hollow.encode(x=x, y=y, color=colours),
        above.encode(x=x, y=alt.Y("high_shown:Q", title=title, scale=y_scale), color=colours),
        below.encode(x=x, y=low, color=colours),
        hovered(near.encode(x=x, y=y, color=colours, tooltip=told), "x", "y"),
    )


def over_runs(
    points: Sequence[RunPoint], marks: Sequence[Row], *, axis: RunAxis, order: Sequence[str], of: str, description: str
) -> Drawing:
    """`points`: at least one; `marks`, each between two runs: t, number (of the change in what was measured; empty if
    that stayed), tool (only the tool's commit is another), level (that of the figure changed). `order`: of series,
    which are what they are `of`."""
    times, values = [point.t_ms for point in points], [point.value for point in points]
    least, most = min(values) / _REACH, max(values) * _REACH
    cut = [
        (None, None) if point.low is None or point.high is None else (max(point.low, least), min(point.high, most))
        for point in points
    ]
    ends = [*values, *(end for pair in cut for end in pair if end is not None)]
    low, high = min(ends), max(ends)
    room = max(_ROOM * (high - low), _ROOM_LEAST * high)
    margin = round(_ROOM * (max(times) - min(times))) or _DAY_MS // 2
    names = ("series", "line", "t", "value", "low", "high", "low_shown", "high_shown", "hollow", "figure", "care")
    told = [
        (
            *(point.series, point.line, point.t_ms, point.value, point.low, point.high, *pair),
            *(bool(point.care), point.figure, point.care or _NOTHING),
            *(word or _NOTHING for word in point.about),
        )
        for point, pair in zip(points, cut, strict=True)
    ]
    even = [{"value": axis.even}] if axis.even is not None and low <= axis.even <= high else []
    return _shape().filled(
        data={"points": NamedRows((*names, *_ABOUT), told), "marks": marks, "even": even},
        height=_HEIGHT,
        description=description,
        title=axis.title,
        of=of,
        x_low=min(times) - margin,
        x_high=max(times) + margin,
        y_low=low - room,
        y_high=high + room,
        order=order,
        dashes=dashes(order),
        days=[*{time // _DAY_MS: time for time in reversed(times)}.values()],
    )
