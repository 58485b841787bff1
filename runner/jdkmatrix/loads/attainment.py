"""Tell forks that did what their load asks for from those that did not, and those that were lost. Pure.

A ratio compares forks that have its figure. A server that hangs, or misses the rate, has none, so ratios alone would
show the forks that did well and call them the executor. So each load has a question that every fork answers, failed
ones included, and two arms are compared by how many of their forks say yes (stats/exact_test.py). A fork that a fault
of the host or of the measurement spoilt is no answer: such forks are lost, and counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.limits import LIMIT_CODES
from jdkmatrix.records.reasons import KILLED, Status
from jdkmatrix.stats.exact_test import fisher_exact, least_p_value

# Reasons for a failed fork that are the server's own doing, or a program's; all others are the host's, the driver's or
# ours.
SERVERS_OWN = LIMIT_CODES | {
    *("server", "server-hangs", "out-of-memory", "flood", "wrong-executor", "lost-update", "program"),
}


class ForkOutcome(Enum):
    """The fate of a fork; the values are the answers of a load (`LoadKind.answer`)."""

    YES = True
    NO = False
    LOST = None


def fate(fork: Fork, load: AnyLoad) -> ForkOutcome:
    """Tell what became of a fork. `load`: that of its cell."""
    if fork.status is Status.FAILED:
        return ForkOutcome.NO if failed_by_itself(fork) else ForkOutcome.LOST
    if fork.status is Status.INVALID or not (fork.valid_windows or fork.program):
        return ForkOutcome.LOST
    if not fork.usable:
        return ForkOutcome.NO
    return ForkOutcome(kind_of(load).answer(fork))


def failed_by_itself(fork: Fork) -> bool:
    """Return whether the server made this fork fail, and nobody killed it."""
    codes = {reason.code for reason in fork.reasons}
    return fork.status is Status.FAILED and KILLED not in codes and bool(codes & SERVERS_OWN)


@dataclass(frozen=True)
class OutcomeCounts:
    """Counts of forks that said yes and no; `lost` forks said nothing."""

    yes: int
    no: int
    lost: int

    @property
    def told(self) -> int:
        return self.yes + self.no


def attained(forks: Iterable[Fork], load: AnyLoad, *, planned: int = 0) -> OutcomeCounts:
    """Count the outcomes of a cell's forks. `planned`: those beyond its forks were never measured, and are lost."""
    fates = [fate(fork, load) for fork in forks]
    lost = fates.count(ForkOutcome.LOST) + max(0, planned - len(fates))
    return OutcomeCounts(fates.count(ForkOutcome.YES), fates.count(ForkOutcome.NO), lost)


@dataclass(frozen=True)
class Contrast:
    """Two arms and one question. `p_value`: None if no outcome with as many forks, and as many that say yes, could be
    told from chance, so that there is no test."""

    numerator: OutcomeCounts
    denominator: OutcomeCounts
    p_value: float | None

    @property
    def gap(self) -> float:
        """The difference between the shares of forks that say yes, 0..1; 0 if an arm says nothing."""
        one, other = self.numerator, self.denominator
        return abs(one.yes / one.told - other.yes / other.told) if one.told and other.told else 0.0

    @property
    def is_better(self) -> bool:
        """True if a larger share of the numerator's forks says yes."""
        return self.numerator.yes * self.denominator.told > self.denominator.yes * self.numerator.told


def contrast(numerator: OutcomeCounts, denominator: OutcomeCounts, *, error: float) -> Contrast:
    """Compare two arms. `error`: what a p-value must be below to say anything."""
    table = (numerator.yes, numerator.no, denominator.yes, denominator.no)
    possible = error > least_p_value(*table)
    return Contrast(numerator, denominator, fisher_exact(*table) if possible else None)
