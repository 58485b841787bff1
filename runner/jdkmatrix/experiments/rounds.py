"""Tasks that all do the same, handed to an executor round by round: the common part of experiments that differ in what
a task does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import digits, measure, plural
from jdkmatrix.experiments.base import (
    ChartFigure,
    CompleteCell,
    Experiment,
    FactRow,
    Given,
    Measurand,
    ReadingGroup,
    Seen,
    Sentences,
    executor_argument,
    with_reading,
)

THROUGHPUT, CPU, ALLOCATED = "throughput", "CPU per operation", "allocated per operation"
P50, P99 = "p50", "p99"  # of the time that the operation measures


class Rounds(Experiment):
    """`count` tasks are handed over at once; when all have ended, the next round begins, until the time is over.
    Figures are of the time after the warm-up, which ends in the middle of a round."""

    LOADS: ClassVar = (CountLoad,)
    METRICS: ClassVar = (
        Measurand(THROUGHPUT, "1/s", "throughput_per_s", more_is_better=True, of_all=True),
        Measurand(CPU, "µs", "cpu_us_per_operation", of_all=True),
        Measurand(ALLOCATED, "KiB", "allocated_bytes_per_operation", per=1024, of_all=True),
        Measurand(P50, "ms", "waited.percentiles_us.50", per=1000, of_all=True),
        Measurand(P99, "ms", "waited.percentiles_us.99", per=1000, of_all=True),
    )
    TIMED: ClassVar = True

    warmup_s: Annotated[float, Field(ge=0, le=3600)]

    @property
    @abstractmethod
    def operation(self) -> tuple[str, ...]:
        """The subcommand, and those of its options that say what a task does."""

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        return (
            *(*self.operation, "--executor", executor_argument(cell), "--tasks", str(self.count(cell, load))),
            *("--duration-s", f"{given.duration_s:g}", "--warmup-s", f"{self.warmup_s:g}"),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        return self.warmup_s + measured_s + 60.0  # for the tasks in flight at the end of both

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        done = f"{seen['operations']:,} in {digits(seen['duration_s'], 3)} s"
        yield FactRow("Operations", f"{done}, in {plural(seen['rounds'], 'round')}")
        if seen["stuck"]:
            yield FactRow("Never ended", plural(seen["stuck"], "task"))
        if bounds := seen.get("lower_bounds"):
            yield FactRow("Lower bounds", f"{bounds:,} times, of operations that had not ended with the time")
        yield FactRow("CPU of the process", f"{digits(seen['cpu_s'], 3)} s")
        yield FactRow("Carriers of virtual threads", f"{seen['parallelism']:,}")
        for name, value in sorted(seen["about"].items()):
            yield FactRow(name, value)

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for cell, spread in with_reading(cells, THROUGHPUT):
            more = [
                f"{measure(found.median, found.unit)} {words}"
                for name, words in ((CPU, "of CPU"), (ALLOCATED, "allocated"))
                if (found := cell.spreads.get(name))
            ]
            each = f", {' and '.join(more)} per operation" if more else ""
            yield cell.place, f"{measure(spread.median, spread.unit)}{each}."


THROUGHPUT_CHART = ReadingGroup(
    "throughput",
    "Throughput",
    "Operations done per second, over all tasks.",
    (ChartFigure(THROUGHPUT, "Throughput", "operations per second"),),
)
