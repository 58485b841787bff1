"""Blocking HTTP requests, all at once, to the remote system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import size_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import amount, measure
from jdkmatrix.domain.tables import RemoteAnswers
from jdkmatrix.experiments.base import (
    ChartFigure,
    CompleteCell,
    Experiment,
    Given,
    Group,
    Page,
    Sentences,
    cannot_have,
    with_reading,
    with_size,
)
from jdkmatrix.experiments.result import (
    Distribution,
    Expected,
    ExperimentResult,
    FactRow,
    Reading,
    Seen,
    known,
    percentile_ms,
)

_WALL = "until all were answered"


class FanoutSeen(Seen):
    wall_s: float
    ideal_s: float
    overhead_s: float
    ok: int
    failed: int
    errors: dict[str, int]
    latency: Distribution | None
    since_start: Distribution | None
    in_flight_most: int
    open_files_before: int
    open_files_peak: int
    open_files_peak_is_lower_bound: bool
    open_files_soft_limit: int | None
    open_files_hard_limit: int | None
    native_threads_peak: int

    def readings(self, expected: Expected) -> Iterator[Reading]:
        yield Reading(_WALL, "s", self.wall_s, self.ideal_s)
        yield Reading("failed", "", float(self.failed), 0.0)
        yield from known("p99 of a request", "ms", percentile_ms(self.latency, "99"))
        yield Reading("in flight at once", "", float(self.in_flight_most))
        yield Reading("open files at once", "", float(self.open_files_peak))
        yield Reading("threads of the kernel", "", float(self.native_threads_peak))

    def counts(self) -> Iterator[FactRow]:
        errors = ", ".join(f"{name} {number:,}" for name, number in sorted(self.errors.items()))
        yield FactRow("Requests", f"{self.ok:,} answered, {self.failed:,} failed{f' ({errors})' if errors else ''}")
        yield FactRow("Beyond the ideal", measure(self.overhead_s, "s"))
        least = "at least " if self.open_files_peak_is_lower_bound else ""
        soft, hard = (
            "none" if one is None else f"{one:,}" for one in (self.open_files_soft_limit, self.open_files_hard_limit)
        )
        yield FactRow(
            "Open files",
            f"{self.open_files_before:,} before, {least}{self.open_files_peak:,} at once; limits: soft {soft}, "
            f"hard {hard}",
        )
        yield FactRow("Threads of the kernel", f"{self.native_threads_peak:,} at once")

    def distributions(self) -> Iterator[tuple[str, Distribution | None]]:
        yield "Request", self.latency
        yield "Answered after the first request", self.since_start


class FanoutResult(ExperimentResult):
    experiment: Literal["fanout"]
    seen: FanoutSeen | None


class Fanout(Experiment):
    """Blocking HTTP requests, all at once, to the remote system. `warmup_requests`: so many in the same way before, not
    measured; 0: as in a program that has just started. `timeout_s`: of each, to connect and to read."""

    ARMS: ClassVar = ("virtual", "platform", "fixed-N", "virtual-bounded-N", "structured")
    LOADS: ClassVar = (CountLoad,)
    RESULT: ClassVar = FanoutResult
    TIMED: ClassVar = False
    PAGE: ClassVar = Page(
        title="Fan-out",
        introduction=(
            "Blocking HTTP requests are sent all at once to an endpoint that answers each after a delay, the same"
            " for all or spread. How long does it take until all are answered, and which limit ends it?"
        ),
        glossary=(
            "requests: how many are sent; at_once: how many may be under way at a time; delay_ms: how long the "
            "endpoint takes to answer, in ms, on average where delays are spread; ceil: rounded up."
        ),
        apart=("cpus",),
        groups=(
            Group(
                "wall",
                "Until all were answered",
                "From the first request to the last answer or error, in seconds.",
                (ChartFigure("until all were answered", "All answered", "seconds until all were answered"),),
            ),
        ),
        alone={"failed": "failed requests"},
    )

    experiment: Literal["fanout"]
    remote: RemoteAnswers
    warmup_requests: Annotated[int, Field(ge=0, le=1_000_000)]
    timeout_s: Annotated[float, Field(gt=0, le=3600)]

    @property
    def calls(self) -> RemoteAnswers:
        return self.remote

    def problems(self) -> Iterator[str]:
        yield from self.remote.problems()

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        if not isinstance(load, CountLoad) or given.url is None:
            raise cannot_have(self, cell, load)
        return (
            *("fanout", "--url", f"{given.url}?{self.remote.query(cell.wait_us)}", "--requests", str(load.count)),
            *("--delay-ms", f"{cell.wait_us / 1000:g}", "--how", with_size(cell.executor)),
            *(("--delay-is-mean",) if self.remote.spread != "fixed" else ()),
            *("--warmup-requests", str(self.warmup_requests), "--timeout-s", f"{self.timeout_s:g}"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        at_once = size_of(cell.executor)
        rounds = math.ceil(load.count / at_once) if at_once and isinstance(load, CountLoad) else 1
        return rounds * cell.wait_us / 1e6

    def longest_s(self, measured_s: float) -> float:
        return 5 * self.timeout_s

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for cell, spread in with_reading(cells, _WALL):
            expected = "" if spread.expected is None else f", where {measure(spread.expected, 's')} is ideal"
            least_most = f" ({amount(spread.least, 's')}–{amount(spread.most, 's')})" if spread.forks > 1 else ""
            yield cell.place, f"all answered after {measure(spread.median, spread.unit)}{least_most}{expected}."
