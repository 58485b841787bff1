"""Made-up noise of many data sets at once, a row each, and estimates from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import CONFIDENCE, mean_interval, student_t

Floats = npt.NDArray[np.float64]
Random = np.random.Generator


def normal(random: Random, shape: tuple[int, ...]) -> Floats:
    return random.normal(0, 1, shape)


def student_3(random: Random, shape: tuple[int, ...]) -> Floats:
    return random.standard_t(3, shape)


def burst(random: Random, shape: tuple[int, ...]) -> Floats:
    """Return what one fork in ten loses: 5 % on average."""
    hit = random.random(shape) < 0.1
    return np.where(hit, random.exponential(0.05, shape), 0.0)


def one_arm(random: Random, shape: tuple[int, ...]) -> Floats:
    """Return noise with bursts in one arm; the truth is its average, bursts and all: 0 here."""
    return 0.01 * normal(random, shape) - burst(random, shape) + 0.1 * 0.05


def slow_starts(random: Random, shape: tuple[int, ...], scatter: float = 0.01) -> Floats:
    """Return noise in which one in four is 8 % slower; the truth is the arm's average."""
    return scatter * normal(random, shape) - 0.08 * (random.random(shape) < 0.25) + 0.25 * 0.08


def correlated(random: Random, shape: tuple[int, ...], correlation: float) -> Floats:
    """Return AR(1) noise along the last axis."""
    values = normal(random, shape)
    for at in range(1, shape[-1]):
        values[..., at] = correlation * values[..., at - 1] + math.sqrt(1 - correlation**2) * values[..., at]
    return values


def intervals(samples: Floats, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Return the `mean_interval` of many samples at once, one per row."""
    blocks = samples.shape[1]
    mean = samples.mean(axis=1)
    half = student_t(confidence, blocks) * samples.std(axis=1, ddof=1) / np.sqrt(blocks)
    return mean - half, mean + half


def estimate(values: Sequence[float], confidence: float = CONFIDENCE, *, of_ratio: bool = False) -> Estimate:
    """Estimate from at least two values; `of_ratio`: they are its logarithms."""
    back = math.exp if of_ratio else float
    low, high = (back(end) for end in mean_interval(values, confidence) or ())
    value = back(statistics.fmean(values))
    return Estimate(value, low, high, len(values), of_ratio=of_ratio, confidence=confidence)
