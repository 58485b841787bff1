"""Test whether the gates refused one arm more often than the other. Pure.

A gate that reacts to what is compared (threads that exit, an arm that leaves its CPU idle) drops one arm's figures for
being as they are, and what remains of that arm is no fair sample. So refusals are counted by arm, over every attempt,
earlier ones included, and compared by Fisher's exact test (stats/exact_test.py), adjusted over the pairs of a page.

Windows of one fork fare alike, so a disturbance of the host in a single fork can look like a gate that favours an arm.
That costs a verdict but never makes one. A gate that decides once about a whole fork counts once, however, as one
window: if it counted in each of its windows, one disturbed reading would be proof enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.figures.metrics import THROUGHPUT, Metric, metrics_in, metrics_of
from jdkmatrix.records.reasons import BURN_OFF, Status
from jdkmatrix.records.windows import ObservedWindow
from jdkmatrix.stats.exact_test import fisher_exact, least_p_value
from jdkmatrix.stats.verdicts import FAMILY_ERROR, ArmRefusals, Key, Refused, adjust
from jdkmatrix.store.cells import CellRecord


def refused_by_arm(cell: CellRecord, base: CellRecord) -> ArmRefusals | None:
    """Count the windows that the gates refused in two compared cells, `cell` the numerator. None if no outcome with as
    many windows and refusals in all could be told from chance: such pairs are no members of a family. The p-value is
    the pair's own; `one_sided_among` adjusts it."""
    numerator, denominator = refused_of(cell), refused_of(base)
    table = (numerator.refused, numerator.passed, denominator.refused, denominator.passed)
    if least_p_value(*table) >= FAMILY_ERROR:
        return None
    return ArmRefusals(numerator, denominator, fisher_exact(*table))


def one_sided_among(pairs: Iterable[tuple[Key, CellRecord, CellRecord]]) -> dict[Key, ArmRefusals]:
    """Return the pairs of cells, numerator first, whose gates refused one arm more often, at an error of 5 % over all
    pairs (Holm), with adjusted p-values."""
    told = {key: one for key, cell, base in pairs if (one := refused_by_arm(cell, base)) is not None}
    adjusted = adjust({key: one.p_value for key, one in told.items()})
    return {key: replace(one, p_value=adjusted[key]) for key, one in told.items() if adjusted[key] < FAMILY_ERROR}


def refused_of(cell: CellRecord) -> Refused:
    """Count refused and passed windows over all attempts."""
    codes: list[frozenset[str]] = []
    for whole, windows in _judged(cell):
        own = sorted((_gates(window) for window in windows), key=bool)
        codes += [own[0] | whole, *own[1:]] if own else []
    return Refused(len(codes), sum(map(bool, codes)), Counter(code for found in codes for code in found))


def gated_figures(cell: CellRecord) -> tuple[Metric, list[float], list[float]] | None:
    """Return the leading figure, by window and in its unit, in those that gates refused and in those that passed;
    throughput if windows do not have the leading figure. None if no window has it."""
    leading = next(iter((*metrics_of(cell.load), *metrics_in(cell))), None)
    if leading is None:
        return None
    metric = leading if leading.of_window else THROUGHPUT
    told = grouped(
        (bool(whole or _gates(window)), value * metric.scale)
        for whole, windows in _judged(cell)
        for window in windows
        if metric.of_window and (value := metric.of_window(window)) > 0
    )
    return (metric, told.get(True, []), told.get(False, [])) if told else None


def _judged(cell: CellRecord) -> Iterator[tuple[frozenset[str], tuple[ObservedWindow, ...]]]:
    """Yield, for each fork, the codes of gates that it did not pass as a whole, and its windows. A program that failed
    was not judged by gates."""
    for fork in (*cell.forks, *cell.attempts):
        whole = frozenset(reason.code for reason in fork.reasons if reason.code == BURN_OFF)
        yield whole, fork.every_window if fork.program is None or fork.status is Status.FAILED else (fork.program,)


def _gates(window: ObservedWindow) -> frozenset[str]:
    """Return the codes of gates that it did not pass by itself."""
    return frozenset(reason.code for reason in window.reasons)
