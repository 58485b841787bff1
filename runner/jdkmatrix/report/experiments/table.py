"""The table of one kind of experiment: a row for each cell, a column for each figure. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import digits, measure
from jdkmatrix.experiments.base import Spread
from jdkmatrix.report.blocks.inline import cell_page, element, joined, small
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Sorted
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import named
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.experiments.words import ended, load_of, spread_figure, state_badge, titled
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.sentences import STATUS_WORDS, State

# Title, and whether it is a number.
_AXES = {
    "jdk": ("JDK", False),
    "workload": ("Experiment", False),
    "load": ("Load", False),
    "cpus": ("CPUs", True),
    "burn_us": ("Task duration, µs", True),
    "wait_us": ("Delay, µs", True),
}


def figures_table(piece: ExperimentSlice, order: Sequence[str]) -> DataTable:
    """`expected` and the ratio to it stand before the other figures."""
    axes = [axis for axis in _AXES if piece.varies(axis)]
    figures = _figures(piece)
    by_key = {cell.key: cell for cell in piece.cells}
    return DataTable(
        label=f"Table of {piece.page.title}",
        columns=(
            Column("Arm", head=True),
            *(Column(title, "num" if is_number else "") for title, is_number in map(_AXES.__getitem__, axes)),
            Column("Outcome", "ends"),
            Column("Expected", "num"),
            Column(joined("Measured ", small("/ expected")), "num"),
            *(Column(titled(one.title, one.unit, "name"), "num") for one in figures.values()),
            Column(joined("Forks ", small("usable/ran"))),
        ),
        rows=[_row(piece, key, by_key.get(key), axes, figures, order.index(key.executor)) for key in piece.keys],
        css="figures",
        sortable=True,
        tall=True,
    )


def _figures(piece: ExperimentSlice) -> dict[str, Spread]:
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
    figures: Mapping[str, Spread],
    slot: int,
) -> tuple[Cell, ...]:
    state = cell.state if cell else State.NOT_MEASURED
    forks, usable = (cell.record.forks, cell.usable) if cell else ((), ())
    why = "this experiment has no such figure" if usable else f"{state.value}: no fork can be used"
    spreads = {spread.name: spread for spread in cell.spreads} if cell else {}
    lost = ((fork.status, reason.message) for fork in forks if not fork.usable for reason in fork.reasons)
    reasons = dict.fromkeys(f"{STATUS_WORDS[of]}: {message}" for of, message in lost)
    counts = f"{len(usable)}/{len(forks)}"
    return (
        named(key.executor, slot, cell_page(key) if cell else None),
        *(_axis(piece, axis, key) for axis in axes),
        joined(*ended(forks), *(element("p", text, css="reason") for text in reasons)),
        *_against(cell.against if cell else None),
        *(spread_figure(spreads[name]) if name in spreads else missing(why) for name in figures),
        Sorted(joined(state_badge(cell), " ", small(counts)), f"{state.value} {counts}"),
    )


def _axis(piece: ExperimentSlice, axis: str, key: CellKey) -> Figure:
    if axis == "load":
        return Figure(load_of(piece, key), None, key.load)
    value = getattr(key, axis)
    return Figure(f"{value:,}", value) if isinstance(value, int) else Figure(str(value), None)


def _against(spread: Spread | None) -> tuple[Figure, Figure]:
    """Expected, with the name of the figure that it is for; and measured over expected."""
    if spread is None or spread.expected is None:
        return (missing("nothing is expected of its figures"),) * 2
    expected = Figure(measure(spread.expected, spread.unit), spread.expected, f"of {spread.name}", spread.name)
    if spread.expected == 0:
        return expected, missing(f"0 is expected: {measure(spread.median, spread.unit)} was measured")
    ratio = spread.median / spread.expected
    return expected, Figure(digits(ratio, 3), ratio, f"{spread.name}: median over forks / expected")
