"""Tasks that only compute, handed to an executor of the JDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.domain.quantities import digits, measure, per_cent, plural, range_words
from jdkmatrix.domain.record import Record
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
    Spread,
    known,
    percentile_ms,
)

_PER_CPU = ("fjp-fifo", "fjp-lifo", "work-stealing")  # pools with a thread per CPU
_PUBLISHED_PARK_US = 10_000.0  # infoq-carrier-park
_THROUGHPUT, _CPU, _PARKED = "throughput", "CPU used", "parked while tasks were queued"
_MEDIAN, _LONGEST = "median of them", "longest of them"
_LONG = "of 10 ms and more"


class AtLeast(Record):
    at_least_us: float
    count: int
    total_s: float


class LongestPark(Record):
    duration_us: float
    since_start_s: float
    tasks_queued: int
    thread_id: int


class ParkedWhileQueued(Record):
    """Stretches in which a thread of the executor was parked while a task was submitted and not started.

    `total_s` is summed over threads; `idle_worker_s` counts no more threads than tasks were queued; `idle_share` is the
    latter as a share of all workers' time, None where
    their number is not fixed."""

    count: int
    total_s: float
    stretch: Distribution | None
    at_least: tuple[AtLeast, ...]
    longest: LongestPark | None
    idle_worker_s: float
    idle_share: float | None


class ParkClock(Record):
    """How exactly JDK Flight Recorder's times are set against System.nanoTime."""

    anchors: int
    bracket_us: float
    residual_us: float


class ParkReport(Record):
    """`probe`: whether JDK Flight Recorder looked; `reason`: why it could not. A park lasts until its thread runs.
    `lost_bytes` above 0: parks are missing."""

    probe: Literal["on", "off", "unavailable"]
    reason: str | None
    workers_parked: int | None = None
    parked_s: float | None = None
    park: Distribution | None = None
    parked_while_queued: ParkedWhileQueued | None = None
    parks_by_blocker: dict[str, int] | None = None
    clock: ParkClock | None = None
    lost_bytes: int | None = None

    def told(self) -> Iterator[FactRow]:
        if self.probe != "on":
            yield FactRow("JDK Flight Recorder", "not asked to look" if self.probe == "off" else f"{self.reason}")
            return
        if self.workers_parked is not None and self.parked_s is not None:
            workers = plural(self.workers_parked, "worker")
            yield FactRow("Parked", f"{workers}, together for {digits(self.parked_s, 3)} s")
        if self.parked_while_queued is not None:
            yield from _told_queued(self.parked_while_queued)
        if self.parks_by_blocker:
            blockers = sorted(self.parks_by_blocker.items(), key=lambda item: -item[1])
            yield FactRow("What they were parked on", "; ".join(f"{name} {number:,}" for name, number in blockers))
        if self.clock:
            yield FactRow("Times set against each other to", f"{digits(self.clock.residual_us, 2)} µs")
        if self.lost_bytes:
            yield FactRow("Lost", f"{self.lost_bytes:,} bytes of events: parks are missing")


def _told_queued(found: ParkedWhileQueued) -> Iterator[FactRow]:
    idle = "" if found.idle_share is None else f", {per_cent(found.idle_share)} of all workers’ time"
    yield FactRow(
        "Parked while tasks were queued",
        f"{found.count:,} stretches, {digits(found.total_s, 3)} s over all workers; no more workers counted than "
        f"tasks were queued: {digits(found.idle_worker_s, 3)} s{idle}",
    )
    for one in found.at_least:
        yield FactRow(
            f"Of {digits(one.at_least_us / 1000, 3)} ms and more", f"{one.count:,}, {digits(one.total_s, 3)} s"
        )
    if found.longest:
        longest = found.longest
        yield FactRow(
            "The longest",
            f"{digits(longest.duration_us / 1000, 3)} ms, from {digits(longest.since_start_s, 3)} s on, with "
            f"{plural(longest.tasks_queued, 'task')} queued; thread {longest.thread_id}",
        )


