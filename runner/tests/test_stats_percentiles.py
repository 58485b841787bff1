"""Percentiles over forks."""

from __future__ import annotations

import random

import pytest
from hdrh.histogram import HdrHistogram

from jdkmatrix.errors import MatrixError
from jdkmatrix.histograms import latency_from_histogram, merge
from jdkmatrix.stats import summarise
from jdkmatrix.stats.percentiles import percentiles_over_forks


def encoded(values_us: list[float]) -> str:
    histogram = HdrHistogram(1, 3600 * 10**9, 3)
    for value in values_us:
        histogram.record_value(round(value * 1000))
    return str(histogram.encode().decode())


def fork(level_us: float, seed: int, *, requests: int = 2000) -> list[str]:
    source = random.Random(seed)
    return [encoded([level_us * source.lognormvariate(0, 0.5) for _ in range(requests)]) for _ in range(2)]


def test_merged_exactly_with_the_interval_of_the_forks() -> None:
    forks = [fork(level, seed) for seed, level in enumerate((900, 1000, 1100, 1000))]
    found = percentiles_over_forks(forks)
    together = latency_from_histogram(merge([window for windows in forks for window in windows]))
    alone = [latency_from_histogram(merge(windows)).percentiles_us["99"] for windows in forks]
    assert found["99"].merged_us == together.percentiles_us["99"]
    assert found["99"].forks == summarise(alone)
    interval = found["99"].forks
    assert interval and interval.ci_low and interval.ci_high
    assert interval.ci_low < found["99"].merged_us < interval.ci_high
    assert interval.n == 4


def test_a_single_fork_has_no_interval_however_many_windows() -> None:
    found = percentiles_over_forks([fork(1000, 1)])
    summary = found["50"].forks
    assert summary and (summary.n, summary.ci_low) == (1, None)


def test_percentiles_that_too_few_requests_lie_beyond() -> None:
    """Of 2 × 300 requests 6 lie beyond p99 of a fork, 12 beyond that of both forks, and 1 beyond p99.9."""
    found = percentiles_over_forks([fork(1000, seed, requests=300) for seed in (1, 2)])
    assert set(found) == {"50", "90", "99"}
    assert found["90"].forks is not None
    assert found["99"].forks is None, "no fork has a p99 of its own"


@pytest.mark.parametrize("forks", [[], [["x"], []]])
def test_a_fork_without_histograms(forks: list[list[str]]) -> None:
    with pytest.raises(MatrixError, match="at least one histogram of every fork"):
        percentiles_over_forks(forks)
