"""From forks to figures that may be compared. Pure.

The replicate is the fork, never the window: windows inside one JVM share its compilation, heap layout and thread
placement, so their scatter says nothing about the next start. A. Georges, D. Buytaert, L. Eeckhout, "Statistically
Rigorous Java Performance Evaluation", OOPSLA 2007, pp. 57-76, treat the mean of each VM invocation as one observation
and put Student's t interval on those; T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013,
pp. 63-74, show why repetition has to happen at the highest level that varies, and report a comparison as a ratio with
its interval.

Arms are compared inside blocks. Pairing removes what both forks of a block share (the state of the host at that
time), as in the matched-pair comparison of A. Georges, L. Eeckhout, D. Buytaert, "Java Performance Evaluation through
Rigorous Replay Compilation", OOPSLA 2008, pp. 367-384. The ratios of the blocks are summarised by their geometric mean
and Student's t on their logarithms, so that swapping the arms inverts ratio and interval (P. J. Fleming, J. J. Wallace,
"How Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results", CACM 29(3), 1986, pp. 218-221, for
the mean of ratios). The interval assumes independent blocks and log ratios that are roughly normal.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.errors import MatrixError
from jdkmatrix.records import Fork, Window

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """Numerator over denominator with its 95 % interval; the interval is None for a single block."""

    value: float
    ci_low: float | None
    ci_high: float | None
    blocks: int


@dataclass(frozen=True)
class Summary:
    """Of one figure over `n` forks, in the figure's unit; the 95 % interval of the mean is None for a single fork."""

    n: int
    mean: float
    median: float
    ci_low: float | None
    ci_high: float | None


def paired_ratio(numerators: Mapping[int, float], denominators: Mapping[int, float]) -> Ratio | None:
    """Geometric mean over the blocks of numerator / denominator, both keyed by block; of the blocks that have both.

    exp(m ± t(0.975, n-1) · s / √n), with m and s the mean and standard deviation of the n log ratios. None when no
    block has both arms.

    Raises:
        MatrixError: a figure is not finite and above 0, so that its block has no ratio.
    """
    blocks = sorted(numerators.keys() & denominators.keys())
    if not blocks:
        return None
    logs = []
    for block in blocks:
        for figure in (numerators[block], denominators[block]):
            if not (math.isfinite(figure) and figure > 0):
                raise MatrixError(f"block {block}: a ratio needs finite figures above 0, found {figure}")
        logs.append(math.log(numerators[block]) - math.log(denominators[block]))
    mean = statistics.fmean(logs)
    half = _half_interval(logs)
    if half is None:
        return Ratio(math.exp(mean), None, None, len(logs))
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs))


def summarise(values: Sequence[float]) -> Summary:
    """Mean, median and mean ± t(0.975, n-1) · s / √n, of one value per fork (never per window).

    Raises:
        MatrixError: there is no value, or one is not finite.
    """
    if not values or not all(map(math.isfinite, values)):
        raise MatrixError(f"a summary needs at least one value, all finite; found {list(values)}")
    mean = statistics.fmean(values)
    half = _half_interval(values)
    return Summary(
        n=len(values),
        mean=mean,
        median=statistics.median(values),
        ci_low=None if half is None else mean - half,
        ci_high=None if half is None else mean + half,
    )


def fork_throughput(fork: Fork) -> float:
    """Requests per second of one fork: the mean of its valid windows, each weighted by its duration.

    Raises:
        MatrixError: the fork has no valid window (`Fork.usable` says so beforehand).
    """
    windows = _valid(fork)
    seconds = sum(window.load.duration_s for window in windows)
    return sum(window.load.throughput_rps * window.load.duration_s for window in windows) / seconds


def fork_cpu_us_per_request(fork: Fork) -> float:
    """CPU time of the SUT per request of one fork, in µs: its valid windows, each weighted by its requests.

    Raises:
        MatrixError: the fork has no valid window (`Fork.usable` says so beforehand), or no request was answered.
    """
    windows = _valid(fork)
    completed = sum(window.load.completed for window in windows)
    if completed == 0:
        raise MatrixError(f"fork {fork.fork} answered no request, so it has no CPU time per request")
    return sum(window.sut.cpu_us_per_request * window.load.completed for window in windows) / completed


def _valid(fork: Fork) -> tuple[Window, ...]:
    if not fork.valid_windows:
        raise MatrixError(f"fork {fork.fork} has no valid window, so it has no figures")
    return fork.valid_windows


def _half_interval(values: Sequence[float]) -> float | None:
    """Half the width of Student's t interval of the mean; None for a single value."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit  # noqa: PLC0415 - costs 0.3 s, which the command line must not pay

    t = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return t * statistics.stdev(values) / math.sqrt(len(values))
