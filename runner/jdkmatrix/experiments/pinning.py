"""Threads that block, each inside a construct that may keep its carrier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import digits, measure, plural
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
    at,
)
from jdkmatrix.experiments.pinning_rule import CarrierCount, Held, held, held_words
from jdkmatrix.records.readings import ProgramResult

Construct = Literal[
    "synchronized", "lock", "object-wait", "class-init", "native", "contended-monitor", "contended-lock"
]
_CONSTRUCT_WORDS: dict[Construct, str] = {
    "synchronized": "synchronized",
    "lock": "ReentrantLock",
    "object-wait": "Object.wait",
    "class-init": "class initialiser",
    "native": "native frame",
    "contended-monitor": "beside a contended monitor",
    "contended-lock": "beside a contended lock",
}
_THROUGHPUT, _MORE = "throughput", "of them in place of blocked ones"


class Pinning(Experiment):
    """Threads that block for `block_ms` inside a construct, each with a monitor or lock of its own, again and again;
    with a contended one outside it, while as many other threads as there are carriers wait to enter."""

    ARMS: ClassVar = ("virtual", "platform")
    LOADS: ClassVar = (CountLoad,)
    METRICS: ClassVar = (
        Measurand(_THROUGHPUT, "1/s", "throughput_per_s", more_is_better=True),
        Measurand("p50", "ms", "latency.percentiles_us.50", per=1000),
        Measurand("p99", "ms", "latency.percentiles_us.99", per=1000),
        Measurand("carriers at once", "", "carriers.most"),
        Measurand(_MORE, "", "carriers.compensating", alone="carriers in place of blocked ones"),
        Measurand("pinned events", "", "pinned.count"),
        Measurand("CPU used", "s", "cpu_s"),
    )
    DISTRIBUTIONS: ClassVar = {"From ready to block to going on": "latency", "Pinned for": "pinned.pinned"}
    TIMED: ClassVar = True
    AT_ONCE: ClassVar = (1, 100_000)
    PAGE: ClassVar = Page(
        title="Pinning",
        introduction=(
            "A virtual thread runs on a carrier, a kernel thread, and leaves it while it blocks, so that others can "
            "run there. Some constructs keep it on its carrier (the thread is pinned): then only as many threads make "
            "progress at a time as there are carriers. Here every thread blocks inside such a construct, over and "
            "over, or only sleeps while as many others as there are carriers wait to enter a monitor or lock that "
            "is held."
        ),
        glossary=(
            "threads: how many block; carriers: kernel threads that carry virtual ones, as many as CPUs unless tuned; "
            "max_pool_size: how many carriers there may be when the JDK adds some in place of blocked ones; "
            "block_ms: how long a thread blocks each time, in ms."
        ),
        apart=("cpus", "load"),
        groups=(
            ReadingGroup(
                "throughput",
                "Throughput",
                "How often threads blocked and went on, per second, over all threads.",
                (ChartFigure("throughput", "Throughput", "blocked and went on, per second"),),
            ),
        ),
    )

    experiment: Literal["pinning"]
    inside: Construct
    block_ms: Annotated[int, Field(ge=1, le=600_000)]
    warmup_s: Annotated[float, Field(ge=0, le=3600)]

    @property
    def row(self) -> str:
        return _CONSTRUCT_WORDS[self.inside]

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        threads = "--threads" if base_of(cell.executor) == "virtual" else "--kernel-threads"
        return (
            *("pinning", "--construct", self.inside, threads, str(self.count(cell, load))),
            *("--block-ms", str(self.block_ms)),
            *("--duration-s", f"{given.duration_s:g}", "--warmup-s", f"{self.warmup_s:g}"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s + 10 * self.block_ms / 1000

    def held(self, seen: Seen, load: TaskLoad) -> Held | None:
        """Judge it by the rule; None if it does not say enough."""
        throughput_per_s, carriers = at(seen, "throughput_per_s"), at(seen, "carriers")
        if throughput_per_s is None or not isinstance(load, CountLoad):
            return None
        counted = CarrierCount(carriers["parallelism"], carriers["most"]) if at(carriers, "parallelism") else None
        return held(throughput_per_s, threads=load.count, block_s=self.block_ms / 1000, carriers=counted)

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        yield FactRow("Threads", f"{seen['threads_started']:,} started, {seen['threads_served']:,} had a turn")
        yield FactRow("Operations", f"{seen['operations']:,} in {digits(seen['duration_s'], 3)} s")
        if seen["lower_bounds"]:
            yield FactRow("Lower bounds", f"{seen['lower_bounds']:,} latencies of calls that had not ended")
        if one := seen["carriers"]:
            yield FactRow(
                "Carriers",
                f"{one['parallelism']} usual, {one['max_pool_size']} allowed, {one['most']} at once, "
                f"{one['compensating']} of them in place of blocked ones",
                f"from {one['source']}",
            )

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        conditions = dict.fromkeys((cell.key.executor, cell.key.cpus, cell.key.load) for cell in cells)
        for condition in conditions:
            mine = [cell for cell in cells if (cell.key.executor, cell.key.cpus, cell.key.load) == condition]
            by_words: dict[str, list[str]] = {}
            for cell in mine:
                found, throughput = cell_held(cell.table, cell.seen, cell.load), cell.spreads.get(_THROUGHPUT)
                if found and throughput:
                    figure = f"{cell.subject} ({measure(throughput.median, throughput.unit)})"
                    by_words.setdefault(held_words(found), []).append(figure)
            if by_words:
                term = ", ".join((condition[0], mine[0].load.short_words(), plural(condition[1], "CPU")))
                yield term, "; ".join(f"{words}: {', '.join(names)}" for words, names in by_words.items()) + "."


def cell_held(table: Experiment | None, seen: Sequence[Seen], load: TaskLoad) -> tuple[Held, ...]:
    """Judge each usable fork by the rule; empty if the cell does not say what was asked for."""
    if not isinstance(table, Pinning):
        return ()
    return tuple(found for one in seen if (found := table.held(one, load)) is not None)


def pinned_words(result: ProgramResult) -> str | None:
    """Describe the events that JDK Flight Recorder saw; None for another experiment, or if there are no figures."""
    pinned = at(result.seen, "pinned")
    if pinned is None:
        return None
    if at(pinned, "probe") != "on":
        return f"JDK Flight Recorder could not record: {at(pinned, 'reason')}."
    if not (events := at(pinned, "count")):
        return "JDK Flight Recorder recorded no jdk.VirtualThreadPinned event."
    total_s = at(pinned, "total_s")
    total = "" if total_s is None else f", {digits(total_s, 3)} s in total"
    return f"{plural(events, 'jdk.VirtualThreadPinned event')}{total}."
