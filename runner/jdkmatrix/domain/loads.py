"""Loads for drivers and for programs without a server. Kinds of load are built from these (loads/kinds)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.domain.record import Record

CONNECTIONS_MAX = 1_000_000
RATE_RPS_MAX = 10_000_000


class GivenLoad(Record):
    """A table [loads.NAME]: the load of a cell, or the rule from which it follows."""

    model_config = ConfigDict(allow_inf_nan=False)

    kind: str

    def carried(self, wait_us: int) -> Self:
        """Return what of it its connections can carry if each request waits so long: all, if it has no parts."""
        return self


class CellLoad(GivenLoad, ABC):
    """The load of a cell with a server."""

    connections: Annotated[int, Field(ge=1, le=CONNECTIONS_MAX)]

    @property
    @abstractmethod
    def in_windows(self) -> SaturateLoad | RateLoad:
        """The load of the warm-up, and of the windows if the load has none of its own."""


class DriverLoad(Record):
    """A load that a driver can make."""

    is_closed_loop: ClassVar[bool] = False


class SaturateLoad(DriverLoad, CellLoad):
    """Closed loop: every connection sends its next request as soon as it has the answer."""

    is_closed_loop: ClassVar[bool] = True

    kind: Literal["saturate"] = "saturate"

    @property
    def in_windows(self) -> SaturateLoad:
        return self


class RateLoad(DriverLoad, CellLoad):
    """Open loop: `rate_rps` requests per second over all connections, on a fixed schedule."""

    kind: Literal["rate"] = "rate"
    rate_rps: Annotated[float, Field(gt=0, le=RATE_RPS_MAX)]

    @property
    def in_windows(self) -> RateLoad:
        return self


class RampLoad(DriverLoad):
    """Open loop: a rate that is linear between points (seconds, requests per second over all connections).

    Two points at the same time are a jump. The k-th request, from 0 on, is due when the integral of the rate is about
    to exceed k; none is due while the rate is 0. The ramp lasts until its last point.
    """

    kind: Literal["ramp"] = "ramp"
    points: Annotated[
        tuple[
            tuple[
                Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)],
                Annotated[float, Field(ge=0, le=RATE_RPS_MAX, allow_inf_nan=False)],
            ],
            ...,
        ],
        Field(min_length=2, max_length=10_000),
    ]
    connections: Annotated[int, Field(ge=1, le=CONNECTIONS_MAX)]

    @model_validator(mode="after")
    def _is_a_ramp(self) -> Self:
        times = [t_s for t_s, _ in self.points]
        if times[0] != 0:
            raise ValueError(f"the first point must be at 0 s, not at {times[0]:g} s")
        for before, after in pairwise(times):
            if after < before:
                raise ValueError(f"after {before:g} s comes {after:g} s: times must rise")
        for first, third in zip(times, times[2:], strict=False):
            if third == first:
                raise ValueError(f"three points at {first:g} s: a jump has two")
        if not any(t0 < t1 and rate0 + rate1 > 0 for (t0, rate0), (t1, rate1) in pairwise(self.points)):
            raise ValueError("the rate is never above 0 for any length of time")
        return self

    @property
    def ends_level(self) -> bool:
        """True if it ends with a rate that is held for a while."""
        (before_s, before_rps), (end_s, end_rps) = self.points[-2:]
        return before_s < end_s and before_rps == end_rps

    @property
    def duration_s(self) -> float:
        return self.points[-1][0]

    def rate_at(self, t_s: float) -> float:
        """Return the requests per second at a time: 0 before and after the ramp, at a jump the rate after it."""
        after = bisect_right(self.points, t_s, key=lambda point: point[0])
        if after == 0 or t_s > self.duration_s:
            return 0.0
        t0_s, rate0_rps = self.points[after - 1]
        if after == len(self.points):
            return rate0_rps
        t1_s, rate1_rps = self.points[after]
        return rate0_rps + (rate1_rps - rate0_rps) * (t_s - t0_s) / (t1_s - t0_s)

    def due_until(self, t_s: float) -> Fraction:
        """Return the integral of the rate from the start to `t_s`, in requests; exact for decimals as written.

        Rounded up, it is the number of requests that are due before `t_s`.
        """
        t = _decimal(t_s)
        for t0, length, rate0, rise, due in reversed(_stretches(self.points)):
            if t0 < t:
                x = min(t - t0, length)
                return due + (rate0 + rise * x) * x
        return Fraction(0)


@lru_cache(maxsize=64)
def _stretches(points: tuple[tuple[float, float], ...]) -> tuple[tuple[Fraction, ...], ...]:
    """Return a tuple for each stretch between two points: its start and length in s, the rate at its start, half of its
    rise per second, and the requests due before it."""
    found, due = [], Fraction(0)
    for before, after in pairwise(points):
        (t0, rate0), (t1, rate1) = map(_decimal, before), map(_decimal, after)
        if t0 < t1:
            found.append((t0, t1 - t0, rate0, (rate1 - rate0) / (t1 - t0) / 2, due))
            due += (rate0 + rate1) / 2 * (t1 - t0)
    return tuple(found)


class JoinLoad(DriverLoad):
    """Closed loop whose connections join one after another: the k-th, from 0 on, sends its first request once k /
    connections of `join_s` have passed (JMeter's ramp-up period)."""

    is_closed_loop: ClassVar[bool] = True

    kind: Literal["join"] = "join"
    connections: Annotated[int, Field(ge=1, le=CONNECTIONS_MAX)]
    join_s: Annotated[float, Field(gt=0, le=86_400)]

    def joined_at(self, t_s: float) -> int:
        """Return how many connections have begun by then."""
        return min(self.connections, math.floor(t_s * self.connections / self.join_s) + 1)


def _decimal(number: float) -> Fraction:
    """Return the number exactly as written: 0.1 is a tenth."""
    return Fraction(repr(number))


Load = Annotated[SaturateLoad | RateLoad | RampLoad | JoinLoad, Field(discriminator="kind")]  # what a driver runs


class LoadOverTime(CellLoad):
    """A load whose figures are read second by second. `ramp`: as a driver runs it; `warmup_rps`: the rate at which the
    warm-up ends."""

    warmup_rps: Annotated[float, Field(gt=0, le=RATE_RPS_MAX)]

    @property
    @abstractmethod
    def duration_s(self) -> float: ...

    @property
    @abstractmethod
    def ramp(self) -> RampLoad | JoinLoad: ...

    @property
    def in_windows(self) -> RateLoad:
        return RateLoad(rate_rps=self.warmup_rps, connections=self.connections)


class TaskLoad(GivenLoad, ABC):
    """The load of an experiment without a server."""

    def words(self) -> str:
        return self.short_words()

    @abstractmethod
    def short_words(self) -> str: ...


class InFlightLoad(TaskLoad):
    """Closed loop: `tasks` are in flight; each one that ends is followed by the next."""

    kind: Literal["in-flight"] = "in-flight"
    tasks: Annotated[int, Field(ge=1, le=1_000_000)]

    def words(self) -> str:
        return f"closed loop: {plural(self.tasks, 'task')} in flight, each followed by the next as it ends"

    def short_words(self) -> str:
        return f"{self.tasks:,} in flight"


class TaskRateLoad(TaskLoad):
    """Open loop: `rate_per_s` tasks per second, on a fixed schedule."""

    kind: Literal["task-rate"] = "task-rate"
    rate_per_s: Annotated[float, Field(gt=0, le=RATE_RPS_MAX)]

    def words(self) -> str:
        return f"open loop: {digits(self.rate_per_s, 4)} tasks per second on a fixed schedule"

    def short_words(self) -> str:
        return f"{digits(self.rate_per_s, 4)} per second"


class CountLoad(TaskLoad):
    """`count` threads or requests, all at once."""

    kind: Literal["count"] = "count"
    count: Annotated[int, Field(ge=1, le=10_000_000)]

    def short_words(self) -> str:
        return f"{self.count:,} at once"
