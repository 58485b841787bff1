"""A bar for each cell, a point for each fork, and a tick where the formula says it should end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from jdkmatrix.report.charts import Row, Spec, colour, finish

# How much longer than the longest bar the axis is, for the labels.
_LABEL_ROOM = {1: 1.42, 2: 1.85}  # by how many lines the rows have: long ones leave a narrow screen little
_ROW_HEIGHT = 34
_LINE_HEIGHT = 13
_NUMBERS = ",.3~r"


@dataclass(frozen=True)
class Scale:
    """From 0 to `highest`, the same for charts that are compared. `linear_to`: up to there the scale is linear and
    beyond it logarithmic, so that 0 has a place on it; None: linear throughout."""

    title: str
    highest: float
    linear_to: float | None = None
    row_lines: int = 1

    @property
    def end(self) -> float:
        room = _LABEL_ROOM[self.row_lines]
        if self.linear_to is None:
            return self.highest * room
        return float(self.linear_to * ((1 + self.highest / self.linear_to) ** room - 1))

    def scale(self) -> alt.Scale:
        if self.linear_to is None:
            return alt.Scale(domain=[0, self.end], nice=False)
        return alt.Scale(type="symlog", constant=self.linear_to, domain=[0, self.end], nice=False)

    def axis(self) -> alt.Axis:
        if self.linear_to is None:
            return alt.Axis(tickCount=4, format=_NUMBERS)
        return alt.Axis(values=self.ticks(), format=_NUMBERS)

    def ticks(self) -> list[float]:
        """0, and powers of ten from the end of the linear part on, five at most."""
        tick, found = self.linear_to or 1.0, [0.0]
        while tick <= self.highest * 1.001:
            found.append(tick)
            tick *= 10
        step = max(1, 1 + (len(found) - 2) // 5)
        return [found[0], *found[1::step]]


def expected_bars(
    medians: Sequence[Row], forks: Sequence[Row], *, scale: Scale, order: Sequence[str], description: str
) -> Spec:
    """`medians`: row (its lines apart by a line end), executor, median, expected (None: no tick), label,
    expected_label; `forks`: row, executor, fork, value, label. Rows stand in the order of `medians`; what is below 0 is
    drawn at 0."""
    rows = [row["row"] for row in medians]
    y = alt.Y(
        "row:N",
        # As the domain of a scale, never as a sort: Vega-Lite makes an expression of a sort's values.
        scale=alt.Scale(domain=rows),
        sort=None,
        title=None,
        axis=alt.Axis(
            labelExpr="split(datum.label, '\\n')",
            labelLimit=170,
            labelLineHeight=_LINE_HEIGHT,
            labelOverlap=False,
            labelOffset=-(scale.row_lines - 1) * _LINE_HEIGHT / 2,
        ),
    )
    x_scale, end = scale.scale(), scale.end

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=scale.title, scale=x_scale, axis=scale.axis())

    data = alt.InlineData(values=[{**row, "shown": max(row["median"], 0), "zero": 0, "end": end} for row in medians])
    tooltip = [
        alt.Tooltip("executor:N", title="arm"),
        alt.Tooltip("label:N", title="median"),
        alt.Tooltip("expected_label:N", title="expected"),
    ]
    base = alt.Chart(data)
    bar = base.mark_bar(opacity=0.82, cornerRadiusEnd=2, height=16).encode(
        y=y, x=x("shown"), x2="zero:Q", color=colour(order), tooltip=tooltip
    )
    tick = (
        base.transform_filter("isValid(datum.expected)")
        .mark_tick(style="expected", thickness=3, height=26)
        .encode(y=y, x=x("expected"), tooltip=tooltip)
    )
    point = (
        alt.Chart(alt.InlineData(values=[{**row, "shown": max(row["value"], 0)} for row in forks]))
        .mark_point(style="fork", filled=True, size=36)
        .encode(
            y=y,
            x=x("shown"),
            tooltip=[
                alt.Tooltip("executor:N", title="arm"),
                alt.Tooltip("fork:Q"),
                alt.Tooltip("label:N", title="figure"),
            ],
        )
    )
    label = base.mark_text(style="value", align="right").encode(y=y, x=x("end"), text="label:N")
    return finish(alt.layer(bar, point, tick, label, height=_ROW_HEIGHT * len(rows)), description)
