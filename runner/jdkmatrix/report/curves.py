"""Chart specifications for experiments: lines over a rate or over time, one per fork, and stacks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from jdkmatrix.report.charts import DASHES, Row, Spec, colour, finish, log_ticks

_HEIGHT = 230


@dataclass(frozen=True)
class Axis:
    """`low` to `high` are given, so that charts compare."""

    title: str
    low: float
    high: float
    log: bool = False
    number_format: str = "~s"

    def scale(self) -> alt.Scale:
        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high], nice=False)

    def axis(self) -> alt.Axis:
        if self.log:
            return alt.Axis(values=log_ticks(self.low, self.high), format="~g")
        return alt.Axis(tickCount=5, format=self.number_format)


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
) -> Spec:
    """`points`: executor, fork, x, y (None breaks the line); `marks`: executor, x, y, text, set off from their lines;
    `reference`: x, y of a line that is no measurement."""
    xs = alt.X("x:Q", title=x.title, scale=x.scale(), axis=x.axis())
    ys = alt.Y("y:Q", title=y.title, scale=y.scale(), axis=y.axis())
    dash = alt.StrokeDash(
        "executor:N",
        scale=alt.Scale(domain=list(order), range=[DASHES[i % len(DASHES)] for i in range(len(order))]),
        legend=None,
    )
    base = alt.Chart(alt.InlineData(values=list(points)))
    line = base.mark_line(strokeWidth=1.6, opacity=0.85).encode(
        x=xs, y=ys, color=colour(order), strokeDash=dash, detail="fork:N"
    )
    hover = base.mark_point(opacity=0, size=70).encode(
        x=xs,
        y=ys,
        tooltip=[
            alt.Tooltip("executor:N"),
            alt.Tooltip("fork:Q"),
            alt.Tooltip("x:Q", title=x.title, format=",.4~r"),
            alt.Tooltip("y:Q", title=y.title, format=",.4~r"),
        ],
    )
    layers: list[alt.Chart] = []
    if reference:
        layers.append(
            alt.Chart(alt.InlineData(values=list(reference)))
            .mark_line(style="interval", strokeDash=[4, 3])
            .encode(x=xs, y=ys)
        )
    layers += [line, hover]
    if marks:
        marked = alt.Chart(alt.InlineData(values=list(marks)))
        tooltip = [alt.Tooltip("executor:N"), alt.Tooltip("text:N")]
        layers.append(marked.mark_point(filled=True, size=64).encode(x=xs, y=ys, color=colour(order), tooltip=tooltip))
    return finish(alt.layer(*layers, height=height), description)


def stacked(
    points: Sequence[Row], *, x: Axis, y: Axis, origins: Sequence[str], totals: Sequence[Row], description: str
) -> Spec:
    """`points`: origin, x, y, place (of the origin in the stack, from below); `totals`: name, x, y, drawn as lines on
    top. Origins keep their colours from chart to chart."""
    xs = alt.X("x:Q", title=x.title, scale=x.scale(), axis=x.axis())
    area = (
        alt.Chart(alt.InlineData(values=list(points)))
        .mark_area(opacity=0.85)
        .encode(
            x=xs,
            y=alt.Y("y:Q", stack="zero", title=y.title, scale=y.scale(), axis=y.axis()),
            color=alt.Color("origin:N", scale=alt.Scale(domain=list(origins), range="category"), legend=None),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("origin:N"),
                alt.Tooltip("x:Q", title=x.title, format=",.4~r"),
                alt.Tooltip("y:Q", title=y.title, format=",.4~r"),
            ],
        )
    )
    line = (
        alt.Chart(alt.InlineData(values=list(totals)))
        .mark_line(style="interval", strokeWidth=1.4)
        .encode(
            x=xs,
            y=alt.Y("y:Q", scale=y.scale(), title=y.title, axis=y.axis()),
            strokeDash=alt.StrokeDash("name:N", legend=None),
        )
    )
    return finish(alt.layer(area, line, height=_HEIGHT), description)
