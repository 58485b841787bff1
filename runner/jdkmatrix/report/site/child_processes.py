"""Child processes of this one: they end when it does, and are gone before it goes on.

Python handles a signal between two steps of its main thread. One that arrives right before a blocking call, or in
another thread, is seen when that call returns: so no wait for a child blocks for longer than `LOOKED_UP_S`."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import active_children, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

LOOKED_UP_S = 1.0
_ASKED_TIMES = 60  # a site that is half written, and may be large, is removed meanwhile


def with_parent(end: Callable[[], object]) -> None:
    """Call `end`, in a thread of its own, when the parent of this process ends, however it ends: a process that renders
    runs is a child of the fork server, which lives as long as its children do."""

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
        end()

    Thread(target=watch, daemon=True).start()


def end_children() -> None:
    for process in active_children():
        end_child(process)


def wait_for(process: BaseProcess) -> None:
    while process.is_alive():
        process.join(LOOKED_UP_S)


def end_child(process: BaseProcess) -> None:
    """Send SIGTERM until the process has ended; kill one that does not end."""
    for _ in range(_ASKED_TIMES):
        if not process.is_alive():
            return
        process.terminate()
        process.join(LOOKED_UP_S)
    process.kill()
    process.join()
