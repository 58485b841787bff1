"""Threads that queue for a lock, some of them inside a monitor, and may or may not go on once it is free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import CountLoad, TaskLoad
from jdkmatrix.domain.quantities import measure, plural
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

_WENT_ON, _UNTIL_ALL = "went on", "until all had had the lock"
_OF_THE_JDK = "java.base/"


class Hang(Experiment):
    """Threads that queue for a lock, all but the first `inside` something of their own. Each holds the lock for
    `hold_ms`; they hang if none gets it for `patience` times as long."""

    ARMS: ClassVar = ("virtual", "platform")
    LOADS: ClassVar = (CountLoad,)
    METRICS: ClassVar = (
        Measurand(_WENT_ON, "%", "went_on_share", per=0.01, more_is_better=True, alone="threads that went on"),
        Measurand(_UNTIL_ALL, "ms", "until_all_ms"),
        Measurand("longest standstill", "ms", "standstill_ms"),
    )
    TIMED: ClassVar = False
    AT_ONCE: ClassVar = (2, 10_000)
    PAGE: ClassVar = Page(
        title="Hang",
        introduction=(
            "Threads queue for a lock that a platform thread holds. The first holds nothing else; all others are "
            "inside a monitor, or a lock, of their own, which no other thread wants. Once the lock is free, it is the "
            "first one’s turn. Do they go on, or does each wait for another? If they hang, the fork’s log has a dump "
            "of all threads, and one thread inside is interrupted: if others then go on, that shows what they lacked."
        ),
        glossary=(
            "threads: how many queue; carriers: kernel threads that carry virtual ones, as many as CPUs unless tuned."
        ),
        apart=("cpus", "load"),
        groups=(
            ReadingGroup(
                "went-on",
                "Threads that went on",
                "How many of the threads got the lock once it was free, in per cent, before any was interrupted.",
                (ChartFigure(_WENT_ON, "Went on", "threads that went on, in %"),),
            ),
        ),
    )

    experiment: Literal["hang"]
    inside: Literal["synchronized", "lock"]
    hold_ms: Annotated[int, Field(ge=1, le=10_000)]
    patience: Annotated[int, Field(ge=2, le=10_000)]

    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        return (
            *("hang", "--kind", base_of(cell.executor), "--count", str(self.count(cell, load))),
            *("--inside", self.inside, "--hold-ms", str(self.hold_ms), "--patience", str(self.patience)),
        )

    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """Expect one patience: some hang, and which is not known beforehand."""
        return self.hold_ms * self.patience / 1000

    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """Allow a patience each for the first to queue, the rest to queue, a hang and an interrupt; and all turns."""
        turns = load.count if isinstance(load, CountLoad) else 1
        return (4 * self.patience + turns) * self.hold_ms / 1000

    @classmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        yield FactRow("Threads", f"{seen['went_on']:,} of {seen['threads']:,} went on")
        if (parallelism := seen["parallelism"]) is not None:
            yield FactRow("Carriers", f"{parallelism:,}")
        if hung := seen["hung"]:
            free = "no thread held it" if hung["lock_free"] else "a thread held it"
            yield FactRow("The lock when they hung", f"{free}, {plural(hung['waiting'], 'thread')} waited for it")
            more = f"{plural(hung['went_on_after_interrupt'], 'thread')} got the lock"
            yield FactRow("After one inside was interrupted", more)

    @classmethod
    def sections(cls, seen: Seen) -> Iterator[tuple[str, tuple[FactRow, ...]]]:
        if hung := seen["hung"]:
            rows = (FactRow(plural(one["threads"], "thread"), _where(one["frames"])) for one in hung["stacks"])
            yield "Where they hung", tuple(rows)

    @classmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        for cell, spread in with_reading(cells, _UNTIL_ALL):
            yield cell.place, f"all went on, within {measure(spread.most, spread.unit)}."


def _where(frames: Sequence[str]) -> str:
    """Return a stack's two topmost frames, and those below that are not the JDK's."""
    below = (frame for frame in frames[2:] if not frame.startswith(_OF_THE_JDK))
    return " ← ".join((*frames[:2], "…", *below)) if frames else "never had a carrier"
