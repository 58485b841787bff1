"""Does an estimate lie in a band? Pure.

An interval that lies inside the band shows that the truth does; one that lies outside contradicts it; one across an
edge leaves it open, wherever the estimate itself is. The first is the test of equivalence by two one-sided tests (D. J.
Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of
Average Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987, pp. 657-680), with an interval
of 95 % instead of its 90 %: a little stricter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.stats.intervals import CONFIDENCE, student_t
from jdkmatrix.stats.protocols import blocks_needed
from jdkmatrix.stats.verdicts import holm

_MOST_BLOCKS = 10_000


class Place(Enum):
    INSIDE = "inside"
    OUTSIDE = "outside"
    OPEN = "open"


@dataclass(frozen=True)
class Band:
    """Both ends belong to it; None: that side is open."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Estimate:
    """`low`, `high`: its 95 % interval; both None for a single block. `of_ratio`: its scatter is one of logarithms.
    `one_sided`: figures are bounds, so that the truth is known to be at least `low` or at most `high`, and the other
    end is None."""

    value: float
    low: float | None
    high: float | None
    blocks: int
    of_ratio: bool = False
    one_sided: bool = False


def place(estimate: Estimate, band: Band) -> Place:
    low, high = estimate.low, estimate.high
    if (band.low is not None and high is not None and high < band.low) or (
        band.high is not None and low is not None and low > band.high
    ):
        return Place.OUTSIDE
    within = (band.low is None or (low is not None and low >= band.low)) and (
        band.high is None or (high is not None and high <= band.high)
    )
    return Place.INSIDE if within else Place.OPEN


def places(estimates: Sequence[Estimate], band: Band, *, one_is_enough: bool = False) -> list[Place]:
    """Each estimate's place, in their order, where a single one decides about all of them: one outside contradicts, or
    one inside shows, what is said of the whole family. Of many that lie at an edge one does so by chance; therefore the
    p-values of the deciding side are adjusted (Holm), and the family errs in at most 5 % of cases."""
    deciding, p_of = (Place.INSIDE, _p_inside) if one_is_enough else (Place.OUTSIDE, _p_outside)
    adjusted = holm([p_of(one, band) for one in estimates])
    return [
        Place.OPEN if found is deciding and p > 1 - CONFIDENCE else found
        for found, p in zip((place(one, band) for one in estimates), adjusted, strict=True)
    ]


def _p_outside(estimate: Estimate, band: Band) -> float:
    """Of "the truth lies in the band": below 0.05 where the interval lies outside."""
    below = 1.0 if band.low is None or estimate.high is None else _p_beyond(estimate, band.low, -1)
    above = 1.0 if band.high is None or estimate.low is None else _p_beyond(estimate, band.high, 1)
    return min(below, above)


def _p_inside(estimate: Estimate, band: Band) -> float:
    """Of "the truth lies outside"."""
    from_low = 0.0 if band.low is None else 1.0 if estimate.low is None else _p_beyond(estimate, band.low, 1)
    to_high = 0.0 if band.high is None else 1.0 if estimate.high is None else _p_beyond(estimate, band.high, -1)
    return max(from_low, to_high)


def _p_beyond(estimate: Estimate, edge: float, sign: int) -> float:
    """The two-sided p-value of "the truth is not above `edge`" (`sign` 1) or not below it (-1): below 0.05 where the
    end of the interval lies beyond. By what the interval shows of the scatter."""
    if estimate.of_ratio and edge <= 0:
        return 0.0 if sign > 0 else 1.0
    scale = math.log if estimate.of_ratio else float
    error = standard_error_of(estimate)
    away = sign * (scale(estimate.value) - scale(edge))
    if error == 0:
        return 0.0 if away >= 0 else 1.0
    from scipy.special import stdtr  # noqa: PLC0415 - see the package

    return min(1.0, 2 * float(stdtr(estimate.blocks - 1, -away / error)))


def standard_error_of(estimate: Estimate) -> float:
    """As its 95 % interval shows it, of the logarithm where it is one of a ratio; 0 where no scatter is known. Infinite
    where an end lies beyond what a float can say."""
    scale = math.log if estimate.of_ratio else float
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    if not ends or estimate.blocks < 2:
        return 0.0
    if estimate.of_ratio and not all(0 < end < math.inf for end in ends):
        return math.inf
    half = max(abs(scale(end) - scale(estimate.value)) for end in ends)
    return half / student_t(CONFIDENCE, estimate.blocks)


def blocks_to_decide(estimate: Estimate, band: Band) -> int | None:
    """How many blocks in all would leave nothing open if the estimate stayed where it is, by the scatter that its
    interval shows. None where that cannot be said: the interval is missing, or the estimate lies at an edge."""
    if estimate.low is None or estimate.high is None or estimate.blocks < 2:
        return None
    scale = math.log if estimate.of_ratio else float
    if estimate.of_ratio and not 0 < estimate.low <= estimate.high < math.inf:
        return None
    half = (scale(estimate.high) - scale(estimate.low)) / 2
    edges = [scale(edge) for edge in (band.low, band.high) if edge is not None and (edge > 0 or not estimate.of_ratio)]
    margin = min((abs(scale(estimate.value) - edge) for edge in edges), default=math.inf)
    if not half > 0 or math.isinf(margin):
        return estimate.blocks
    variance = estimate.blocks * (half / student_t(CONFIDENCE, estimate.blocks)) ** 2
    if margin == 0 or variance / margin**2 > _MOST_BLOCKS:
        return None
    return blocks_needed(variance, margin, CONFIDENCE, least=2)
