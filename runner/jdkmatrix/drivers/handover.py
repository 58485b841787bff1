"""loadgen warms a server up, and wrk2 measures it.

A phase of wrk2 is a process of its own that runs for 10 s before it counts (`wrk2_figures`): too long for the
half-second windows by which a warm-up is judged. loadgen makes any rate for any time. It ends before wrk2 opens a
connection, so that the server has only those of wrk2.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.drivers.base import UNHEARD, DriverError, DriverSession, Edge, Phase, Target
from jdkmatrix.drivers.loadgen import LoadgenDriver, LoadgenSession
from jdkmatrix.drivers.wrk2 import Wrk2, Wrk2Session
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.run import DriverFacts


@dataclass(frozen=True)
class Wrk2Driver:
    """A `drivers.base.Driver`."""

    wrk2: Wrk2
    loadgen: LoadgenDriver

    @property
    def programs(self) -> tuple[DriverFacts, ...]:
        return (self.wrk2.facts, *self.loadgen.programs)

    def cannot(self, phase: Phase) -> str | None:
        return self.wrk2.cannot(phase)

    def open(self, target: Target) -> HandoverSession:
        return HandoverSession(self.loadgen.open(target), Wrk2Session(self.wrk2, target), len(target.cpus))


@dataclass
class LoadgenAndWrk2(DriverSession):
    """loadgen warms a server up; either makes the phases that count. `at_work`: the one that makes the next phase."""

    loadgen: LoadgenSession
    wrk2: Wrk2Session
    at_work: Literal["loadgen", "wrk2"] = field(default="loadgen", init=False)

    @property
    def command(self) -> Sequence[str]:
        return self.wrk2.command or self.loadgen.command

    @property
    def pid(self) -> int | None:
        return self.loadgen.pid if self.at_work == "loadgen" else None

    def wait_ready(self) -> None:
        self.loadgen.wait_ready()

    def nearest(self, load: RateLoad) -> RateLoad:
        return self.loadgen.nearest(load)

    def warm(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        return self.loadgen.warm(load, duration_s, label=label, edge=edge, lead_s=lead_s)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self.loadgen.close)
            stack.callback(self.wrk2.close)


@dataclass
class HandoverSession(LoadgenAndWrk2):
    """wrk2 makes all phases that count. `loops`: loadgen's event loops, each of which takes its own unique numbers."""

    loops: int
    _requests: int = field(default=0, init=False)

    def warm(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        if self.at_work == "wrk2":
            raise DriverError(f"{label}: wrk2 is already measuring, and loadgen has ended")
        result = super().warm(load, duration_s, label=label, edge=edge, lead_s=lead_s)
        self._requests += (result.sent or 0) + (result.lead.sent if result.lead else 0) + load.connections
        return result

    def run(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        if self.at_work == "loadgen":
            self.loadgen.close()
            # The highest number that any of loadgen's loops can have taken, however requests were spread over them.
            self.wrk2.begin_at(self.loops * self._requests)
            self.at_work = "wrk2"
        return self.wrk2.run(load, duration_s, label=label, edge=edge, lead_s=lead_s)
