"""Threads that are started all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import digits, plural, range_words
from jdkmatrix.domain.record import Record
from jdkmatrix.domain.tables import Seconds
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
)
from jdkmatrix.experiments.result import Expected, ExperimentResult, FactRow, Reading, Seen, known

_KIB = 1024
_MIB = 1024**2
_STARTED, _DONE = "until all were started", "until all were done"


class MemoryUse(Record):
    virt_bytes: int
    rss_bytes: int
    pss_bytes: int | None
    heap_committed_bytes: int
    heap_used_bytes: int
    native_threads: int

    @property
    def words(self) -> str:
        pss = "" if self.pss_bytes is None else f", PSS {_kib(self.pss_bytes)}"
        heap = f"{digits(self.heap_used_bytes / _MIB, 3)} of {digits(self.heap_committed_bytes / _MIB, 3)} MiB"
        threads = plural(self.native_threads, "thread")
        return f"VIRT {_kib(self.virt_bytes)}, RSS {_kib(self.rss_bytes)}{pss}; heap {heap}; {threads} of the kernel"


class PerThread(Record):
    """What each of the threads costs: the difference that they make, divided by their number."""

    virt_bytes: float
    rss_bytes: float
    pss_bytes: float | None
    heap_committed_bytes: float
    native_threads: float


class PeakMemory(Record):
    virt_bytes: int
    rss_bytes: int


class SpawnSeen(Seen):
    """`started_s` until the last call that starts a thread was over, `running_s` until the last thread ran, `done_s`
    until all were over; None: that was not so, or their sleep was cut short."""

    started: int
    started_s: float
    running_s: float | None
    done_s: float | None
    live: int | None
    before: MemoryUse
    while_live: MemoryUse | None
    per_thread: PerThread | None
    peak: PeakMemory
    thread_stack_bytes: int | None
    rounds_per_us: float | None

    def readings(self, expected: Expected) -> Iterator[Reading]:
        each = self.per_thread
        if each is not None:
            virt = expected.of("per_thread.virt_bytes", _KIB)
            yield Reading("RSS per thread", "KiB", each.rss_bytes / _KIB)
            yield Reading("VIRT per thread", "KiB", each.virt_bytes / _KIB, virt)
            yield from known("PSS per thread", "KiB", None if each.pss_bytes is None else each.pss_bytes / _KIB)
            yield Reading("committed heap per thread", "KiB", each.heap_committed_bytes / _KIB)
            native = expected.of("per_thread.native_threads")
            yield Reading("kernel threads per thread", "", each.native_threads, native)
        times = [Reading(_STARTED, "s", self.started_s, expected.of("started_s"))]
        if self.done_s is not None:
            times.append(Reading(_DONE, "s", self.done_s, expected.of("done_s")))
        # What it is about comes first: work that must be done, or threads that must be there.
        yield from reversed(times) if times[-1].expected is not None else times
        if self.while_live is not None:
            yield Reading("VIRT", "MiB", self.while_live.virt_bytes / _MIB)
            yield Reading("RSS", "MiB", self.while_live.rss_bytes / _MIB)
        yield Reading("started", "", float(self.started))

    def counts(self) -> Iterator[FactRow]:
        live = "" if self.live is None else f", {self.live:,} live at once"
        yield FactRow("Threads", f"{self.started:,} started{live}")
        if self.thread_stack_bytes is not None:
            yield FactRow("Stack of a platform thread", f"{self.thread_stack_bytes / _KIB:,.0f} KiB")
        yield FactRow("Memory before", self.before.words)
        if self.while_live:
            yield FactRow("Memory while all live", self.while_live.words)
        yield FactRow("Memory at its peak", f"VIRT {_kib(self.peak.virt_bytes)}, RSS {_kib(self.peak.rss_bytes)}")


def _kib(size_bytes: float) -> str:
    """As top shows it, and with a unit that a reader knows."""
    return f"{size_bytes / _KIB:,.0f} KiB ({digits(size_bytes / _MIB, 3)} MiB)"


class SpawnResult(ExperimentResult):
    experiment: Literal["spawn"]
    seen: SpawnSeen | None


class Spawn(Experiment):
    """Threads started all at once. They sleep (`sleep_s`, cut short as soon as their memory has been read), print a
    line to `sink`, or work (axis `burn_us`). `cold`: without a few threads before, which have all loaded that is
    needed. `stack_kib`: of a platform thread; None: the JVM's default."""

    ARMS: ClassVar = ("virtual", "platform")
    LOADS: ClassVar = (CountLoad,)
    RESULT: ClassVar = SpawnResult
    TIMED: ClassVar = False
    PAGE: ClassVar = Page(
        title="Spawn",
        introduction=(
            "Threads are started all at once; they sleep, print a line or compute. What does each cost in memory,"
            " and how long does it take until all were started and until all were done?"
        ),
        glossary=(
            "thread_stack_bytes: the stack that a platform thread reserves; count: threads; burn_rounds / "
            "rounds_per_us: how long one computes, in µs; processors: CPUs. VIRT is address space, RSS is memory "
            "that is really there, both as top and ps know them. Seconds count from the first start."
        ),
        apart=("cpus",),
        groups=(
            Group(
                "memory",
                "Memory per thread",
                "VIRT is address space that is only promised, RSS the memory that is really there: what the process "
                "has more of while all threads live, divided by their number. The same scale, in KiB, logarithmic "
                "from 1 on. The column VIRT of top is in KiB without a unit: spawn-memory took that "
                "of virtual threads for bytes.",
                (
                    ChartFigure("VIRT per thread", "VIRT", "VIRT per thread in KiB", 1.0),
                    ChartFigure("RSS per thread", "RSS", "RSS per thread in KiB", 1.0),
                ),
                same_scale=True,
            ),
            Group(
                "time",
                "Time",
                "All started: until the last thread was started, which is what spawn-time published. All done: until "
                "the last one was done. Logarithmic from 0.01 s on.",
                (
                    ChartFigure("until all were started", "All started", "seconds until all were started", 0.01),
                    ChartFigure("until all were done", "All done", "seconds until all were done", 0.01),
                ),
                same_scale=True,
            ),
        ),
        alone={"started": "threads started"},
    )

    experiment: Literal["spawn"]
    task: Literal["sleep", "print", "burn"]
    sleep_s: Seconds | None = None
    sink: Literal["null", "stdout"] = "null"
    cold: bool = False
    stack_kib: Annotated[int, Field(ge=136, le=1_048_576)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=3600)]

    @property
    def works(self) -> bool:
        return self.task == "burn"

    def problems(self) -> Iterator[str]:
        if (self.task == "sleep") != (self.sleep_s is not None):
            yield 'sleep_s: belongs to task = "sleep", and only there'
        if self.sink != "null" and self.task != "print":
            yield 'sink: belongs to task = "print", and only there'
        if self.cold and self.task == "sleep":
            yield "cold: what a sleeping thread costs is only measured after a rehearsal"

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        if not isinstance(load, CountLoad):
            raise cannot_have(self, cell, load)
        return (
            *("spawn", "--kind", base_of(cell.executor), "--count", str(load.count)),
            *("--task", self._task(given.rounds)),
            *(("--release-early",) if self.task == "sleep" else ()),
            *(("--sink", self.sink) if self.sink != "null" else ()),
            *(("--cold",) if self.cold else ()),
            *("--timeout-s", f"{self.timeout_s:g}"),
        )

    def _task(self, rounds: int) -> str:
        match self.task:
            case "sleep":
                return f"sleep:{self.sleep_s:g}"
            case "burn":
                return f"burn:{rounds}"
        return self.task

    def vm_options(self, executor: str) -> tuple[str, ...]:
        return (f"-Xss{self.stack_kib}k",) if self.stack_kib else ()

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return 0.0

    def longest_s(self, measured_s: float) -> float:
        return (self.sleep_s or 0.0) + 2 * self.timeout_s

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for executor in dict.fromkeys(cell.key.executor for cell in cells):
            mine = [cell for cell in cells if cell.key.executor == executor]
            found = []
            each = [f"{name} {words}" for name in ("RSS", "VIRT") if (words := _range(mine, f"{name} per thread"))]
            if each:
                found.append(f"{' and '.join(each)} per thread")
            whole = [f"{name} {words}" for name in ("RSS", "VIRT") if (words := _range(mine, name))]
            if whole:
                found.append(f"of the whole process {' and '.join(whole)}")
            started = _range(mine, _STARTED)
            if started:
                found.append(f"all started after {started}")
            if found:
                yield executor, f"{'; '.join(found)}, over {plural(len(mine), 'condition')}."


def _range(cells: Sequence[CompleteCell], name: str) -> str:
    seen = with_reading(cells, name)
    return range_words([spread.median for _, spread in seen], seen[0][1].unit) if seen else ""
