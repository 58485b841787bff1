"""Lines over a rate, over time or over the runs of a host, stacks, and one figure of a fork second by second. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

import altair as alt

from jdkmatrix.domain.quantities import MISSING
from jdkmatrix.report.charts.shapes import (
    Drawing,
    Row,
    Shape,
    blank,
    blanks,
    colour,
    dash,
    dashes,
    hovered,
    plain_numbers,
    rows,
    tooltips,
)


def log_ticks(low: float, high: float) -> list[float]:
    """Return ticks in 1-2-5 steps between the ends, or powers of ten where those would crowd; at least one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [
        tick
        for power in range(first, last + 1)
        for step in steps
        if low * 0.999 <= (tick := float(f"{step}e{power}")) <= high * 1.001
    ] or [low]


def log_domain(values: Sequence[float]) -> tuple[float, float]:
    """Return a domain around positive values, with some room, that ends on round numbers."""
    low, high = min(values) * 0.95, max(values) * 1.05
    below, above = (10.0 ** math.floor(math.log10(end)) for end in (low, high))
    first = max(step for step in (1, 2, 5) if step * below <= low * (1 + 1e-9))
    last = next((step for step in (1, 2, 5) if step * above >= high * (1 - 1e-9)), 10)
    return first * below, last * above


@cache
def _series_shape() -> Shape:
    scale = alt.Scale(domain=[0, blank("end")], nice=False)
    x = alt.X("t:Q", title=None, scale=scale, axis=alt.Axis(tickCount=6))
    number = alt.Axis(tickCount=3, format=blank("format"))
    y = alt.Y("v:Q", title=None, scale=alt.Scale(zero=True, nice=True), axis=number)
    band = rows("bands").mark_rect(style="window")
    line = rows("rows").mark_line(
        style="series", strokeWidth=1.6, interpolate="linear", point=alt.OverlayMarkDef(size=9)
    )
    told = [
        alt.Tooltip("t:Q", title="seconds since start", format=".1f"),
        alt.Tooltip("v:Q", title=blank("title"), format=",.4~r"),
    ]
    return Shape(
        band.encode(x=alt.X("start:Q", scale=scale, title=None), x2="end:Q"),
        line.encode(x=x, y=y),
        hovered(rows("rows").mark_point(style="series", filled=True, size=60).encode(x=x, y=y, tooltip=told), "x"),
    )


def series(
    points: Sequence[tuple[float, float | None]],
    bands: Sequence[tuple[float, float]],
    *,
    end_s: float,
    title: str,
    description: str,
) -> Drawing:
    """Draw one figure over the seconds since the fork's start; measured windows are shaded. None breaks the line."""
    told = [{"t": round(t, 3), "v": v} for t, v in points]
    windows = [{"start": start, "end": end} for start, end in bands]
    return _series_shape().filled(
        data={"rows": told, "bands": windows},
        height=96,
        description=description,
        end=end_s,
        title=title,
        format=plain_numbers(max((v for _, v in points if v is not None), default=0)),
    )


_HEIGHT = 230


@dataclass(frozen=True)
class Axis:
    """An axis with given ends, so that charts compare. `number_format`: d3's, "" for plain numbers. `ticks`: for a
    logarithmic axis where the usual ones do not do, with `labels`, the expression that labels them. `told`: the field
    of a point that says in words where it is on this axis."""

    title: str
    low: float
    high: float
    log: bool = False
    number_format: str = ""
    ticks: tuple[float, ...] = ()
    labels: str | None = None
    told: str | None = None

    def given(self, name: str) -> dict[str, Any]:
        """Return what fills the blanks of `place`."""
        ends = {f"{name}_title": self.title, f"{name}_low": self.low, f"{name}_high": self.high}
        if not self.log:
            return {**ends, f"{name}_format": self.number_format or plain_numbers(self.high)}
        ticks = [tick for tick in self.ticks if tick <= self.high]
        return {**ends, f"{name}_ticks": ticks or log_ticks(self.low, self.high)}

    @property
    def kind(self) -> Axis:
        """The part of the axis that belongs to its shape."""
        return Axis("", 0, 1, self.log, labels=self.labels, told=self.told)

    def place(self, name: str) -> dict[str, Any]:
        """Build the axis "x" or "y", blank except for its kind."""
        ends = [blank(f"{name}_low"), blank(f"{name}_high")]
        labels: dict[str, Any] = {"labelExpr": self.labels} if self.labels else {"format": "~g"}
        return {
            "title": blank(f"{name}_title"),
            "scale": alt.Scale(type="log" if self.log else "linear", domain=ends, nice=False),
            "axis": alt.Axis(values=blanks(f"{name}_ticks"), **labels)
            if self.log
            else alt.Axis(tickCount=5, format=blank(f"{name}_format")),
        }

    def tooltip(self, name: str) -> alt.Tooltip:
        title = blank(f"{name}_title")
        if self.told:
            return alt.Tooltip(f"{self.told}:N", title=title)
        return alt.Tooltip(f"{name}:Q", title=title, format=",.4~r")


