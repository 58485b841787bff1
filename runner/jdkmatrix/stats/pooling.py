"""Pool several estimates of the same thing, each measured on a different day. Pure.

Runs on one host differ by more than their blocks show: all blocks of a run share the host's state on that day. So their
estimates are weighted as in a random-effects meta-analysis, by 1 / (variance of the run + variance between runs), the
latter by the method of moments (R. DerSimonian, N. Laird, "Meta-analysis in Clinical Trials", Controlled Clinical
Trials 7(3), 1986, pp. 177-188). Two or three runs show it poorly; therefore Student's t has the degrees of freedom of
F. E. Satterthwaite ("An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2(6), 1946,
pp. 110-114): down to the number of runs minus 1 if they disagree. If the blocks of a run do not scatter at all, as may
happen with counts of whole rounds, that cannot be a weight: then each run is one value. Such values may agree by
chance, so their interval is no narrower than the scatter of the other runs' blocks makes it.

How often the 95 % interval covers the truth, in per cent of simulated runs of five blocks, by how far runs scatter
relative to their blocks (measured again by the tests). The interval of one run knows nothing of such scatter:

    runs      0     0.5      1      2
       1     95      86     69     42
       2     95      91     86     84
       3     93      90     89     90
       5     93      91     91     93
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from statistics import fmean

from jdkmatrix.stats.bands import Estimate, standard_error_of
from jdkmatrix.stats.intervals import standard_error, student_t


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Pool at least one estimate; the result has the blocks of all that are pooled. Weaker estimates are left out:
    those of a single block beside those with an interval, and bounds beside figures that they do not exclude; figures
    that a bound excludes become bounds, too. Bounds of one direction give a bound, and two that exclude each other
    neither end. The interval has the largest confidence of any of them: if one run was stopped by looking at its
    interval, so was the whole. Of estimates that cannot be weighted, the one with the most blocks is returned.

    Raises:
        ValueError: no estimate.
    """
    if not estimates:
        raise ValueError("nothing to pool")
    told = [one for one in estimates if one.blocks > 1 and one.has_end] or list(estimates)
    exact = [one for one in told if not one.one_sided]
    alike = exact or [one for one in told if one.low is not None] or told
    found = alike[0] if len(alike) == 1 else _weighted(alike)
    return _beside(found, [one for one in estimates if one.one_sided])


def _beside(found: Estimate, bounds: Sequence[Estimate]) -> Estimate:
    """Drop an end that lies on the wrong side of another run's bound."""
    low, high = found.low, found.high
    if high is not None and any(one.low is not None and one.low > high for one in bounds):
        high = None
    if low is not None and any(one.high is not None and one.high < low for one in bounds):
        low = None
    return found if (low, high) == (found.low, found.high) else replace(found, low=low, high=high, one_sided=True)


def _weighted(estimates: Sequence[Estimate]) -> Estimate:
    of_ratio = estimates[0].of_ratio
    forth, back = (math.log, math.exp) if of_ratio else (float, float)
    values = [forth(one.value) for one in estimates]
    variances = [standard_error_of(one) ** 2 for one in estimates]
    confidence = max(one.confidence for one in estimates)
    if min(variances) == 0 and all(None not in (one.low, one.high) for one in estimates):  # one value each
        mean, error, freedom = _one_value_each(values, variances, [one.blocks for one in estimates], confidence)
    elif not all(0 < variance < math.inf for variance in variances):
        return max(estimates, key=lambda one: one.blocks)
    else:
        mean, error, freedom = _random_effects(values, variances, [one.blocks for one in estimates])
    least = min(one.least_error for one in estimates)  # runs that read in the same steps may all be off alike
    half = student_t(confidence, freedom + 1) * max(error, least)
    one = estimates[0]
    return Estimate(
        value=back(mean),
        low=None if one.low is None else back(mean - half),
        high=None if one.high is None else back(mean + half),
        blocks=sum(one.blocks for one in estimates),
        of_ratio=of_ratio,
        one_sided=one.one_sided,
        confidence=confidence,
        pooled_freedom=freedom,
        least_error=least,
    )


def _one_value_each(
    values: Sequence[float], variances: Sequence[float], blocks: Sequence[int], confidence: float
) -> tuple[float, float, float]:
    """Return what `_random_effects` does, with equal weights and the wider of two standard errors: by the distance
    between runs, and by the blocks of those that show one."""
    found = [(standard_error(values), float(len(values) - 1))]
    total = sum(variances)
    if 0 < total < math.inf:
        parts = [(variance, n - 1) for variance, n in zip(variances, blocks, strict=True)]
        found.append((math.sqrt(total) / len(values), _freedom(parts)))
    error, freedom = max(found, key=lambda told: student_t(confidence, told[1] + 1) * told[0])
    return fmean(values), error, freedom


def _random_effects(
    values: Sequence[float], variances: Sequence[float], blocks: Sequence[int]
) -> tuple[float, float, float]:
    """Return the mean of runs, its standard error, and the degrees of freedom of that error."""
    between = _between(values, variances)
    weights = [1 / (variance + between) for variance in variances]
    shares = [weight / sum(weights) for weight in weights]
    mean = sum(share * value for share, value in zip(shares, values, strict=True))
    parts = [(share**2 * variance, n - 1) for share, variance, n in zip(shares, variances, blocks, strict=True)]
    parts.append((sum(share**2 for share in shares) * between, len(values) - 1))
    return mean, math.sqrt(sum(part for part, _ in parts)), _freedom(parts)


def _freedom(parts: Sequence[tuple[float, int]]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of variances, each given with its own."""
    return sum(part for part, _ in parts) ** 2 / sum(part**2 / freedom for part, freedom in parts)


def _between(values: Sequence[float], variances: Sequence[float]) -> float:
    """Return DerSimonian and Laird's estimate of the variance between runs."""
    weights = [1 / variance for variance in variances]
    total = sum(weights)
    mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / total
    apart = sum(weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True))
    # total - sum(weight**2) / total, of which a weight 10**16 times as large as the others would leave nothing
    spread = sum(one * other for one, other in permutations(weights, 2)) / total
    return max(0.0, (apart - (len(values) - 1)) / spread)
