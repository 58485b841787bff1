"""Decide when a page may say "different". Pure.

A page that shows forty ratios with a 95 % interval each shows two intervals that miss 1 by chance alone. So "different"
is decided by p-values that are adjusted over everything the page compares: S. Holm, "A Simple Sequentially Rejective
Multiple Test Procedure", Scandinavian Journal of Statistics 6(2), 1979, pp. 65-70. The chance that a page without any
true difference says "different" even once is then at most 5 %, however its comparisons depend on each other. The price
is power: if log ratios scatter by 2 % from block to block, a true difference of 5 % is found in 62 % of pages with
three blocks if it is the only comparison, in 9 % among 10 and in 2 % among 40 without one; with five blocks in 98, 58
and 26 %, with seven in 74 % among 40 (measured again by the tests).

The interval beside a ratio is its own and knows nothing of the others: it excludes 1 if the ratio's own p-value is
below 0.05. If it does and the adjusted one is not below it, neither is hidden: this has a verdict of its own. The
reverse cannot happen, since adjusting makes no p-value smaller.

A ratio of arms that lost different numbers of forks, in all or by their own doing, is not judged. Which forks were lost
may be related to the figure (a server that is about to hang is slow before it does), so that the forks that are left
are a fair sample of one arm and not of the other. Nor is a ratio judged if the gates refused one of its arms more often
(figures/refusals.py).

An interval that contains 1 says that no difference was seen only if it excludes every difference that would matter, as
in a test of equivalence (D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach
for Assessing the Equivalence of Average Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987,
pp. 657-680). A wider one cannot tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeVar

from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.ratios import Ratio

# The probability that a page reports a difference where there is none; 1 - 0.95 is a little more in binary.
FAMILY_ERROR = 0.05
RELEVANT = 0.1  # the share from which a difference matters if nothing else is promised: a choice

Key = TypeVar("Key", bound=Hashable)


class Verdict(Enum):
    """A verdict, never "the same": not having seen a difference does not show that there is none."""

    DIFFERENT = "different"
    NO_EVIDENCE_YET = "no evidence yet"  # its own interval excludes 1
    NO_DIFFERENCE_SEEN = "no difference seen"  # its interval excludes any that matters
    CANNOT_TELL = "cannot tell"  # and this one does not
    ONE_BLOCK = "one block, no interval"
    NOT_JUDGED = "not judged"  # the arms lost different numbers of forks, or the gates refused one more often


@dataclass(frozen=True)
class Losses:
    """The number of planned forks that each arm lost: those whose figure is in no ratio, whether by a fault of the host
    or because the server did not do what it was asked for. `alike`: false if the arms lost different numbers of forks
    by their own doing, or have different bounds in those: what is left of such an arm is no fair sample, however many
    forks the other lost to the host."""

    numerator: int
    numerator_of: int
    denominator: int
    denominator_of: int
    alike: bool = True

    @property
    def differ(self) -> bool:
        """Return whether they lost different shares of their forks, or not alike."""
        return not self.as_many or not self.alike

    @property
    def as_many(self) -> bool:
        return self.numerator * self.denominator_of == self.denominator * self.numerator_of


class ArmForks(NamedTuple):
    """The number of forks of an arm, the blocks in which it has a figure for ratios, and, by block, those in which it
    has none by its own doing, with the kind of bound that it has there instead."""

    forks: int
    compare: Collection[int]
    own_doing: Mapping[int, Hashable]


NO_LOSSES = Losses(0, 0, 0, 0)


def losses_among(*arms: ArmForks) -> Losses:
    """Count the losses of two arms. One may have fewer blocks by its profile: what the other lost beyond them is no
    loss of this pair."""
    least = min(arm.forks for arm in arms)
    uneven = len({arm.forks for arm in arms}) > 1
    told = [sum(block <= least or not uneven for block in arm.compare) for arm in arms]
    own = [Counter(kind for block, kind in arm.own_doing.items() if block <= least or not uneven) for arm in arms]
    return Losses(least - told[0], least, least - told[1], least, alike=own[0] == own[1])


@dataclass(frozen=True)
class Refused:
    """How many `of` the windows measured in one arm the gates `refused`, and how many each gate, by the code of its
    reason: one window may be refused by several."""

    of: int
    refused: int
    by_gate: Mapping[str, int]

    @property
    def passed(self) -> int:
        return self.of - self.refused


@dataclass(frozen=True)
class ArmRefusals:
    """The refusals in both arms. `p_value`: of "the gates refuse both arms alike"."""

    numerator: Refused
    denominator: Refused
    p_value: float


@dataclass(frozen=True)
class Judged:
    """Effect, interval and verdict in one value.

    `p_adjusted`: over the whole family, None for a single block, or if nothing is judged. `family`: the number of its
    p-values. `relevant`: the share from which a difference matters.
    """

    ratio: Ratio
    p_adjusted: float | None
    family: int
    verdict: Verdict
    losses: Losses = NO_LOSSES
    relevant: float = RELEVANT
    refusals: ArmRefusals | None = None

    @property
    def possible(self) -> tuple[float, ...]:
        """The ends of the interval that are differences that matter."""
        return _possible(self.ratio, self.relevant)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values, in the order given: reject where one is below the error that the family may have.

    Raises:
        MatrixError: one is not in 0..1.
    """
    for p_value in p_values:
        if math.isnan(p_value) or not 0 <= p_value <= 1:
            raise MatrixError(f"a p-value is in 0..1, found {p_value}")
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return adjusted


def adjust(p_values: Mapping[Key, float]) -> dict[Key, float]:
    """Adjust p-values as `holm` does, by key."""
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def judged(
    ratio: Ratio,
    p_adjusted: float | None,
    family: int,
    losses: Losses = NO_LOSSES,
    relevant: float = RELEVANT,
    refusals: ArmRefusals | None = None,
) -> Judged:
    """Give the ratio its verdict. `p_adjusted`: over a family of so many p-values; None if the ratio is not in it.
    `refusals`: given if they are one-sided."""
    if losses.differ or refusals is not None:
        return Judged(ratio, None, family, Verdict.NOT_JUDGED, losses, relevant, refusals)
    return Judged(ratio, p_adjusted, family, _verdict(ratio, p_adjusted, relevant), losses, relevant)


def _possible(ratio: Ratio, relevant: float) -> tuple[float, ...]:
    ends = (ratio.ci_low, ratio.ci_high)
    return tuple(end for end in ends if end is not None and abs(end - 1) > relevant)


def _verdict(ratio: Ratio, p_adjusted: float | None, relevant: float) -> Verdict:
    if ratio.p_value is None or p_adjusted is None:
        return Verdict.ONE_BLOCK
    if p_adjusted < FAMILY_ERROR:
        return Verdict.DIFFERENT
    return Verdict.NO_EVIDENCE_YET if ratio.p_value < FAMILY_ERROR else _undecided(ratio, relevant)


def verdict_by_interval(ratio: Ratio, relevant: float) -> Verdict:
    """Return the verdict on a ratio of several runs, which has no p-value and is in no family."""
    low, high = ratio.ci_low, ratio.ci_high
    if (low is not None and low > 1) or (high is not None and high < 1):
        return Verdict.DIFFERENT
    return Verdict.CANNOT_TELL if low is None or high is None else _undecided(ratio, relevant)


def _undecided(ratio: Ratio, relevant: float) -> Verdict:
    return Verdict.CANNOT_TELL if _possible(ratio, relevant) else Verdict.NO_DIFFERENCE_SEEN
