"""Decide whether an estimate lies in a band. Pure.

An interval inside the band shows that the truth lies in it, too; one outside contradicts that; one across an edge
leaves it open, wherever the estimate itself is. The first is the test of equivalence by two one-sided tests (D. J.
Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence of
Average Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15(6), 1987, pp. 657-680), with an interval
of 95 % instead of its 90 %: a little stricter.

Among many cells whose truths lie at an edge, one in forty shows an interval outside: nearly every second family of 24
has one. So where a single cell decides for all, its p-value is adjusted for all of them, by S. Holm's procedure
(verdicts.py).

How many blocks would decide is forecast from few blocks, whose scatter may be far below the truth: with three, the
truth is at least twice what they show in one case of five. So the forecast assumes a scatter that the truth exceeds in
only one case of five (from the chi-square distribution of a sample's variance). Simulated with normal scatter of 1, an
estimate this far from the edge, and blocks that left it open; the per cent of 2,000 each that are decided by then
(measured again by the tests):

    distance from the edge          0.1    0.3    0.5    0.7
    the estimate stays     n = 3     82     85     91     95
                           n = 5     80     85     93     98
    it moves to its truth  n = 3     32     65     83     89
                           n = 5     34     69     84     90

In the second pair of rows it is the truth that is this far away, and both the first and the later blocks scatter around
it: an estimate that lies at an edge by chance, or whose truth does, is decided later than forecast.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from jdkmatrix.stats.intervals import CONFIDENCE, MANY, student_t
from jdkmatrix.stats.protocols import blocks_needed
from jdkmatrix.stats.verdicts import adjust

_MOST_BLOCKS = 10_000
_ASSURANCE = 0.8  # of a forecast: the probability that the scatter is no larger than assumed


class Place(Enum):
    INSIDE = "inside"
    OUTSIDE = "outside"
    OPEN = "open"


@dataclass(frozen=True)
class Band:
    """A band that includes both ends; None: that side is open."""

    low: float | None
    high: float | None

    def has(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Estimate:
    """An estimate. `low`, `high`: its 95 % interval; both None for a single block, unless its figure is a bound, which
    is then an end and decides nothing. `of_ratio`: its scatter is that of logarithms. `one_sided`: the figures are
    bounds, so that the truth is known to be at least `low` or at most `high`, and the other end is None. `confidence`:
    the interval's nominal one, SEQUENTIAL_CONFIDENCE if blocks were added by looking at it. `pooled_freedom`: the
    degrees of freedom of an interval over several runs; None: over one run. `least_error`: the standard error that no
    number of blocks can go below, since figures are read in steps."""

    value: float
    low: float | None
    high: float | None
    blocks: int
    of_ratio: bool = False
    one_sided: bool = False
    confidence: float = CONFIDENCE
    pooled_freedom: float | None = None
    least_error: float = 0.0

    @property
    def has_end(self) -> bool:
        """True if it has an interval or a bound."""
        return (self.low, self.high) != (None, None)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of its interval."""
        return self.blocks - 1 if self.pooled_freedom is None else self.pooled_freedom


def can_decide(estimate: Estimate) -> bool:
    """Return whether it is one of the family: a single block has no p-value."""
    return estimate.has_end and estimate.blocks > 1


def place(estimate: Estimate, band: Band) -> Place:
    """A single block leaves it open: what its figure scatters by is not known."""
    if estimate.blocks < 2:
        return Place.OPEN
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
    """Return each estimate's place, in order, where a single one decides for all of them: one outside contradicts, or
    one inside shows, what is said of the whole family. Among many that lie at an edge, one does so by chance; therefore
    the p-values of the deciding side are adjusted (Holm), and the family errs in at most 5 % of cases."""
    deciding, p_of = (Place.INSIDE, _p_inside) if one_is_enough else (Place.OUTSIDE, _p_outside)
    told = [index for index, one in enumerate(estimates) if can_decide(one)]
    adjusted = adjust({index: p_of(estimates[index], band) for index in told})
    found = [place(one, band) for one in estimates]
    return [
        Place.OPEN if one is deciding and adjusted[index] > 1 - CONFIDENCE else one for index, one in enumerate(found)
    ]


