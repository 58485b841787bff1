"""Tasks that only compute, handed to an executor of the JDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.domain.quantities import digits, measure, per_cent, plural, range_words
from jdkmatrix.experiments.base import (
    PER_CPU,
    ChartFigure,
    CompleteCell,
    Experiment,
    FactRow,
    Given,
    Measurand,
    Page,
    ReadingGroup,
    Seen,
    Sentences,
    Spread,
    at,
    cannot_have,
    executor_argument,
    with_reading,
)

_PUBLISHED_PARK_US = 10_000.0  # infoq-carrier-park
_IN_FLIGHT_MIN = 0.8  # of the tasks that were asked for
_THROUGHPUT, _CPU, _PARKED = "throughput", "CPU used", "parked while tasks were queued"
_MEDIAN, _LONGEST = "median of them", "longest of them"
_LONG = "of 10 ms and more"
_QUEUED = "parks.parked_while_queued"


def _idle_percent(seen: Seen) -> float | None:
    share = at(seen, f"{_QUEUED}.idle_share")
    return None if share is None else float(share) * 100


def _longest_ms(seen: Seen) -> float | None:
    """Return 0 if no thread was parked while a task was queued, None if nobody looked."""
    if at(seen, _QUEUED) is None:
        return None
    found = at(seen, f"{_QUEUED}.longest.duration_us")
    return 0.0 if found is None else float(found) / 1000


def _long_stretches(seen: Seen) -> float | None:
    """Return how many there were per second."""
    counted = at(seen, f"{_QUEUED}.at_least") or ()
    found = (one["count"] for one in counted if one["at_least_us"] == _PUBLISHED_PARK_US)
    return next((count / seen["duration_s"] for count in found), None)


def _in_flight(seen: Seen) -> float | None:
    """Return the average number of tasks in flight in a closed loop, by Little's law: tasks done per second times the
    time that one took. None at a constant rate."""
    if seen["submitter_lateness"] is not None or seen["latency_to_end"] is None:
        return None
    found: float = seen["throughput_per_s"] * seen["latency_to_end"]["mean_us"] / 1e6
    return found


def _told_parks(parks: Seen) -> Iterator[FactRow]:
    if parks["probe"] != "on":
        yield FactRow("JDK Flight Recorder", "not asked to record" if parks["probe"] == "off" else f"{parks['reason']}")
        return
    if parks.get("workers_parked") is not None and parks.get("parked_s") is not None:
        workers = plural(parks["workers_parked"], "worker")
        yield FactRow("Parked", f"{workers}, for {digits(parks['parked_s'], 3)} s in total")
    if parks.get("parked_while_queued") is not None:
        yield from _told_queued(parks["parked_while_queued"])
    if parks.get("parks_by_blocker"):
        blockers = sorted(parks["parks_by_blocker"].items(), key=lambda item: -item[1])
        yield FactRow("Parked on", "; ".join(f"{name} {number:,}" for name, number in blockers))
    if parks.get("clock"):
        yield FactRow("Clocks aligned to within", f"{digits(parks['clock']['residual_us'], 2)} µs")
    if parks.get("lost_bytes"):
        yield FactRow("Lost", f"{parks['lost_bytes']:,} bytes of events, so parks are missing")


def _told_queued(found: Seen) -> Iterator[FactRow]:
    """Yield stretches in which a thread of the executor was parked while a task was submitted but not started, summed
    over threads; `idle_worker_s` counts no more threads than tasks were queued, `idle_share` is that as a share of all
    workers' time, None if their number is not fixed."""
    idle = "" if found["idle_share"] is None else f", {per_cent(found['idle_share'])} of all workers’ time"
    yield FactRow(
        "Parked while tasks were queued",
        f"{found['count']:,} stretches, {digits(found['total_s'], 3)} s over all workers; at most one worker per "
        f"queued task: {digits(found['idle_worker_s'], 3)} s{idle}",
    )
    for one in found["at_least"]:
        yield FactRow(
            f"Of {digits(one['at_least_us'] / 1000, 3)} ms and more", f"{one['count']:,}, {digits(one['total_s'], 3)} s"
        )
    if longest := found["longest"]:
        yield FactRow(
            "The longest",
            f"{digits(longest['duration_us'] / 1000, 3)} ms, from {digits(longest['since_start_s'], 3)} s on, with "
            f"{plural(longest['tasks_queued'], 'task')} queued; thread {longest['thread_id']}",
        )


