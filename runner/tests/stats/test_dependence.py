"""Correlated blocks: the tests worked by hand, on independent series, and on those that are not."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import theilslopes

from jdkmatrix.stats.dependence import (
    EXACT_BLOCKS,
    FEWEST_BLOCKS,
    Dependence,
    blocks_needed,
    dependence,
    judge_dependence,
)
from tests.support.simulations import Floats, burst, correlated, normal

SERIES = st.lists(st.floats(-2, 2).map(lambda log: round(log, 3)), min_size=FEWEST_BLOCKS, max_size=24)
DATA_SETS = 500
STANDARD_ERROR = math.sqrt(0.05 * 0.95 / DATA_SETS)


def found(logs: list[float]) -> Dependence:
    one = dependence(logs)
    assert one is not None
    return one


def test_a_series_is_tested_once_however_often_it_is_asked_about() -> None:
    """Notices and the table of a page both ask; two series that differ by rounding only are the same."""
    logs = [0.1, 0.2, 0.15, 0.3, 0.25]
    assert found(logs) is found([log + 1e-15 for log in logs])
    assert found(logs) != found(logs[::-1])


def test_a_series_worked_by_hand() -> None:
    """Deviations from 0.3: -0.2, -0.1, 0.2, 0, 0.1; their products with the next: 0.02 - 0.02 + 0 + 0, over 0.1. Ranks
    1, 2, 5, 3, 4 make squared steps of 1 + 9 + 4 + 1 = 15. Slopes between pairs, sorted: -1/5, -1/20, 1/20, 1/15, 1/15,
    3/40, 1/10, 1/10, 1/5, 3/10: their median is 17/240."""
    one = found([0.1, 0.2, 0.5, 0.3, 0.4])
    assert one.lag1 == pytest.approx(0.0)
    every = [sum((a - b) ** 2 for a, b in itertools.pairwise(order)) for order in itertools.permutations(range(5))]
    assert one.lag1_p == pytest.approx(2 * sum(steps <= 15 for steps in every) / 120)
    assert one.change == pytest.approx(math.expm1(4 * 17 / 240))


def test_a_rising_ratio_is_a_trend_and_its_neighbours_are_alike() -> None:
    one = found([0.01 * block for block in range(8)])
    assert one.lag1 == pytest.approx(0.625)
    assert one.lag1_p == pytest.approx(4 / math.factorial(8))
    assert one.trend_p == pytest.approx(2 / math.factorial(8))
    assert one.change == pytest.approx(math.expm1(0.07))


def test_blocks_that_go_up_and_down_in_turns_are_found_and_have_no_trend() -> None:
    one = found([0.1, -0.1] * 6)
    assert one.lag1 < -0.8 and one.lag1_p < 0.01
    assert one.trend_p > 0.5


def test_orders_of_magnitude_are_no_error() -> None:
    one = found([-1400.0, -700.0, 0.0, 700.0, 1400.0])
    assert one.change == math.inf and one.trend_p < 0.05
    assert found([1400.0, 700.0, 0.0, -700.0, -1400.0]).change == -1


def test_too_few_blocks_say_nothing_and_equal_ones_hang_together_by_nothing() -> None:
    assert dependence([0.1, 0.2, 0.3, 0.4]) is None
    assert found([0.25] * 6) == Dependence(6, 0.0, 1.0, 0.0, 1.0)
    assert found([0.25, 0.25 + 1e-15, 0.25, 0.25, 0.25, 0.25]).lag1_p == 1.0, "rounding is no scatter"


@given(SERIES)
def test_shares_and_p_values_are_what_they_are_called(logs: list[float]) -> None:
    one = found(logs)
    assert one.blocks == len(logs)
    assert -1 <= one.lag1 <= 1 and one.change > -1
    assert 0 <= one.lag1_p <= 1 and 0 <= one.trend_p <= 1
    slope = float(theilslopes(logs, range(len(logs)))[0])
    assert one.change == pytest.approx(math.expm1(slope * (len(logs) - 1)), abs=1e-9)


@given(SERIES, st.floats(-3, 3).map(lambda log: round(log, 3)), st.sampled_from([0.5, 2.0, 8.0]))
def test_neither_a_faster_host_nor_more_scatter_changes_tests(logs: list[float], level: float, scatter: float) -> None:
    plain, moved = found(logs), found([level + scatter * log for log in logs])
    assert moved.lag1 == pytest.approx(plain.lag1, abs=1e-6)
    assert (moved.lag1_p, moved.trend_p) == pytest.approx((plain.lag1_p, plain.trend_p), abs=1e-9)


@given(SERIES)
def test_backwards_and_with_the_arms_swapped_the_same_hangs_together(logs: list[float]) -> None:
    plain, backwards, swapped = found(logs), found(logs[::-1]), found([-log for log in logs])
    for other in (backwards, swapped):
        assert other.lag1 == pytest.approx(plain.lag1, abs=1e-9)
        assert (other.lag1_p, other.trend_p) == pytest.approx((plain.lag1_p, plain.trend_p), abs=1e-9)
        assert math.log1p(other.change) == pytest.approx(-math.log1p(plain.change), abs=1e-9)


def test_the_approximation_begins_where_it_is_good() -> None:
    """The test takes one block more than the exact distribution is used for, and 200 orders drawn at random."""
    n = EXACT_BLOCKS + 1
    orders = np.array(list(itertools.permutations(range(n))), dtype=np.int8)
    steps = (np.diff(orders, axis=1).astype(np.int16) ** 2).sum(axis=1)
    for index in np.random.default_rng(1).choice(len(orders), 200):
        below, above = ((steps <= steps[index]).mean(), (steps >= steps[index]).mean())
        exact = min(1.0, 2 * min(below, above))
        assert found(orders[index].astype(float).tolist()).lag1_p == pytest.approx(exact, abs=0.015, rel=0.05)


def bursts(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return log ratios of two arms with bursts, on a host that scatters by 1 %."""
    one, other = (0.007 * normal(random, shape) - burst(random, shape) for _ in range(2))
    return one - other


