"""Child processes of this one: they end when it does, and are gone before it goes on."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import active_children, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

_ASKED_AGAIN_S = 1.0


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


def end_child(process: BaseProcess) -> None:
    """Send SIGTERM until the process has ended: Python sees a signal that arrives right before a blocking call only
    when another one interrupts that call."""
    while process.is_alive():
        process.terminate()
        process.join(_ASKED_AGAIN_S)
