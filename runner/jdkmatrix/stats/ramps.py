"""Evaluate a load that rises over time: when the throughput caught up with it, and where the server's knee is. Pure;
works on what the driver recorded second by second.

Every rule needs several seconds, since a single second of a stalled machine is not a finding.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from jdkmatrix.domain.loads import JoinLoad, LoadOverTime, RampLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.windows import Sample, Window

CAUGHT_UP_SHARE = 0.95  # of the level that the load ends at
CALM_SECONDS = 3
TOLD_BY_ANSWERS = 20_000  # on a full CPU, single seconds of 600 to 700 answers scattered by 7 to 11 %
WAITING_MAX_S = 1.0  # of the requests at that level: intervals are as long, and resolve nothing finer
HELD_SHARE = 1 / 3  # of a load whose level is not given: a shorter stretch at its end is no level
BACKLOG_SHARE = 0.05
KNEE_FACTOR = 2.0
KNEE_SECONDS = 5
STEADY_SECONDS = 5  # fewer say nothing


@dataclass(frozen=True)
class Second:
    """One second of the load, which ends `t_s` after its start. `asked`: the load at its end, in requests per second,
    or in connections for a closed loop, which asks for no rate. `completed_rps`: answers of status 2xx. `in_flight`:
    requests that were due by its end and have no answer, sent or not. `p50_us`, `p99_us`: over all that ended, with a
    failed request counted as longer than any answer; None if that leaves none, or nothing was answered."""

    t_s: float
    asked: float
    completed_rps: float
    in_flight: float
    p50_us: float | None
    p99_us: float | None


def time_to_peak_s(seconds: Sequence[Second], level_rps: float, *, held_s: float = 0.0) -> float | None:
    """Return the end of the first second from which on the throughput stays at `level_rps` and nothing waits; None if
    the last of these seconds come to less than `held_s`.

    Throughput must be at least `CAUGHT_UP_SHARE` of the level: in that second, as the median of it and its neighbours,
    and from it on in each stretch that brings `TOLD_BY_ANSWERS` at this level (at most `HELD_SHARE` of the load), as
    the mean without its slowest second, since what a closed loop loses in one stalled second never comes back. In
    flight may be what Little's law gives for this level (rate x response time), plus the requests of `WAITING_MAX_S`.
    The response time is the shortest median of any `KNEE_SECONDS` in a row: that at the end may be of a backlog. By
    throughput alone, a server that is still growing, with thousands of requests waiting, would be at its peak as it
    crosses the level on its way up.
    """
    limit = level_rps * ((_shortest(tuple(one.p50_us for one in seconds)) or 0.0) / 1e6 + WAITING_MAX_S)
    enough_rps, length = CAUGHT_UP_SHARE * level_rps, _told_in_s(level_rps, len(seconds))
    done_rps = [one.completed_rps for one in seconds]
    reached_s = None
    for index in range(len(seconds) - 1, -1, -1):
        begin = max(0, min(index, len(seconds) - length))
        if _level_of(done_rps[begin : begin + length]) < enough_rps or seconds[index].in_flight > limit:
            break
        reached_s = seconds[index].t_s if _calm_rps(seconds, index) >= enough_rps else reached_s
    return reached_s if reached_s is not None and seconds[-1].t_s - reached_s >= held_s else None


def _told_in_s(level_rps: float, seconds: int) -> int:
    """Return the seconds that bring `TOLD_BY_ANSWERS`: at most `HELD_SHARE` of all, at least what `_calm_rps` takes."""
    needed_s = TOLD_BY_ANSWERS / level_rps if level_rps else 0.0
    return max(CALM_SECONDS, math.ceil(min(needed_s, HELD_SHARE * seconds)))


def _level_of(done_rps: Sequence[float]) -> float:
    """Return the mean throughput without the slowest second: fsum is exact, so what is subtracted leaves no trace."""
    if len(done_rps) == 1:
        return done_rps[0]
    return math.fsum((*done_rps, -min(done_rps))) / (len(done_rps) - 1)


def _calm_rps(seconds: Sequence[Second], index: int) -> float:
    """Return the median throughput of the `CALM_SECONDS` around a second; for the last, of those up to it."""
    begin = min(index - CALM_SECONDS // 2, len(seconds) - CALM_SECONDS)
    around = seconds[max(0, begin) : index + CALM_SECONDS // 2 + 1]
    return statistics.median(one.completed_rps for one in around)


def peak_of(fork: Fork) -> float | None:
    """Return the seconds from the start of the load to its peak, as `time_to_peak_s`; None if the fork showed none.

    A ramp's level is the rate that it ends with. That of a closed loop is what it reached in the last `HELD_SHARE` of
    the load, for which it must have held it."""
    load = _load_of(fork)
    return _peak(load, _Same(fork.valid_windows[0].load.intervals)) if load else None


@lru_cache(maxsize=256)
def _peak(load: RampLoad | JoinLoad, intervals: _Same) -> float | None:
    """Find the peak; cached, since figures, outcomes and charts all ask for it, and every second is looked at."""
    seconds = _seconds(load, intervals)
    if not seconds:
        return None
    if isinstance(load, RampLoad):
        return time_to_peak_s(seconds, load.points[-1][1])
    last = seconds[-max(STEADY_SECONDS, round(HELD_SHARE * len(seconds))) :]
    level_rps = _level_of([one.completed_rps for one in last])
    return time_to_peak_s(seconds, level_rps, held_s=HELD_SHARE * seconds[-1].t_s)


def latest_peak_s(load: LoadOverTime) -> float:
    """Return the time after which a peak cannot be seen."""
    return load.duration_s if isinstance(load, RampLoad) else (1 - HELD_SHARE) * load.duration_s


def knee(seconds: Sequence[Second]) -> Second | None:
    """Return the second in which p99 leaves what this server can do: the first of `KNEE_SECONDS` in a row with a p99
    above `KNEE_FACTOR` times the lowest median of any `KNEE_SECONDS` in a row. A second without a p99 counts as above
    if anything was asked for. None: it never does, or the load is shorter than that; fewer at its end would be a guess.

    The lowest, and not that of the beginning: a pool that grows too slowly is in trouble from the first second on. So
    is a server that never answers for `KNEE_SECONDS` in a row.
    """
    shortest_us = _shortest(tuple(second.p99_us for second in seconds))
    if shortest_us is None:
        return seconds[0] if len(seconds) >= KNEE_SECONDS else None
    limit_us, above = KNEE_FACTOR * shortest_us, 0
    for index, second in enumerate(seconds):
        is_late = second.p99_us is None or second.p99_us > limit_us
        above = above + 1 if is_late and second.asked > 0 else 0
        if above == KNEE_SECONDS:
            return seconds[index - KNEE_SECONDS + 1]
    return None


@lru_cache(maxsize=256)
def _shortest(latencies_us: tuple[float | None, ...]) -> float | None:
    """Return the lowest median of any `KNEE_SECONDS` in a row that all have a latency."""
    runs = (latencies_us[start : start + KNEE_SECONDS] for start in range(len(latencies_us) - KNEE_SECONDS + 1))
    told = ([one for one in run if one is not None] for run in runs)
    return min((statistics.median(run) for run in told if len(run) == KNEE_SECONDS), default=None)


def backlog_until_s(seconds: Sequence[Second]) -> float | None:
    """Return the end of the last second around which clearly more was answered than was asked for, by `BACKLOG_SHARE`;
    None if there was none."""
    more = (one.t_s for index, one in enumerate(seconds) if _calm_rps(seconds, index) > (1 + BACKLOG_SHARE) * one.asked)
    return max(more, default=None)


def _load_of(fork: Fork) -> RampLoad | JoinLoad | None:
    """Return the load as the driver ran it."""
    window = next(iter(fork.valid_windows), None)
    return window.load.load if window and isinstance(window.load.load, RampLoad | JoinLoad) else None


def seconds_of(fork: Fork) -> tuple[Second, ...]:
    """Return the driver's figures of each second; empty if the fork has no valid window of such a load."""
    load = _load_of(fork)
    return _seconds(load, _Same(fork.valid_windows[0].load.intervals)) if load else ()


