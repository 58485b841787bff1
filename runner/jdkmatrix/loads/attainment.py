"""Which forks did what their load asks for, which did not, and which were lost. Pure.

A ratio compares forks that have its figure. A server that hangs, or misses the rate, has none, so that ratios alone
show the forks that did well and call them the executor. So each load has a question to which every fork is an answer,
the failed ones too, and two arms are compared by how many of their forks say yes (stats/exact_test.py). What a fault of
the host or of the measurement spoilt is no answer: such forks are lost, and counted apart.
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

# Reasons of a failed fork that are the server's own doing, or a program's; all others are the host's, the driver's, or
# ours.
SERVERS_OWN = LIMIT_CODES | {
    *("server", "server-hangs", "out-of-memory", "flood", "wrong-executor", "lost-update", "program"),
}


class ForkOutcome(Enum):
    """The values are what a load answers (`LoadKind.answer`)."""

    YES = True
    NO = False
    LOST = None


def fate(fork: Fork, load: AnyLoad) -> ForkOutcome:
    """Tell what became of a fork. `load`: of its cell."""
    if fork.status is Status.FAILED:
        return ForkOutcome.NO if failed_by_itself(fork) else ForkOutcome.LOST
    if fork.status is Status.INVALID or not fork.valid_windows:
        return ForkOutcome.LOST
    if not fork.usable:
        return ForkOutcome.NO
    return ForkOutcome(kind_of(load).answer(fork))


def failed_by_itself(fork: Fork) -> bool:
    """Did the server, and nothing else, make this fork fail?"""
    codes = {reason.code for reason in fork.reasons}
    return fork.status is Status.FAILED and KILLED not in codes and bool(codes & SERVERS_OWN)


@dataclass(frozen=True)
class OutcomeCounts:
    """How many forks said yes and no; `lost` forks said nothing."""

    yes: int
    no: int
    lost: int

    @property
    def told(self) -> int:
        return self.yes + self.no


def attained(forks: Iterable[Fork], load: AnyLoad, *, planned: int = 0) -> OutcomeCounts:
    """Count outcomes of all forks of a cell. `planned`: those beyond its forks were never measured, and are lost."""
    fates = [fate(fork, load) for fork in forks]
    lost = fates.count(ForkOutcome.LOST) + max(0, planned - len(fates))
    return OutcomeCounts(fates.count(ForkOutcome.YES), fates.count(ForkOutcome.NO), lost)


@dataclass(frozen=True)
class Contrast:
    """Two arms and one question. `p_value`: None where no outcome of so many forks, with so many that say yes, could be
    told from chance, and there is no test."""

    numerator: OutcomeCounts
    denominator: OutcomeCounts
    p_value: float | None

    @property
    def gap(self) -> float:
        """By how much the shares of forks that say yes differ, 0..1; 0 where an arm says nothing."""
        one, other = self.numerator, self.denominator
        return abs(one.yes / one.told - other.yes / other.told) if one.told and other.told else 0.0

    @property
    def is_better(self) -> bool:
        """Does a larger share of the numerator's forks say yes?"""
        return self.numerator.yes * self.denominator.told > self.denominator.yes * self.numerator.told


def contrast(numerator: OutcomeCounts, denominator: OutcomeCounts, *, error: float) -> Contrast:
    """`error`: what a p-value must be below to say anything."""
    table = (numerator.yes, numerator.no, denominator.yes, denominator.no)
    possible = error > least_p_value(*table)
    return Contrast(numerator, denominator, fisher_exact(*table) if possible else None)
