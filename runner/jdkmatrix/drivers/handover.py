"""loadgen warms a server up, and wrk2 measures it.

A phase of wrk2 is a process of its own that lasts 10 s before it counts (`wrk2_figures`): too long for the half-second
windows by which a warm-up is judged. loadgen makes any rate for any time. It ends before wrk2 opens a connection, so
that the server has wrk2's alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.drivers.base import UNHEARD, DriverError, Edge, Phase, Target
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
class HandoverSession:
    """A `drivers.base.DriverSession`. `loops`: as loadgen has; each takes unique numbers of its own."""

    warming: LoadgenSession
    measuring: Wrk2Session
    loops: int
    _requests: int = field(default=0, init=False)
    _handed_over: bool = field(default=False, init=False)

    @property
    def command(self) -> Sequence[str]:
        return self.measuring.command or self.warming.command

    @property
    def pid(self) -> int | None:
        return None if self._handed_over else self.warming.pid

    def wait_ready(self) -> None:
        self.warming.wait_ready()

    def nearest(self, load: RateLoad) -> RateLoad:
        return self.warming.nearest(load)

    def warm(self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD) -> LoadResult:
        if self._handed_over:
            raise DriverError(f"{label}: wrk2 measures by now, and loadgen has ended")
        result = self.warming.warm(load, duration_s, label=label, edge=edge)
        self._requests += (result.sent or 0) + load.connections
        return result

    def run(self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD) -> LoadResult:
        if not self._handed_over:
            self.warming.close()
            # The most that any of loadgen's loops may have taken, however requests fell to them.
            self.measuring.begin_at(self.loops * self._requests)
            self._handed_over = True
        return self.measuring.run(load, duration_s, label=label, edge=edge)

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self.warming.close)
            stack.callback(self.measuring.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
