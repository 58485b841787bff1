"""Ratios and summaries over forks."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem, t, ttest_rel

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.forks import Summary, fork_cpu_us_per_request, fork_readings_us, fork_throughput, summarise
from jdkmatrix.stats.intervals import SEQUENTIAL_CONFIDENCE
from jdkmatrix.stats.ratios import Ratio, least_error, paired_ratio
from tests.support.builders import fork_with, load_result, reasons, sut_usage, window
from tests.support.records import with_load

FIGURES = st.floats(1e-3, 1e9)
FACTORS = st.floats(1e-3, 1e3)
PAIRS = st.dictionaries(st.integers(1, 50), st.tuples(FIGURES, FIGURES), min_size=2, max_size=12)
CLOSE = 1e-9


def ratio_of(pairs: dict[int, tuple[float, float]], *, sequential: bool = False) -> Ratio:
    numerators, denominators = ({block: pair[arm] for block, pair in pairs.items()} for arm in (0, 1))
    result = paired_ratio(numerators, denominators, sequential=sequential)
    assert result is not None
    return result


def assert_moved(found: Ratio, plain: Ratio, expected: Callable[[float, float, float], Sequence[float]]) -> None:
    """Assert that `plain` has moved to `found`; `expected`: what its value, low and high end become."""
    assert plain.ci_low and plain.ci_high
    if plain.ci_high < 1e200 and plain.ci_low > 1e-200:
        moved = expected(plain.value, plain.ci_low, plain.ci_high)
        for one, other in zip((found.value, found.ci_low, found.ci_high), moved, strict=True):
            assert one and math.log(one) == pytest.approx(math.log(other), abs=1e-6)


def test_one_block_has_no_interval() -> None:
    result = paired_ratio({3: 10.0}, {3: 5.0})
    assert result is not None and result.value == pytest.approx(2.0)
    assert (result.ci_low, result.ci_high, result.blocks, result.p_value) == (None, None, 1, None)
    assert result.half_width_log is None


def test_only_complete_blocks_count() -> None:
    whole = paired_ratio({1: 10.0, 2: 30.0}, {1: 5.0, 2: 10.0})
    assert paired_ratio({1: 10.0, 2: 30.0, 4: 1.0}, {1: 5.0, 2: 10.0, 3: 7.0}) == whole
    assert paired_ratio({1: 10.0}, {2: 5.0}) is None
    assert paired_ratio({}, {}) is None


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_impossible_figures_name_their_block(figure: float) -> None:
    with pytest.raises(MatrixError, match=f"block 2: .*found {figure}"):
        paired_ratio({1: 1.0, 2: 1.0}, {1: 1.0, 2: figure})


@given(st.dictionaries(st.integers(1, 50), FIGURES, min_size=2, max_size=12))
def test_an_arm_against_itself_is_one(arm: dict[int, float]) -> None:
    assert paired_ratio(arm, arm) == Ratio(1.0, 1.0, 1.0, len(arm), p_value=1.0)


@given(PAIRS, FACTORS, st.data())
def test_scaling_an_arm_scales_the_ratio_and_what_a_whole_block_shares_cancels(
    pairs: dict[int, tuple[float, float]], factor: float, data: st.DataObject
) -> None:
    effects = {block: data.draw(FACTORS) for block in pairs}
    moved = ratio_of({block: (n * effects[block] * factor, d * effects[block]) for block, (n, d) in pairs.items()})
    assert_moved(moved, ratio_of(pairs), lambda *three: [one * factor for one in three])


@given(PAIRS)
def test_swapping_the_arms_inverts(pairs: dict[int, tuple[float, float]]) -> None:
    swapped = ratio_of({block: (d, n) for block, (n, d) in pairs.items()})
    assert_moved(swapped, ratio_of(pairs), lambda value, low, high: (1 / value, 1 / high, 1 / low))


@given(PAIRS)
def test_the_ratio_lies_in_its_interval_and_among_its_blocks(pairs: dict[int, tuple[float, float]]) -> None:
    result = ratio_of(pairs)
    ratios = [n / d for n, d in pairs.values()]
    assert result.ci_low <= result.value <= result.ci_high
    assert min(ratios) * (1 - CLOSE) <= result.value <= max(ratios) * (1 + CLOSE)


def test_p_value_is_that_of_the_paired_t_test() -> None:
    above, below = [12.0, 11.0, 15.0, 10.5], [10.0, 10.5, 11.0, 11.0]
    result = ratio_of(dict(enumerate(zip(above, below, strict=True))))
    assert result.p_value == pytest.approx(float(ttest_rel(np.log(above), np.log(below)).pvalue))


@given(PAIRS, st.booleans())
def test_p_value_and_interval_always_agree(pairs: dict[int, tuple[float, float]], sequential: bool) -> None:
    result = ratio_of(pairs, sequential=sequential)
    assert result.p_value is not None
    if not math.isclose(result.p_value, 0.05, rel_tol=1e-6) and not math.isclose(result.value, 1, rel_tol=1e-9):
        assert (result.p_value < 0.05) == (not result.ci_low <= 1 <= result.ci_high)


@given(st.lists(st.floats(0.5, 2), min_size=2, max_size=20))
def test_the_interval_is_students_at_any_number_of_blocks(ratios: list[float]) -> None:
    logs = np.log(ratios)
    found = ratio_of({block: (ratio, 1.0) for block, ratio in enumerate(ratios)})
    assert math.log(found.value) == pytest.approx(float(np.mean(logs)), abs=1e-9)
    assert found.half_width_log == pytest.approx(float(t.ppf(0.975, len(logs) - 1) * sem(logs)), abs=1e-9)
    assert found.ci_high / found.value == pytest.approx(found.value / found.ci_low), "it does not follow the skew"


def test_without_any_scatter_arms_that_differ_are_different() -> None:
    twice = ratio_of(dict.fromkeys(range(10), (2.0, 1.0)))
    assert (twice.ci_low, twice.ci_high, twice.p_value) == pytest.approx((2.0, 2.0, 0.0))


def test_what_is_read_in_whole_seconds_is_not_known_better_than_that() -> None:
    """31 s against 30 s in every block may be 30.2 against 29.9."""
    seconds = dict.fromkeys(range(1, 6), 31.0), dict.fromkeys(range(1, 6), 30.0)
    found = paired_ratio(*seconds, least=least_error(1 / 31, 1 / 30))
    assert found is not None and found.ci_low is not None and found.p_value is not None
    assert found.value == pytest.approx(31 / 30) and found.ci_low < 1 and found.p_value > 0.05
    # t(0.975, 4) times the standard deviation of rounding, 1 / √12 s, of both
    assert found.half_width_log == pytest.approx(2.776445 / math.sqrt(12) * math.hypot(1 / 31, 1 / 30), rel=1e-5)
    assert found.least_error == pytest.approx(found.half_width_log / 2.776445, rel=1e-5)
    scattered = {1: 20.0, 2: 31.0, 3: 40.0}, {1: 30.0, 2: 28.0, 3: 31.0}
    stepped, plain = paired_ratio(*scattered, least=least_error(1 / 30, 1 / 30)), paired_ratio(*scattered)
    assert stepped and plain and (stepped.ci_low, stepped.p_value) == (plain.ci_low, plain.p_value), "they scatter more"


def test_looking_after_every_block_makes_the_interval_wider() -> None:
    pairs = {1: (1.0, 1.0), 2: (1.1, 1.0), 3: (1.3, 1.0)}
    plain, sequential = ratio_of(pairs), ratio_of(pairs, sequential=True)
    assert sequential.value == plain.value
    # t(0.985, 2) over t(0.975, 2)
    assert sequential.half_width_log / plain.half_width_log == pytest.approx(5.642778 / 4.302653, rel=1e-5)
    assert sequential.p_value == pytest.approx(plain.p_value * 5 / 3)


def test_summary_worked_by_hand() -> None:
    """1, 2, 16: log2 is 0, 1, 4 with mean 5/3 and s = √(13/3); t(0.975, 2) = 4.30265."""
    summary = summarise([16.0, 1.0, 2.0])
    half = 4.30265272991 * math.sqrt(13 / 3) / math.sqrt(3)
    assert summary.n == 3
    assert summary.geomean == pytest.approx(2 ** (5 / 3))
    assert summary.ci_low == pytest.approx(2 ** (5 / 3 - half))
    assert summary.ci_high == pytest.approx(2 ** (5 / 3 + half))


def test_a_run_that_adds_blocks_has_wider_intervals_of_its_figures_too() -> None:
    """The figures of single arms are what the rule looks at."""
    plain, wider = summarise([16.0, 1.0, 2.0]), summarise([16.0, 1.0, 2.0], SEQUENTIAL_CONFIDENCE)
    assert plain.ci_high and wider.ci_high and wider.geomean == plain.geomean
    widths = (math.log(one / plain.geomean) for one in (wider.ci_high, plain.ci_high))
    assert next(widths) / next(widths) == pytest.approx(5.642778 / 4.302653, rel=1e-5)


def test_summary_of_one_fork_or_with_a_zero_has_no_interval() -> None:
    summary = summarise([5.0])
    assert summary.geomean == pytest.approx(5.0)
    assert (summary.n, summary.ci_low, summary.ci_high) == (1, None, None)
    assert summarise([0.0, 4.0, 5.0]) == Summary(3, 0.0, None, None), "0 has no logarithm"


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [1.0, -2.0], [math.inf]])
def test_summary_of_nothing_is_an_error(values: list[float]) -> None:
    with pytest.raises(MatrixError, match="at least one value, all finite and not below 0"):
        summarise(values)


@given(st.lists(FIGURES, min_size=2, max_size=12), FACTORS)
def test_scaling_all_values_scales_the_summary(values: list[float], factor: float) -> None:
    plain, scaled = summarise(values), summarise([value * factor for value in values])
    assert 0 <= plain.ci_low <= plain.geomean * (1 + CLOSE)
    assert plain.ci_high >= plain.geomean * (1 - CLOSE)
    if plain.ci_high < 1e200 and plain.ci_low > 1e-200:
        moved = tuple(one * factor for one in (plain.geomean, plain.ci_low, plain.ci_high))
        assert (scaled.geomean, scaled.ci_low, scaled.ci_high) == pytest.approx(moved, rel=1e-6, abs=0)


@given(PAIRS)
def test_the_centres_of_two_arms_divide_to_their_ratio(pairs: dict[int, tuple[float, float]]) -> None:
    numerator, denominator = (summarise([pair[arm] for pair in pairs.values()]) for arm in (0, 1))
    assert numerator.geomean / denominator.geomean == pytest.approx(ratio_of(pairs).value)


def seen(completed: int, duration_s: float, cost_us: float, *, valid: bool = True, answered_late: int = 0) -> Window:
    load = load_result(
        completed=completed, answered_late=answered_late, duration_s=duration_s, throughput_rps=completed / duration_s
    )
    usage = sut_usage(cpu_s=completed * cost_us / 1e6, cpu_us_per_request=cost_us)
    return window(1, load, sut=usage, reasons=() if valid else reasons("steal"))


def test_fork_figures_are_totals_over_its_valid_windows() -> None:
    measured = fork_with(seen(1000, 1.0, 50.0), seen(9000, 3.0, 30.0), seen(1, 60.0, 9999.0, valid=False))
    assert fork_throughput(measured) == pytest.approx(10_000 / 4.0)
    assert fork_cpu_us_per_request(measured) == pytest.approx((1000 * 50 + 9000 * 30) / 10_000)


def test_cpu_per_request_weighs_windows_by_what_divided_their_cpu_time() -> None:
    both = fork_with(seen(500, 1.0, 50.0, answered_late=500), seen(3000, 1.0, 30.0))
    assert fork_cpu_us_per_request(both) == pytest.approx((1000 * 50 + 3000 * 30) / 4000)


def test_cpu_of_windows_without_a_good_answer_is_in_the_cost_of_the_others() -> None:
    """Windows with refusals, late answers or no answers cost 0.05 s each, as much as 1,000 good answers."""
    good, late = seen(1000, 1.0, 50.0), seen(0, 1.0, 50.0, answered_late=1000)
    refused = with_load(good, {"non_2xx": 1000})
    usage = sut_usage(cpu_s=0.06, probe_cpu_s=0.01, cpu_us_per_request=0.0)
    stuck = seen(0, 1.0, 0.0).model_copy(update={"sut": usage})
    assert fork_cpu_us_per_request(fork_with(good, refused)) == pytest.approx(100.0)
    assert fork_cpu_us_per_request(fork_with(good, late)) == pytest.approx(50.0)
    assert fork_cpu_us_per_request(fork_with(good, stuck)) == pytest.approx(100.0)


def test_our_own_readings_have_a_cost_per_request_where_it_was_recorded() -> None:
    silent, longer = seen(1000, 1.0, 50.0), seen(2000, 1.0, 50.0)
    assert fork_readings_us(fork_with(silent)) is None
    told = silent.model_copy(update={"sut": silent.sut.model_copy(update={"probe_cpu_s": 0.006})})
    free = longer.model_copy(update={"sut": longer.sut.model_copy(update={"probe_cpu_s": 0.0})})
    assert fork_readings_us(fork_with(silent, told, free)) == pytest.approx(2.0)
    refusing = with_load(told, {"non_2xx": 750})
    assert fork_readings_us(fork_with(refusing)) == pytest.approx(24.0), "per answer that CPU per request is of"


def test_a_fork_without_figures_is_an_error() -> None:
    for figure in (fork_throughput, fork_cpu_us_per_request):
        with pytest.raises(MatrixError, match="fork 1 has no valid window"):
            figure(fork_with(seen(1000, 1.0, 50.0, valid=False)))
    silent = fork_with(seen(0, 1.0, 0.0))
    assert fork_throughput(silent) == 0.0
    with pytest.raises(MatrixError, match="fork 1 answered no request"):
        fork_cpu_us_per_request(silent)


def test_scipy_is_not_imported_with_the_modules() -> None:
    names = "ratios forks exact_test verdicts dependence percentiles stopping protocols capacity steady"
    code = (
        "import importlib, sys\n"
        f"for name in '{names}'.split(): importlib.import_module('jdkmatrix.stats.' + name)\n"
        "sys.exit('scipy' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
