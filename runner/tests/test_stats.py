"""Ratios and summaries over forks."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.records import Fork, Reason, Window
from jdkmatrix.stats import Ratio, fork_cpu_us_per_request, fork_throughput, paired_ratio, summarise
from tests.builders import fork, load_result, pressure, sut_usage

UNTIMED = settings(deadline=None)  # a busy machine is not a failure
FIGURES = st.floats(1e-3, 1e9)
FACTORS = st.floats(1e-3, 1e3)
PAIRS = st.dictionaries(st.integers(1, 50), st.tuples(FIGURES, FIGURES), min_size=2, max_size=8)
CLOSE = 1e-9


def ratio_of(pairs: dict[int, tuple[float, float]]) -> Ratio:
    result = paired_ratio({b: p[0] for b, p in pairs.items()}, {b: p[1] for b, p in pairs.items()})
    assert result is not None
    return result


def assert_same(found: Ratio, expected: Sequence[float | None]) -> None:
    for one, other in zip((found.value, found.ci_low, found.ci_high), expected, strict=True):
        assert one is not None and other is not None
        assert math.log(one) == pytest.approx(math.log(other), abs=1e-6)


# ---------------------------------------------------------------- paired_ratio


def test_ratio_worked_by_hand() -> None:
    """Ratios 2 and 8: geometric mean 4; log2 ratios 1 and 3 have s = √2, so half = t(0.975, 1) · √2 / √2 = 12.7062."""
    result = paired_ratio({1: 2.0, 2: 80.0}, {1: 1.0, 2: 10.0})
    assert result is not None
    assert result.value == pytest.approx(4.0)
    assert result.blocks == 2
    assert result.ci_low == pytest.approx(4 * 2**-12.7062047362)
    assert result.ci_high == pytest.approx(4 * 2**12.7062047362)


def test_one_block_has_no_interval() -> None:
    result = paired_ratio({3: 10.0}, {3: 5.0})
    assert result is not None and result.value == pytest.approx(2.0)
    assert (result.ci_low, result.ci_high, result.blocks) == (None, None, 1)


def test_only_complete_blocks_count() -> None:
    assert paired_ratio({1: 10.0, 2: 30.0, 4: 1.0}, {1: 5.0, 2: 10.0, 3: 7.0}) == paired_ratio(
        {1: 10.0, 2: 30.0}, {1: 5.0, 2: 10.0}
    )
    assert paired_ratio({1: 10.0}, {2: 5.0}) is None
    assert paired_ratio({}, {}) is None


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_impossible_figures_name_their_block(figure: float) -> None:
    with pytest.raises(MatrixError, match=f"block 2: .*found {figure}"):
        paired_ratio({1: 1.0, 2: 1.0}, {1: 1.0, 2: figure})


@UNTIMED
@given(st.dictionaries(st.integers(1, 50), FIGURES, min_size=2))
def test_an_arm_against_itself_is_one(arm: dict[int, float]) -> None:
    assert paired_ratio(arm, arm) == Ratio(1.0, 1.0, 1.0, len(arm))


@UNTIMED
@given(PAIRS, FACTORS)
def test_scaling_an_arm_scales_the_ratio(pairs: dict[int, tuple[float, float]], factor: float) -> None:
    plain = ratio_of(pairs)
    scaled = ratio_of({block: (n * factor, d) for block, (n, d) in pairs.items()})
    assert plain.ci_low and plain.ci_high
    if plain.ci_high < 1e200 and plain.ci_low > 1e-200:
        assert_same(scaled, (plain.value * factor, plain.ci_low * factor, plain.ci_high * factor))


@UNTIMED
@given(PAIRS)
def test_swapping_the_arms_inverts(pairs: dict[int, tuple[float, float]]) -> None:
    plain = ratio_of(pairs)
    swapped = ratio_of({block: (d, n) for block, (n, d) in pairs.items()})
    assert plain.ci_low and plain.ci_high
    if plain.ci_high < 1e200 and plain.ci_low > 1e-200:
        assert_same(swapped, (1 / plain.value, 1 / plain.ci_high, 1 / plain.ci_low))


@UNTIMED
@given(PAIRS, st.data())
def test_what_a_whole_block_shares_cancels(pairs: dict[int, tuple[float, float]], data: st.DataObject) -> None:
    effects = {block: data.draw(FACTORS) for block in pairs}
    moved = ratio_of({block: (n * effects[block], d * effects[block]) for block, (n, d) in pairs.items()})
    plain = ratio_of(pairs)
    assert plain.ci_low and plain.ci_high
    if plain.ci_high < 1e200 and plain.ci_low > 1e-200:
        assert_same(moved, (plain.value, plain.ci_low, plain.ci_high))


@UNTIMED
@given(PAIRS)
def test_the_ratio_lies_in_its_interval_and_among_its_blocks(pairs: dict[int, tuple[float, float]]) -> None:
    result = ratio_of(pairs)
    ratios = [n / d for n, d in pairs.values()]
    assert result.ci_low is not None and result.ci_high is not None
    assert result.ci_low <= result.value <= result.ci_high
    assert min(ratios) * (1 - CLOSE) <= result.value <= max(ratios) * (1 + CLOSE)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Five blocks, a true ratio of 1.2, 5 % noise per fork, and blocks that differ by far more than that."""
    random = np.random.default_rng(20240501)
    data_sets, blocks, truth = 1000, 5, 1.2
    covered = 0
    for _ in range(data_sets):
        block_effects = 1000 * np.exp(random.normal(0, 0.5, blocks))
        arms = [
            dict(enumerate(map(float, level * block_effects * np.exp(random.normal(0, 0.05, blocks)))))
            for level in (truth, 1.0)
        ]
        result = paired_ratio(arms[0], arms[1])
        assert result is not None and result.ci_low is not None and result.ci_high is not None
        covered += result.ci_low <= truth <= result.ci_high
    assert 0.93 <= covered / data_sets <= 0.97  # three standard errors are 0.021


