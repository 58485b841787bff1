"""The cells of a plan as a table that fits a terminal: what they share above it, what is compared in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.table import Table

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import delay_words, plural, work_words
from jdkmatrix.run.plan import Plan

_ROWS_AT_MOST = 40  # more are no table that anybody reads
_NAMES_AT_MOST = 4

_AXES: dict[str, Callable[[CellKey], str]] = {
    "workload": lambda key: key.served,
    "JDK": lambda key: key.jdk,
    "CPUs": lambda key: str(key.cpus),
    "burn µs": lambda key: str(key.burn_us),
    "delay µs": lambda key: str(key.wait_us),
    "load": lambda key: key.load,
}
_KEPT = ("workload", "load")  # in rows that stand for several conditions


def plan_table(plan: Plan, profile: str) -> tuple[Table, bool]:
    """A row for each condition, and True; or for each workload and load where these are too many, and False."""
    varying = [name for name, of in _AXES.items() if len({of(cell) for cell in plan.cells}) > 1]
    rows = _rows(plan.cells, varying)
    is_whole = len(rows) <= _ROWS_AT_MOST
    if not is_whole:
        rows = _rows(plan.cells, [name for name in varying if name in _KEPT])
    shared = [words for name in _AXES if name not in varying and (words := _shared(name, plan.cells[0]))]
    table = Table(title=f"profile {profile}: {', '.join(shared)}" if shared else f"profile {profile}")
    for name in (*varying, "executors" if is_whole else "cells", "forks"):
        table.add_column(name, overflow="fold", no_wrap=name in ("JDK", "load"))
    forks, impossible = Counter(fork.key for fork in plan.sure), {entry.key for entry in plan.not_testable}
    for cells in rows:
        told = [_values(map(_AXES[name], cells)) for name in varying]
        what = ", ".join(dict.fromkeys(cell.executor for cell in cells)) if is_whole else str(len(cells))
        number = sum(forks[cell] for cell in cells)
        none = impossible.issuperset(cells)
        table.add_row(*told, what, "not testable" if none else str(number), style="dim" if none else None)
    return table, is_whole


def _rows(cells: Sequence[CellKey], axes: Sequence[str]) -> list[list[CellKey]]:
    """The cells that are alike on these axes, in their order."""
    found: dict[tuple[str, ...], list[CellKey]] = {}
    for cell in cells:
        found.setdefault(tuple(_AXES[name](cell) for name in axes), []).append(cell)
    return list(found.values())


def _shared(name: str, key: CellKey) -> str:
    """The values that all cells share, for the title; empty where they go without saying."""
    match name:
        case "CPUs":
            return plural(key.cpus, "CPU")
        case "burn µs":
            return f"{work_words(key.burn_us)} of work" if key.burn_us else ""
        case "delay µs":
            return delay_words(key.wait_us) if key.wait_us else ""
        case _:
            return _AXES[name](key)


def _values(values: Iterable[str]) -> str:
    found = list(dict.fromkeys(values))
    if (len(found) <= _NAMES_AT_MOST and all(value.isdigit() for value in found)) or len(found) == 1:
        return ", ".join(found)
    return f"{len(found)}: {found[0]} … {found[-1]}" if found[0].isdigit() else str(len(found))
