"""Figures of one fork, and over forks. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.intervals import CONFIDENCE, exp, mean_interval


@dataclass(frozen=True)
class Summary:
    """One figure over `n` forks, in the figure's unit.

    The interval belongs to `geomean`, the geometric mean. It is None for a single fork, and if a fork has 0.
    """

    n: int
    geomean: float
    ci_low: float | None
    ci_high: float | None


def summarise(values: Sequence[float], confidence: float = CONFIDENCE, least: float = 0.0) -> Summary:
    """Return the geometric mean with its interval at this nominal confidence, from one value per fork, never per
    window. `least`: the standard error of its log is no less, whatever the scatter.

    Geometric, because figures of forks are positive and vary by factors: the interval of an arithmetic mean of a few
    forks reaches below 0. And the geometric means of two arms divide to exactly the ratio that `paired_ratio` gives for
    the same blocks, which arithmetic means do not. A fork with 0 makes the geometric mean 0 and has no logarithm, so
    that there is no interval.

    Raises:
        MatrixError: there is no value, or one is negative or not finite.
    """
    return _summary(tuple(values), confidence, least)


@lru_cache(maxsize=100_000)
def _summary(values: tuple[float, ...], confidence: float, least: float) -> Summary:
    """Summarise; cached, since tables, charts and exports show the same figures, and an exact deviation takes time."""
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise MatrixError(f"a summary needs at least one value, all finite and not below 0; found {list(values)}")
    if min(values) == 0:
        return Summary(len(values), 0.0, None, None)
    logs = [math.log(value) for value in values]
    interval = mean_interval(logs, confidence, least)
    return Summary(
        n=len(values),
        geomean=math.exp(statistics.fmean(logs)),
        ci_low=None if interval is None else math.exp(interval[0]),
        ci_high=None if interval is None else exp(interval[1]),
    )


def fork_throughput(fork: Fork) -> float:
    """Return one fork's answers of status 2xx per second, over its valid windows, each weighted by its duration.

    Raises:
        MatrixError: the fork has no valid window (`Fork.usable` says so beforehand).
    """
    windows = _valid(fork)
    seconds = sum(window.load.duration_s for window in windows)
    return sum(window.load.succeeded_rps * window.load.duration_s for window in windows) / seconds


def fork_cpu_us_per_request(fork: Fork) -> float:
    """Return one fork's CPU time of the SUT per answer of status 2xx, in µs: all CPU time of its valid windows over all
    such answers, so that the cost of a window without any is included.

    Raises:
        MatrixError: the fork has no valid window, or no such answer (`Fork.usable` says so beforehand).
    """
    windows = _valid(fork)
    answers = sum(window.load.answers_2xx for window in windows)
    if answers == 0:
        raise MatrixError(f"fork {fork.fork} answered no request, so it has no CPU time per request")
    return sum(window.cpu_us for window in windows) / answers


def fork_readings_us(fork: Fork) -> float | None:
    """Return the CPU time of the SUT per answer of status 2xx, in µs, that answering our own questions about its memory
    took and `fork_cpu_us_per_request` leaves out; None if it was not recorded, or there is no such answer."""
    windows = [window for window in _valid(fork) if window.sut.probe_cpu_s is not None]
    answers = sum(window.load.answers_2xx for window in windows)
    return sum(window.sut.probe_cpu_s or 0.0 for window in windows) * 1e6 / answers if answers else None


def _valid(fork: Fork) -> tuple[Window, ...]:
    if not fork.valid_windows:
        raise MatrixError(f"fork {fork.fork} has no valid window, so it has no figures")
    return fork.valid_windows
