"""Call a function at a steady pace, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from jdkmatrix.probes.process import SutGoneError


class Pace:
    """Calls `look` every `every_s` between enter and exit, or less often where a look takes longer than that.

    Stops by itself when the SUT ends. The first fault ends it too, and is raised at exit. `look_at_most_s`: how long a
    look may take; exit waits for one in progress."""

    def __init__(self, name: str, look: Callable[[], None], *, every_s: float, look_at_most_s: float) -> None:
        self._look = look
        self._every_s = every_s
        self._look_at_most_s = look_at_most_s
        self._stop = threading.Event()
        self._looks = True
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._fault: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stop.set()
        self._thread.join(self._look_at_most_s + self._every_s + 1)
        if error is None and self._fault is not None:
            raise self._fault

    @contextmanager
    def looking(self, looks: bool) -> Iterator[None]:
        """Set whether it looks during the block; a look in progress is completed."""
        before, self._looks = self._looks, looks
        try:
            yield
        finally:
            self._looks = before

    def _loop(self) -> None:
        due = time.monotonic()
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._every_s, time.monotonic())
            if not self._looks:
                continue
            try:
                self._look()
            except SutGoneError:
                return
            except Exception as fault:
                self._fault = fault
                return
