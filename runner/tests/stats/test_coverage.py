"""The share of simulations in which intervals and verdicts are right.

Coverage is counted over data sets with fixed seeds: 10,000 for intervals of a given number of values, with a standard
error of a fifth to a third of a per cent, and 2,000 for rules that look at every block, with one of half a per cent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE, mean_interval
from jdkmatrix.stats.stopping import Arms, StoppingRules, after_block, half_width_that_tells
from jdkmatrix.stats.verdicts import holm
from tests.support.simulations import Floats, burst, correlated, intervals, normal, one_arm, slow_starts, student_3

DATA_SETS = 2000
TRUTH = 1.2
RULES = StoppingRules()
MANY_BLOCKS = RULES.max_blocks


def arms(random: np.random.Generator, blocks: int, *, noise: float, truth: float = TRUTH) -> tuple[Floats, Floats]:
    """Return the figures of both arms, of shape (data sets, blocks): blocks differ far more than forks inside one."""
    shared = 1000 * np.exp(random.normal(0, 0.5, (DATA_SETS, blocks)))
    one, other = (shared * np.exp(random.normal(0, noise, shared.shape)) for _ in range(2))
    return truth * one, other


MANY = 10_000


@pytest.mark.parametrize("confidence", [CONFIDENCE, SEQUENTIAL_CONFIDENCE])
def test_intervals_of_many_samples_are_those_of_each(confidence: float) -> None:
    """The intervals counted here are those that are shown."""
    for blocks in (2, 8):
        logs = np.log(TRUTH) + 0.07 * normal(np.random.default_rng(5), (20, blocks))
        for sample, low, high in zip(logs.tolist(), *intervals(logs, confidence), strict=True):
            assert mean_interval(sample, confidence) == pytest.approx((float(low), float(high)))


def both_arms(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return 0.01 * normal(random, shape) - burst(random, shape) + burst(random, shape)


def slow_starts_of_both(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    one, other = (slow_starts(random, shape, scatter) for scatter in (0.01, 0.0))
    return one - other


# The shares in the docstring of stats/intervals.py.
COVERED = {
    normal: {3: 95, 5: 95, 8: 95, 12: 95},
    student_3: {3: 96, 5: 96, 8: 96, 12: 96},
    both_arms: {3: 96, 5: 97, 8: 97, 12: 97},
    one_arm: {3: 93, 5: 91, 8: 88, 12: 86},
    partial(correlated, correlation=0.3): {3: 91, 5: 88, 8: 87, 12: 86},
    slow_starts: {3: 79, 5: 78, 8: 89, 12: 93},
    slow_starts_of_both: {3: 97, 5: 98, 8: 96, 12: 95},
    partial(slow_starts, scatter=0.02): {3: 91, 5: 90, 8: 92, 12: 94},
}


@pytest.mark.parametrize(
    ("noise", "blocks", "per_cent"),
    [(noise, blocks, per_cent) for noise, row in COVERED.items() for blocks, per_cent in row.items()],
)
def test_the_interval_covers_the_truth_as_often_as_its_docstring_says(
    noise: Callable[[np.random.Generator, tuple[int, ...]], Floats], blocks: int, per_cent: int
) -> None:
    low, high = intervals(noise(np.random.default_rng(blocks), (MANY, blocks)))
    assert float(((low <= 0) & (high >= 0)).mean()) * 100 == pytest.approx(per_cent, abs=1.25)


def at_the_stop(
    logs: Floats, truth: float, *, confidence: float = SEQUENTIAL_CONFIDENCE, first: int = RULES.min_blocks
) -> tuple[float, float]:
    """Return the share of intervals that cover the truth, and of those that leave 1 out."""
    running = np.ones(len(logs), dtype=bool)
    covered = different = 0
    for blocks in range(first, MANY_BLOCKS + 1):
        low, high = intervals(logs[running, :blocks], confidence)
        needed = [half_width_that_tells(float(ratio), RULES.precision) for ratio in np.exp((low + high) / 2)]
        stops = ((high - low) / 2 <= np.array(needed)) | (blocks == MANY_BLOCKS)
        covered += int(((low <= np.log(truth)) & (np.log(truth) <= high) & stops).sum())
        different += int((((low > 0) | (high < 0)) & stops).sum())
        running[np.flatnonzero(running)[stops]] = False
    return covered / len(logs), different / len(logs)


@pytest.mark.parametrize("truth", [1.0, 1.01, 1.02, 1.03, TRUTH])
@pytest.mark.parametrize("noise", [0.005, 0.010, 0.015, 0.020, 0.025, 0.030])
def test_coverage_at_the_stop(noise: float, truth: float) -> None:
    """Noise goes from where the first look is enough to where most runs need every block they may have; ratios include
    1 and the edge of what matters, where it depends on the ratio when the rule stops."""
    numerators, denominators = arms(np.random.default_rng(77), MANY_BLOCKS, noise=noise, truth=truth)
    coverage, different = at_the_stop(np.log(numerators) - np.log(denominators), truth)
    assert 0.93 <= coverage <= 0.98
    assert truth != 1 or different <= 0.055 + 0.01


def test_two_modes_of_a_start_are_not_made_up_for() -> None:
    """Coverage is as the docstrings of intervals.py and stopping.py say."""
    logs = np.log(TRUTH) + slow_starts(np.random.default_rng(1), (MANY, MANY_BLOCKS))
    coverage, _ = at_the_stop(logs, TRUTH)
    assert coverage == pytest.approx(0.79, abs=0.01)


def test_why_the_rule_starts_late_and_works_at_a_higher_level() -> None:
    """The docstring of stopping.py says so."""
    numerators, denominators = arms(np.random.default_rng(77), MANY_BLOCKS, noise=0.025, truth=TRUTH)
    logs = np.log(numerators) - np.log(denominators)
    assert at_the_stop(logs, TRUTH, confidence=CONFIDENCE, first=3)[0] < 0.92


def test_the_rule_is_the_one_that_was_simulated() -> None:
    numerators, denominators = arms(np.random.default_rng(77), MANY_BLOCKS, noise=0.015)
    for index in range(3):
        figures = [dict(enumerate(map(float, arm[index]), 1)) for arm in (numerators, denominators)]
        for blocks in range(1, MANY_BLOCKS + 1):
            so_far = [{block: arm[block] for block in range(1, blocks + 1)} for arm in figures]
            decision = after_block(blocks, {"x": Arms(so_far[0], so_far[1])}, RULES)
            if blocks >= RULES.min_blocks:
                logs = np.log(numerators[[index], :blocks]) - np.log(denominators[[index], :blocks])
                low, high = intervals(logs, SEQUENTIAL_CONFIDENCE)
                assert (found := decision.ratios["x"])
                assert found.half_width_log == pytest.approx(float(high[0] - low[0]) / 2)
            if decision.stop:
                break
        assert RULES.min_blocks <= blocks <= MANY_BLOCKS


def p_values(random: np.random.Generator, comparisons: int, different: int) -> Floats:
    """Return p-values of paired t tests over five blocks, of shape (data sets, comparisons); the last `different` arms
    are 20 % apart. All comparisons share their denominator, like executors that are compared with the same one."""
    denominator = random.normal(0, 0.03, (DATA_SETS, 1, 5))
    logs = random.normal(0, 0.03, (DATA_SETS, comparisons, 5)) - denominator
    logs[:, comparisons - different :] += np.log(1.2)
    return np.asarray(ttest_1samp(logs, 0, axis=2).pvalue)


def family_error(adjust: Callable[[list[float]], list[float]], true_nulls: int, all_of: Floats) -> float:
    wrong = [any(p < 0.05 for p in adjust(row.tolist())[:true_nulls]) for row in all_of]
    return float(np.mean(wrong))


@pytest.mark.parametrize(("comparisons", "different"), [(10, 0), (10, 3), (40, 0)])
def test_a_page_says_different_wrongly_in_one_of_twenty_runs_at_most(comparisons: int, different: int) -> None:
    all_of = p_values(np.random.default_rng(comparisons), comparisons, different)
    nulls = comparisons - different
    assert family_error(holm, nulls, all_of) <= 0.05 + 3 * (0.05 * 0.95 / DATA_SETS) ** 0.5
    assert family_error(list, nulls, all_of) > 0.15, "without Holm"
