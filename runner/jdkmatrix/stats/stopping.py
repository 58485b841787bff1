"""Decide how many blocks to run. Pure.

Blocks are added until every comparison of a group is known precisely enough: until half the width of the interval of
its log ratio is at most log(1 + precision). That is the fixed-width sequential interval of Y. S. Chow, H. Robbins, "On
the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean", Annals of Mathematical Statistics
36(2), 1965, pp. 457-462. Near 1 it must be narrower (`half_width_that_tells`), down to half of that: an interval around
1.02 that is as wide as the precision excludes neither 1 nor what lies beyond the precision, and ends as "cannot tell"
(verdicts.py), as 68 to 90 % of runs did whose truth was 1.

Looking after every block has a price: the rule stops on samples that happen to scatter less than the truth does (N.
Starr, "The Performance of a Sequential Procedure for the Fixed-Width Interval Estimation of the Mean", Annals of
Mathematical Statistics 37(1), 1966, pp. 36-50). At a nominal 95 % from three blocks on, the interval covers the truth
in as few as 90 % of all runs; from five on in 92 %, and extra blocks after the stop hardly help. So the first look
comes after `min_blocks` = 5, and intervals are computed at a nominal 97 % (SEQUENTIAL_CONFIDENCE), for the rule and for
the page alike: `paired_ratio(..., sequential=True)`. They then cover it in 94 % to 97 %, however large the log-normal
noise and wherever the truth lies; if it is 1, at most 5.5 % exclude it. The tests measure it. A rule that stops as soon
as an interval excludes 1 has it excluded in 9.5 %, and one that stops as soon as it excludes what lies beyond the
precision covers it in 91 % if it lies there: so both ask for more. If starts of one arm fall into two modes, a
quarter of them 8 % slower, they do in only 79 %: the rule stops on blocks that all happen to be fast (intervals.py).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.intervals import MANY, nominal_confidence, student_t
from jdkmatrix.stats.ratios import Ratio, paired_ratio

FEWEST_BLOCKS = 5
# How many half widths of its interval a log ratio must be away: found by simulation (see above).
_FROM_ONE = 1.5
_FROM_RELEVANT = 1.2


@dataclass(frozen=True)
class StoppingRules:
    """`precision` is relative: 0.02 means ± 2 %.

    Raises:
        MatrixError: precision is not above 0, or not 5 ≤ min_blocks ≤ max_blocks.
    """

    precision: float = 0.02
    min_blocks: int = 5
    max_blocks: int = 20

    def __post_init__(self) -> None:
        if not (math.isfinite(self.precision) and self.precision > 0):
            raise MatrixError(f"precision is a share above 0, such as 0.02; found {self.precision}")
        if not FEWEST_BLOCKS <= self.min_blocks <= self.max_blocks:
            raise MatrixError(
                f"{FEWEST_BLOCKS} <= blocks <= max_blocks is needed where blocks are added until figures are precise;"
                f" found blocks = {self.min_blocks}, max_blocks = {self.max_blocks}"
            )


class Why(Enum):
    TOO_FEW = "fewer blocks than the least"
    NOT_PRECISE = "a ratio is not known precisely enough yet"
    PRECISE = "every ratio is known precisely enough"
    MOST = "the most blocks have been run"
    NO_FINER = "figures are read too coarsely for any number of blocks"


@dataclass(frozen=True)
class Decision:
    """The decision after a block. `ratios`: one per comparison; None if no block has both arms."""

    stop: bool
    why: Why
    ratios: Mapping[Hashable, Ratio | None]


class Arms(NamedTuple):
    """Numerators and denominators, each keyed by block; `least`: as in paired_ratio."""

    above: Mapping[int, float]
    below: Mapping[int, float]
    least: float = 0.0


def after_block(blocks_run: int, comparisons: Mapping[Hashable, Arms], rules: StoppingRules) -> Decision:
    """Decide after each block of a group.

    `comparisons`: everything that is compared inside the group. A comparison that has no block with both arms after
    `min_blocks` does not hold up the others: more blocks help neither an executor that does not run here nor figures
    that are read too coarsely. One that lacks some blocks needs `min_blocks` of its own.

    Raises:
        MatrixError: as paired_ratio.
    """
    ratios = {
        name: paired_ratio(arms.above, arms.below, sequential=True, least=arms.least)
        for name, arms in comparisons.items()
    }
    known = [ratio for ratio in ratios.values() if ratio is not None]
    enough = all(ratio.blocks >= rules.min_blocks for ratio in known)
    untold = [ratio for ratio in known if not tells(ratio, rules.precision)]
    precise = enough and not untold
    if blocks_run >= rules.max_blocks:
        return Decision(True, Why.PRECISE if precise else Why.MOST, ratios)
    if blocks_run < rules.min_blocks:
        return Decision(False, Why.TOO_FEW, ratios)
    if enough and untold and not any(more_help(ratio, rules) for ratio in untold):
        return Decision(True, Why.NO_FINER, ratios)
    return Decision(precise, Why.PRECISE if precise else Why.NOT_PRECISE, ratios)


def half_width_that_tells(ratio: float, precision: float) -> float:
    """Return half the width that the interval of a log ratio may have at this ratio: as narrow as ± `precision` (a
    share), and such that it excludes either 1 or all that is further from 1 than that, by a sufficient margin."""
    widest, away = math.log1p(precision), abs(math.log(ratio))
    return min(widest, max(away / _FROM_ONE, (widest - away) / _FROM_RELEVANT, widest / 2))


def blocks_help(ratio: Ratio, precision: float, *, sequential: bool, blocks: int = MANY) -> bool:
    """Return whether that many blocks might tell, if the ratio stays; not if figures are read too coarsely for it."""
    least = student_t(nominal_confidence(sequential=sequential), blocks) * ratio.least_error
    return least <= half_width_that_tells(ratio.value, precision)


def more_help(ratio: Ratio, rules: StoppingRules) -> bool:
    """Return whether as many blocks as the rules allow might tell, if the ratio stays."""
    return blocks_help(ratio, rules.precision, sequential=True, blocks=rules.max_blocks)


def tells(ratio: Ratio, precision: float) -> bool:
    half = ratio.half_width_log
    return half is not None and half <= half_width_that_tells(ratio.value, precision)
