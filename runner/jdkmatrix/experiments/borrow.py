"""Threads that take a connection from a pool and give it back."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.experiments.base import ChartFigure, Page, ReadingGroup
from jdkmatrix.experiments.rounds import CPU, P50, P99, THROUGHPUT_CHART, Rounds


class Borrow(Rounds):
    """Threads that borrow connections. `pool`: the library on the class path; `connections`: the most in the pool;
    `yields`: a thread lets others run while it has a connection."""

    ARMS: ClassVar = ("virtual", "platform")
    DISTRIBUTIONS: ClassVar = {"Wait for a connection": "waited"}
    PAGE: ClassVar = Page(
        title="Connections",
        introduction=(
            "Threads take a connection from a pool and give it back, over and over until the time is up. The "
            "connections lead nowhere and answer at once, so that only the pool is measured. A thread that yields "
            "while it holds a connection lets others run meanwhile, as a thread that waits for a database does: then "
            "more threads want a connection than there are connections."
        ),
        glossary="An operation takes a connection and gives it back.",
        apart=("cpus", "load"),
        groups=(
            THROUGHPUT_CHART,
            ReadingGroup(
                "each",
                "Cost of an operation",
                "CPU time of the whole process, divided by the number of operations; and how long threads waited for a "
                "connection.",
                (
                    ChartFigure(CPU, "CPU", "CPU time per operation in µs"),
                    ChartFigure(P50, "Median wait", "median wait in ms, logarithmic from 0.001 on", 0.001),
                    ChartFigure(P99, "p99 of waits", "p99 of waits in ms, logarithmic from 0.001 on", 0.001),
                ),
            ),
        ),
    )

    experiment: Literal["borrow"]
    pool: Literal["hikari-7.0.2", "hikari-7.1.0", "agroal"]
    connections: Annotated[int, Field(ge=1, le=10_000)]
    yields: bool

    @property
    def libraries(self) -> tuple[str, ...]:
        return (self.pool,)

    @property
    def operation(self) -> tuple[str, ...]:
        return ("borrow", "--connections", str(self.connections), *(("--yield",) if self.yields else ()))