class _Same:
    """Intervals that are equal only to themselves: hashing hundreds takes as long as reading them."""

    def __init__(self, intervals: tuple[Interval, ...]) -> None:
        self.intervals = intervals

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.intervals is other.intervals

    def __hash__(self) -> int:
        return id(self.intervals)


@lru_cache(maxsize=256)
def _seconds(load: RampLoad | JoinLoad, intervals: _Same) -> tuple[Second, ...]:
    """Convert the intervals; cached, since every figure of a fork asks for the same ones."""
    found, previous_s, done = [], 0.0, 0
    for interval in intervals.intervals:
        length_s = interval.t_s - previous_s
        previous_s = interval.t_s
        done += interval.completed + interval.errors
        if length_s <= 0:
            continue
        if isinstance(load, RampLoad):
            asked, in_flight = load.rate_at(interval.t_s), float(load.due_until(interval.t_s)) - done
        else:
            asked = in_flight = float(load.joined_at(interval.t_s))
        second = Second(
            t_s=interval.t_s,
            asked=asked,
            completed_rps=interval.succeeded / length_s,
            in_flight=in_flight,
            p50_us=interval.p50_us if interval.failed_share <= 0.5 else None,
            p99_us=interval.p99_us if interval.failed_share <= 0.01 else None,
        )
        found.append(second)
    return tuple(found)


