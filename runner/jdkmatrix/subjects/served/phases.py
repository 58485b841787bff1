"""What is measured on a warm server: the windows that its load asks for, and what is looked for behind them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from jdkmatrix.fork.gates import beside_peers
from jdkmatrix.loads.base import Ask, Lengths, LoadKind
from jdkmatrix.records.windows import Capacity, Window
from jdkmatrix.subjects.served.windows import Windows

Found = TypeVar("Found")


def measure_phases(load: LoadKind[Any], windows: Windows, lengths: Lengths, *, done: list[Window]) -> Capacity | None:
    """Append every window to `done` as soon as it is measured, so that nothing is lost if the next one fails.

    `lengths`: of windows where the load has none of its own. Returns what a search for the capacity found.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer, or a search has no rate to begin with.
    """
    measure_all(load.asks(lengths), windows, done)
    if load.load.in_windows.is_closed_loop:
        done[:] = beside_peers(done, windows.thresholds)
    search = load.search(done, windows.nearest_rps(load.load.connections))
    return None if search is None else measure_all(search, windows, [])


def measure_all(asks: Generator[Ask, Window, Found], windows: Windows, done: list[Window]) -> Found:
    """Measure what is asked for, one window after another, until there is an answer; append them to `done`."""
    try:
        ask = next(asks)
        while True:
            window = windows.measure(ask, index=len(done) + 1)
            done.append(window)
            ask = asks.send(window)
    except StopIteration as end:
        found: Found = end.value
        return found
