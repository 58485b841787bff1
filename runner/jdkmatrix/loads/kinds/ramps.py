"""Loads that rise while they are measured: how long until the peak, or up to which rate."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Annotated, TypeVar

from pydantic import Field

from jdkmatrix.domain.loads import JoinLoad, Load, LoadOverTime, RampLoad
from jdkmatrix.domain.quantities import plural, rate_words
from jdkmatrix.loads.base import Ask, ForkFigure, Lengths, LoadKind, Question
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.ramps import KNEE_SECONDS, knee, peak_of, seconds_of, steady_part

_BEGINNING_S = 10.0

R = TypeVar("R", bound=LoadOverTime)


class RampedLoad(RampLoad, LoadOverTime):
    """A ramp, with the rate at which the server is warmed up for it."""

    @property
    def ramp(self) -> RampLoad:
        return RampLoad(points=self.points, connections=self.connections)


class JoinedLoad(JoinLoad, LoadOverTime):
    """Connections that join one after another; when all have joined, they go on for `held_s`."""

    held_s: Annotated[float, Field(gt=0, le=86_400)]

    @property
    def duration_s(self) -> float:
        return self.join_s + self.held_s

    @property
    def ramp(self) -> JoinLoad:
        return JoinLoad(connections=self.connections, join_s=self.join_s)


RisingLoad = RampedLoad | JoinedLoad


class _Rising(LoadKind[R]):
    overloads = True
    one_level = False
    grows_pool = True

    def driver_loads(self, window_s: float) -> Iterator[tuple[Load, float]]:
        yield self.load.ramp, self.load.duration_s

    def asks(self, lengths: Lengths) -> Generator[Ask, Window, None]:
        yield Ask(self.load.ramp, self.load.duration_s, "ramp", "ramp")

    def expected_s(self, lengths: Lengths) -> float:
        return self.load.duration_s

    def ahead_s(self, lengths: Lengths) -> float:
        """Return the length of its beginning."""
        return min(_BEGINNING_S, self.load.duration_s)

    def length_words(self, lengths: Lengths) -> str:
        return f"a ramp of {self.load.duration_s:g} s"


def _rate_words(load: RampedLoad) -> str:
    highest_rps = max(rate_rps for _, rate_rps in load.points)
    return (
        f"open loop: a rate that changes over {load.duration_s:g} s, at most {rate_words(highest_rps)} requests/s, "
        f"on a fixed schedule over {plural(load.connections, 'connection')}"
    )


class _ToLevel(_Rising[R]):
    """A load that ends at a level that is held for a while."""

    cost_is_sampled = True
    question = Question("reached the peak of the ramp", "Reached the peak")
    metrics = ("time-to-peak", "throughput", "cpu")
    ratio_of = "of the time to peak of a ramp"
    throughput_of = "Over the second half of the level stretch at the end, excluding requests from a backlog."

    def answer(self, fork: Fork) -> bool:
        return peak_of(fork) is not None

    def throughput_rps(self, fork: Fork) -> ForkFigure | None:
        steady = steady_part(fork)
        return ForkFigure(steady.throughput_rps) if steady else None

    def cpu_us_per_request(self, fork: Fork) -> ForkFigure | None:
        steady = steady_part(fork)
        if steady is None or steady.cpu_us_per_request is None:
            return None
        return ForkFigure(steady.cpu_us_per_request, comparable=self.answer(fork))

    def fork_words(self, fork: Fork) -> str:
        peak_s, level, cost = peak_of(fork), self.throughput_rps(fork), self.cpu_us_per_request(fork)
        told = [
            "peak not reached" if peak_s is None else f"peak after {peak_s:.3g} s",
            *([f"{rate_words(level.value)} req/s at the end"] if level else []),
            *([f"{cost.value:.1f} µs CPU/request"] if cost else []),
        ]
        return ", ".join(told)

    def cpu_share(self, fork: Fork) -> float | None:
        steady, cpus = steady_part(fork), fork.cpus_allowed
        if steady is None or steady.cpu_us_per_request is None or not cpus:
            return None
        return steady.throughput_rps * steady.cpu_us_per_request / 1e6 / cpus


class RampToLevel(_ToLevel[RampedLoad]):
    def throughput_rps(self, fork: Fork) -> ForkFigure | None:
        """Return no more than the load asks for: what else is answered is of a backlog too slow to show as one."""
        found = super().throughput_rps(fork)
        return ForkFigure(min(found.value, self.load.points[-1][1])) if found else None

    def words(self) -> str:
        return _rate_words(self.load)


class Joining(_ToLevel[JoinedLoad]):
    """A closed loop has no backlog: a connection without an answer sends nothing."""

    throughput_of = "Over the second half of the stretch in which all connections have joined."

    def words(self) -> str:
        return (
            f"closed loop: {plural(self.load.connections, 'connection')} that join within {self.load.join_s:g} s, each "
            f"sending its next request as soon as it has the answer; then held for {self.load.held_s:g} s"
        )


class RampToKnee(_Rising[RampedLoad]):
    """A ramp that rises until its end."""

    question = Question(
        *("reached the end of the ramp without a knee", "No knee"), is_sought=True, better="a knee is worse"
    )
    metrics = ("knee",)
    ratio_of = "of the rate at the knee of a ramp"
    throughput_of = "Over the whole ramp."

    def words(self) -> str:
        return _rate_words(self.load)

    def answer(self, fork: Fork) -> bool | None:
        seconds = seconds_of(fork)
        return knee(seconds) is None if len(seconds) >= KNEE_SECONDS else None


def ramp(load: RampedLoad) -> LoadKind[RampedLoad]:
    return RampToLevel(load) if load.ends_level else RampToKnee(load)


LOADS = {RampedLoad: ramp, JoinedLoad: Joining}
