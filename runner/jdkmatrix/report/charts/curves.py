"""Lines over a rate or over time, one per fork, and stacks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jdkmatrix.report.charts.shapes import Drawing, Row
from jdkmatrix.report.charts.specs import dashes, log_ticks

_HEIGHT = 230


@dataclass(frozen=True)
class Axis:
    """`low` to `high` are given, so that charts compare. `ticks`: of a logarithmic one where the usual do not do, with
    the expression that labels them."""

    title: str
    low: float
    high: float
    log: bool = False
    number_format: str = "~s"
    ticks: tuple[float, ...] = ()
    labels: str | None = None

    def blanks(self, name: str) -> dict[str, Any]:
        """Of its place, "x" or "y"."""
        axis: dict[str, Any] = {"tickCount": 5, "format": self.number_format}
        if self.log:
            ticks = [tick for tick in self.ticks if tick <= self.high] or log_ticks(self.low, self.high)
            axis = {"values": ticks, **({"labelExpr": self.labels} if self.labels else {"format": "~g"})}
        scale = {"type": "log" if self.log else "linear", "domain": [self.low, self.high], "nice": False}
        return {f"{name}_title": self.title, f"{name}_scale": scale, f"{name}_axis": axis}


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
    """`points`: executor, fork, x, y (None breaks the line); `marks`: executor, x, y, text, and `hollow` where they are
    not filled, set off from their lines; `reference`: x, y of a line that is no measurement."""
    data = {"points": points, "marks": marks, "reference": reference}
    return Drawing("lines", _places(x, y, order), height, description, data)


def percentile_lines(points: Sequence[Row], *, x: Axis, y: Axis, order: Sequence[str], description: str) -> Drawing:
    """`points`: executor, x, y, quantile (where it is on the axis, in words); a line for each executor."""
    return Drawing("percentiles", _places(x, y, order), _HEIGHT, description, {"points": points})


def _places(x: Axis, y: Axis, order: Sequence[str]) -> dict[str, Any]:
    return {**x.blanks("x"), **y.blanks("y"), "order": order, "dashes": dashes(order)}


def stacked(
    points: Sequence[Row], *, x: Axis, y: Axis, origins: Sequence[str], totals: Sequence[Row], description: str
) -> Drawing:
    """`points`: origin, x, y, place (of the origin in the stack, from below); `totals`: name, x, y, drawn as lines on
    top. Origins keep their colours from chart to chart."""
    blanks = {**x.blanks("x"), **y.blanks("y"), "origins": origins}
    return Drawing("stack", blanks, _HEIGHT, description, {"points": points, "totals": totals})
