"""Does an estimate lie in a band? Pure.

An interval that lies inside the band shows that the truth does; one that lies outside contradicts it; one across an
edge leaves it open, wherever the estimate itself is. The first is the test of equivalence by two one-sided tests (D. J.
Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of
Average Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987, pp. 657-680), with an interval
of 95 % instead of its 90 %: a little stricter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.stats.intervals import CONFIDENCE, student_t
from jdkmatrix.stats.protocols import blocks_needed

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
    """`low`, `high`: its 95 % interval; None for a single block. `of_ratio`: its scatter is one of logarithms."""

    value: float
    low: float | None
    high: float | None
    blocks: int
    of_ratio: bool = False


def place(estimate: Estimate, band: Band) -> Place:
    low, high = estimate.low, estimate.high
    if low is None or high is None:
        return Place.OPEN
    if (band.low is not None and high < band.low) or (band.high is not None and low > band.high):
        return Place.OUTSIDE
    within = (band.low is None or low >= band.low) and (band.high is None or high <= band.high)
    return Place.INSIDE if within else Place.OPEN


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