def _p_outside(estimate: Estimate, band: Band) -> float:
    """Return the p-value of "the truth lies in the band": below 0.05 if the interval lies outside."""
    if standard_error_of(estimate) == 0:
        return 0.0 if place(estimate, band) is Place.OUTSIDE else 1.0
    below = 1.0 if band.low is None or estimate.high is None else _p_beyond(estimate, band.low, -1)
    above = 1.0 if band.high is None or estimate.low is None else _p_beyond(estimate, band.high, 1)
    return min(below, above)


def _p_inside(estimate: Estimate, band: Band) -> float:
    """Return the p-value of "the truth lies outside"."""
    if standard_error_of(estimate) == 0:
        return 0.0 if place(estimate, band) is Place.INSIDE else 1.0
    from_low = 0.0 if band.low is None else 1.0 if estimate.low is None else _p_beyond(estimate, band.low, 1)
    to_high = 0.0 if band.high is None else 1.0 if estimate.high is None else _p_beyond(estimate, band.high, -1)
    return max(from_low, to_high)


def _p_beyond(estimate: Estimate, edge: float, sign: int) -> float:
    """Return the two-sided p-value of "the truth is not above `edge`" (`sign` 1) or not below it (-1): below 0.05 if
    that end of the interval lies beyond. It uses the scatter that the interval shows, of which there must be some."""
    if estimate.of_ratio and edge <= 0:
        return 0.0 if sign > 0 else 1.0
    scale, error = _scale(estimate), standard_error_of(estimate)
    away = sign * (scale(estimate.value) - scale(edge))
    from scipy.special import stdtr  # noqa: PLC0415 - see the package

    p_value = 2 * float(stdtr(estimate.freedom, -away / error))
    return min(1.0, p_value * (1 - CONFIDENCE) / (1 - estimate.confidence))


def standard_error_of(estimate: Estimate) -> float:
    """Return the standard error behind an interval, that of the logarithm for a ratio; 0 if no scatter is known.
    Infinite if an end is beyond the range of a float."""
    scale = _scale(estimate)
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    if not ends or estimate.blocks < 2:
        return 0.0
    if estimate.of_ratio and not all(0 < end < math.inf for end in ends):
        return math.inf
    half = max(abs(scale(end) - scale(estimate.value)) for end in ends)
    return half / student_t(estimate.confidence, estimate.freedom + 1)


def _scale(estimate: Estimate) -> Callable[[float], float]:
    return math.log if estimate.of_ratio else float


def blocks_to_decide(estimate: Estimate, band: Band, *, family: int = 1, one_is_enough: bool = False) -> int | None:
    """Return how many blocks in all would leave nothing open, in four cases of five (see above), if the estimate stayed
    where it is. `family`: the number of estimates, as in `places`; deciding for all of them takes more. None if that
    cannot be said: there is no interval, or it is over several runs, which differ by more than blocks do, the estimate
    lies at an edge, or figures are read too coarsely."""
    error = standard_error_of(estimate)
    of_runs = estimate.pooled_freedom is not None
    if of_runs or estimate.low is None or estimate.high is None or estimate.blocks < 2 or math.isinf(error):
        return None
    scale = _scale(estimate)
    edges = [scale(edge) for edge in (band.low, band.high) if edge is not None and (edge > 0 or not estimate.of_ratio)]
    margin = min((abs(scale(estimate.value) - edge) for edge in edges), default=math.inf)
    if not error > 0 or math.isinf(margin):
        return estimate.blocks
    from scipy.special import chdtri  # noqa: PLC0415 - see the package

    freedom = estimate.freedom
    variance = error**2 * estimate.blocks * freedom / float(chdtri(freedom, _ASSURANCE))
    if margin == 0 or variance / margin**2 > _MOST_BLOCKS:
        return None
    lies_inside = place(replace(estimate, low=estimate.value, high=estimate.value), band) is Place.INSIDE
    adjusted_for = family if lies_inside == one_is_enough else 1
    confidence = 1 - (1 - estimate.confidence) / adjusted_for
    if student_t(confidence, MANY) * estimate.least_error > margin:
        return None
    needed = blocks_needed(variance, margin, confidence, least=2, least_error=estimate.least_error)
    return max(estimate.blocks + 1, needed)
