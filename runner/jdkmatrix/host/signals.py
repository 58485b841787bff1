"""Hold back signals that would stop a run before what was measured is on disk."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold back the first of them until the end of the block, but not a second one: whoever insists is heard."""
    if threading.current_thread() is not threading.main_thread():  # no other handles signals
        yield
        return
    handlers = {one: found for one in _STOPPING if (found := signal.getsignal(one)) not in (None, signal.SIG_IGN)}
    waiting: list[int] = []

    def let_through() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting.pop())

    def hold(number: int, frame: FrameType | None) -> None:
        insists = bool(waiting)
        waiting[:] = [number]
        if insists:
            let_through()
            return
        with suppress(OSError):
            os.write(2, b"stopping as soon as what was measured is kept; once more: at once, without it\n")

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        let_through()
