"""Figures of forks as lines over time or over a rate: one chart for each JDK and condition, all on one scale. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.slices import Slice
from jdkmatrix.report.charts.curves import Axis, lines
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.charts.specs import log_domain

Points = Iterable[tuple[float, float | None]]
_OfCell = Callable[[CellStats], Iterable[Row]]


@dataclass(frozen=True)
class LineFigure:
    """`points`: of a fork; a figure of None breaks the line. `top`: of the axis, where it has a natural one; `zero`: it
    begins there."""

    id: str
    title: str
    axis: str
    points: Callable[[Fork], Points]
    words: str | Wording = ""
    log: bool = False
    number_format: str = "~s"
    top: float | None = None
    zero: bool = True


@dataclass(frozen=True)
class ChartPlace:
    """Where charts stand: `id_prefix` begins the ids of all of them, `key` is that of their colours, `css` says how
    many stand beside each other."""

    id_prefix: str
    piece: Slice
    order: Sequence[str]
    key: tuple[str, ...]
    css: str


def _nothing(_: CellStats) -> Iterable[Row]:
    return ()


def line_group(
    figure: LineFigure,
    place: ChartPlace,
    x: Axis,
    *,
    marks: _OfCell = _nothing,
    reference: Callable[[float], Sequence[Row]] = lambda _: (),
    note: Callable[[CellStats], str] = lambda _: "",
) -> Charts | None:
    """None where no fork has the figure. `reference`: of a line that is no measurement, given the largest figure."""
    piece, order = place.piece, place.order
    rows = {cell.key: list(_rows(figure, cell)) for cell in piece.cells}
    values = [float(row["y"]) for some in rows.values() for row in some if row["y"]]
    if not values:
        return None
    beside = reference(max(values))
    values += [float(row["y"]) for row in beside]
    low, high = log_domain(values) if figure.log else (0.0, figure.top or max(values) * 1.05)
    charts = tuple(
        Chart(
            id=f"{place.id_prefix}-{figure.id}-{number}",
            title=condition,
            note="; ".join(words for cell in cells if (words := note(cell))),
            drawing=lines(
                [row for cell in cells for row in rows[cell.key]],
                x=x,
                y=Axis(figure.axis, low, high, log=figure.log, number_format=figure.number_format),
                order=order,
                marks=[row for cell in cells for row in marks(cell)],
                reference=beside,
                description=f"{figure.title} of {condition}, one line per fork",
            ),
        )
        for number, (condition, cells) in enumerate(piece.conditions(order))
    )
    return Charts(figure.title, figure.words, charts, place.key, place.css)


def _rows(figure: LineFigure, cell: CellStats) -> Iterable[Row]:
    return (
        {"executor": cell.key.executor, "fork": fork.fork, "x": x, "y": y or None if figure.log else y}
        for fork in cell.usable
        for x, y in figure.points(fork)
    )
