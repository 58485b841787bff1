"""Test whether the blocks of a ratio are independent, as its interval and its p-value assume. Pure.

Neighbouring blocks that are alike, or a ratio that drifts during the run, make intervals promise too much: with a
correlation of 0.3 from block to block Student's t at 95 % covers 86 % to 91 % (intervals.py), so that chance alone is
called a difference twice as often as it should be. Two tests are made on the log ratios, in the order of their blocks:

1. For correlation between neighbours, von Neumann's ratio (J. von Neumann, "Distribution of the Ratio of the Mean
   Square Successive Difference to the Variance", Annals of Mathematical Statistics 12(4), 1941, pp. 367-395) of their
   ranks: R. Bartels, "The Rank Version of von Neumann's Ratio Test for Randomness", JASA 77(377), 1982, pp. 40-46.
   Exact up to EXACT_BLOCKS, over all orders of the ranks, ties included; beyond, Bartels' beta distribution. Two-sided:
   blocks that alternate up and down are no more independent, although they make an interval too wide.
2. For a trend, Mann's rank test with the slope of Theil and Sen as its size, as in steady.py.

Both work on ranks, so that bursts of noise raise no false alarm: in series of independent values, whatever their
distribution, each finds something in 3 % to 5 % (in 2 % with 5 blocks, which have few orders). With fewer than
FEWEST_BLOCKS, not even a series that rises from first to last would be significant.

What they cannot do is show that blocks are independent. A correlation of 0.3 is found in 20 % of series of 20 blocks,
one of 0.6 in 60 %, and in 18 % of series of 8. Neighbours are consecutive blocks among those that can be used, even if
one between them was lost. Where blocks were added until the ratio was precise, nothing makes up for that.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jdkmatrix.stats.verdicts import FAMILY_ERROR, Key, holm

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FEWEST_BLOCKS = 5
EXACT_BLOCKS = 8
_DECIMALS = 12  # of a log ratio: the rest is rounding error


@dataclass(frozen=True)
class Dependence:
    """Dependence among the log ratios of `blocks` blocks. `lag1`: their correlation from block to block; `change`: of
    the ratio from the first block to the last, as a share (-0.1: it fell by 10 %). Each has its two-sided p-value."""

    blocks: int
    lag1: float
    lag1_p: float
    change: float
    trend_p: float


@dataclass(frozen=True)
class JudgedDependence:
    """A dependence with p-values adjusted over all tests that a page makes."""

    found: Dependence
    lag1_p_adjusted: float
    trend_p_adjusted: float

    @property
    def correlated(self) -> bool:
        return self.lag1_p_adjusted < FAMILY_ERROR

    @property
    def drifting(self) -> bool:
        return self.trend_p_adjusted < FAMILY_ERROR


def dependence(logs: Sequence[float]) -> Dependence | None:
    """Test log ratios in the order of their blocks for dependence; None for fewer than FEWEST_BLOCKS. The first call
    imports scipy.stats, which takes about a second of CPU."""
    return None if len(logs) < FEWEST_BLOCKS else _tested(tuple(round(log, _DECIMALS) for log in logs))


@functools.lru_cache(maxsize=10_000)
def _tested(values: tuple[float, ...]) -> Dependence:
    """Test the values; cached, since the notices of a page and its table show the same results."""
    from scipy.stats import kendalltau  # noqa: PLC0415 - see the package

    if len(set(values)) == 1:
        return Dependence(len(values), 0.0, 1.0, 0.0, 1.0)
    return Dependence(
        blocks=len(values),
        lag1=_lag1(values),
        lag1_p=_neighbours_p(values),
        change=_share(_slope(values) * (len(values) - 1)),
        trend_p=float(kendalltau(range(len(values)), values).pvalue),
    )


def judge_dependence(family: Mapping[Key, Dependence]) -> dict[Key, JudgedDependence]:
    """Judge all ratios that one page shows together; two tests each."""
    adjusted = iter(holm([p_value for one in family.values() for p_value in (one.lag1_p, one.trend_p)]))
    return {key: JudgedDependence(one, next(adjusted), next(adjusted)) for key, one in family.items()}


def blocks_needed(tests: int) -> int:
    """Return the fewest blocks in which one of that many tests can find correlated neighbours, whatever the figures: of
    all n! orders two are the smoothest, and either side of the distribution counts."""
    blocks = FEWEST_BLOCKS
    while tests * 2 * 2 / math.factorial(blocks) >= FAMILY_ERROR:
        blocks += 1
    return blocks


def _lag1(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    deviations = [value - mean for value in values]
    return math.fsum(a * b for a, b in itertools.pairwise(deviations)) / math.fsum(d * d for d in deviations)


def _slope(values: Sequence[float]) -> float:
    """Return the Theil-Sen slope per block: the median over all pairs."""
    pairs = itertools.combinations(enumerate(values), 2)
    return statistics.median((later - earlier) / (j - i) for (i, earlier), (j, later) in pairs)


def _share(log: float) -> float:
    """Return a change as a share, infinite beyond the range of a float: blocks can differ by orders of magnitude."""
    return math.expm1(log) if log < 709 else math.inf


def _neighbours_p(values: Sequence[float]) -> float:
    """Return the two-sided p-value of Bartels' test, for values that are not all the same."""
    from scipy.stats import rankdata  # noqa: PLC0415

    n = len(values)
    doubled = [round(2 * rank) for rank in rankdata(values)]  # whole numbers even where ranks are shared
    steps = sum((a - b) ** 2 for a, b in itertools.pairwise(doubled))
    if n <= EXACT_BLOCKS:
        every = _steps_of_all_orders(tuple(sorted(doubled)))
        below, above = float((every <= steps).mean()), float((every >= steps).mean())
    else:
        from scipy.special import betainc  # noqa: PLC0415

        ratio = steps / sum((rank - (n + 1)) ** 2 for rank in doubled)
        shape = 5 * n * (n + 1) * (n - 1) ** 2 / (2 * (n - 2) * (5 * n**2 - 2 * n - 9)) - 0.5
        below = float(betainc(shape, shape, ratio / 4))
        above = float(betainc(shape, shape, 1 - ratio / 4))
    return min(1.0, 2 * min(below, above))


@functools.lru_cache(maxsize=64)
def _steps_of_all_orders(values: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the sum of the squared differences between neighbours for every order of `values`."""
    import numpy as np  # noqa: PLC0415

    orders = np.array(list(itertools.permutations(values)), dtype=np.int64)
    steps: npt.NDArray[np.int64] = (np.diff(orders, axis=1) ** 2).sum(axis=1)
    return steps
