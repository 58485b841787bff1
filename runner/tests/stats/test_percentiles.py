"""Latency distributions: sums of small histograms are exact, percentiles are ranks, and forks have their own."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import accumulate, pairwise

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.drivers.wrk2_output import parse
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.load_results import PERCENTILES, Latency, SpectrumPoint
from jdkmatrix.stats.forks import summarise
from jdkmatrix.stats.histograms import _buckets, latency_from_histogram, merged_latency, percentile_distribution
from jdkmatrix.stats.percentiles import Percentile, enough_beyond, merge_latencies, percentiles_over_forks
from tests.support.project import RECORDED
from tests.support.served_windows import latency

HOUR_NS = 3600 * 10**9
# Two values of one bucket are at most this far apart: three significant digits.
PRECISION = 1e-3
VALUES = st.lists(st.integers(0, HOUR_NS), min_size=1, max_size=200)


def encode(values: list[int], *, digits: int = 3) -> str:
    histogram = HdrHistogram(1, 2 * HOUR_NS, digits)
    for value in values:
        assert histogram.record_value(value)
    return str(histogram.encode().decode())


@given(VALUES)
def test_percentiles_are_nearest_ranks_and_the_spectrum_rises_to_the_last_value(values: list[int]) -> None:
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
    last = latency.spectrum[-1]
    assert (last.quantile, last.count, last.value_us) == (1, latency.count, latency.max_us)
    for before, after in pairwise(latency.spectrum):
        assert before.quantile < after.quantile and before.value_us < after.value_us and before.count < after.count
    for point in latency.spectrum:
        assert point.count >= point.quantile * latency.count - 1e-6
        assert point.count == sum(value / 1e3 <= point.value_us for value in values)


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_merging_loses_nothing(parts: list[list[int]]) -> None:
    merged = merged_latency(tuple(encode(part) for part in parts))
    whole = latency_from_histogram(encode([value for part in parts for value in part]))
    assert merged.model_copy(update={"histogram": None}) == whole.model_copy(update={"histogram": None})


def test_histograms_that_cannot_be_read_or_merged() -> None:
    """Only equal shapes are merged."""
    for text in ("", "HIST", "not base64 at all!", encode([1])[:-8]):
        with pytest.raises(MatrixError, match="cannot be read"):
            latency_from_histogram(text)
    with pytest.raises(MatrixError, match="is empty"):
        latency_from_histogram(encode([]))
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
    """HdrHistogram 2.2.2 for Java wrote the text of 5,000 values. Quantiles differ in their 12th digit: Java adds them
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


def recorded(values_us: list[float]) -> Latency:
    return latency_from_histogram(encode([round(value * 1000) for value in values_us]))


def windows(level_us: float, seed: int, *, requests: int = 2000) -> list[Latency]:
    source = random.Random(seed)
    return [recorded([level_us * source.lognormvariate(0, 0.5) for _ in range(requests)]) for _ in range(2)]


def over(forks: list[list[Latency]]) -> dict[str, Percentile]:
    own = [merge_latencies(fork) for fork in forks]
    return percentiles_over_forks(own, merge_latencies(own))


def encoded(parts: list[Latency]) -> list[str]:
    return [part.histogram for part in parts if part.histogram is not None]


def test_merged_exactly_with_the_interval_of_the_forks() -> None:
    forks = [windows(level, seed) for seed, level in enumerate((900, 1000, 1100, 1000))]
    found = over(forks)
    together = merged_latency(tuple(histogram for fork in forks for histogram in encoded(fork)))
    alone = [merged_latency(tuple(encoded(fork))).percentiles_us["99"] for fork in forks]
    assert found["99"].merged_us == together.percentiles_us["99"]
    assert found["99"].forks == summarise(alone)
    interval = found["99"].forks
    assert interval.ci_low < found["99"].merged_us < interval.ci_high and interval.n == 4


def test_a_single_fork_has_no_interval_however_many_windows() -> None:
    summary = over([windows(1000, 1)])["50"].forks
    assert (summary.n, summary.ci_low) == (1, None)


@pytest.mark.parametrize(("percent", "count"), [("90", 100), ("99", 1_000), ("99.9", 10_000), ("99.99", 100_000)])
def test_ten_requests_must_be_slower(percent: str, count: int) -> None:
    assert enough_beyond(count, percent) and not enough_beyond(count - 1, percent)


