"""Tasks that write to files through an embedded database."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.experiments.base import ChartFigure, Page, ReadingGroup
from jdkmatrix.experiments.rounds import CPU, P50, P99, THROUGHPUT_CHART, Rounds


class Puts(Rounds):
    """`size_bytes`: that of a row, of which there are up to 3,000. `sync`: a task waits until its row is on disk."""

    ARMS: ClassVar = ("virtual", "platform", "fixed-N", "virtual-bounded-N")
    DISTRIBUTIONS: ClassVar = {"From the start of a task to its end": "waited"}
    PAGE: ClassVar = Page(
        title="Writes to files",
        introduction=(
            "Each task puts a row into a table of an embedded H2, which inserts its key or replaces what is there: "
            "that is IO to files, not to sockets. A virtual thread keeps its carrier while it reads or writes a file. "
            "By default, H2 writes what is committed within half a second, and nothing waits for the disk. Where the "
            "experiment has `sync`, each task forces its row to disk by CHECKPOINT SYNC, which H2 lets one task do at "
            "a time. The files are in a new folder in /var/tmp; the page of each fork names its file system."
        ),
        glossary="An operation puts one row, with one of 20 connections from a pool.",
        apart=("cpus", "load"),
        groups=(
            THROUGHPUT_CHART,
            ReadingGroup(
                "each",
                "Cost of an operation",
                "CPU time of the whole process, H2’s own threads included, divided by the number of rows; and how long "
                "a task took from its start to its end.",
                (
                    ChartFigure(CPU, "CPU", "CPU time per row in µs"),
                    ChartFigure(P50, "Median", "median time of a task in ms, logarithmic from 0.01 on", 0.01),
                    ChartFigure(P99, "p99", "p99 of a task in ms, logarithmic from 0.01 on", 0.01),
                ),
            ),
        ),
    )

    experiment: Literal["puts"]
    size_bytes: Annotated[int, Field(ge=1, le=10_000_000)]
    sync: bool = False

    @property
    def waits_for_disk(self) -> bool:
        return self.sync

    @property
    def libraries(self) -> tuple[str, ...]:
        return ("h2", "hikari-7.1.0")

    @property
    def operation(self) -> tuple[str, ...]:
        return ("puts", "--size-bytes", str(self.size_bytes), *(("--sync",) if self.sync else ()))
