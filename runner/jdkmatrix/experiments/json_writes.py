"""Tasks that write an object as JSON, with buffers that a ThreadLocal may keep."""

from __future__ import annotations

from typing import ClassVar, Literal

from jdkmatrix.experiments.base import PER_CPU, ChartFigure, Page, ReadingGroup
from jdkmatrix.experiments.rounds import ALLOCATED, CPU, THROUGHPUT_CHART, Rounds


class JsonWrites(Rounds):
    """`buffers`: where Jackson gets them from: a `thread-local`, a pool that all threads share (`shared`), a pool of
    several parts for virtual threads, beside a ThreadLocal for others (`striped`), or `new` ones each time."""

    ARMS: ClassVar = ("virtual", "platform", "cached", "fixed-N", "virtual-bounded-N", *PER_CPU)
    PAGE: ClassVar = Page(
        title="Thread-local buffers",
        introduction=(
            "Each task writes one small object as JSON with Jackson, to nowhere. Its buffers come from a ThreadLocal, "
            "from a pool that all threads share, from one of several parts that virtual threads share, or are new each "
            "time. A pooled thread finds the buffers of its previous task in its ThreadLocal; a thread that lives for "
            "one task finds nothing there. What does that cost?"
        ),
        glossary="A task does nothing else; the cost of handing it over, and of starting its thread, counts too.",
        apart=("cpus", "load"),
        groups=(
            THROUGHPUT_CHART,
            ReadingGroup(
                "each",
                "Cost of an operation",
                "CPU time of the whole process, garbage collector and compiler included, and what all its threads "
                "allocated in the heap, tasks and virtual threads included, divided by the number of objects written.",
                (
                    ChartFigure(CPU, "CPU", "CPU time per object in µs"),
                    ChartFigure(ALLOCATED, "Allocated", "allocated per object in KiB"),
                ),
            ),
        ),
    )

    experiment: Literal["json"]
    buffers: Literal["thread-local", "shared", "striped", "new"]

    @property
    def operation(self) -> tuple[str, ...]:
        return ("json", "--buffers", self.buffers)
