"""The table of all cells of a run: a row for each, with the axes that vary and every figure. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from markupsafe import Markup

from jdkmatrix.domain.cell_key import AXES
from jdkmatrix.domain.quantities import MISSING, plural
from jdkmatrix.figures.metrics import CAPACITY
from jdkmatrix.report.blocks.inline import badge, joined, say, small
from jdkmatrix.report.blocks.kinds import Prose, Section
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Filter, Sorted, TableRow
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.judgements import worth_reporting
from jdkmatrix.report.cells.shown import (
    CPU_COST,
    HELD,
    KIND_SHORT,
    KIND_WORDS,
    PERCENTILES,
    RATE,
    USE,
    FigureColumn,
    ShownCell,
    axis_column,
    named,
    shown_cells,
    state_badge,
)
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import State, delay_of, tasks_of

_BEFORE = ("workload", "server", "jdk")  # the executor
_BEHIND = ("cpus", "burn_us", "wait_us", "load", "driver")
_AXES = (*_BEFORE, "executor", *_BEHIND)


def cells_section(judged: JudgedRun) -> Section:
    cells = judged.cells
    shown = tuple(shown_cells(cells, judged.judgements))
    varying = [axis for axis in _AXES if len(set(_values(axis, shown)) - {""}) > 1]
    counts = {state: number for state in State if (number := sum(one.state is state for one in shown))}
    badges = [badge(f"{number} {state.value}", state.css) for state, number in counts.items()]
    constant = _constant_words(shown, varying)
    kinds = {cell.latency.kind for cell in cells if cell.latency}
    kind = KIND_SHORT[next(iter(kinds))] if len(kinds) == 1 else ""
    service = ""
    if "uncorrected" in kinds:
        service = f"Percentiles {'' if kind else 'of closed loops '}are {KIND_WORDS['uncorrected']}."
    listed: list[tuple[Column, Callable[[ShownCell], Cell]]] = [
        *(_axis(axis) for axis in _BEFORE if axis in varying),
        (Column("Executor", head=True), lambda one: named(one.key.executor, cells.order, one.href)),
        (Column(joined("Status ", small("usable forks"))), _status),
        *(_axis(axis) for axis in _BEHIND if axis in varying),
        *((one.column(kind if one in PERCENTILES else ""), one.of) for one in _figures(judged, shown)),
    ]
    axes = [(axis, Markup(axis_column(axis).title).striptags(), _values(axis, shown)) for axis in varying]
    states = [("status", "Status", tuple(state.value for state in counts))] if len(counts) > 1 else []
    table = DataTable(
        label="Table of cells",
        columns=tuple(column for column, _ in listed),
        rows=[TableRow([of(one) for _, of in listed], data=_data(one)) for one in shown],
        id="cells-table",
        sortable=True,
        tall=True,
        filter=Filter((*axes, *states)),
    )
    return Section(
        "cells",
        "All cells",
        (table, Prose(say("all_cells", service=service))),
        joined(*(part for one in badges for part in (one, " ")), f"In every cell: {constant}." if constant else ""),
    )


def _values(axis: str, shown: Iterable[ShownCell]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one.axis(axis)) for one in shown))


def _constant_words(shown: Sequence[ShownCell], varying: Collection[str]) -> str:
    """All that cells share, so that the table need not repeat it."""
    if not shown:
        return ""
    key, driver = shown[0].key, next(filter(None, _values("driver", shown)), "")
    words = {axis: str(shown[0].axis(axis)) for axis in _AXES} | {
        "cpus": plural(key.cpus, "CPU"),
        "burn_us": tasks_of(key.burn_us),
        "wait_us": delay_of(key.wait_us) if key.wait_us else "",
        "driver": f"driven by {driver}" if driver else "",
    }
    return ", ".join(text for axis, text in words.items() if text and axis not in varying)


def _figures(judged: JudgedRun, shown: Sequence[ShownCell]) -> tuple[FigureColumn, ...]:
    """Where one load asks forks a question it stands in the head, else each figure's tooltip says it; there is none
    where every fork did what it was to do."""
    titles = {one.cell.question.title for one in shown if one.cell and _is_news(one, one.cell)}
    asked = next(iter(titles)) if len(titles) == 1 else "Did as asked"
    return (
        *((FigureColumn(asked, "forks", lambda one: one.outcome),) if titles else ()),
        *((HELD,) if any(cell.figures(CAPACITY) for cell in judged.cells) else ()),
        RATE,
        FigureColumn(f"vs {judged.cells.references}", "ratio", lambda one: one.versus),
        CPU_COST,
        *PERCENTILES,
        *USE,
    )


def _is_news(one: ShownCell, cell: CellStats) -> bool:
    judged = one.judgements.outcomes(one.key)
    told = (judged is not None and worth_reporting(judged)) or (cell.attained.no > 0 and not cell.question.is_sought)
    return told and cell.question.in_tables


def _axis(axis: str) -> tuple[Column, Callable[[ShownCell], Cell]]:
    def value(one: ShownCell) -> Cell:
        found = one.axis(axis)
        return Figure(str(found), found) if isinstance(found, int) else found or MISSING

    return axis_column(axis), value


def _status(one: ShownCell) -> Cell:
    number = f'<small title="usable forks of those that were planned">{one.forks}</small>'
    number = number if one.state_text == one.state.value else ""
    return Sorted(state_badge(one.cell) + Markup(f" {number}"), f"{one.state.value} {one.forks}")


def _data(one: ShownCell) -> tuple[tuple[str, str], ...]:
    return (*((axis, str(one.axis(axis))) for axis in (*AXES, "driver")), ("status", one.state.value))