@dataclass(frozen=True)
class Steady:
    """The figures of a fork in the second half of the level stretch that its load ends with, or in what was left of it
    once no backlog was being worked off: before, something was still growing, or more was answered than was asked for.
    `cpu_us_per_request` covers only the seconds enclosed by samples, which end with the load; None if these are too
    few, or nothing was answered in them."""

    throughput_rps: float
    cpu_us_per_request: float | None


def steady_part(fork: Fork) -> Steady | None:
    """Return the steady part; None if the load does not end level, or the fork has no valid window of it."""
    load = _load_of(fork)
    if load is None:
        return None
    window = fork.valid_windows[0]
    if isinstance(load, JoinLoad):
        end_s = window.load.duration_s
        return _steady(fork.samples, window, (load.join_s + end_s) / 2, end_s)
    if not load.ends_level:
        return None
    (level_s, _), (end_s, _) = load.points[-2:]
    caught_up_s = backlog_until_s(seconds_of(fork)) or 0.0
    return _steady(fork.samples, window, max((level_s + end_s) / 2, caught_up_s), end_s)


def _steady(samples: Sequence[Sample], window: Window, from_s: float, to_s: float) -> Steady | None:
    ends_s = [interval.t_s for interval in window.load.intervals]
    inside = [i for i, end in enumerate(ends_s) if from_s <= (ends_s[i - 1] if i else 0.0) and end <= to_s]
    if len(inside) < STEADY_SECONDS:
        return None
    start_s, stop_s = (ends_s[inside[0] - 1] if inside[0] else 0.0), ends_s[inside[-1]]
    succeeded = sum(window.load.intervals[i].succeeded for i in inside)
    sampled_s = samples[-1].t_s - window.t_s if samples else 0.0
    return Steady(
        throughput_rps=succeeded / (stop_s - start_s),
        cpu_us_per_request=_cpu_us(samples, window, start_s, [i for i in inside if ends_s[i] <= sampled_s]),
    )


def _cpu_us(samples: Sequence[Sample], window: Window, start_s: float, inside: Sequence[int]) -> float | None:
    """Return the CPU time per answer in these intervals, the first of which begins at `start_s`."""
    if len(inside) < STEADY_SECONDS:
        return None
    succeeded = sum(window.load.intervals[i].succeeded for i in inside)
    ends_s = (start_s, window.load.intervals[inside[-1]].t_s)
    before, after = (_cpu_s_at(samples, window.t_s + t_s) for t_s in ends_s)
    return None if before is None or after is None or not succeeded else (after - before) * 1e6 / succeeded


def _cpu_s_at(samples: Sequence[Sample], t_s: float) -> float | None:
    """Return the CPU time since the start of the process, interpolated between samples; None beyond them."""
    for before, after in pairwise(samples):
        if before.t_s <= t_s <= after.t_s and after.t_s > before.t_s:
            share = (t_s - before.t_s) / (after.t_s - before.t_s)
            return before.cpu_s + share * (after.cpu_s - before.cpu_s)
    return None
