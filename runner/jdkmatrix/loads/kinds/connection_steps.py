"""A closed loop that gets more connections step by step, as JMeter's stepping thread groups do, to find the most that
the server answers, however many wait."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.domain.loads import CellLoad, Load, SaturateLoad
from jdkmatrix.domain.quantities import plural
from jdkmatrix.loads.base import Ask, ForkFigure, Lengths, Steps, best_window
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window

SATURATED_GAIN = 0.05  # a last step that gains less shows that there is no more to gain


class ConnectionStepsLoad(CellLoad):
    """Closed loops one after another, each for one window of `step_s`: with `first` connections, then each time with
    `more` of them than before, finally with `connections`."""

    kind: Literal["connection-steps"] = "connection-steps"
    first: Annotated[int, Field(ge=1)]
    more: Annotated[int, Field(ge=1)]
    step_s: Annotated[float, Field(gt=0, le=86_400)]

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.first >= self.connections:
            raise ValueError(f"first = {self.first} is not below connections = {self.connections}")
        return self

    @property
    def every_step(self) -> tuple[SaturateLoad, ...]:
        sizes = (*range(self.first, self.connections, self.more), self.connections)
        return tuple(SaturateLoad(connections=size) for size in sizes)

    @property
    def in_windows(self) -> SaturateLoad:
        return self.every_step[0]


class ConnectionSteps(Steps[ConnectionStepsLoad]):
    """Like any closed loop, it has service times, which executors are not compared by. Pools grow while measured."""

    metrics = ("saturated", "cpu")
    ratio_of = "of the highest req/s in steps of connections"
    grows_pool = True
    over = "connections"
    axis = "connections"
    curve = (
        "Where a curve stays level, more connections gain nothing: the server is saturated. The dot is the most that a "
        "fork reached; one that still gained in the last step, or answered more in a step that a gate refused, can do "
        "at least that (≥)."
    )

    def size(self, window: Window) -> float:
        return window.load.load.connections

    def up_to(self, size: float) -> str:
        return f"with up to {plural(round(size), 'connection')}"

    def driver_loads(self, window_s: float) -> Iterator[tuple[Load, float]]:
        yield from ((step, self.load.step_s) for step in self.load.every_step)

    def asks(self, lengths: Lengths) -> Generator[Ask, Window, None]:
        for index, step in enumerate(self.load.every_step, start=1):
            title = f"step {index}, {plural(step.connections, 'connection')}"
            yield Ask(step, self.load.step_s, f"step-{index}", title, may_lead=False)

    def expected_s(self, lengths: Lengths) -> float:
        return self.load.step_s * len(self.load.every_step)

    def ahead_s(self, lengths: Lengths) -> float:
        return self.load.step_s

    def length_words(self, lengths: Lengths) -> str:
        return f"{len(self.load.every_step)} steps of {self.load.step_s:g} s"

    def throughput_rps(self, fork: Fork) -> ForkFigure:
        """Where the last step still gained, or does not count, the server was not seen saturated."""
        windows = fork.valid_windows
        before_rps = max((window.load.succeeded_rps for window in windows[:-1]), default=0.0)
        gained = windows[-1].load.succeeded_rps > (1 + SATURATED_GAIN) * before_rps
        return self.most_rps(fork, saturated=not gained and fork.windows[-1].valid)

    def cpu_us_per_request(self, fork: Fork) -> ForkFigure:
        return ForkFigure(best_window(fork).cpu_us_per_answer)

    def fork_words(self, fork: Fork) -> str:
        most, cost = self.throughput_rps(fork), self.cpu_us_per_request(fork)
        return f"{self.most_words(most)}, {cost.value:.1f} µs CPU/request there"

    def words(self) -> str:
        sizes = [step.connections for step in self.load.every_step]
        return (
            f"closed loop: {sizes[0]:,} to {plural(sizes[-1], 'connection')} in {len(sizes)} steps of "
            f"{self.load.step_s:g} s, each sending its next request as soon as it has the answer"
        )


LOADS = {ConnectionStepsLoad: ConnectionSteps}
