"""Figures of one fork, and over forks. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jdkmatrix.errors import MatrixError
from jdkmatrix.records import CapacityLoad, CellRecord, Fork, RampLoad, RateLoad, StepsLoad, Window
from jdkmatrix.stats.capacity import is_known
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.stats.ramps import fork_knee_rps, fork_time_to_peak_s


@dataclass(frozen=True)
class Summary:
    """Of one figure over `n` forks, in the figure's unit.

    The 95 % interval belongs to `geomean`, the geometric mean. It is None for a single fork, and where a fork has 0.
    """

    n: int
    geomean: float
    median: float
    ci_low: float | None
    ci_high: float | None


def summarise(values: Sequence[float]) -> Summary:
    """Geometric mean with its interval, and median, of one value per fork (never per window).

    Geometric, because figures of forks are positive and scatter by factors: the interval of an arithmetic mean of a
    few forks reaches below 0. And the geometric means of two arms divide to exactly the ratio that `paired_ratio`
    gives for the same blocks, which arithmetic means do not. A fork with 0 makes the geometric mean 0, and has no
    logarithm, so that there is no interval.

    Raises:
        MatrixError: there is no value, or one is negative or not finite.
    """
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise MatrixError(f"a summary needs at least one value, all finite and not below 0; found {list(values)}")
    median = statistics.median(values)
    if min(values) == 0:
        return Summary(len(values), 0.0, median, None, None)
    logs = [math.log(value) for value in values]
    interval = mean_interval(logs)
    return Summary(
        n=len(values),
        geomean=math.exp(statistics.fmean(logs)),
        median=median,
        ci_low=None if interval is None else math.exp(interval[0]),
        ci_high=None if interval is None else _exp(interval[1]),
    )


def fork_throughput(fork: Fork) -> float:
    """Requests per second of one fork: the mean of its valid windows, each weighted by its duration.

    Raises:
        MatrixError: the fork has no valid window (`Fork.usable` says so beforehand).
    """
    windows = _valid(fork)
    seconds = sum(window.load.duration_s for window in windows)
    return sum(window.load.throughput_rps * window.load.duration_s for window in windows) / seconds


def fork_peak_rps(fork: Fork) -> float:
    """The highest throughput of its valid windows: under steps of rising rates, what it does when saturated, or the
    last rate where it was not.

    Raises:
        MatrixError: the fork has no valid window.
    """
    return max(window.load.throughput_rps for window in _valid(fork))


def fork_first_cpu_us(fork: Fork) -> float:
    """CPU time of the SUT per request in µs in its first valid window: under steps of rising rates, at the lowest.

    Raises:
        MatrixError: the fork has no valid window.
    """
    return _valid(fork)[0].sut.cpu_us_per_request


def fork_cpu_us_per_request(fork: Fork) -> float:
    """CPU time of the SUT per request of one fork, in µs: its valid windows, each weighted by the answers that divided
    its CPU time.

    Raises:
        MatrixError: the fork has no valid window (`Fork.usable` says so beforehand), or no request was answered.
    """
    windows = _valid(fork)
    answers = sum(window.load.answers for window in windows)
    if answers == 0:
        raise MatrixError(f"fork {fork.fork} answered no request, so it has no CPU time per request")
    return sum(window.sut.cpu_us_per_request * window.load.answers for window in windows) / answers


def fork_readings_us(fork: Fork) -> float | None:
    """CPU time of the SUT per request, in µs, that answering our own questions about its memory took, which
    `fork_cpu_us_per_request` leaves out; None where that was not recorded, or no request was answered."""
    windows = [window for window in _valid(fork) if window.sut.probe_cpu_s is not None]
    answers = sum(window.load.answers for window in windows)
    return sum(window.sut.probe_cpu_s or 0.0 for window in windows) * 1e6 / answers if answers else None


def fork_capacity_rps(fork: Fork) -> float | None:
    """The highest rate that held in one fork; None where its search came to no end."""
    return fork.capacity.held_rps if fork.capacity and is_known(fork.capacity) else None


def leading_by_block(cell: CellRecord) -> dict[int, float]:
    """What executors under the load of this cell are compared by first, of every usable fork that has it: the rate
    that held where it was searched for, CPU time per request where a constant rate fixes the throughput, the highest
    throughput of rising steps, the time to the peak of a ramp that ends level and the rate at the knee of one that does
    not, throughput elsewhere."""
    figure: Callable[[Fork], float | None] = fork_throughput
    if isinstance(cell.load, CapacityLoad):
        figure = fork_capacity_rps
    elif isinstance(cell.load, RateLoad):
        figure = fork_cpu_us_per_request
    elif isinstance(cell.load, StepsLoad):
        figure = fork_peak_rps
    elif isinstance(cell.load, RampLoad):
        figure = fork_time_to_peak_s if cell.load.ends_level else fork_knee_rps
    return {fork.fork: value for fork in cell.forks if fork.usable and (value := figure(fork))}


def _valid(fork: Fork) -> tuple[Window, ...]:
    if not fork.valid_windows:
        raise MatrixError(f"fork {fork.fork} has no valid window, so it has no figures")
    return fork.valid_windows


def _exp(log: float) -> float:
    """Forks that differ by orders of magnitude: an upper end beyond what a float can say."""
    return math.exp(log) if log < 709 else math.inf
