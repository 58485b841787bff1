"""Processes of this one: they end when it does, and are gone when it goes on."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import active_children, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread

_ASKED_AGAIN_S = 1.0


def with_parent(end: Callable[[], object]) -> None:
    """Have `end` called, in a thread of its own, when the parent of this process ends, however that is: a process for
    runs is a child of the server that forks, which lives as long as they do."""

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
    """Ask it by SIGTERM until it has ended: Python sees one that comes right before a call that blocks only when
    another interrupts that call."""
    while process.is_alive():
        process.terminate()
        process.join(_ASKED_AGAIN_S)
