"""Show experiments without a server on a terminal: a fork in a line, all cells in a table."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import amount, measure
from jdkmatrix.experiments.base import Measurand
from jdkmatrix.experiments.kinds import measurands
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.words.sentences import size_words

HEADINGS = ("arm", "forks", "median", "least–most", "expected", "outcome")


def fork_words(fork: Fork) -> str:
    """Return the leading figure, how the fork ended, and what spoils it, if anything does."""
    result = fork.result
    if result is None:
        return f"{fork.status.value}: {fork.reasons[0].message.splitlines()[0] if fork.reasons else ''}"
    known = measurands(result)
    parts = [_words(one, known[one.metric]) for one in fork.readings[:1] if one.metric in known]
    if result.problem is not None:
        count = result.problem.at_count
        at = "" if count is None else f" at {count:,}"
        parts.append(f"{result.outcome}{at}: {result.problem.message}")
    if fork.status is not Status.OK:
        parts.append(f"({fork.status.value}: {', '.join(reason.code for reason in fork.reasons)})")
    return " ".join(parts)


def groups(cells: Cells) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Yield the cells of each condition: a title with the name and unit of their leading figure, and a row for each
    cell, as in `HEADINGS`."""
    keyed = ((cell.key, cell) for cell in cells)
    titled = ((f"{key.jdk}: {key.workload}, {key.load}, {size_words(key)}", cell) for key, cell in keyed)
    for title, members in grouped(titled).items():
        leading = (cell.spreads[0] for cell in members if cell.spreads)
        names = dict.fromkeys(f"{one.name}, {one.unit}" if one.unit else one.name for one in leading)
        words = f" – {' or '.join(names)}" if names else ""
        yield f"{title}{words}", [_row(cell) for cell in members]


def _row(cell: CellStats) -> tuple[str, ...]:
    forks = cell.record.forks
    statuses = sorted({fork.status.value for fork in forks if fork.status is not Status.OK})
    figures = (", ".join(statuses) or "no figure", "", "")
    if cell.spreads:
        spread = cell.spreads[0]
        median, least, most = (amount(value, spread.unit) for value in (spread.median, spread.least, spread.most))
        figures = median, f"{least}–{most}", "" if spread.expected is None else amount(spread.expected, spread.unit)
    outcomes = dict.fromkeys(result.outcome for result in cell.results)
    return (cell.key.executor, f"{sum(fork.conclusive for fork in forks)}/{len(forks)}", *figures, ", ".join(outcomes))


def _words(one: WindowReading, metric: Measurand) -> str:
    expected = "" if one.expected is None else f" (expected {amount(one.expected, metric.unit)})"
    return f"{metric.id} {measure(one.value, metric.unit)}{expected}"
