"""Chart specifications for experiments: lines over a rate or over time, one per fork, and stacks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt

from jdkmatrix.report.charts.shapes import Drawing, Row, Shape, blank, blanks
from jdkmatrix.report.charts.specs import colour, dash, dashes, hovered, log_ticks

_HEIGHT = 230


@dataclass(frozen=True)
class Axis:
    """`low` to `high` are given, so that charts compare."""

    title: str
    low: float
    high: float
    log: bool = False
    number_format: str = "~s"

    def words(self, name: str) -> dict[str, str | float]:
        """What fills the blanks of `_place`."""
        own = {} if self.log else {f"{name}_format": self.number_format}
        return {f"{name}_title": self.title, f"{name}_low": self.low, f"{name}_high": self.high, **own}

    def lists(self, name: str) -> dict[str, list[Any]]:
        return {f"{name}_ticks": log_ticks(self.low, self.high)} if self.log else {}


def _place(name: str, log: bool) -> dict[str, Any]:
    """The axis "x" or "y", blank but for its kind."""
    ends = [blank(f"{name}_low"), blank(f"{name}_high")]
    return {
        "title": blank(f"{name}_title"),
        "scale": alt.Scale(type="log" if log else "linear", domain=ends, nice=False),
        "axis": alt.Axis(values=blanks(f"{name}_ticks"), format="~g")
        if log
        else alt.Axis(tickCount=5, format=blank(f"{name}_format")),
    }


@cache
def _lines_shape(x_log: bool, y_log: bool, marked: bool, with_reference: bool) -> Shape:
    x, y = alt.X("x:Q", **_place("x", x_log)), alt.Y("y:Q", **_place("y", y_log))
    base = alt.Chart(alt.NamedData(name="points"))
    layers = [
        base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
            x=x, y=y, color=colour(), strokeDash=dash(), detail="fork:N"
        ),
        hovered(
            base.mark_point(filled=True, size=60).encode(
                x=x,
                y=y,
                color=colour(),
                tooltip=[
                    alt.Tooltip("executor:N"),
                    alt.Tooltip("fork:Q"),
                    alt.Tooltip("x:Q", title=blank("x_title"), format=",.4~r"),
                    alt.Tooltip("y:Q", title=blank("y_title"), format=",.4~r"),
                ],
            ),
            "x",
            "y",
        ),
    ]
    if with_reference:
        reference = alt.Chart(alt.NamedData(name="reference"))
        layers.insert(0, reference.mark_line(style="interval", strokeDash=[4, 3]).encode(x=x, y=y))
    if marked:
        marks = alt.Chart(alt.NamedData(name="marks"))
        tooltip = [alt.Tooltip("executor:N"), alt.Tooltip("text:N")]
        layers.append(marks.mark_point(filled=True, size=64).encode(x=x, y=y, color=colour(), tooltip=tooltip))
    return Shape(alt.layer(*layers))


def lines(
    points: Sequence[Row],
    *,
    x: Axis,
    y: Axis,
    order: Sequence[str],
    description: str,
    marks: Sequence[Row] = (),
    reference: Sequence[Row] = (),
    height: int = _HEIGHT,
) -> Drawing:
    """`points`: executor, fork, x, y (None breaks the line); `marks`: executor, x, y, text, set off from their lines;
    `reference`: x, y of a line that is no measurement."""
    others = {name: rows for name, rows in (("marks", marks), ("reference", reference)) if rows}
    return _lines_shape(x.log, y.log, bool(marks), bool(reference)).filled(
        data={"points": points, **others},
        height=height,
        description=description,
        words={**x.words("x"), **y.words("y")},
        lists={**x.lists("x"), **y.lists("y"), "order": order, "dashes": dashes(order)},
    )


@cache
def _stack_shape(x_log: bool, y_log: bool) -> Shape:
    x = alt.X("x:Q", **_place("x", x_log))
    area = (
        alt.Chart(alt.NamedData(name="points"))
        .mark_area(opacity=0.85)
        .encode(
            x=x,
            y=alt.Y("y:Q", stack="zero", **_place("y", y_log)),
            color=alt.Color("origin:N", scale=alt.Scale(domain=blanks("origins"), range="ordinal"), legend=None),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("origin:N"),
                alt.Tooltip("x:Q", title=blank("x_title"), format=",.4~r"),
                alt.Tooltip("y:Q", title=blank("y_title"), format=",.4~r"),
            ],
        )
    )
    line = (
        alt.Chart(alt.NamedData(name="totals"))
        .mark_line(style="interval", strokeWidth=1.4)
        .encode(x=x, y=alt.Y("y:Q", **_place("y", y_log)), strokeDash=alt.StrokeDash("name:N", legend=None))
    )
    return Shape(alt.layer(area, line))


def stacked(
    points: Sequence[Row], *, x: Axis, y: Axis, origins: Sequence[str], totals: Sequence[Row], description: str
) -> Drawing:
    """`points`: origin, x, y, place (of the origin in the stack, from below); `totals`: name, x, y, drawn as lines on
    top. Origins keep their colours from chart to chart."""
    return _stack_shape(x.log, y.log).filled(
        data={"points": points, "totals": totals},
        height=_HEIGHT,
        description=description,
        words={**x.words("x"), **y.words("y")},
        lists={**x.lists("x"), **y.lists("y"), "origins": origins},
    )