# ---------------------------------------------------------------- summarise


def test_summary_worked_by_hand() -> None:
    """1, 2, 6: mean 3, s = √7, t(0.975, 2) = 4.30265."""
    summary = summarise([6.0, 1.0, 2.0])
    half = 4.30265272991 * math.sqrt(7) / math.sqrt(3)
    assert (summary.n, summary.mean, summary.median) == (3, 3.0, 2.0)
    assert summary.ci_low == pytest.approx(3 - half)
    assert summary.ci_high == pytest.approx(3 + half)


def test_summary_of_one_fork_has_no_interval() -> None:
    summary = summarise([5.0])
    assert (summary.n, summary.mean, summary.median, summary.ci_low, summary.ci_high) == (1, 5.0, 5.0, None, None)


@pytest.mark.parametrize("values", [[], [1.0, math.nan]])
def test_summary_of_nothing_is_an_error(values: list[float]) -> None:
    with pytest.raises(MatrixError, match="at least one value, all finite"):
        summarise(values)


@UNTIMED
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(-1e6, 1e6))
def test_moving_all_values_moves_the_summary(values: list[float], shift: float) -> None:
    plain, moved = summarise(values), summarise([value + shift for value in values])
    for one, other in ((moved.mean, plain.mean), (moved.ci_low, plain.ci_low), (moved.ci_high, plain.ci_high)):
        assert one is not None and other is not None
        assert one == pytest.approx(other + shift, abs=1e-3)


# ---------------------------------------------------------------- one fork


def window(index: int, completed: int, duration_s: float, cost_us: float, *, valid: bool = True) -> Window:
    load = load_result(completed=completed, duration_s=duration_s, throughput_rps=completed / duration_s)
    usage = sut_usage().model_copy(
        update={"cpu_s": completed * cost_us / 1e6, "cpu_us_per_request": cost_us},
    )
    reasons = () if valid else (Reason(code="steal", message="stolen", figures={}),)
    return Window(index=index, t_s=0.0, load=load, sut=usage, host=pressure(), reasons=reasons)


def fork_of(*windows: Window) -> Fork:
    return fork().model_copy(update={"windows": windows})


def test_fork_figures_are_totals_over_its_valid_windows() -> None:
    measured = fork_of(
        window(1, completed=1000, duration_s=1.0, cost_us=50.0),
        window(2, completed=9000, duration_s=3.0, cost_us=30.0),
        window(3, completed=1, duration_s=60.0, cost_us=9999.0, valid=False),
    )
    assert fork_throughput(measured) == pytest.approx(10_000 / 4.0)
    assert fork_cpu_us_per_request(measured) == pytest.approx((1000 * 50 + 9000 * 30) / 10_000)


def test_a_fork_without_figures_is_an_error() -> None:
    spoilt = fork_of(window(1, completed=1000, duration_s=1.0, cost_us=50.0, valid=False))
    for figure in (fork_throughput, fork_cpu_us_per_request):
        with pytest.raises(MatrixError, match="fork 1 has no valid window"):
            figure(spoilt)
    silent = fork_of(window(1, completed=0, duration_s=1.0, cost_us=0.0))
    assert fork_throughput(silent) == 0.0
    with pytest.raises(MatrixError, match="fork 1 answered no request"):
        fork_cpu_us_per_request(silent)


def test_scipy_is_not_imported_with_the_module() -> None:
    code = "import sys, jdkmatrix.stats; sys.exit('scipy' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
