"""The coverage of the interval of forks that took turns, in simulations made of recorded series, and the cost of
choosing the number of rounds.

The series were recorded by bench/protocols_bench.py on a virtual machine with two CPUs and neighbours: the rounds of
blocks of three servers, two of which are the same executor (an A/A check), with what the gates took from them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from jdkmatrix.stats.intervals import SEQUENTIAL_CONFIDENCE, mean_interval
from jdkmatrix.stats.rounds import best_rounds, components
from jdkmatrix.stats.stopping import StoppingRules
from tests.support.project import RECORDED
from tests.support.simulations import Floats, correlated, intervals

Mask = npt.NDArray[np.bool_]
SAMPLE = RECORDED / "rounds" / "temurin-25.json"
DATA_SETS = 4000
TRUTH = math.log(0.7)
RPS, REASONS = 2, 6  # in a window of a series
ALONE_FROM = 1001  # windows that a fork had by itself


@cache
def blocks() -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(SAMPLE.read_text())["blocks"])


def series(executor: str) -> list[tuple[Floats, Mask]]:
    """Return for each block the log of requests per second of every round, and which rounds count."""
    found = []
    for block in blocks():
        windows = [w for w in block["arms"].get(executor, {"windows": []})["windows"] if w[0] < ALONE_FROM]
        if len(windows) > 3:
            logs = np.log(np.maximum([w[RPS] for w in windows], 1.0))
            found.append((logs, np.array([not w[REASONS] for w in windows])))
    return found


def common(one: str, other: str) -> list[Floats]:
    """Return the log ratios of the rounds that count in both."""
    pairs = zip(series(one), series(other), strict=True)
    return [(a - b)[kept & also] for (a, kept), (b, also) in pairs]


def coverage(means: Floats, truth: float) -> float:
    """Return the coverage of Student's interval over the blocks of a data set, which are a row."""
    low, high = intervals(means)
    return float(np.mean((low <= truth) & (truth <= high)))


def resampled(random: np.random.Generator, logs: Floats, rounds: int) -> Floats:
    """Return consecutive rounds of a recorded series, wrapped around, so that correlated rounds stay together."""
    start = random.integers(len(logs))
    return np.resize(np.roll(logs, -start), rounds)


@pytest.mark.parametrize("number", [3, 5, 8])
def test_recorded_rounds_of_one_executor_against_itself(number: int) -> None:
    """Each block is a recorded A/A block, its arms swapped or not: the truth is 1; its rounds are shifted around."""
    random = np.random.default_rng(number)
    recorded = common("liberty-aa", "liberty")
    assert len(recorded) >= 5

    def block() -> float:
        swapped = random.choice((-1, 1))
        return float(swapped * resampled(random, recorded[random.integers(len(recorded))], 10).mean())

    means = np.array([[block() for _ in range(number)] for _ in range(DATA_SETS // 4)])
    assert 0.92 <= coverage(means, 0.0) <= 0.99


@pytest.mark.parametrize("number", [3, 5, 8, 20])
@pytest.mark.parametrize("lost", [(0.02, 0.02), (0.08, 0.03), (0.3, 0.05)])
def test_drift_disturbances_and_gates_leave_the_interval_right(number: int, lost: tuple[float, float]) -> None:
    """Forks and rounds scatter as recorded, neighbouring rounds correlate as recorded, both arms drift together, and
    the gates take more rounds from one arm than from the other: those that a disturbance has slowed by 10 %."""
    found = components([logs.tolist() for logs in common("virtual", "liberty")])
    random = np.random.default_rng([number, round(100 * lost[0])])
    shape = (DATA_SETS, number, 12)
    drift = 0.05 * random.normal(size=shape).cumsum(axis=2)
    noise = math.sqrt(found.inside) * correlated(random, shape, _lag1())
    arms = []
    for share, extra in zip(lost, (TRUTH + noise, np.zeros(shape)), strict=True):
        hit = random.random(shape) < share
        arms.append((drift + extra - 0.1 * hit, ~hit))
    (one, kept), (other, also) = arms
    both = kept & also
    ratios = np.where(both, one - other, 0.0).sum(axis=2) / np.maximum(both.sum(axis=2), 1)
    forks = random.normal(0, math.sqrt(found.between), shape[:2])
    assert 0.93 <= coverage(ratios + forks, TRUTH) <= 0.97


@pytest.mark.parametrize(("between", "inside"), [(0.0, 0.041), (0.011, 0.048), (0.028, 0.039), (0.011, 0.121)])
def test_choosing_rounds_costs_no_more_than_a_fixed_number(between: float, inside: float) -> None:
    """Campaigns run until a ratio is known to ± 2 %, with the scatter of the kept series of turns. The formula alone
    takes up to 1.3 times as long."""
    assert seconds(between, inside, chosen=True) <= 1.06 * seconds(between, inside, chosen=False)


def seconds(between: float, inside: float, *, chosen: bool, campaigns: int = 80) -> float:
    """Return how long a campaign takes on average; it takes 100 s to start the forks of a block, 2.6 s for a round."""
    random = np.random.default_rng(round(1e4 * (between + inside)))
    rules, spent = StoppingRules(), 0.0
    for _ in range(campaigns):
        forks: list[list[float]] = []
        rounds = 20
        while True:
            forks.append(list(random.normal(random.normal(0, between), inside, rounds)))
            spent += 100 + 2.6 * rounds
            if len(forks) >= rules.min_blocks and _half_width(forks) <= math.log1p(rules.precision):
                break
            found = components(forks) if chosen else None
            rounds = best_rounds(found, start_s=100, round_s=2.6, least=20, most=60) if found else 20
    return spent / campaigns


def _half_width(forks: Sequence[Sequence[float]]) -> float:
    interval = mean_interval([float(np.mean(rounds)) for rounds in forks], SEQUENTIAL_CONFIDENCE)
    return (interval[1] - interval[0]) / 2


def _lag1() -> float:
    """Return the correlation of neighbouring rounds of a fork, pooled; never below 0."""
    rounds = [logs - logs.mean() for logs in common("virtual", "liberty") if len(logs) > 3]
    products = sum(float((logs[1:] * logs[:-1]).sum()) for logs in rounds)
    squares = sum(float((logs**2).sum()) for logs in rounds)
    return max(0.0, products / squares)
