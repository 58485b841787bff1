"""Latency percentiles over forks. Pure.

The percentile of all requests comes from the exactly merged histogram. How much it would move in another run is a
question about forks: the requests of one JVM are not independent, so an interval from order statistics of the merged
requests would be far too narrow. The interval is that of the forks' own percentiles, on the log scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jdkmatrix.errors import MatrixError
from jdkmatrix.records import Latency
from jdkmatrix.stats.forks import Summary, summarise

# A percentile with fewer slower requests than this is the story of single requests, not of the executor.
MIN_BEYOND = 10


@dataclass(frozen=True)
class Percentile:
    """One percentile in µs.

    `merged_us` is that of all requests of all forks together; `forks` has the geometric mean of the forks' own and
    its 95 % interval. The two need not agree: a fork with a long tail rules the merged histogram. `forks` is None
    where a fork has too few slower requests to have that percentile.
    """

    percent: str
    merged_us: float
    forks: Summary | None


def percentiles_over_forks(windows_of_forks: Sequence[Sequence[str]]) -> dict[str, Percentile]:
    """Per percentile ("50" to "99.99"), from the encoded histograms of each fork's valid windows.

    Percentiles that even the merged histogram has too few slower requests for are left out.

    Raises:
        MatrixError: there is no fork or a fork without histograms, or one cannot be read or merged.
    """
    from jdkmatrix.histograms import PERCENTILES, latency_from_histogram, merge  # noqa: PLC0415 - needs numpy

    if not windows_of_forks or not all(windows_of_forks):
        raise MatrixError("percentiles over forks need at least one histogram of every fork")
    merged_forks = [merge(list(histograms)) for histograms in windows_of_forks]
    forks = [latency_from_histogram(histogram) for histogram in merged_forks]
    merged = latency_from_histogram(merge(merged_forks))
    return {
        percent: Percentile(
            percent=percent,
            merged_us=merged.percentiles_us[percent],
            forks=_over(forks, percent) if all(has_tail(fork, percent) for fork in forks) else None,
        )
        for percent in PERCENTILES
        if has_tail(merged, percent)
    }


def _over(forks: Sequence[Latency], percent: str) -> Summary:
    return summarise([fork.percentiles_us[percent] for fork in forks])


def has_tail(latency: Latency, percent: str) -> bool:
    """Do enough requests lie beyond that percentile?"""
    beyond = latency.count * (1 - float(percent) / 100)
    # Half a request of tolerance: 1 - 0.999 is a little below 0.001 in binary.
    return beyond >= MIN_BEYOND - 0.5
