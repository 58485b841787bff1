"""The figures of one fork under its load, and which of them may stand in a ratio. Pure.

Some figures are bounds: where every rate of a search held, the capacity is at least the highest; where a ramp found no
knee, the knee lies beyond its end. Some are true and do not compare: CPU per request of a fork that missed its rate is
that of another load. Both are kept and shown, and neither stands in a ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median
from typing import Literal

from jdkmatrix.domain.loads import LoadOverTime, RampLoad
from jdkmatrix.loads.base import Bound, ForkFigure, held
from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.capacity import SearchOutcome, is_known
from jdkmatrix.stats.forks import summarise
from jdkmatrix.stats.intervals import CONFIDENCE
from jdkmatrix.stats.percentiles import are_bounds, merge_latencies, tail_checked
from jdkmatrix.stats.ramps import KNEE_SECONDS, knee, latest_peak_s, peak_of, seconds_of

# None: the fork does not have this figure. Of usable forks only.
FigureOf = Callable[[Fork, AnyLoad], ForkFigure | None]
Kind = Literal["corrected", "uncorrected"]


def distribution_of(window: Window) -> Kind:
    """Which of its distributions stands for this window: the corrected one wherever there is a schedule."""
    return "uncorrected" if window.load.load.is_closed_loop else "corrected"


def chosen(window: Window) -> Latency | None:
    return window.load.corrected if distribution_of(window) == "corrected" else window.load.uncorrected


def fork_latency(fork: Fork) -> Latency | None:
    """The latency over all valid windows; None where none of them has the distribution that its load asks for, or
    nothing was answered."""
    if fork.latency is not None:
        return fork.latency
    found = [latency for window in fork.valid_windows if (latency := chosen(window)) is not None and latency.count]
    return merge_latencies(found) if found else None


def throughput_rps(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Answers of status 2xx per second, of the part of the load that says what the server can do."""
    return kind_of(load).throughput_rps(fork)


