"""Threads that block, each inside a construct that may keep its carrier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import digits, measure, plural
from jdkmatrix.domain.record import Record
from jdkmatrix.experiments.base import ChartFigure, CompleteCell, Experiment, Given, Group, Page, Sentences, cannot_have
from jdkmatrix.experiments.pinning_rule import CarrierCount, Held, held, held_words
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


class Carriers(Record):
    """`most`: threads that carried virtual ones, at once; `compensating`: those beyond `parallelism`."""

    parallelism: int
    max_pool_size: int
    most: int
    compensating: int
    source: str


class PinnedStack(Record):
    count: int
    reason: str | None
    frames: tuple[str, ...]


class PinnedReport(Record):
    """Events jdk.VirtualThreadPinned, with the frames that hold the carrier. `stacks`: the most frequent first."""

    probe: Literal["on", "unavailable"]
    reason: str | None
    count: int | None = None
    total_s: float | None = None
    pinned: Distribution | None = None
    stacks: tuple[PinnedStack, ...] | None = None


class PinningSeen(Seen):
    threads_started: int
    duration_s: float
    operations: int
    throughput_per_s: float
    latency: Distribution | None
    lower_bounds: int
    threads_served: int
    cpu_s: float
    carriers: Carriers | None
    pinned: PinnedReport

    def readings(self, expected: Expected) -> Iterator[Reading]:
        yield Reading(_THROUGHPUT, "1/s", self.throughput_per_s, expected.of("throughput_per_s"))
        yield from known("p50", "ms", percentile_ms(self.latency, "50"))
        yield from known("p99", "ms", percentile_ms(self.latency, "99"))
        if self.carriers is not None:
            yield Reading("carriers at once", "", float(self.carriers.most))
            yield Reading(_MORE, "", float(self.carriers.compensating))
        yield from known("pinned events", "", self.pinned.count)
        yield Reading("CPU used", "s", self.cpu_s)

    def counts(self) -> Iterator[FactRow]:
        yield FactRow("Threads", f"{self.threads_started:,} started, {self.threads_served:,} had a turn")
        yield FactRow("Operations", f"{self.operations:,} in {digits(self.duration_s, 3)} s")
        if self.carriers:
            one = self.carriers
            yield FactRow(
                "Carriers",
                f"{one.parallelism} usual, {one.max_pool_size} allowed, {one.most} at once, of them "
                f"{one.compensating} in place of blocked ones",
                f"from {one.source}",
            )

    def distributions(self) -> Iterator[tuple[str, Distribution | None]]:
        yield "From wanting to block to going on", self.latency
        yield "Pinned for", self.pinned.pinned


class PinningResult(ExperimentResult):
    experiment: Literal["pinning"]
    seen: PinningSeen | None


class Pinning(Experiment):
    """Threads that block for `block_ms` inside a construct, each with a monitor or lock of its own, again and again;
    with a contended one outside of it, while as many more as there are carriers wait to enter."""

    ARMS: ClassVar = ("virtual", "platform")
    LOADS: ClassVar = (CountLoad,)
    RESULT: ClassVar = PinningResult
    TIMED: ClassVar = True
    PAGE: ClassVar = Page(
        title="Pinning",
        introduction=(
            "A virtual thread runs on a carrier, a thread of the kernel, and leaves it while it blocks, so that "
            "others can run there. Some constructs keep it there (the thread is pinned): then only as many "
            "threads make progress at a time as there are carriers. Here every thread blocks inside such a "
            "construct, again and again, or only sleeps while as many others as there are carriers wait to enter "
            "a monitor or lock that is held."
        ),
        glossary=(
            "threads: how many block; carriers: threads of the kernel that carry virtual ones, as many as CPUs "
            "unless tuned; max_pool_size: how many of them there may be when the JDK adds some in place of "
            "blocked ones; block_ms: how long a thread blocks each time, in ms."
        ),
        apart=("cpus", "load"),
        groups=(
            Group(
                "throughput",
                "Throughput",
                "How often a thread blocked and went on, per second, all threads together.",
                (ChartFigure("throughput", "Throughput", "blocked and went on, per second"),),
            ),
        ),
        alone={_MORE: "carriers in place of blocked ones"},
    )

    experiment: Literal["pinning"]
    inside: Construct
    block_ms: Annotated[int, Field(ge=1, le=600_000)]
    warmup_s: Annotated[float, Field(ge=0, le=3600)]

    @property
    def row(self) -> str:
        return _CONSTRUCT_WORDS[self.inside]

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        if not isinstance(load, CountLoad):
            raise cannot_have(self, cell, load)
        threads = "--threads" if base_of(cell.executor) == "virtual" else "--kernel-threads"
        return (
            *("pinning", "--construct", self.inside, threads, str(load.count)),
            *("--block-ms", str(self.block_ms)),
            *("--duration-s", f"{given.duration_s:g}", "--warmup-s", f"{self.warmup_s:g}"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s

    def longest_s(self, measured_s: float) -> float:
        return self.warmup_s + measured_s + 10 * self.block_ms / 1000

    def held(self, result: ExperimentResult, load: TaskLoad) -> Held | None:
        """None where it has no figures."""
        if not (isinstance(result, PinningResult) and result.seen and isinstance(load, CountLoad)):
            return None
        seen = result.seen.carriers
        carriers = CarrierCount(seen.parallelism, seen.most) if seen and seen.parallelism > 0 else None
        block_s = self.block_ms / 1000
        return held(result.seen.throughput_per_s, threads=load.count, block_s=block_s, carriers=carriers)

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        conditions = dict.fromkeys((cell.key.executor, cell.key.cpus, cell.key.load) for cell in cells)
        for condition in conditions:
            mine = [cell for cell in cells if (cell.key.executor, cell.key.cpus, cell.key.load) == condition]
            by_words: dict[str, list[str]] = {}
            for cell in mine:
                found, throughput = cell_held(cell.table, cell.results, cell.load), cell.spread(_THROUGHPUT)
                if found and throughput:
                    figure = f"{cell.subject} ({measure(throughput.median, throughput.unit)})"
                    by_words.setdefault(held_words(found), []).append(figure)
            if by_words:
                term = ", ".join((condition[0], mine[0].load_words, plural(condition[1], "CPU")))
                yield term, "; ".join(f"{words}: {', '.join(names)}" for words, names in by_words.items()) + "."


def cell_held(table: Experiment | None, results: Sequence[ExperimentResult], load: TaskLoad) -> tuple[Held, ...]:
    """What each usable fork says; nothing where the cell does not say what was asked for."""
    if not isinstance(table, Pinning):
        return ()
    return tuple(found for result in results if (found := table.held(result, load)) is not None)
