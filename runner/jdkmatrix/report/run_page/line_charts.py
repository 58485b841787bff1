"""A line chart for each JDK and condition, one line per fork, all on the same scales. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.comparisons import Slice
from jdkmatrix.report.charts.curves import Axis, lines
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.views import Chart

_OfCell = Callable[[CellStats], Iterable[Row]]


def _nothing(_: CellStats) -> Iterable[Row]:
    return ()


def line_charts(
    id_prefix: str,
    title: str,
    piece: Slice,
    order: Sequence[str],
    *,
    x: Axis,
    y: Axis,
    rows: _OfCell,
    marks: _OfCell = _nothing,
    reference: Sequence[Row] = (),
    note: Callable[[CellStats], str] = lambda _: "",
) -> tuple[Chart, ...]:
    """`rows`, `marks` and `note` of every cell; `order`: of the executors; `id_prefix` begins the id of every chart."""
    return tuple(
        Chart(
            id=f"{id_prefix}-{number}",
            title=condition,
            note="; ".join(words for cell in cells if (words := note(cell))),
            drawing=lines(
                [row for cell in cells for row in rows(cell)],
                x=x,
                y=y,
                order=order,
                marks=[row for cell in cells for row in marks(cell)],
                reference=reference,
                description=f"{title} of {condition}, one line per fork",
            ),
        )
        for number, (condition, cells) in enumerate(piece.conditions(order))
    )