@cache
def _lines_shape(
    x_kind: Axis, y_kind: Axis, by_fork: bool, marked: bool, with_reference: bool, with_alone: bool
) -> Shape:
    x, y = alt.X("x:Q", **x_kind.place("x")), alt.Y("y:Q", **y_kind.place("y"))
    detail = {"detail": "fork:N"} if by_fork else {}
    fork = [alt.Tooltip("fork:Q")] if by_fork else []
    told = [alt.Tooltip("executor:N"), *fork, x_kind.tooltip("x"), y_kind.tooltip("y")]
    line = rows("points").mark_line(strokeWidth=1.6 if by_fork else 2.2, opacity=0.85)
    point = rows("points").mark_point(filled=True, size=60)
    layers = [
        line.encode(x=x, y=y, color=colour(), strokeDash=dash(), **detail),
        hovered(point.encode(x=x, y=y, color=colour(), tooltip=told), "x", "y"),
    ]
    if with_alone:
        alone = rows("alone").mark_point(filled=True, size=12, opacity=0.85)
        layers.insert(1, alone.encode(x=x, y=y, color=colour()))
    if with_reference:
        layers.insert(0, rows("reference").mark_line(style="interval", strokeDash=[4, 3]).encode(x=x, y=y))
    if marked:
        for filled, which in ((True, "!datum.hollow"), (False, "datum.hollow")):
            marks = rows("marks").transform_filter(which).mark_point(filled=filled, size=64, strokeWidth=1.6)
            layers.append(marks.encode(x=x, y=y, color=colour(), tooltip=tooltips("executor", "text")))
    return Shape(*layers)


def _alone(points: Sequence[Row]) -> list[Row]:
    """Return the points alone between two breaks of their line, where no line is drawn."""
    found: list[Row] = []
    for _, line in groupby(points, key=lambda row: (row["executor"], row.get("fork"))):
        for broken, piece in groupby(line, key=lambda row: row["y"] is None):
            first, *others = piece
            if not broken and not others:
                found.append(first)
    return found


def lines(
    points: Sequence[Row],
    *,
    x: Axis,
    y: Axis,
    order: Sequence[str],
    description: str,
    by_fork: bool = True,
    marks: Sequence[Row] = (),
    reference: Sequence[Row] = (),
    height: int = _HEIGHT,
) -> Drawing:
    """Draw lines. `points`: executor, fork, x, y (None breaks the line); `marks`: executor, x, y, text, and `hollow`
    for those that are not filled, set off from their lines; `reference`: x, y of a line that is no measurement.
    `by_fork`: a line for each fork; else one for each executor."""
    alone = _alone(points)
    others = {name: rows for name, rows in (("alone", alone), ("marks", marks), ("reference", reference)) if rows}
    return _lines_shape(x.kind, y.kind, by_fork, bool(marks), bool(reference), bool(alone)).filled(
        data={"points": points, **others},
        height=height,
        description=description,
        **x.given("x"),
        **y.given("y"),
        order=order,
        dashes=dashes(order),
    )


