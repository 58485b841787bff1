"""What is measured on a warm server: the windows that its load asks for, and what is looked for behind them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.gates import beside_peers
from jdkmatrix.loads.base import Ask, Lengths, LoadKind
from jdkmatrix.records.windows import Window
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.windows import Windows

Answer = TypeVar("Answer")


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
