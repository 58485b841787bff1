"""The table of all cells of a run: a row for each, with the axes that vary and every figure. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from markupsafe import Markup

from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.domain.quantities import MISSING, plural
from jdkmatrix.figures.metrics import CAPACITY
from jdkmatrix.report.blocks.inline import badge, joined, say, small
from jdkmatrix.report.blocks.kinds import Prose, Section
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Filter, Sorted, TableRow
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.latency import KIND_SHORT, KIND_WORDS
from jdkmatrix.report.cells.outcomes import worth_reporting
from jdkmatrix.report.cells.shown import (
    CPU_COST,
    HELD,
    PERCENTILES,
    RATE,
    USE,
    FigureColumn,
    ShownCell,
    named,
    shown_cells,
)
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import delay_of, tasks_of
from jdkmatrix.report.words.states import State

# In the order of their filters: title, unit, and whether it stands behind the executor.
_AXES: dict[str, tuple[str, str, bool]] = {
    "workload": ("Workload", "", False),
    "server": ("Server", "", False),
    "jdk": ("JDK", "", False),
    "executor": ("Executor", "", False),
    "cpus": ("CPUs", "", True),
    "burn_us": ("Task", "duration, µs", True),
    "wait_us": ("Remote", "delay, µs", True),
    "load": ("Load", "", True),
    "driver": ("Driver", "", True),
}
_NUMBERS = ("cpus", "burn_us", "wait_us")
_FILTER_TITLES = {"burn_us": "Task duration, µs", "wait_us": "Remote delay, µs"}


def cells_section(judged: JudgedRun) -> Section:
    cells = judged.cells
    shown = tuple(shown_cells(cells, judged.judgements))
    varying = varying_axes(cells)
    counts = [(state, sum(one.state is state for one in shown)) for state in State]
    badges = [badge(f"{number} {state.value}", state.css) for state, number in counts if number]
    constant = constant_words(cells, varying)
    kinds = {cell.latency.kind for cell in cells if cell.latency}
    kind = KIND_SHORT[next(iter(kinds))] if len(kinds) == 1 else ""
    service = ""
    if "uncorrected" in kinds:
        service = f"Percentiles {'' if kind else 'of closed loops '}are {KIND_WORDS['uncorrected']}."
    figures = _figures(judged, shown)
    before = [axis for axis in varying if not _AXES[axis][2] and axis != "executor"]
    behind = [axis for axis in varying if _AXES[axis][2]]
    table = DataTable(
        label="Table of cells",
        columns=(
            *map(_axis_column, before),
            Column("Executor", head=True),
            Column(joined("Status ", small("usable forks"))),
            *map(_axis_column, behind),
            *(one.column(kind if one in PERCENTILES else "") for one in figures),
        ),
        rows=[_row(one, before, behind, figures, judged.order) for one in shown],
        id="cells-table",
        sortable=True,
        tall=True,
        filter=_filter(shown, varying, [state.value for state, number in counts if number]),
    )
    return Section(
        "cells",
        "All cells",
        (table, Prose(say("all_cells", service=service))),
        joined(*(part for one in badges for part in (one, " ")), f"In every cell: {constant}." if constant else ""),
    )


def varying_axes(cells: Cells) -> tuple[str, ...]:
    """The axes with more than one value, the driver among them."""
    found = {axis for axis in AXES if len({getattr(key, axis) for key in cells.keys}) > 1}
    if len(_drivers(cells)) > 1:
        found.add("driver")
    return tuple(axis for axis in _AXES if axis in found)


def _drivers(cells: Cells) -> set[str]:
    return {cell.driver for cell in cells if cell.driver}


def constant_words(cells: Cells, varying: Collection[str]) -> str:
    """All that cells share, so that the table need not repeat it."""
    if not cells.keys:
        return ""
    key, drivers = cells.keys[0], _drivers(cells)
    words = {
        "workload": key.workload,
        "server": key.server,
        "jdk": key.jdk,
        "executor": key.executor,
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": tasks_of(key.burn_us),
        "wait_us": delay_of(key.wait_us) if key.wait_us else "",
        "load": key.load,
        "driver": f"driven by {next(iter(drivers))}" if drivers else "",
    }
    return ", ".join(text for axis, text in words.items() if text and axis not in varying)


def _figures(judged: JudgedRun, shown: Sequence[ShownCell]) -> tuple[FigureColumn, ...]:
    asked = _outcomes_head(shown)
    return (
        *((FigureColumn(asked, "forks", lambda one: one.outcome),) if asked else ()),
        *((HELD,) if any(cell.figures(CAPACITY) for cell in judged.cells) else ()),
        RATE,
        FigureColumn(f"vs {judged.cells.references}", "ratio", lambda one: one.versus),
        CPU_COST,
        *PERCENTILES,
        *USE,
    )


def _outcomes_head(shown: Sequence[ShownCell]) -> str | None:
    """Where one load asks the question it stands in the head, else each figure's tooltip says it; None where every fork
    did what it was to do."""
    titles = {one.cell.question.title for one in shown if one.cell and _is_news(one)}
    return next(iter(titles)) if len(titles) == 1 else "Did as asked" if titles else None


def _is_news(one: ShownCell) -> bool:
    cell, judged = one.cell, one.judgements.outcomes(one.key)
    if cell is None or not cell.question.in_tables:
        return False
    return (judged is not None and worth_reporting(judged)) or (cell.attained.no > 0 and not cell.question.is_sought)


def _axis_column(axis: str) -> Column:
    title, unit, _ = _AXES[axis]
    return Column(joined(title, " ", small(unit)) if unit else title, "num" if axis in _NUMBERS else "")


def _axis(key: CellKey, axis: str, driver: str | None) -> Cell:
    if axis == "driver":
        return driver or MISSING
    value = getattr(key, axis)
    return Figure(str(value), value) if axis in _NUMBERS else str(value)


def _row(
    one: ShownCell, before: Sequence[str], behind: Sequence[str], figures: Sequence[FigureColumn], order: Sequence[str]
) -> TableRow:
    key, driver = one.key, one.cell.driver if one.cell else None
    number = f'<small title="usable forks of those that were planned">{one.forks}</small>'
    number = number if one.state_text == one.state.value else ""
    return TableRow(
        (
            *(_axis(key, axis, driver) for axis in before),
            named(key.executor, order.index(key.executor), one.href),
            Sorted(one.state_badge + Markup(f" {number}"), f"{one.state.value} {one.forks}"),
            *(_axis(key, axis, driver) for axis in behind),
            *(column.of(one) for column in figures),
        ),
        data=(
            *((axis, str(getattr(key, axis))) for axis in AXES),
            ("driver", driver or ""),
            ("status", one.state.value),
        ),
    )


def _filter(shown: Sequence[ShownCell], varying: Sequence[str], states: Sequence[str]) -> Filter:
    def values(axis: str) -> tuple[str, ...]:
        if axis == "driver":
            return tuple(dict.fromkeys((one.cell and one.cell.driver) or "" for one in shown))
        return tuple(dict.fromkeys(str(getattr(one.key, axis)) for one in shown))

    axes = [(axis, _FILTER_TITLES.get(axis, _AXES[axis][0]), values(axis)) for axis in varying]
    return Filter((*axes, *([("status", "Status", tuple(states))] if len(states) > 1 else [])))