class BurnSeen(Seen):
    rounds_per_task: int
    rounds_per_us: float
    calibration_spread: float | None
    burn_us: float
    duration_s: float
    warmup_unfinished: int
    due: int
    submitted: int
    completed: int
    completed_late: int
    unfinished: int
    throughput_per_s: float
    cpu_s: float
    cpus: int
    cpu_share: float
    latency_to_start: Distribution | None
    latency_to_end: Distribution | None
    lower_bounds: int
    submitter_lateness: Distribution | None
    tasks_queued_max: int
    tasks_queued_mean: float
    workers: int | None
    parks: ParkReport

    def readings(self, expected: Expected) -> Iterator[Reading]:
        yield Reading(_THROUGHPUT, "1/s", self.throughput_per_s, expected.of("throughput_per_s"))
        yield Reading(_CPU, "%", self.cpu_share * 100)
        yield from known("p50", "ms", percentile_ms(self.latency_to_end, "50"))
        yield from known("p99", "ms", percentile_ms(self.latency_to_end, "99"))
        parked = self.parks.parked_while_queued
        if parked is not None:
            yield from known(_PARKED, "%", None if parked.idle_share is None else parked.idle_share * 100)
            yield from known(_MEDIAN, "ms", percentile_ms(parked.stretch, "50"))
            yield Reading(_LONGEST, "ms", parked.longest.duration_us / 1000 if parked.longest else 0.0)
            long = [float(stretch.count) for stretch in parked.at_least if stretch.at_least_us == _PUBLISHED_PARK_US]
            yield from known(_LONG, "", next(iter(long), None))

    def counts(self) -> Iterator[FactRow]:
        late = f", {self.completed_late:,} after the end" if self.completed_late else ""
        yield FactRow(
            "Tasks",
            f"{self.due:,} due, {self.submitted:,} submitted, {self.completed:,} done{late}, {self.unfinished:,} never",
        )
        if self.warmup_unfinished:
            yield FactRow("Left over from the warm-up", plural(self.warmup_unfinished, "task"))
        yield FactRow("Queued", f"{self.tasks_queued_max:,} at most, {digits(self.tasks_queued_mean, 3)} on average")
        work = f"{self.rounds_per_task:,} rounds, {digits(self.burn_us, 3)} µs on a CPU of its own"
        yield FactRow("Work of a task", work)
        yield FactRow(
            "CPU", f"{digits(self.cpu_s, 3)} s in {digits(self.duration_s, 3)} s on {plural(self.cpus, 'CPU')}"
        )
        yield FactRow("Workers", f"{self.workers:,}" if self.workers is not None else "as many as it takes")
        if self.lower_bounds:
            yield FactRow("Lower bounds", f"{self.lower_bounds:,} latencies of tasks that were never done")

    def distributions(self) -> Iterator[tuple[str, Distribution | None]]:
        yield "From when it was due to its start", self.latency_to_start
        yield "From when it was due to its end", self.latency_to_end
        yield "Submitted late by", self.submitter_lateness
        yield "Parks of workers", self.parks.park
        parked = self.parks.parked_while_queued
        yield "Parked while tasks were queued", parked.stretch if parked else None

    def sections(self) -> Iterator[tuple[str, tuple[FactRow, ...]]]:
        yield "Parks of workers", tuple(self.parks.told())


class BurnResult(ExperimentResult):
    experiment: Literal["burn"]
    seen: BurnSeen | None


