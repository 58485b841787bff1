"""Constant rates one after another, each higher than the one before, until the server is saturated."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from itertools import pairwise, takewhile
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.domain.loads import RATE_RPS_MAX, CellLoad, Load, RateLoad
from jdkmatrix.domain.quantities import digits, plural, rate_words
from jdkmatrix.loads.base import Ask, ForkFigure, Lengths, Question, Steps, is_missed, offered_rps
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.stats.capacity import INVALID_IN_A_ROW_MAX


class StepsLoad(CellLoad):
    """Constant rates one after another, each for one window of `step_s`; the warm-up ends at `warmup_rps`.

    The series ends after `missed_max` steps in a row in which fewer requests were answered than were due: the server
    is saturated, and its throughput then is what it can do. A step that a gate rejected counts neither way; three of
    them in a row also end the series. The written rates are followed by up to `further_max` more, each `further_factor`
    times the one before, as whole requests per second.
    """

    kind: Literal["steps"] = "steps"
    rates_rps: Annotated[tuple[Annotated[float, Field(gt=0, le=RATE_RPS_MAX)], ...], Field(min_length=2)]
    step_s: Annotated[float, Field(gt=0, le=86_400)]
    warmup_rps: Annotated[float, Field(gt=0, le=RATE_RPS_MAX)]
    missed_max: Annotated[int, Field(ge=1)] = 2
    further_factor: Annotated[float, Field(gt=1, le=10)] = 1.2
    further_max: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def _rises(self) -> Self:
        for before, after in pairwise(self.rates_rps):
            if after <= before:
                raise ValueError(f"after {before:g} requests/s come {after:g}: rates must rise")
        if (most_rps := self.every_rate_rps[-1]) > RATE_RPS_MAX:
            raise ValueError(f"the last further rate is {most_rps:,.0f} requests/s: {RATE_RPS_MAX:,} at most")
        return self

    @property
    def every_rate_rps(self) -> tuple[float, ...]:
        """The rates that are written, and those that follow."""
        rates_rps = list(self.rates_rps)
        for _ in range(self.further_max):
            rates_rps.append(float(max(math.floor(rates_rps[-1]) + 1, round(rates_rps[-1] * self.further_factor))))
        return tuple(rates_rps)

    def carried(self, wait_us: int) -> Self:
        """Leave out the rates for which there are too few connections if each request waits so long, but keep two. At
        such a rate every server would seem saturated."""
        most_rps = self.connections * 1e6 / wait_us if wait_us else math.inf
        fitting = sum(rate_rps <= most_rps for rate_rps in self.every_rate_rps)
        written = max(2, min(fitting, len(self.rates_rps)))
        further = min(self.further_max, max(0, fitting - written))
        return self.model_copy(update={"rates_rps": self.rates_rps[:written], "further_max": further})

    @property
    def in_windows(self) -> RateLoad:
        return RateLoad(rate_rps=self.warmup_rps, connections=self.connections)


class RisingSteps(Steps[StepsLoad]):
    question = Question("kept up with the highest rate", "Kept up", is_sought=True)
    metrics = ("saturated", "lowest-cpu")
    ratio_of = "of the highest req/s in rising steps"
    overloads = True
    over = "offered load"
    axis = "offered requests per second"
    curve = (
        "On the dashed line, all requests due were answered; where a curve leaves it, the server is "
        "saturated. The dot is the most that a fork reached; one that kept up with the highest rate, or answered "
        "more in a step that a gate refused, can do at least that (≥)."
    )

    def size(self, window: Window) -> float:
        return offered_rps(window) or 0.0

    def up_to(self, size: float) -> str:
        return f"offered up to {digits(size, 4)} requests/s"

    def driver_loads(self, window_s: float) -> Iterator[tuple[Load, float]]:
        for rate_rps in self.load.every_rate_rps:
            yield RateLoad(rate_rps=rate_rps, connections=self.load.connections), self.load.step_s

    def asks(self, lengths: Lengths) -> Generator[Ask, Window, None]:
        missed_in_a_row = invalid_in_a_row = 0
        for index, rate_rps in enumerate(self.load.every_rate_rps, start=1):
            rate = RateLoad(rate_rps=rate_rps, connections=self.load.connections)
            title = f"step {index}, {rate_rps:,.0f} req/s"
            window = yield Ask(rate, self.load.step_s, f"step-{index}", title)
            invalid_in_a_row = 0 if window.valid else invalid_in_a_row + 1
            if window.valid:  # an invalid one says nothing about the server
                missed_in_a_row = missed_in_a_row + 1 if is_missed(window) else 0
            if missed_in_a_row >= self.load.missed_max or invalid_in_a_row >= INVALID_IN_A_ROW_MAX:
                return

    def expected_s(self, lengths: Lengths) -> float:
        return self.load.step_s * len(self.load.rates_rps)

    def ahead_s(self, lengths: Lengths) -> float:
        return self.load.step_s

    def length_words(self, lengths: Lengths) -> str:
        steps, further = f"up to {len(self.load.rates_rps)} steps of {self.load.step_s:g} s", self.load.further_max
        return f"{steps}, and up to {further} more until the server is saturated" if further else steps

    def answer(self, fork: Fork) -> bool | None:
        kept_up = not self._was_saturated(fork)
        return None if kept_up and not fork.windows[-1].valid else kept_up

    def _was_saturated(self, fork: Fork) -> bool:
        """Return whether the last steps that count were missed: as many as end the load, or the very last step. One
        that was missed before steps that gates refused may have been missed by chance."""
        missed = len(tuple(takewhile(is_missed, reversed(fork.valid_windows))))
        return missed >= self.load.missed_max or (missed > 0 and fork.windows[-1].valid)

    def throughput_rps(self, fork: Fork) -> ForkFigure:
        return self.most_rps(fork, saturated=self._was_saturated(fork))

    def cpu_us_per_request(self, fork: Fork) -> ForkFigure | None:
        """Return the cost at the lowest rate: the number of steps differs from executor to executor."""
        lowest_rps = self.load.rates_rps[0]
        lowest = next((window for window in fork.valid_windows if offered_rps(window) == lowest_rps), None)
        if lowest is None or not lowest.load.succeeded:
            return None
        return ForkFigure(lowest.cpu_us_per_answer, comparable=not lowest.shortfalls)

    def fork_words(self, fork: Fork) -> str:
        most, cost = self.throughput_rps(fork), self.cpu_us_per_request(fork)
        lowest = f"at {rate_words(self.load.rates_rps[0])} req/s"
        spent = f"{cost.value:.1f} µs CPU/request {lowest}" if cost else f"no CPU/request: no step {lowest} counts"
        return f"{self.most_words(most)}, {spent}"

    def words(self) -> str:
        load = self.load
        rates = f"{rate_words(load.rates_rps[0])} to {rate_words(load.rates_rps[-1])}"
        further = f", then each {load.further_factor:g} times the one before," if load.further_max else ""
        return (
            f"open loop: constant rates one after another, {rates} requests/s over "
            f"{plural(load.connections, 'connection')}{further} for {load.step_s:g} s each, until the server is "
            "saturated"
        )

    @property
    def cpu_scope(self) -> str:
        return f"At the lowest rate, {rate_words(self.load.rates_rps[0])} requests/s."

    @property
    def cpu_label(self) -> str:
        return f"at {rate_words(self.load.rates_rps[0])}/s"


LOADS = {StepsLoad: RisingSteps}
