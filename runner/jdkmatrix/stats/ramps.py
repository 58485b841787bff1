"""What a load that rises over time says: when the throughput had caught up with it, and where the server's knee is.
Pure, on what the driver saw second by second.

Every rule asks for several seconds in a row, since one second of a stalled machine is no finding.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.windows import Sample, Window
from jdkmatrix.terms.loads import RampLoad

CAUGHT_UP_SHARE = 0.95  # of the rate that the load ends with, as the published "time to peak" is read here
CAUGHT_UP_SECONDS = 3
BACKLOG_SHARE = 0.05
KNEE_FACTOR = 2.0
KNEE_SECONDS = 5
STEADY_SECONDS = 5  # fewer say nothing


@dataclass(frozen=True)
class Second:
    """One second of the load, of those that end at `t_s` after its start. `rate_rps` is the rate that was asked for at
    its end; `p99_us` is None where nothing was answered."""

    t_s: float
    rate_rps: float
    completed_rps: float
    errors: int
    p99_us: float | None


@dataclass(frozen=True)
class At:
    """A moment of the ramp, and the rate that was asked for there."""

    t_s: float
    rate_rps: float


def time_to_peak_s(seconds: Sequence[Second]) -> float | None:
    """The end of the first of `CAUGHT_UP_SECONDS` in a row with a throughput of at least `CAUGHT_UP_SHARE` of the last
    rate that was asked for; None where that never was so."""
    if not seconds:
        return None
    enough_rps = CAUGHT_UP_SHARE * seconds[-1].rate_rps
    found = _first_run(seconds, CAUGHT_UP_SECONDS, lambda second: second.completed_rps >= enough_rps)
    return found.t_s if found else None


def knee(seconds: Sequence[Second]) -> At | None:
    """Where p99 leaves what this server can do: the first of `KNEE_SECONDS` in a row with a p99 above `KNEE_FACTOR`
    times the lowest median of any `KNEE_SECONDS` in a row. A second without an answer counts as above. None: it never
    does, or the load is shorter than that.

    The lowest, and not that of the beginning: a pool that grows too slowly is in trouble from the first second on. So
    is a server that never answers for `KNEE_SECONDS` in a row.
    """
    p99s = [second.p99_us for second in seconds]
    runs = (_known(p99s[start : start + KNEE_SECONDS]) for start in range(len(p99s)))
    medians = [statistics.median(run) for run in runs if len(run) == KNEE_SECONDS]
    if not medians:
        return At(seconds[0].t_s, seconds[0].rate_rps) if len(seconds) >= KNEE_SECONDS else None
    limit_us = KNEE_FACTOR * min(medians)
    found = _first_run(seconds, KNEE_SECONDS, lambda second: second.p99_us is None or second.p99_us > limit_us)
    return At(found.t_s, found.rate_rps) if found else None


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def backlog_until_s(seconds: Sequence[Second]) -> float | None:
    """The end of the last second in which clearly more was answered than was asked for, by `BACKLOG_SHARE`; None where
    that never was so."""
    return max((one.t_s for one in seconds if one.completed_rps > (1 + BACKLOG_SHARE) * one.rate_rps), default=None)


def _first_run(seconds: Sequence[Second], length: int, holds: Callable[[Second], bool]) -> Second | None:
    """The first of `length` neighbours that all hold; at the end of the load fewer would do no more than guess."""
    run = 0
    for index, second in enumerate(seconds):
        run = run + 1 if holds(second) else 0
        if run == length:
            return seconds[index - length + 1]
    return None


def seconds_of(fork: Fork) -> tuple[Second, ...]:
    """What the driver saw of the ramp; empty where the fork has no valid window of one."""
    for window in fork.served.valid_windows:
        load = window.load.load
        if isinstance(load, RampLoad):
            return tuple(_seconds(load, window.load.intervals))
    return ()


def _seconds(load: RampLoad, intervals: Sequence[Interval]) -> Iterator[Second]:
    previous_s = 0.0
    for interval in intervals:
        length_s = interval.t_s - previous_s
        previous_s = interval.t_s
        if length_s > 0:
            yield Second(
                t_s=interval.t_s,
                rate_rps=load.rate_at(interval.t_s),
                completed_rps=interval.completed / length_s,
                errors=interval.errors,
                p99_us=interval.p99_us,
            )


@dataclass(frozen=True)
class Steady:
    """What a fork did in the second half of the level stretch that its ramp ends with, or what of it was left when no
    backlog was worked off any more: before, something was still growing, or more was answered than was asked for.
    `cpu_us_per_request` is None where nothing was answered or the samples do not reach so far."""

    throughput_rps: float
    cpu_us_per_request: float | None


def steady_part(fork: Fork) -> Steady | None:
    """None where the ramp does not end level, or the fork has no valid window of it."""
    for window in fork.served.valid_windows:
        load = window.load.load
        if isinstance(load, RampLoad) and load.ends_level:
            (level_s, _), (end_s, _) = load.points[-2:]
            caught_up_s = backlog_until_s(seconds_of(fork)) or 0.0
            return _steady(fork.served.samples, window, max((level_s + end_s) / 2, caught_up_s), end_s)
    return None


def _steady(samples: Sequence[Sample], window: Window, from_s: float, to_s: float) -> Steady | None:
    ends_s = [interval.t_s for interval in window.load.intervals]
    inside = [i for i, end in enumerate(ends_s) if from_s <= (ends_s[i - 1] if i else 0.0) and end <= to_s]
    if len(inside) < STEADY_SECONDS:
        return None
    start_s, stop_s = (ends_s[inside[0] - 1] if inside[0] else 0.0), ends_s[inside[-1]]
    completed = sum(window.load.intervals[i].completed for i in inside)
    before, after = (_cpu_s_at(samples, window.t_s + t_s) for t_s in (start_s, stop_s))
    used_s = None if before is None or after is None else after - before
    return Steady(
        throughput_rps=completed / (stop_s - start_s),
        cpu_us_per_request=used_s * 1e6 / completed if used_s is not None and completed else None,
    )


def _cpu_s_at(samples: Sequence[Sample], t_s: float) -> float | None:
    """CPU time since the start of the process, between samples in proportion; None beyond them."""
    for before, after in pairwise(samples):
        if before.t_s <= t_s <= after.t_s and after.t_s > before.t_s:
            share = (t_s - before.t_s) / (after.t_s - before.t_s)
            return before.cpu_s + share * (after.cpu_s - before.cpu_s)
    return None