def shares_found(series: Floats) -> tuple[float, float]:
    """Return the shares of series in which the test for neighbours, and that for a trend, find something at 5 %."""
    one = [found(row) for row in series.tolist()]
    return float(np.mean([d.lag1_p < 0.05 for d in one])), float(np.mean([d.trend_p < 0.05 for d in one]))


@pytest.mark.parametrize("noise", [normal, bursts])
@pytest.mark.parametrize(("blocks", "least"), [(5, 0.0), (8, 0.02), (12, 0.02), (20, 0.02)])
def test_independent_blocks_raise_an_alarm_in_one_of_twenty_series_at_most(
    noise: Callable[[np.random.Generator, tuple[int, ...]], Floats], blocks: int, least: float
) -> None:
    for share in shares_found(noise(np.random.default_rng(blocks), (DATA_SETS, blocks))):
        assert least <= share <= 0.05 + 3 * STANDARD_ERROR


def test_a_page_of_independent_ratios_raises_an_alarm_in_one_of_twenty_pages_at_most() -> None:
    series = [found(row) for row in normal(np.random.default_rng(3), (DATA_SETS, 10)).tolist()]
    pages = [judge_dependence(dict(enumerate(series[page : page + 5]))) for page in range(0, DATA_SETS, 5)]
    wrong = np.mean([any(one.correlated or one.drifting for one in page.values()) for page in pages])
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(pages))


@pytest.mark.parametrize(("blocks", "correlation", "share"), [(8, 0.6, 0.18), (20, 0.3, 0.20), (20, 0.6, 0.60)])
def test_correlation_is_found_as_often_as_the_docstring_says(blocks: int, correlation: float, share: float) -> None:
    neighbours, _ = shares_found(correlated(np.random.default_rng(blocks), (DATA_SETS, blocks), correlation))
    assert neighbours == pytest.approx(share, abs=3 * math.sqrt(share * (1 - share) / DATA_SETS))


def test_a_drift_is_found() -> None:
    _, trend = shares_found(normal(np.random.default_rng(2), (DATA_SETS, 12)) + np.linspace(0, 3, 12))
    assert trend > 0.7


def test_p_values_are_adjusted_for_both_tests_of_every_ratio() -> None:
    loud, quiet = Dependence(10, 0.7, 0.01, 0.1, 0.03), Dependence(10, 0.1, 0.8, 0.0, 0.9)
    judged = judge_dependence({"a": loud, "b": quiet})
    a = judged["a"]
    assert a.found == loud and (a.lag1_p_adjusted, a.trend_p_adjusted) == pytest.approx((0.04, 0.09))
    assert a.correlated and not a.drifting and not judged["b"].correlated
    assert judge_dependence({}) == {}


@functools.cache
def smallest_p(blocks: int) -> float:
    return found([float(block) for block in range(blocks)]).lag1_p


@given(st.integers(1, 500))
def test_how_many_blocks_so_many_tests_need(tests: int) -> None:
    needed = blocks_needed(tests)
    assert FEWEST_BLOCKS <= needed <= EXACT_BLOCKS
    assert tests * smallest_p(needed) < 0.05
    assert needed == FEWEST_BLOCKS or tests * smallest_p(needed - 1) >= 0.05
