"""Histograms: sums of small ones are exact, and percentiles are ranks."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import PERCENTILES
from jdkmatrix.stats.histograms import _buckets, latency_from_histogram, merged_latency, percentile_distribution
from tests.support.project import RECORDED

HOUR_NS = 3600 * 10**9
# Two values of one bucket are at most this far apart: three significant digits.
PRECISION = 1e-3
VALUES = st.lists(st.integers(0, HOUR_NS), min_size=1, max_size=200)


def encode(values: list[int], *, highest: int = 2 * HOUR_NS, digits: int = 3) -> str:
    histogram = HdrHistogram(1, highest, digits)
    for value in values:
        assert histogram.record_value(value)
    return str(histogram.encode().decode())


@given(VALUES)
def test_percentiles_are_nearest_ranks(values: list[int]) -> None:
    latency = latency_from_histogram(encode(values))
    ordered = sorted(values)
    assert latency.count == len(values)
    for percent in PERCENTILES:
        rank = max(1, math.ceil(round(float(percent) * len(values) / 100, 9)))
        true_us = ordered[rank - 1] / 1e3
        assert true_us <= latency.percentiles_us[percent] <= true_us * (1 + PRECISION) + 1e-3
    assert latency.min_us <= ordered[0] / 1e3 <= latency.min_us * (1 + PRECISION) + 1e-3
    assert ordered[-1] / 1e3 <= latency.max_us <= ordered[-1] / 1e3 * (1 + PRECISION) + 1e-3
    assert latency.mean_us == pytest.approx(sum(values) / len(values) / 1e3, rel=PRECISION, abs=1e-3)


@given(VALUES)
def test_spectrum_rises_to_the_last_value(values: list[int]) -> None:
    latency = latency_from_histogram(encode(values))
    points = latency.spectrum
    last = points[-1]
    assert (last.quantile, last.count, last.value_us) == (1, latency.count, latency.max_us)
    for before, after in pairwise(points):
        assert before.quantile < after.quantile and before.value_us < after.value_us and before.count < after.count
    for point in points:
        assert point.count >= point.quantile * latency.count - 1e-6
        assert point.count == sum(value / 1e3 <= point.value_us for value in values)


def test_spectrum_ticks() -> None:
    """Five steps per halving of the distance to 1, as HdrHistogram and wrk2 print them."""
    quantiles = [point.quantile for point in latency_from_histogram(encode(list(range(2000)))).spectrum]
    assert quantiles[:12] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775])


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_merging_loses_nothing(parts: list[list[int]]) -> None:
    merged = merged_latency(tuple(encode(part) for part in parts))
    whole = latency_from_histogram(encode([value for part in parts for value in part]))
    assert merged.model_copy(update={"histogram": None}) == whole.model_copy(update={"histogram": None})


def test_unreadable() -> None:
    for text in ("", "HIST", "not base64 at all!", encode([1])[:-8]):
        with pytest.raises(MatrixError, match="cannot be read"):
            latency_from_histogram(text)
    with pytest.raises(MatrixError, match="is empty"):
        latency_from_histogram(encode([]))


def test_only_equal_shapes_are_merged() -> None:
    with pytest.raises(MatrixError, match="no latency histogram"):
        merged_latency(())
    with pytest.raises(MatrixError, match="different shape"):
        merged_latency((encode([1]), encode([1], digits=2)))


@given(VALUES, st.sampled_from([1, 1000]), st.sampled_from([2, 3]))
def test_the_ends_of_buckets_are_those_of_the_library(values: list[int], lowest: int, digits: int) -> None:
    histogram = HdrHistogram(lowest, 2 * HOUR_NS, digits)
    for value in values:
        histogram.record_value(value)
    found = _buckets(histogram)
    used = [index for index, count in enumerate(histogram.counts) if count]
    starts = [histogram.get_value_from_index(index) for index in used]
    assert found.lowest_ns.tolist() == starts
    assert found.highest_ns.tolist() == [histogram.get_highest_equivalent_value(start) for start in starts]


def test_the_text_for_plotters_is_that_of_java() -> None:
    """Of 5,000 values, as HdrHistogram 2.2.2 for Java wrote it. Quantiles differ in their 12th digit: Java adds them
    up in floating point."""
    data = RECORDED / "histograms"
    theirs = (data / "5000-values.hgrm").read_text("ascii").splitlines()
    ours = percentile_distribution((data / "5000-values.txt").read_text("ascii")).splitlines()
    assert len(ours) == len(theirs) > 60
    for our, their in zip(ours, theirs, strict=True):
        if our.startswith(("#", " " * 7 + "Value")) or not our:
            assert our == their
        else:
            value, quantile, *rest = our.split()
            their_value, their_quantile, *their_rest = their.split()
            assert (value, rest) == (their_value, their_rest)
            assert float(quantile) == pytest.approx(float(their_quantile), abs=1.1e-12)
