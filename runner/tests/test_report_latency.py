"""Merging latency distributions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.records import Latency, SpectrumPoint
from jdkmatrix.report.latency import MAX_CURVE_POINTS, pool_forks, pool_spectra, pool_windows
from tests.report_fixtures import QUICK, Shape, latency, synthetic_run


@st.composite
def spectra(draw: st.DrawFn) -> Latency:
    """A printed spectrum: rising values, rising counts up to all."""
    values = sorted(draw(st.sets(st.integers(min_value=1, max_value=100_000), min_size=1, max_size=12)))
    steps = draw(st.lists(st.integers(min_value=1, max_value=500), min_size=len(values), max_size=len(values)))
    counts = [sum(steps[: i + 1]) for i in range(len(steps))]
    return Latency(
        count=counts[-1],
        min_us=values[0],
        mean_us=values[0],
        max_us=values[-1],
        percentiles_us={},
        spectrum=tuple(
            SpectrumPoint(quantile=count / counts[-1], value_us=value, count=count)
            for value, count in zip(values, counts, strict=True)
        ),
    )


@given(st.lists(spectra(), min_size=1, max_size=4))
def test_pooled_spectra_count_every_request_and_rise(parts: list[Latency]) -> None:
    pooled = pool_spectra(parts)
    assert pooled.count == sum(part.count for part in parts)
    assert pooled.spectrum[-1].count == pooled.count
    assert pooled.max_us == max(part.max_us for part in parts)
    for before, after in pairwise(pooled.spectrum):
        assert before.value_us < after.value_us and before.count <= after.count
    ranked = [pooled.percentiles_us[p] for p in ("50", "90", "99", "99.9", "99.99")]
    assert ranked == sorted(ranked)


@given(spectra(), st.integers(min_value=2, max_value=5))
def test_copies_of_a_spectrum_pool_to_its_percentiles(part: Latency, copies: int) -> None:
    alone, together = pool_spectra([part]), pool_spectra([part] * copies)
    assert together.percentiles_us == alone.percentiles_us
    assert [p.count for p in together.spectrum] == [p.count * copies for p in alone.spectrum]


def test_spectra_of_two_speeds_do_not_average_their_percentiles() -> None:
    fast, slow = latency(500, 0.1, 9900, encoded=False), latency(90_000, 0.1, 100, encoded=False)
    pooled = pool_spectra([fast, slow])
    assert pooled.percentiles_us["90"] < 1000
    assert pooled.percentiles_us["99.9"] > 50_000


def test_windows_with_histograms_merge_exactly(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, QUICK)
    fork = loaded.cells[0].forks[0]
    pooled = pool_windows(fork.valid_windows)
    assert pooled is not None and pooled.exact and pooled.kind == "uncorrected"
    assert pooled.count == sum(w.load.uncorrected.count for w in fork.windows if w.load.uncorrected)
    single = pool_windows(fork.windows[:1])
    assert single is not None
    own = fork.windows[0].load.uncorrected
    assert own is not None
    assert single.percentiles_us["99"] == pytest.approx(own.percentiles_us["99"], rel=0.01)
    assert len(pooled.spectrum) <= MAX_CURVE_POINTS


def test_a_rate_load_stands_by_its_corrected_latency(tmp_path: Path) -> None:
    for driver in ("loadgen", "wrk2"):
        shape = Shape(loads=("rate-2000",), jdks=("temurin-25",), executors=("liberty",), driver=driver)
        loaded = synthetic_run(tmp_path, shape)
        pooled = pool_forks(loaded.cells[0].forks)
        assert pooled is not None
        assert pooled.kind == "corrected"
        assert pooled.exact is (driver == "loadgen")


def test_a_percentile_with_few_slower_requests_is_not_told(tmp_path: Path) -> None:
    shape = Shape(loads=("rate-2000",), jdks=("temurin-25",), executors=("liberty",), blocks=1, windows=1)
    loaded = synthetic_run(tmp_path, shape)
    pooled = pool_forks(loaded.cells[0].forks)
    assert pooled is not None and 7_000 < pooled.count < 9_000
    assert pooled.percentiles_us["99"] is not None
    assert pooled.percentiles_us["99.9"] is None and pooled.percentiles_us["99.99"] is None


def test_nothing_measured_is_no_distribution() -> None:
    assert pool_windows([]) is None
