"""Threads that are started all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import digits, plural, range_words
from jdkmatrix.experiments.base import (
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
    with_reading,
)
from jdkmatrix.records.readings import ProgramResult, WindowReading

_KIB = 1024
_MIB = 1024**2
_STARTED, _DONE = "until all were started", "until all were done"


def _memory_words(use: Seen) -> str:
    pss = "" if use["pss_bytes"] is None else f", PSS {_kib(use['pss_bytes'])}"
    heap = f"{digits(use['heap_used_bytes'] / _MIB, 3)} of {digits(use['heap_committed_bytes'] / _MIB, 3)} MiB"
    threads = plural(use["native_threads"], "thread")
    return f"VIRT {_kib(use['virt_bytes'])}, RSS {_kib(use['rss_bytes'])}{pss}; heap {heap}; {threads} of the kernel"


def _kib(size_bytes: float) -> str:
    """Format the size as top shows it, with its unit."""
    return f"{size_bytes / _KIB:,.0f} KiB ({digits(size_bytes / _MIB, 3)} MiB)"


class Spawn(Experiment):
    """Threads started all at once. They sleep (`sleep_s`, cut short as soon as their memory has been read), print a
    line to `sink`, or work (axis `burn_us`). `cold`: without a few threads beforehand that load everything needed.
    `stack_kib`: the stack of a platform thread; None: the JVM's default."""

    ARMS: ClassVar = ("virtual", "platform")
    LOADS: ClassVar = (CountLoad,)
    # Per thread: the difference that the threads make, divided by their number.
    METRICS: ClassVar = (
        Measurand("RSS per thread", "KiB", "per_thread.rss_bytes", per=_KIB),
        Measurand("VIRT per thread", "KiB", "per_thread.virt_bytes", per=_KIB),
        Measurand("PSS per thread", "KiB", "per_thread.pss_bytes", per=_KIB),
        Measurand("committed heap per thread", "KiB", "per_thread.heap_committed_bytes", per=_KIB),
        Measurand("kernel threads per thread", "", "per_thread.native_threads"),
        Measurand(_STARTED, "s", "started_s", of_all=True),
        Measurand(_DONE, "s", "done_s", of_all=True),
        Measurand("VIRT", "MiB", "while_live.virt_bytes", per=_MIB, of_all=True),
        Measurand("RSS", "MiB", "while_live.rss_bytes", per=_MIB, of_all=True),
        Measurand("started", "", "started", more_is_better=True, alone="threads started"),
    )
    TIMED: ClassVar = False
    AT_ONCE: ClassVar = (1, 10_000_000)
    PAGE: ClassVar = Page(
        title="Spawn",
        introduction=(
            "Threads are started all at once; they sleep, print a line or compute. How much memory does each cost,"
            " and how long does it take until all are started, and until all are done?"
        ),
        glossary=(
            "thread_stack_bytes: the stack that a platform thread reserves; count: threads; burn_rounds / "
            "rounds_per_us: how long one computes, in µs; processors: CPUs. VIRT is address space, RSS is resident "
            "memory, both as top and ps show them. Seconds count from the first start."
        ),
        apart=("cpus",),
        groups=(
            ReadingGroup(
                "memory",
                "Memory per thread",
                "VIRT is address space that is only promised, RSS is resident memory: how much more of it the process "
                "has while all threads live, divided by their number. Both on one scale, in KiB, logarithmic from 1 "
                "on. top shows its column VIRT in KiB without a unit: spawn-memory took that of virtual threads for "
                "bytes.",
                (
                    ChartFigure("VIRT per thread", "VIRT", "VIRT per thread in KiB", 1.0),
                    ChartFigure("RSS per thread", "RSS", "RSS per thread in KiB", 1.0),
                ),
                same_scale=True,
            ),
            ReadingGroup(
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
    )

    experiment: Literal["spawn"]
    task: Literal["sleep", "print", "burn"]
    sleep_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    sink: Literal["null", "stdout"] = "null"
    cold: bool = False
    stack_kib: Annotated[int, Field(ge=136, le=1_048_576)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=3600)]

    @property
    def works(self) -> bool:
        return self.task == "burn"

    @model_validator(mode="after")
    def _has_what_belongs_to_its_task(self) -> Self:
        if (self.task == "sleep") != (self.sleep_s is not None):
            raise ValueError('sleep_s: task = "sleep" needs it, and no other task takes it')
        if self.sink != "null" and self.task != "print":
            raise ValueError('sink: only task = "print" takes it')
        if self.cold and self.task == "sleep":
            raise ValueError("cold: the cost of a sleeping thread is only measured after a rehearsal")
        return self

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        return (
            *("spawn", "--kind", base_of(cell.executor), "--count", str(self.count(cell, load))),
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

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """Allow one time-out each until all run, until all are done, and until they have been ended."""
        return (self.sleep_s or 0.0) + 3 * self.timeout_s

    @classmethod
    def readings(cls, result: ProgramResult) -> tuple[WindowReading, ...]:
        """Return the readings, the one that matters first: work that must be done, or threads that must be there."""
        found = list(super().readings(result))
        done = next((one for one in found if one.metric == _DONE and one.expected is not None), None)
        if done is not None:
            found.remove(done)
            found.insert([one.metric for one in found].index(_STARTED), done)
        return tuple(found)

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        live = "" if seen["live"] is None else f", {seen['live']:,} live at once"
        yield FactRow("Threads", f"{seen['started']:,} started{live}")
        if seen["thread_stack_bytes"] is not None:
            yield FactRow("Stack of a platform thread", f"{seen['thread_stack_bytes'] / _KIB:,.0f} KiB")
        yield FactRow("Memory before", _memory_words(seen["before"]))
        if seen["while_live"]:
            yield FactRow("Memory while all live", _memory_words(seen["while_live"]))
        peak = f"VIRT {_kib(seen['peak']['virt_bytes'])}, RSS {_kib(seen['peak']['rss_bytes'])}"
        yield FactRow("Memory at its peak", peak)

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for executor in dict.fromkeys(cell.key.executor for cell in cells):
            mine = [cell for cell in cells if cell.key.executor == executor]
            found = []
            if each := [f"{name} {words}" for name in ("RSS", "VIRT") if (words := _range(mine, f"{name} per thread"))]:
                found.append(f"{' and '.join(each)} per thread{_among(mine, 'RSS per thread')}")
            if whole := [f"{name} {words}" for name in ("RSS", "VIRT") if (words := _range(mine, name))]:
                found.append(f"{' and '.join(whole)} for the whole process{_among(mine, 'RSS')}")
            if started := _range(mine, _STARTED):
                found.append(f"all started after {started}")
            if found:
                yield executor, f"{'; '.join(found)}, over {plural(len(mine), 'condition')}."


def _range(cells: Sequence[CompleteCell], name: str) -> str:
    seen = with_reading(cells, name)
    return range_words([spread.median for _, spread in seen], seen[0][1].unit) if seen else ""


def _among(cells: Sequence[CompleteCell], name: str) -> str:
    """Say in how many conditions that was read, if not in all: threads that do not sleep are not looked at."""
    seen = len(with_reading(cells, name))
    return f" (in {plural(seen, 'condition')})" if 0 < seen < len(cells) else ""
