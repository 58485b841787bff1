"""Merge latency distributions of many windows and forks, and take their percentiles over forks. Pure.

Percentiles are never averaged. Distributions with an HdrHistogram are merged exactly; for those with only a printed
spectrum (wrk2), the cumulative counts are added at every printed value, with straight lines in between.

How much the percentile of all requests would move in another run is a question about forks: the requests of one JVM
are not independent, so an interval from order statistics of the merged requests would be far too narrow. The interval
is that of the forks' own percentiles, on the log scale.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import PERCENTILES, Latency, SpectrumPoint
from jdkmatrix.stats.forks import Summary, summarise
from jdkmatrix.stats.intervals import CONFIDENCE

# A percentile with fewer slower requests than this is the story of single requests, not of the executor.
MIN_BEYOND = 10
_BOUNDS_SHARE_MAX = 0.01  # of latencies that are lower bounds, beyond which no percentile is exact
_LATE_SHARE_MAX = 0.5  # of a latency that the driver's lateness may explain


@dataclass(frozen=True)
class Percentile:
    """One percentile in µs.

    `merged_us` is that of all requests of all forks together; `forks` has the geometric mean of the forks' own and its
    95 % interval. The two need not agree: a fork with a long tail dominates the merged histogram. `forks` is None if a
    fork has too few slower requests to have that percentile, or no histogram to read it from.
    """

    merged_us: float
    forks: Summary | None


def percentiles_over_forks(
    forks: Sequence[Latency], merged: Latency, confidence: float = CONFIDENCE
) -> dict[str, Percentile]:
    """Return the percentiles ("50" to "99.99"); `forks`: each fork's own distribution, `merged`: all of them as one;
    `confidence`: the nominal one of their intervals.

    Percentiles for which even the merged distribution has too few slower requests are left out.

    Raises:
        MatrixError: there is no fork.
    """
    if not forks:
        raise MatrixError("percentiles over forks need at least one fork")
    return {
        percent: Percentile(merged_us=merged_us, forks=_over(forks, percent, confidence))
        for percent in PERCENTILES
        if (merged_us := tail_checked(merged, percent)) is not None
    }


def _over(forks: Sequence[Latency], percent: str, confidence: float) -> Summary | None:
    own = [tail_checked(fork, percent) for fork in forks if fork.histogram is not None]
    told = [value_us for value_us in own if value_us is not None]
    return summarise(told, confidence) if len(told) == len(forks) else None


def tail_checked(latency: Latency, percent: str) -> float | None:
    """Return that percentile in µs; None if it was not recorded or too few requests lie beyond it."""
    return latency.percentiles_us.get(percent) if enough_beyond(latency.count, percent) else None


def enough_beyond(count: int, percent: str) -> bool:
    """Return whether enough of `count` requests lie beyond that percentile."""
    # In decimal, since 1 - 0.999 is a little below 0.001 in binary.
    return count * (100 - Decimal(percent)) >= 100 * MIN_BEYOND


def are_bounds(lower: int, count: int, percent: str) -> bool:
    """Return whether that percentile of `count` latencies is a lower bound. It is if more of them are lower bounds than
    lie beyond it, or than one in a hundred: these count with the time that they had waited, and would be longer."""
    return lower > min(_BOUNDS_SHARE_MAX, 1 - float(percent) / 100) * count


def is_overstated(value_us: float, lateness: Latency | None, percent: str) -> bool:
    """Return whether `value_us`, that percentile, is an upper bound, since the driver was late to send: latencies count
    from when a request was due. It is if as many requests were late by more than half of it. `lateness`: None if there
    was no schedule, or the driver does not say."""
    if lateness is None or not lateness.count:
        return False
    return lateness.percentiles_us[percent] > _LATE_SHARE_MAX * value_us


def merge_latencies(parts: Sequence[Latency]) -> Latency:
    """Merge several distributions into one; it has a histogram, and is exact, if all of them have one.

    Raises:
        MatrixError: there is none, or a histogram cannot be read or merged.
    """
    if not parts:
        raise MatrixError("no latency distribution to merge")
    if len(parts) == 1 and parts[0].spectrum:
        return parts[0]
    histograms = [part.histogram for part in parts if part.histogram is not None]
    if len(histograms) < len(parts):
        return _pool_spectra(parts)
    from jdkmatrix.stats.histograms import merged_latency  # noqa: PLC0415 - see the package

    return merged_latency(tuple(histograms))


def _pool_spectra(parts: Sequence[Latency]) -> Latency:
    """Merge spectra: each is exact at its own printed values, and interpolated elsewhere."""
    import numpy as np  # noqa: PLC0415 - see the package

    values = sorted({point.value_us for part in parts for point in part.spectrum})
    total = sum(part.count for part in parts)
    cumulative = [sum(_count_at(part, value) for part in parts) for value in values]
    spectrum = tuple(
        SpectrumPoint(quantile=min(1.0, count / total), value_us=value, count=round(count))
        for value, count in zip(values, cumulative, strict=True)
    )

    asked = [float(percent) / 100 * total * (1 - 1e-12) for percent in PERCENTILES]
    return Latency(
        count=total,
        min_us=min(part.min_us for part in parts),
        mean_us=sum(part.mean_us * part.count for part in parts) / total,
        max_us=max(part.max_us for part in parts),
        percentiles_us=dict(zip(PERCENTILES, np.interp(asked, cumulative, values).tolist(), strict=True)),
        spectrum=spectrum,
    )


def _count_at(latency: Latency, value_us: float) -> float:
    """Return how many of its requests took at most `value_us`."""
    points = latency.spectrum
    position = bisect.bisect_right(points, value_us, key=lambda point: point.value_us)
    if position == 0:
        return 0.0
    below = points[position - 1]
    if position == len(points):
        return float(below.count)
    above = points[position]
    part = (value_us - below.value_us) / (above.value_us - below.value_us)
    return below.count + part * (above.count - below.count)