class Burn(Experiment):
    """Tasks of a fixed amount of work (axis `burn_us`), submitted to an executor. `parks`: JDK Flight Recorder looks at
    how long threads are parked while tasks are queued. `drain_s`: how long what is unfinished is waited for."""

    ARMS: ClassVar = ("virtual", "platform", "cached", "fixed-N", *_PER_CPU)
    LOADS: ClassVar = (InFlightLoad, TaskRateLoad)
    RESULT: ClassVar = BurnResult
    TIMED: ClassVar = True
    PAGE: ClassVar = Page(
        title="Burn",
        introduction=(
            "Tasks that only compute, each the same fixed amount of work, are handed to an executor of the JDK. "
            "There is no server, no network and no lock between them: whatever keeps CPUs idle here is the "
            "executor or the kernel."
        ),
        glossary=(
            "rate_rps: tasks that are due per second; cpus: CPUs that the program may use; workers: threads of "
            "the executor; in_flight: tasks at a time; burn_us: how long one computes on a CPU of its own, in µs."
        ),
        apart=("load", "cpus", "burn_us"),
        groups=(
            Group(
                "throughput",
                "Throughput",
                "Tasks per second that were done. The bound is work conservation: no CPU is idle while a task waits.",
                (ChartFigure("throughput", "Throughput", "throughput in tasks per second"),),
            ),
            Group(
                "cpu",
                "CPU used",
                "Of the CPUs that the program may use, in per cent; 100 means that none was idle.",
                (ChartFigure("CPU used", "CPU used", "CPU used in %"),),
            ),
            Group(
                "parks",
                "Parked while tasks were queued",
                "A worker that is parked while a task waits could have run it, if there is a CPU for it: a park lasts "
                "until its thread runs again, so that with more workers than CPUs (fixed-50, cached) those that were "
                "woken and wait for a CPU count too, and nothing is lost. Longest stretch: of one worker "
                "(infoq-carrier-park is the published result). Share of time: all of them, of all workers’ time; "
                "only of pools that have a fixed number of them.",
                (
                    ChartFigure(
                        "longest of them", "Longest stretch", "longest stretch in ms, logarithmic from 0.1 on", 0.1
                    ),
                    ChartFigure("parked while tasks were queued", "Share of time", "share of workers’ time in %"),
                ),
            ),
        ),
        alone={
            _MEDIAN: "median stretch parked while tasks were queued",
            _LONGEST: "longest stretch parked while tasks were queued",
            _LONG: "such stretches of 10 ms and more",
        },
    )

    experiment: Literal["burn"]
    warmup_s: Annotated[float, Field(ge=0, le=3600)]
    drain_s: Annotated[float, Field(ge=0, le=3600)]
    parks: bool

    @property
    def works(self) -> bool:
        return True

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        match load:
            case InFlightLoad():
                pace = ("--in-flight", str(load.tasks))
            case TaskRateLoad():
                pace = ("--rate-rps", f"{load.rate_per_s:g}")
            case _:
                raise cannot_have(self, cell, load)
        base = base_of(cell.executor)
        return (
            *("burn", "--executor", f"{base}:{cell.cpus}" if base in _PER_CPU else with_size(base)),
            *("--burn-rounds", str(given.rounds), "--rounds-per-us", f"{given.rounds_per_us:.6g}"),
            *pace,
            *("--duration-s", f"{given.duration_s:g}", "--warmup-s", f"{self.warmup_s:g}"),
            *("--drain-s", f"{self.drain_s:g}", "--parks", "on" if self.parks else "off"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s

    def longest_s(self, measured_s: float) -> float:
        return self.warmup_s + measured_s + 2 * self.drain_s

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        shares = [
            (spread.median / spread.expected, cell, spread)
            for cell, spread in with_reading(cells, _THROUGHPUT)
            if spread.expected
        ]
        if shares:
            low, high = (pick(shares, key=lambda one: one[0]) for pick in (min, max))
            text = f"{low[0] * 100:.0f} % of what is expected with {_of_expected(low[1], low[2])}"
            if len(shares) > 1:
                text = f"from {text}, to {high[0] * 100:.0f} % with {_of_expected(high[1], high[2])}"
            yield "Throughput", f"{text}."
        used = with_reading(cells, _CPU)
        if used:
            yield "CPU used", f"{range_words([spread.median for _, spread in used], '%')} of the CPUs that it may use."
        longest = with_reading(cells, _LONGEST)
        if longest:
            cell, spread = max(longest, key=lambda one: one[1].most)
            stretch = f"a worker at most for {measure(spread.most, spread.unit)} at a stretch ({cell.place})"
            yield "Parked while tasks were queued", f"{stretch}{_parked_share(cells)}."


def _parked_share(cells: Sequence[CompleteCell]) -> str:
    shares = [spread.median for _, spread in with_reading(cells, _PARKED)]
    return f"; together {range_words(shares, '%')} of all workers’ time" if shares else ""


def _of_expected(cell: CompleteCell, spread: Spread) -> str:
    expected = "" if spread.expected is None else f" of {measure(spread.expected, spread.unit)}"
    return f"{cell.place} ({measure(spread.median, spread.unit)}{expected})"
