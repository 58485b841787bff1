"""The figures of one fork under its load, and which of them may stand in a ratio. Pure.

Some figures are bounds: if every rate of a search held, the capacity is at least the highest; if a ramp found no knee,
the knee lies beyond its end. Some are true but do not compare: CPU per request of a fork that missed its rate is that
of another load. Both are kept and shown, and neither stands in a ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median
from typing import Literal

from jdkmatrix.domain.loads import LoadOverTime, RampLoad
from jdkmatrix.loads.attainment import ForkOutcome, fate
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
from jdkmatrix.stats.percentiles import are_bounds, is_overstated, merge_latencies, tail_checked
from jdkmatrix.stats.ramps import KNEE_SECONDS, knee, latest_peak_s, peak_of, seconds_of
from jdkmatrix.stats.verdicts import ArmForks

# For usable forks only. None: the fork does not have this figure.
FigureOf = Callable[[Fork, AnyLoad], ForkFigure | None]
Kind = Literal["corrected", "uncorrected"]


def distribution_of(window: Window) -> Kind:
    """Return which of its distributions represents this window: the corrected one wherever there is a schedule."""
    return "uncorrected" if window.load.load.is_closed_loop else "corrected"


def chosen(window: Window) -> Latency | None:
    return window.load.corrected if distribution_of(window) == "corrected" else window.load.uncorrected


def fork_latency(fork: Fork) -> Latency | None:
    """Return the latency over all valid windows; None if none of them has the distribution that its load asks for, or
    nothing was answered."""
    if fork.latency is not None:
        return fork.latency
    found = [latency for window in fork.valid_windows if (latency := chosen(window)) is not None and latency.count]
    return merge_latencies(found) if found else None


def throughput_rps(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Return answers of status 2xx per second, in the part of the load that shows what the server can do."""
    return kind_of(load).throughput_rps(fork)


