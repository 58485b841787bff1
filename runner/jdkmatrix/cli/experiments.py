"""Experiments without a server in a terminal: a fork in a line, all cells in a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.domain.quantities import amount, measure, wait_words
from jdkmatrix.experiments.result import Reading, Spread
from jdkmatrix.figures.experiments import outcomes, spreads
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.store.cells import CellRecord

HEADINGS = ("arm", "forks", "median", "least–most", "expected", "outcome")


def fork_words(fork: Fork) -> str:
    """The leading figure and how it ended; what spoils it where something does."""
    result = fork.experiment.result
    if result is None:
        return f"{fork.status.value}: {fork.reasons[0].message.splitlines()[0] if fork.reasons else ''}"
    parts = [_words(figure) for figure in result.readings[:1]]
    if result.problem is not None:
        count = result.problem.at_count
        at = "" if count is None else f" at {count:,}"
        parts.append(f"{result.outcome}{at}: {result.problem.message}")
    if fork.status is not Status.OK:
        parts.append(f"({fork.status.value}: {', '.join(reason.code for reason in fork.reasons)})")
    return " ".join(parts)


def groups(cells: Sequence[CellRecord]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """What cells have in common, with the name and unit of their leading figure; and a row for each, as `HEADINGS`."""
    by_group: dict[str, list[CellRecord]] = {}
    for cell in cells:
        key = cell.key
        cpus = f"{key.cpus} CPU" + ("s" if key.cpus > 1 else "")
        burn = f", {key.burn_us} µs" if key.burn_us else ""
        wait = f", {wait_words(key.wait_us)} delay" if key.wait_us else ""
        by_group.setdefault(f"{key.jdk}: {key.workload}, {key.load}, {cpus}{burn}{wait}", []).append(cell)
    for title, members in by_group.items():
        leading = {cell.key: next(iter(spreads(cell)), None) for cell in members}
        names = dict.fromkeys(_name(spread) for spread in leading.values() if spread)
        words = f" – {' or '.join(names)}" if names else ""
        yield f"{title}{words}", [_row(cell, leading[cell.key]) for cell in members]


def _row(cell: CellRecord, leading: Spread | None) -> tuple[str, ...]:
    usable = sum(fork.usable for fork in cell.forks)
    figures = (_why(cell), "", "") if leading is None else _columns(leading)
    return (cell.key.executor, f"{usable}/{len(cell.forks)}", *figures, ", ".join(outcomes(cell)))


def _why(cell: CellRecord) -> str:
    return ", ".join(sorted({fork.status.value for fork in cell.forks if fork.status is not Status.OK})) or "no figure"


def _name(spread: Spread) -> str:
    return f"{spread.name}, {spread.unit}" if spread.unit else spread.name


def _columns(spread: Spread) -> tuple[str, str, str]:
    def text(value: float) -> str:
        return amount(value, spread.unit)

    expected = "" if spread.expected is None else text(spread.expected)
    return text(spread.median), f"{text(spread.least)}–{text(spread.most)}", expected


def _words(figure: Reading) -> str:
    expected = "" if figure.expected is None else f" (expected {amount(figure.expected, figure.unit)})"
    return f"{figure.name} {measure(figure.value, figure.unit)}{expected}"
