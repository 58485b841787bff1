"""Measure on a warm server: the windows that its load asks for, and what is looked for behind them; or a window in each
of its turns."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.fork_record import Round
from jdkmatrix.loads.base import Ask, Lengths, LoadKind
from jdkmatrix.method.gates import beside_peers
from jdkmatrix.records.windows import Window
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.warming import settling_window
from jdkmatrix.subjects.served.windows import Windows

Answer = TypeVar("Answer")


@dataclass
class WarmServer:
    """A `fork_record.Opened`. Between turns the server is asked nothing, which would disturb the others.

    `arm`: the cell's executor; `lengths`: of windows where the load has none of its own; `confine`: puts the server on
    its CPUs again, since another one's start may have opened the cgroup that both are in.
    """

    arm: str
    windows: Windows
    load: LoadKind[Any]
    lengths: Lengths
    found: Findings
    confine: Callable[[], None]
    _took_turns: bool = field(default=False, init=False)

    def rewarm(self, duration_s: float) -> None:
        bench, warmup = self.windows.bench, self.found.warmup
        with bench.sampler.looking(True):
            self.confine()
            window = settling_window(bench, self.load.load.in_windows, duration_s, label="rewarm")
        if warmup:
            self.found.warmup = warmup.model_copy(update={"settling": (*warmup.settling, window)})

    def measure(self, turn: Round | None) -> None:
        with self.windows.bench.sampler.looking(True):
            if turn:
                self._take(turn)
            else:
                measure_phases(self.load, self.windows, self.lengths, self.found)

    def finish(self) -> None:
        """When all rounds are there, they are judged beside each other."""
        if self._took_turns and self.load.load.in_windows.is_closed_loop:
            self.found.windows[:] = beside_peers(self.found.windows, self.windows.thresholds)

    def _take(self, turn: Round) -> None:
        load, number = self.load.load.in_windows, turn.number
        self._took_turns = True
        self.windows.bench.session.warm(load, turn.lead_s, label="lead")
        title = f"round {number}/{turn.of}" if turn.of else f"window {number}"
        ask = Ask(load, turn.duration_s, f"round-{number}", f"{title}, {self.arm}", may_lead=False)
        self.found.windows.append(self.windows.measure(ask, index=number))


def measure_phases(load: LoadKind[Any], windows: Windows, lengths: Lengths, found: Findings) -> None:
    """Every window is among what was `found` as soon as it is measured, and so is what a search for the capacity knows
    when it ends: nothing is lost if a window fails.

    `lengths`: of windows where the load has none of its own.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer, or a search has no rate to begin with.
    """
    measure_all(load.asks(lengths), windows, found.windows)
    if load.load.in_windows.is_closed_loop:
        found.windows[:] = beside_peers(found.windows, windows.thresholds)
    search = load.search(found.windows, windows.nearest_rps(load.load.connections))
    if search is None:
        return
    try:
        found.capacity = measure_all(search, windows, [])
    except MatrixError as error:
        try:
            search.throw(error)
        except StopIteration as end:
            found.capacity = end.value
        raise


def measure_all(asks: Generator[Ask, Window, Answer], windows: Windows, done: list[Window]) -> Answer:
    """Measure what is asked for, one window after another, until there is an answer; append them to `done`."""
    try:
        ask = next(asks)
        while True:
            window = windows.measure(ask, index=len(done) + 1)
            done.append(window)
            ask = asks.send(window)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