def test_percentiles_that_too_few_requests_lie_beyond() -> None:
    """Of 2 × 300 requests of a fork, 6 lie beyond its p99, 12 beyond that of both forks, and 1 beyond their p99.9."""
    found = over([windows(1000, seed, requests=300) for seed in (1, 2)])
    assert set(found) == {"50", "90", "99"}
    assert found["90"].forks is not None
    assert found["99"].forks is None, "no fork has a p99 of its own"


def test_a_fork_without_a_histogram_has_no_percentile_of_its_own() -> None:
    printed = windows(1000, 1)[0].model_copy(update={"histogram": None})
    found = over([windows(1000, 2), [printed]])
    assert found["50"].merged_us == pytest.approx(1000, rel=0.1)
    assert found["50"].forks is None


@given(st.lists(st.lists(st.floats(1, 1e6), min_size=1, max_size=30), min_size=1, max_size=6), st.randoms())
def test_order_and_groups_of_merged_parts_do_not_matter(parts: list[list[float]], order: random.Random) -> None:
    """Windows may therefore be merged to forks, and forks to the cell."""
    latencies = [recorded(values) for values in parts]
    at_once = merge_latencies(latencies)
    order.shuffle(latencies)
    cut = order.randint(0, len(latencies))
    groups = [group for group in (latencies[:cut], latencies[cut:]) if group]
    assert merge_latencies([merge_latencies(group) for group in groups]) == at_once


def test_nothing_to_merge() -> None:
    with pytest.raises(MatrixError, match="no latency distribution to merge"):
        merge_latencies([])
    with pytest.raises(MatrixError, match="at least one fork"):
        percentiles_over_forks([], recorded([1.0]))


@st.composite
def spectra(draw: st.DrawFn) -> Latency:
    """Draw a printed spectrum: rising values, rising counts up to all; its percentiles are nearest-rank."""
    values = sorted(draw(st.sets(st.integers(min_value=1, max_value=100_000), min_size=1, max_size=12)))
    steps = draw(st.lists(st.integers(min_value=1, max_value=500), min_size=len(values), max_size=len(values)))
    counts = list(accumulate(steps))
    rows = list(zip(values, counts, strict=True))
    ranks = {percent: Fraction(percent) / 100 * counts[-1] for percent in PERCENTILES}
    return Latency(
        count=counts[-1], min_us=values[0], mean_us=values[0], max_us=values[-1],
        percentiles_us={name: next(value for value, count in rows if count >= rank) for name, rank in ranks.items()},
        spectrum=tuple(SpectrumPoint(quantile=count / counts[-1], value_us=v, count=count) for v, count in rows),
    )  # fmt: skip


@given(st.lists(spectra(), min_size=1, max_size=4))
def test_pooled_spectra_count_every_request_and_rise(parts: list[Latency]) -> None:
    pooled = merge_latencies(parts)
    assert pooled.count == sum(part.count for part in parts)
    assert pooled.spectrum[-1].count == pooled.count
    assert pooled.max_us == max(part.max_us for part in parts)
    for before, after in pairwise(pooled.spectrum):
        assert before.value_us < after.value_us and before.count <= after.count
    ranked = [pooled.percentiles_us[p] for p in ("50", "90", "99", "99.9", "99.99")]
    assert ranked == sorted(ranked)


@given(spectra(), st.integers(min_value=2, max_value=5))
def test_copies_of_a_spectrum_pool_to_its_percentiles(part: Latency, copies: int) -> None:
    """Each lies between its own printed value and the one before: no more is known of the requests between the two."""
    alone, together = merge_latencies([part]), merge_latencies([part] * copies)
    printed = [0.0, *(point.value_us for point in part.spectrum)]
    for name, value_us in alone.percentiles_us.items():
        before = max(one for one in printed if one < value_us)
        assert before < together.percentiles_us[name] <= value_us
    assert [p.count for p in together.spectrum] == [p.count * copies for p in alone.spectrum]


def test_what_wrk2_printed_twice_has_the_p99_that_it_printed() -> None:
    """wrk2 printed 2.01 ms, in hundredths, between 2.001 and 2.019 of its spectrum."""
    one = parse((RECORDED / "wrk2" / "20s-calibration.txt").read_text()).corrected.latency()
    assert one is not None and one.percentiles_us["99"] == 2010.0
    assert merge_latencies([one, one]).percentiles_us["99"] == pytest.approx(2010.0, abs=5)


def test_spectra_of_two_speeds_do_not_average_their_percentiles() -> None:
    fast, slow = latency(500, 0.1, 9900, encoded=False), latency(90_000, 0.1, 100, encoded=False)
    pooled = merge_latencies([fast, slow])
    assert pooled.percentiles_us["90"] < 1000
    assert pooled.percentiles_us["99.9"] > 50_000
