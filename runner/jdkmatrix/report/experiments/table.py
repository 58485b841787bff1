"""The table of one kind of experiment: a row for each cell, a column for each figure. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import digits, measure
from jdkmatrix.experiments.base import Spread
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.views import ExperimentRow, ExperimentTable
from jdkmatrix.report.experiments.words import STATUS_MEANING, load_of, outcome_views, spread_figure
from jdkmatrix.report.html.names import cell_page
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.states import STATUS_CLASS, STATUS_WORDS

_AXES = (
    ("jdk", "JDK", False),
    ("workload", "Experiment", False),
    ("load", "Load", False),
    ("cpus", "CPUs", True),
    ("burn_us", "Task duration, µs", True),
    ("wait_us", "Delay, µs", True),
)


def table(piece: ExperimentSlice, order: Sequence[str]) -> ExperimentTable:
    axes = [(axis, title, is_number) for axis, title, is_number in _AXES if piece.varies(axis)]
    columns = _columns(piece)
    by_key = {cell.key: cell for cell in piece.cells}
    return ExperimentTable(
        axes=tuple((title, is_number) for _, title, is_number in axes),
        figures=tuple((spread.title, spread.unit) for spread in columns.values()),
        rows=tuple(
            _row(piece, key, by_key.get(key), [axis for axis, *_ in axes], columns, order) for key in piece.keys
        ),
    )


def _columns(piece: ExperimentSlice) -> dict[str, Spread]:
    """Every figure that a cell has, by its name; each behind those that stand before it in a cell."""
    names: list[str] = []
    found: dict[str, Spread] = {}
    for cell in piece.cells:
        at = 0
        for spread in cell.spreads:
            found[spread.name] = spread
            if spread.name in names:
                at = names.index(spread.name) + 1
            else:
                names.insert(at, spread.name)
                at += 1
    return {name: found[name] for name in names}


def _row(
    piece: ExperimentSlice,
    key: CellKey,
    cell: CellStats | None,
    axes: Sequence[str],
    columns: dict[str, Spread],
    order: Sequence[str],
) -> ExperimentRow:
    status = cell.best_status if cell else None
    forks = cell.record.forks if cell else ()
    usable = cell.usable if cell else ()
    why = "this experiment has no such figure" if usable else f"{STATUS_WORDS[status]}: no fork can be used"
    spreads = {spread.name: spread for spread in (cell.spreads if cell else ())}
    against = cell.against if cell else None
    return ExperimentRow(
        executor=key.executor,
        slot=order.index(key.executor),
        href=cell_page(key) if cell else None,
        axes=tuple(_axis(piece, axis, key) for axis in axes),
        figures=tuple(spread_figure(spreads[name]) if name in spreads else missing(why) for name in columns),
        expected=expected_figure(against),
        ratio=ratio_figure(against),
        outcomes=outcome_views(forks),
        reasons=tuple(
            dict.fromkeys(
                f"{STATUS_WORDS[fork.status]}: {reason.message}"
                for fork in forks
                if not fork.usable
                for reason in fork.reasons
            )
        ),
        status=STATUS_WORDS[status],
        status_class=STATUS_CLASS[status],
        status_title=STATUS_MEANING[status],
        forks=f"{len(usable)}/{len(forks)}",
    )


def _axis(piece: ExperimentSlice, axis: str, key: CellKey) -> Figure:
    if axis == "load":
        return Figure(load_of(piece, key), None, key.load)
    value = getattr(key, axis)
    return Figure(f"{value:,}", value) if isinstance(value, int) else Figure(str(value), None)


def expected_figure(against: Spread | None) -> Figure:
    """With the name of the figure that it is for."""
    if against is None or against.expected is None:
        return missing("nothing is expected of its figures")
    text = measure(against.expected, against.unit)
    return Figure(text, against.expected, f"of {against.name}", against.name)


def ratio_figure(against: Spread | None) -> Figure:
    """Measured over expected."""
    if against is None or against.expected is None:
        return missing("nothing is expected of its figures")
    if against.expected == 0:
        return missing(f"0 is expected: {measure(against.median, against.unit)} was measured")
    ratio = against.median / against.expected
    return Figure(digits(ratio, 3), ratio, f"{against.name}: median over forks / expected")