class Burn(Experiment):
    """Tasks of a fixed amount of work (axis `burn_us`), submitted to an executor. `parks`: JDK Flight Recorder records
    how long threads are parked while tasks are queued. `drain_s`: how long unfinished tasks are waited for."""

    ARMS: ClassVar = ("virtual", "platform", "cached", "fixed-N", *PER_CPU)
    LOADS: ClassVar = (InFlightLoad, TaskRateLoad)
    METRICS: ClassVar = (
        Measurand(_THROUGHPUT, "1/s", "throughput_per_s", more_is_better=True),
        Measurand(_CPU, "%", lambda seen: seen["cpu_share"] * 100, more_is_better=True),
        Measurand("p50", "ms", "latency_to_end.percentiles_us.50", per=1000),
        Measurand("p99", "ms", "latency_to_end.percentiles_us.99", per=1000),
        Measurand(_PARKED, "%", _idle_percent),
        Measurand(
            *(_MEDIAN, "ms", f"{_QUEUED}.stretch.percentiles_us.50"),
            per=1000,
            alone="median stretch parked while tasks were queued",
        ),
        Measurand(_LONGEST, "ms", _longest_ms, alone="longest stretch parked while tasks were queued"),
        Measurand(_LONG, "1/s", _long_stretches, alone="such stretches of 10 ms and more"),
    )
    DISTRIBUTIONS: ClassVar = {
        "From due time to start": "latency_to_start",
        "From due time to end": "latency_to_end",
        "Submitted late by": "submitter_lateness",
        "Parks of workers": "parks.park",
        "Parked while tasks were queued": f"{_QUEUED}.stretch",
    }
    TIMED: ClassVar = True
    PAGE: ClassVar = Page(
        title="Burn",
        introduction=(
            "Tasks that only compute, each the same fixed amount of work, are handed to an executor of the JDK. "
            "There is no server, no network and no lock between them: whatever keeps CPUs idle here is the "
            "executor, the kernel or, where fewer tasks are in flight than were asked for, the one thread that submits."
        ),
        glossary=(
            "rate_rps: tasks that are due per second; cpus: CPUs that the program may use; workers: threads of "
            "the executor; in_flight: tasks at a time; burn_us: how long one computes on a CPU of its own, in µs."
        ),
        apart=("load", "cpus", "burn_us"),
        groups=(
            ReadingGroup(
                "throughput",
                "Throughput",
                "Tasks done per second. The bound is work conservation: no CPU is idle while a task waits.",
                (ChartFigure("throughput", "Throughput", "throughput in tasks per second"),),
            ),
            ReadingGroup(
                "cpu",
                "CPU used",
                "How much of the CPUs that it may use the program used, in per cent; 100 means that none was idle.",
                (ChartFigure("CPU used", "CPU used", "CPU used in %"),),
            ),
            ReadingGroup(
                "parks",
                "Parked while tasks were queued",
                "A worker that is parked while a task waits could have run it, if there is a CPU for it. A park lasts "
                "until its thread runs again: with more workers than CPUs (fixed-50, cached), those that were woken "
                "and wait for a CPU count too, although nothing is lost. Longest stretch: that of one worker "
                "(infoq-carrier-park is the published result). Share of time: all stretches, as a share of all "
                "workers’ time; only for pools with a fixed number of workers.",
                (
                    ChartFigure(
                        "longest of them", "Longest stretch", "longest stretch in ms, logarithmic from 0.1 on", 0.1
                    ),
                    ChartFigure("parked while tasks were queued", "Share of time", "share of workers’ time in %"),
                ),
            ),
        ),
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
                pace = ("--rate-rps", f"{load.rate_per_s:.15g}")
            case _:
                raise cannot_have(self, cell, load)
        return (
            *("burn", "--executor", executor_argument(cell)),
            *("--burn-rounds", str(given.rounds), "--rounds-per-us", f"{given.rounds_per_us:.6g}"),
            *pace,
            *("--duration-s", f"{given.duration_s:g}", "--warmup-s", f"{self.warmup_s:g}"),
            *("--drain-s", f"{self.drain_s:g}", "--parks", "on" if self.parks else "off"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s + 2 * self.drain_s

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        late = f", {seen['completed_late']:,} after the end" if seen["completed_late"] else ""
        yield FactRow(
            "Tasks",
            f"{seen['due']:,} due, {seen['submitted']:,} submitted, {seen['completed']:,} done{late}, "
            f"{seen['unfinished']:,} never",
        )
        if seen["warmup_unfinished"]:
            yield FactRow("Left over from the warm-up", plural(seen["warmup_unfinished"], "task"))
        if (in_flight := _in_flight(seen)) is not None:
            yield FactRow("In flight", f"{digits(in_flight, 3)} on average")
        on_average = digits(seen["tasks_queued_mean"], 3)
        yield FactRow("Queued", f"{seen['tasks_queued_max']:,} at most, {on_average} on average")
        work = f"{seen['rounds_per_task']:,} rounds, {digits(seen['burn_us'], 3)} µs on a CPU of its own"
        yield FactRow("Work of a task", work)
        span = f"{digits(seen['cpu_s'], 3)} s in {digits(seen['duration_s'], 3)} s"
        yield FactRow("CPU", f"{span} on {plural(seen['cpus'], 'CPU')}")
        workers = seen["workers"]
        yield FactRow("Workers", f"{workers:,}" if workers is not None else "as many as needed")
        if seen["lower_bounds"]:
            yield FactRow("Lower bounds", f"{seen['lower_bounds']:,} latencies, of tasks that were never done")

    @classmethod
    def sections(cls, seen: Seen) -> Iterator[tuple[str, tuple[FactRow, ...]]]:
        yield "Parks of workers", tuple(_told_parks(seen["parks"]))

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        shares = [
            (spread.median / spread.expected, cell, spread)
            for cell, spread in with_reading(cells, _THROUGHPUT)
            if spread.expected
        ]
        if shares:
            low, high = (pick(shares, key=lambda one: one[0]) for pick in (min, max))
            text = f"{low[0] * 100:.0f} % of the expected throughput with {_of_expected(low[1], low[2])}"
            if len(shares) > 1:
                text = f"from {text} to {high[0] * 100:.0f} % with {_of_expected(high[1], high[2])}"
            yield "Throughput", f"{text}."
        if fewer := [(cell, told) for cell in cells if (told := _fewer_in_flight(cell))]:
            starts = all(base_of(cell.key.executor) in ("platform", "virtual") for cell, _ in fewer)
            takes_long = ", which takes long to start each thread," if starts else ""
            words = "; ".join(told for _, told in fewer)
            yield "In flight", f"{words}: the one thread that submits{takes_long} also bounds the throughput."
        if used := with_reading(cells, _CPU):
            yield "CPU used", f"{range_words([spread.median for _, spread in used], '%')} of the CPUs that it may use."
        if longest := with_reading(cells, _LONGEST):
            cell, spread = max(longest, key=lambda one: one[1].most)
            stretch = f"one worker for at most {measure(spread.most, spread.unit)} at a stretch ({cell.place})"
            yield "Parked while tasks were queued", f"{stretch}{_parked_share(cells)}."


def _fewer_in_flight(cell: CompleteCell) -> str | None:
    """Describe how many tasks were in flight if that is clearly fewer than the load says; None otherwise."""
    told = [found for seen in cell.seen if (found := _in_flight(seen)) is not None]
    if not isinstance(cell.load, InFlightLoad) or not told or median(told) >= _IN_FLIGHT_MIN * cell.load.tasks:
        return None
    return f"{digits(median(told), 2)} on average with {cell.place}, where {cell.load.tasks} were asked for"


def _parked_share(cells: Sequence[CompleteCell]) -> str:
    shares = [spread.median for _, spread in with_reading(cells, _PARKED)]
    return f"; all stretches together {range_words(shares, '%')} of all workers’ time" if shares else ""


def _of_expected(cell: CompleteCell, spread: Spread) -> str:
    expected = "" if spread.expected is None else f" of {measure(spread.expected, spread.unit)}"
    return f"{cell.place} ({measure(spread.median, spread.unit)}{expected})"
