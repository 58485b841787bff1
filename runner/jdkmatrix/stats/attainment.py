"""Which forks did what their load asks for, which did not, and which were lost. Pure.

A ratio compares forks that have its figure. A server that hangs, or misses the rate, has none, so that ratios alone
show the forks that did well and call them the executor. So each load has a question to which every fork is an answer,
the failed ones too, and two arms are compared by how many of their forks say yes. All questions are put so that yes is
better. What a fault of the host or of the measurement spoilt is no answer: such forks are lost, and counted apart.

The test is R. A. Fisher's exact one (The Design of Experiments, 1935, chapter II): given how many forks of both arms
together say yes, every way to deal these out is equally likely where the arms do not differ; the p-value is the share
of the ways that are at most as likely as what was seen. G. A. Barnard's test ("A New Test for 2 × 2 Tables", Nature
156, 1945, p. 177) does not hold that sum fixed and finds more with few forks: of five forks each, none against all is
0.002 there and 0.008 here. But only the conditional test tells beforehand what it cannot find: with no yes at all, or
with two forks each, no outcome is below 0.05. Such tests cannot raise a false alarm, so that the family of a page need
not pay for them (R. E. Tarone, "A Modified Bonferroni Method for Discrete Data", Biometrics 46(2), 1990, pp. 515-522),
and most questions of most pages are of that kind: every fork said yes.

Blocks are not paired here: where forks of one block fare alike, the test finds less than it might, never more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Capacity
from jdkmatrix.stats.capacity import SearchOutcome, is_known
from jdkmatrix.stats.ramps import KNEE_SECONDS, knee, seconds_of, time_to_peak_s
from jdkmatrix.terms.loads import CapacityLoad, CellLoad, RampLoad, RateLoad, StepsLoad

# Reasons of a failed fork that are the server's own doing; all others are the host's, the driver's, or ours.
SERVERS_OWN = frozenset({"server", "server-hangs", "wrong-executor", "lost-update"})
_MISSED = frozenset({"rate-missed", "no-answers"})
_SHORTFALLS = _MISSED | {"errors"}


class Question(Enum):
    """What a fork under a load is asked."""

    SERVED = "served"  # closed loop: did it answer?
    HELD = "held"  # constant rate: did it keep up, without a failure, in every window?
    KEPT_UP = "kept-up"  # rising steps: was the last rate still answered?
    PEAK = "peak"  # ramp that ends level: did throughput get there?
    NO_KNEE = "no-knee"  # ramp that does not: did p99 stay what it was up to the end?
    CAPACITY = "capacity"  # search: did a rate hold at all?

    @property
    def is_sought(self) -> bool:
        """Does the load go on until the answer is no? Then that is what usually comes out, and no trouble."""
        return self in (Question.KEPT_UP, Question.NO_KNEE)


class Fate(Enum):
    YES = "yes"
    NO = "no"
    LOST = "lost"


def question_of(load: CellLoad) -> Question:
    match load:
        case CapacityLoad():
            return Question.CAPACITY
        case RateLoad():
            return Question.HELD
        case StepsLoad():
            return Question.KEPT_UP
        case RampLoad(ends_level=True):
            return Question.PEAK
        case RampLoad():
            return Question.NO_KNEE
        case _:
            return Question.SERVED


def fate(fork: Fork, load: CellLoad) -> Fate:
    """What became of a fork. `load`: of its cell."""
    if fork.status is Status.FAILED:
        return Fate.NO if failed_by_itself(fork) else Fate.LOST
    if fork.status is Status.INVALID or not fork.served.valid_windows:
        return Fate.NO if _fell_short_only(fork) else Fate.LOST
    if not fork.usable:
        return Fate.NO
    answer = _answer(fork, load)
    if answer is None:
        return Fate.LOST
    return Fate.YES if answer else Fate.NO


def failed_by_itself(fork: Fork) -> bool:
    """Did the server, and nothing else, make this fork fail?"""
    return fork.status is Status.FAILED and any(reason.code in SERVERS_OWN for reason in fork.reasons)


def _fell_short_only(fork: Fork) -> bool:
    """Before shortfalls were recorded as such, they made windows invalid."""
    codes = {reason.code for window in fork.served.windows for reason in window.reasons}
    return bool(codes) and codes <= _SHORTFALLS


def held(fork: Fork) -> bool:
    """Under a constant rate: did the server do all that it was asked for, in every window that counts?"""
    return not any(window.shortfalls for window in fork.served.valid_windows)


def was_saturated(fork: Fork, load: StepsLoad) -> bool:
    """Was the last step that counts missed? Before shortfalls were recorded, a series that ended early says so."""
    last = fork.served.valid_windows[-1]
    ended_early = len(fork.served.windows) < len(load.every_rate_rps) and last is fork.served.windows[-1]
    return ended_early or any(reason.code in _MISSED for reason in last.shortfalls)


def _answer(fork: Fork, load: CellLoad) -> bool | None:
    """Of a usable fork; None where it cannot be told."""
    match load:
        case CapacityLoad():
            return _held_a_rate(fork.served.capacity)
        case RateLoad():
            return held(fork)
        case StepsLoad():
            kept_up = not was_saturated(fork, load)
            return None if kept_up and not fork.served.windows[-1].valid else kept_up
        case RampLoad(ends_level=True):
            return time_to_peak_s(seconds_of(fork)) is not None
        case RampLoad():
            seconds = seconds_of(fork)
            return knee(seconds) is None if len(seconds) >= KNEE_SECONDS else None
        case _:
            return True


def _held_a_rate(found: Capacity | None) -> bool | None:
    if found is None or not is_known(found):
        return None
    return SearchOutcome(found.outcome) is not SearchOutcome.FLOOR_FAILED


@dataclass(frozen=True)
class Attained:
    """How many forks said yes and no; `lost` forks said nothing."""

    yes: int
    no: int
    lost: int

    @property
    def told(self) -> int:
        return self.yes + self.no


def attained(forks: Iterable[Fork], load: CellLoad, *, planned: int = 0) -> Attained:
    """Of all forks of a cell. `planned`: those beyond its forks were never measured, and are lost."""
    fates = [fate(fork, load) for fork in forks]
    lost = fates.count(Fate.LOST) + max(0, planned - len(fates))
    return Attained(fates.count(Fate.YES), fates.count(Fate.NO), lost)


@dataclass(frozen=True)
class Contrast:
    """Two arms and one question. `p_value`: None where no outcome of so many forks, with so many that say yes, could be
    told from chance, and there is no test."""

    numerator: Attained
    denominator: Attained
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


def contrast(numerator: Attained, denominator: Attained, *, error: float) -> Contrast:
    """`error`: what a p-value must be below to say anything."""
    table = (numerator.yes, numerator.no, denominator.yes, denominator.no)
    possible = error > least_p_value(*table)
    return Contrast(numerator, denominator, fisher_exact(*table) if possible else None)


def fisher_exact(yes: int, no: int, other_yes: int, other_no: int) -> float:
    """Two-sided; exact, in whole numbers until the last step. 1 where an arm or an answer is empty.

    Raises:
        MatrixError: a count is below 0.
    """
    ways = _ways(yes, no, other_yes, other_no)
    return sum(number for number in ways.values() if number <= ways[yes]) / sum(ways.values())


def least_p_value(yes: int, no: int, other_yes: int, other_no: int) -> float:
    """The smallest that any outcome with these sums could have."""
    ways = _ways(yes, no, other_yes, other_no)
    least = min(ways.values())
    return sum(number for number in ways.values() if number == least) / sum(ways.values())


def _ways(yes: int, no: int, other_yes: int, other_no: int) -> Mapping[int, int]:
    """By how many of the first arm say yes: in how many ways the same sums can come about."""
    if min(yes, no, other_yes, other_no) < 0:
        raise MatrixError(f"forks are counted from 0 on, found {(yes, no, other_yes, other_no)}")
    first, other, every = yes + no, other_yes + other_no, yes + other_yes
    return {
        here: math.comb(first, here) * math.comb(other, every - here)
        for here in range(max(0, every - other), min(first, every) + 1)
    }