def cpu_us_per_request(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """CPU time of the SUT per answer of status 2xx, in µs, of the part of the load in which executors compare."""
    return kind_of(load).cpu_us_per_request(fork)


def capacity_rps(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """The highest rate that held. A bound where all rates of the search did, or none; None where it came to no end."""
    found = fork.capacity
    if found is None or not is_known(found):
        return None
    match SearchOutcome(found.outcome):
        case SearchOutcome.FLOOR_FAILED:
            return ForkFigure(found.floor_rps, Bound.BELOW)
        case SearchOutcome.CEILING_HELD:
            return ForkFigure(found.ceiling_rps, Bound.AT_LEAST)
        case _:
            return ForkFigure(found.held_rps) if found.held_rps else None


def time_to_peak(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Seconds from the start of a rising load; where the peak was not seen, longer than it could have been."""
    if not isinstance(load, LoadOverTime) or not seconds_of(fork):
        return None
    reached_s = peak_of(fork)
    return ForkFigure(latest_peak_s(load), Bound.AT_LEAST) if reached_s is None else ForkFigure(reached_s)


def knee_rps(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """The rate at the knee of a ramp; where there is none, beyond the highest rate."""
    seconds = seconds_of(fork)
    if not isinstance(load, RampLoad) or len(seconds) < KNEE_SECONDS:
        return None
    found = knee(seconds)
    if found is None:
        return ForkFigure(max(rate_rps for _, rate_rps in load.points), Bound.AT_LEAST)
    return ForkFigure(found.asked)


def no_step(_: AnyLoad, __: float) -> float:
    """How far apart two readings of a figure lie at least, around a value under a load: here as near as one likes."""
    return 0.0


def capacity_step(load: AnyLoad, value: float) -> float:
    """At most: a search ends when the lowest rate that failed is this little above the highest that held."""
    return value * load.resolution if isinstance(load, CapacityLoad) else 0.0


def one_second(_: AnyLoad, __: float) -> float:
    """The time to the peak is read in whole seconds."""
    return 1.0


def knee_step(load: AnyLoad, _: float) -> float:
    """By how much a ramp changes within a second, at most: a knee is read in whole seconds."""
    if not isinstance(load, RampLoad):
        return 0.0
    rises = (abs(rate - before) / (t - s) for (s, before), (t, rate) in pairwise(load.points) if t > s)
    return max(rises, default=0.0)


def p99_us(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """The fork's own, where enough requests were slower. Of a fork that fell short, or in which many requests were
    under way at the end, it is a bound: a request without an answer stands in it with the time that it had waited, or
    not at all. Latencies of several rates together are those of none."""
    latency = fork_latency(fork) if kind_of(load).one_level else None
    figure_us = tail_checked(latency, "99") if latency else None
    if figure_us is None:
        return None
    bounds, count = sum(lower_bounds(fork) or (0,)), latency.count if latency else 0
    exact = held(fork) and not are_bounds(bounds, count, "99")
    return ForkFigure(figure_us, Bound.NONE if exact else Bound.AT_LEAST)


def lower_bounds(fork: Fork) -> tuple[int, ...] | None:
    """How many latencies of each valid window are only known to be at least so long; None where a driver leaves those
    requests out."""
    told = [window.load.lower_bounds for window in fork.valid_windows]
    return None if None in told else tuple(number for number in told if number is not None)


def time_to_steady_s(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """From the start of the process to 95 % of the steady performance; None where the fork did not get there."""
    warmup = fork.warmup
    reached_s = warmup.time_to_steady_s if warmup and warmup.steady else None
    return None if reached_s is None else ForkFigure(reached_s)


def switches_per_request(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """How often the kernel took the CPU from a thread of the SUT, or a thread gave it up, per answer of status
    2xx; over all valid windows. None where threads ended whose counts the kernel did not keep."""
    switches = answers = 0
    for window in fork.valid_windows:
        voluntary, involuntary = window.sut.voluntary_switches, window.sut.involuntary_switches
        if voluntary is None or involuntary is None or _threads_ended(window):
            return None
        switches += voluntary + involuntary
        answers += window.load.answers_2xx
    return ForkFigure(switches / answers) if answers else None


def _threads_ended(window: Window) -> bool:
    """Were more threads of the kernel started for requests than ever lived at once? Those that came and went between
    two readings are in neither."""
    served = window.served
    if served is None or served.threads_started is None or not served.plugged_platform:
        return False
    return served.threads_started > window.sut.threads_peak


def _sum_of(fork: Fork, reading: str) -> float | None:
    """Over all valid windows; None where one of them does not have it."""
    windows = fork.valid_windows
    found = [one.value for window in windows for one in window.readings if one.metric == reading]
    return sum(found) if found and len(found) == len(windows) else None


def summed(reading: str, *, over: str | Callable[[Window], float] | None = None, scale: float = 1) -> FigureOf:
    """A reading of each window, such as bytes that were allocated, over all valid windows; divided by `scale`, and by
    the same sum of another reading, or of what each window has of its own. None where a window does not have it, or the
    divisor is 0."""

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        total = _sum_of(fork, reading)
        by = _sum_of(fork, over) if isinstance(over, str) else sum(map(over, fork.valid_windows)) if over else 1
        return None if total is None or not by else ForkFigure(total / by / scale)

    return of


def per_answer(reading: str) -> FigureOf:
    """Of status 2xx."""
    return summed(reading, over=lambda window: window.load.answers_2xx)


def most(values: Callable[[Window], Iterable[float]]) -> FigureOf:
    """The most that any valid window has."""

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        found = [value for window in fork.valid_windows for value in values(window)]
        return ForkFigure(float(max(found))) if found else None

    return of


def most_of_reading(reading: str) -> FigureOf:
    return most(lambda window: (one.value for one in window.readings if one.metric == reading))


def direct_buffers(window: Window) -> Iterable[float]:
    """Memory of direct buffers, at the end of a window, as a share 0..1 of the RSS."""
    sut = window.sut
    return [sut.direct_buffer_bytes / sut.rss_bytes] if sut.direct_buffer_bytes is not None and sut.rss_bytes else []


def longest_us(window: Window) -> Iterable[float]:
    """The longest time that a request took."""
    latency = chosen(window)
    return [latency.max_us] if latency and latency.count else []


def open_transactions(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Transactions that were open in the database when nothing was in flight any more."""
    count = fork.audit.open_transactions if fork.audit else None
    return None if count is None else ForkFigure(float(count))


def cpu_share(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """CPU time of the SUT as a share 0..1 of its CPUs, in the part of the load that throughput is of."""
    share = kind_of(load).cpu_share(fork)
    return None if share is None else ForkFigure(share)


def gc_ms_per_s(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Time in collections, in ms for each second of all valid windows."""
    windows = fork.valid_windows
    spent = [window.sut.gc_ms for window in windows if window.sut.gc_ms is not None]
    seconds = sum(window.gauged_s for window in windows)
    return ForkFigure(sum(spent) / seconds) if len(spent) == len(windows) and seconds > 0 else None


def was_steady(fork: Fork, _: AnyLoad) -> ForkFigure:
    """1 where the gate of the warm-up had opened, 0 where it was given up."""
    return ForkFigure(float(fork.status is Status.OK))


def comparable(figures: Mapping[int, ForkFigure]) -> dict[int, float]:
    """Those that may stand in a ratio, by block."""
    return {block: figure.value for block, figure in figures.items() if figure.compares}


@dataclass(frozen=True)
class OverForks:
    """One figure over so many `forks`: the geometric mean with its 95 % interval, or what has none: the arithmetic mean
    where a fork has 0, the median, the most. `bounded`: how many of the forks give a bound only; these stand for what
    they bound, so that the mean is a bound in the same direction, and has no interval. `bound`: None where they point
    both ways, and only `least` and `most` say something."""

    value: float
    low: float | None
    high: float | None
    least: ForkFigure
    most: ForkFigure
    bound: Bound | None
    bounded: int
    forks: int

    def scaled(self, by: float) -> OverForks:
        low, high = (None if end is None else end * by for end in (self.low, self.high))
        least, most = (replace(end, value=end.value * by) for end in (self.least, self.most))
        return replace(self, value=self.value * by, low=low, high=high, least=least, most=most)


def overall(
    figures: Iterable[ForkFigure],
    by: Literal["mean", "most", "median"] = "mean",
    confidence: float = CONFIDENCE,
    least: float = 0.0,
) -> OverForks | None:
    """None where there is no figure. `confidence`, `least`: as of summarise."""
    found = list(figures)
    if not found:
        return None
    values = [figure.value for figure in found]
    ends = min(found, key=lambda figure: figure.value), max(found, key=lambda figure: figure.value)
    if by == "median":
        at_least = sum(figure.bound is Bound.AT_LEAST for figure in found)
        of_some = Bound.AT_LEAST if at_least else Bound.NONE
        return OverForks(median(values), None, None, *ends, of_some, at_least, len(values))
    if by == "most":
        return OverForks(max(values), None, None, *ends, Bound.NONE, 0, len(values))
    bounds = {figure.bound for figure in found} - {Bound.NONE}
    summary = summarise(values, confidence, least)
    low, high = (None, None) if bounds else (summary.ci_low, summary.ci_high)
    bound = next(iter(bounds), Bound.NONE) if len(bounds) < 2 else None
    bounded = sum(figure.bound is not Bound.NONE for figure in found)
    return OverForks(summary.geomean or fmean(values), low, high, *ends, bound, bounded, len(values))