@cache
def _stack_shape(x_kind: Axis, y_kind: Axis) -> Shape:
    x, y = alt.X("x:Q", **x_kind.place("x")), y_kind.place("y")
    origins = alt.Scale(domain=blanks("origins"), range="ordinal")
    area = rows("points").mark_area(opacity=0.85)
    line = rows("totals").mark_line(style="interval", strokeWidth=1.4)
    return Shape(
        area.encode(
            x=x,
            y=alt.Y("y:Q", stack="zero", **y),
            color=alt.Color("origin:N", scale=origins, legend=None),
            order=alt.Order("place:Q"),
            tooltip=[alt.Tooltip("origin:N")],  # an area is one mark, which knows the figures of its first point only
        ),
        line.encode(x=x, y=alt.Y("y:Q", **y), strokeDash=alt.StrokeDash("name:N", legend=None)),
    )


def stacked(
    points: Sequence[Row], *, x: Axis, y: Axis, origins: Sequence[str], totals: Sequence[Row], description: str
) -> Drawing:
    """Draw a stack. `points`: origin, x, y, place (of the origin in the stack, from the bottom); `totals`: name, x, y,
    drawn as lines on top. Origins keep their colours from chart to chart."""
    data = {"points": points, "totals": totals}
    return _stack_shape(x.kind, y.kind).filled(
        data=data, height=_HEIGHT, description=description, **x.given("x"), **y.given("y"), origins=origins
    )


_RUNS_HEIGHT = 260
_DAY_MS = 86_400_000
_ROOM = 0.06  # of the axes, beyond the outermost points
_ROOM_LEAST = 0.01  # of the figure, so that small scatter looks small
_REACH = 2  # the factor beyond the outermost points at which wider intervals, which leave no room, end in an arrow
_ABOUT = ("run", "measured", "blocks", "JDK", "server", "commit", "new")
_NUMBERS = ",.4~r"


@cache
def _over_runs_shape() -> Shape:
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
    points: Sequence[Row],
    marks: Sequence[Row],
    *,
    title: str,
    order: Sequence[str],
    of: str,
    description: str,
    even: float | None = None,
) -> Drawing:
    """Draw a figure over runs. `points`, one per run, at least one: t (in ms since 1970), value, low and high (None: no
    interval), figure (in words), series (decides its colour and dash), line (joins it with others), care (why it must
    be read with care and is hollow; else empty), and in words run, measured, blocks, JDK, server, commit, new.

    `marks`, each between two runs: t, number (of the change in what was measured; empty if none), tool (only the tool's
    commit differs), level (that of the figure changed). `title`: of the figure's axis, which begins where the figures
    do; `order`: of the series; `of`: what these are; `even`: the value at which neither arm is ahead, drawn as a line
    if it is on the axis."""
    times, values = [row["t"] for row in points], [row["value"] for row in points]
    least, most = min(values) / _REACH, max(values) * _REACH
    told = []
    for row in points:
        bare = row["low"] is None or row["high"] is None
        shown = (None, None) if bare else (max(row["low"], least), min(row["high"], most))
        drawn = {"low_shown": shown[0], "high_shown": shown[1], "hollow": bool(row["care"])}
        told.append({**row, **drawn, **{name: row[name] or MISSING for name in ("care", *_ABOUT)}})
    ends = [*values, *(row[end] for row in told for end in ("low_shown", "high_shown") if row[end] is not None)]
    low, high = min(ends), max(ends)
    room = max(_ROOM * (high - low), _ROOM_LEAST * high)
    margin = round(_ROOM * (max(times) - min(times))) or _DAY_MS // 2
    level = [{"value": even}] if even is not None and low <= even <= high else []
    return _over_runs_shape().filled(
        data={"points": told, "marks": marks, "even": level},
        height=_RUNS_HEIGHT,
        description=description,
        title=title,
        of=of,
        x_low=min(times) - margin,
        x_high=max(times) + margin,
        y_low=low - room,
        y_high=high + room,
        order=order,
        dashes=dashes(order),
        days=[*{time // _DAY_MS: time for time in reversed(times)}.values()],
    )