def cpu_us_per_request(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Return CPU time of the SUT per answer of status 2xx, in µs, in the part of the load where executors compare."""
    return kind_of(load).cpu_us_per_request(fork)


def capacity_rps(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Return the highest rate that held: a bound if all rates of the search did, or none; None if it came to no end."""
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
    """Return seconds from the start of a rising load to its peak; if none was seen, the latest possible, as a bound."""
    if not isinstance(load, LoadOverTime) or not seconds_of(fork):
        return None
    reached_s = peak_of(fork)
    return ForkFigure(latest_peak_s(load), Bound.AT_LEAST) if reached_s is None else ForkFigure(reached_s)


def knee_rps(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Return the rate at the knee of a ramp; if there is none, the highest rate, as a bound."""
    seconds = seconds_of(fork)
    if not isinstance(load, RampLoad) or len(seconds) < KNEE_SECONDS:
        return None
    found = knee(seconds)
    if found is None:
        return ForkFigure(max(rate_rps for _, rate_rps in load.points), Bound.AT_LEAST)
    return ForkFigure(found.asked)


def no_step(_: AnyLoad, __: float) -> float:
    """Return the least distance between two readings of a figure, around a value under a load: here none."""
    return 0.0


def capacity_step(load: AnyLoad, value: float) -> float:
    """Return the largest step: a search ends when the lowest rate that failed is this little above the highest held."""
    return value * load.resolution if isinstance(load, CapacityLoad) else 0.0


def one_second(_: AnyLoad, __: float) -> float:
    """Return the step of the time to the peak, which is read in whole seconds."""
    return 1.0


def knee_step(load: AnyLoad, _: float) -> float:
    """Return the most that a ramp changes within a second: a knee is read in whole seconds."""
    if not isinstance(load, RampLoad):
        return 0.0
    rises = (abs(rate - before) / (t - s) for (s, before), (t, rate) in pairwise(load.points) if t > s)
    return max(rises, default=0.0)


def p99_us(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Return the fork's own p99, if enough requests were slower. It is a lower bound if the fork fell short, or many
    requests were in flight at the end: a request without an answer counts with the time that it had waited, or not at
    all. It is an upper bound if the driver was late to send in a window, and no figure if both hold. Latencies of
    several rates together are those of none."""
    latency = fork_latency(fork) if kind_of(load).one_level else None
    figure_us = tail_checked(latency, "99") if latency else None
    if latency is None or figure_us is None:
        return None
    bound = percentile_bound(fork, latency, "99", figure_us)
    return None if bound is None else ForkFigure(figure_us, bound)


def percentile_bound(fork: Fork, latency: Latency, percent: str, value_us: float) -> Bound | None:
    """Return as `bound_of`, of a fork's own percentile; `latency`: all that it measured."""
    too_low = not held(fork) or are_bounds(sum(lower_bounds(fork) or (0,)), latency.count, percent)
    return bound_of(too_low=too_low, too_high=was_overstated(fork, percent, value_us))


def bound_of(*, too_low: bool, too_high: bool) -> Bound | None:
    """Return the relation of a percentile to the truth; None where it may be too low for one reason and too high for
    another."""
    if too_low and too_high:
        return None
    return Bound.AT_LEAST if too_low else Bound.BELOW if too_high else Bound.NONE


def was_overstated(fork: Fork, percent: str, value_us: float) -> bool:
    """Return whether the driver sent so late in a valid window that `value_us`, that percentile, is an upper bound."""
    return any(is_overstated(value_us, window.load.send_lateness, percent) for window in fork.valid_windows)


def lower_bounds(fork: Fork) -> tuple[int, ...] | None:
    """Return how many latencies of each valid window are only known to be at least so long; None if a driver leaves
    those requests out."""
    told = [window.load.lower_bounds for window in fork.valid_windows]
    return None if None in told else tuple(number for number in told if number is not None)


def time_to_steady_s(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Return the time from process start to 95 % of the steady performance; None if the fork did not get there."""
    warmup = fork.warmup
    reached_s = warmup.time_to_steady_s if warmup and warmup.steady else None
    return None if reached_s is None else ForkFigure(reached_s)


def switches_per_request(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Return how often the kernel took the CPU from a thread of the SUT, or a thread gave it up, per answer of status
    2xx, over all valid windows. None if threads ended whose counts the kernel did not keep."""
    switches = answers = 0
    for window in fork.valid_windows:
        voluntary, involuntary = window.sut.voluntary_switches, window.sut.involuntary_switches
        if voluntary is None or involuntary is None or _threads_ended(window):
            return None
        switches += voluntary + involuntary
        answers += window.load.answers_2xx
    return ForkFigure(switches / answers) if answers else None


def _threads_ended(window: Window) -> bool:
    """Return whether more kernel threads were started for requests than ever lived at once: those that came and went
    between two readings are in neither."""
    served = window.served
    if served is None or served.threads_started is None or not served.plugged_platform:
        return False
    return served.threads_started > window.sut.threads_peak


def _sum_of(fork: Fork, reading: str) -> float | None:
    """Sum a reading over all valid windows; None if one of them does not have it."""
    windows = fork.valid_windows
    found = [one.value for window in windows for one in window.readings if one.metric == reading]
    return sum(found) if found and len(found) == len(windows) else None


def summed(reading: str, *, over: str | Callable[[Window], float] | None = None, scale: float = 1) -> FigureOf:
    """Return a figure: the sum of a reading, such as allocated bytes, over all valid windows, divided by `scale` and by
    the sum of `over`: another reading, or a value that each window has. None if a window does not have the reading, or
    the divisor is 0."""

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        total = _sum_of(fork, reading)
        by = _sum_of(fork, over) if isinstance(over, str) else sum(map(over, fork.valid_windows)) if over else 1
        return None if total is None or not by else ForkFigure(total / by / scale)

    return of


def per_answer(reading: str) -> FigureOf:
    """Return a figure: the sum of a reading, divided by the answers of status 2xx."""
    return summed(reading, over=lambda window: window.load.answers_2xx)


def most(values: Callable[[Window], Iterable[float]]) -> FigureOf:
    """Return a figure: the most that any valid window has."""

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        found = [value for window in fork.valid_windows for value in values(window)]
        return ForkFigure(float(max(found))) if found else None

    return of


def most_of_reading(reading: str) -> FigureOf:
    return most(lambda window: (one.value for one in window.readings if one.metric == reading))


def direct_buffers(window: Window) -> Iterable[float]:
    """Return the memory of direct buffers at the end of a window, as a share 0..1 of the RSS."""
    sut = window.sut
    return [sut.direct_buffer_bytes / sut.rss_bytes] if sut.direct_buffer_bytes is not None and sut.rss_bytes else []


def longest_us(window: Window) -> Iterable[float]:
    """Return the longest time that a request took."""
    latency = chosen(window)
    return [latency.max_us] if latency and latency.count else []


def open_transactions(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Return the transactions that were still open in the database when nothing was in flight any more."""
    count = fork.audit.open_transactions if fork.audit else None
    return None if count is None else ForkFigure(float(count))


def cpu_share(fork: Fork, load: AnyLoad) -> ForkFigure | None:
    """Return CPU time of the SUT as a share 0..1 of its CPUs, in the part of the load that throughput is of."""
    share = kind_of(load).cpu_share(fork)
    return None if share is None else ForkFigure(share)


def gc_ms_per_s(fork: Fork, _: AnyLoad) -> ForkFigure | None:
    """Return the time in collections, in ms per second of all valid windows."""
    windows = fork.valid_windows
    spent = [window.sut.gc_ms for window in windows if window.sut.gc_ms is not None]
    seconds = sum(window.gauged_s for window in windows)
    return ForkFigure(sum(spent) / seconds) if len(spent) == len(windows) and seconds > 0 else None


def was_steady(fork: Fork, _: AnyLoad) -> ForkFigure:
    """Return 1 if the warm-up gate opened, 0 if the fork gave up waiting for it."""
    return ForkFigure(float(fork.status is Status.OK))


def comparable(figures: Mapping[int, ForkFigure]) -> dict[int, float]:
    """Return the figures that may stand in a ratio, by block."""
    return {block: figure.value for block, figure in figures.items() if figure.compares}


def arm_forks(count: int, forks: Iterable[Fork], load: AnyLoad, figures: Mapping[int, ForkFigure]) -> ArmForks:
    """Return an arm with `count` planned forks. `figures`: of those that have one, by block. A fork that was not lost
    to a fault, and whose figure may not stand in a ratio, is so by its own doing; but not one that answered and lacks
    the figure where gates refused a window, which that figure may be of."""
    compare = comparable(figures)
    others = [fork for fork in forks if fork.fork not in compare and fate(fork, load) is not ForkOutcome.LOST]
    told = [one.fork for one in others if one.fork in figures or not (one.usable and _has_refused(one))]
    return ArmForks(count, compare, {one: figures[one].bound if one in figures else None for one in told})


def _has_refused(fork: Fork) -> bool:
    return any(not window.valid for window in fork.windows)


@dataclass(frozen=True)
class OverForks:
    """One figure over a number of `forks`: the geometric mean with its 95 % interval, or, without one, the arithmetic
    mean (if a fork has 0), the median or the most. `bounded`: how many forks give only a bound; it stands for what it
    bounds, so that the mean is a bound in the same direction and has no interval. `bound`: None if they point both
    ways, and only `least` and `most` say something."""

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
    """Summarise a figure over forks; None if there is none. `confidence`, `least`: as in summarise."""
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
