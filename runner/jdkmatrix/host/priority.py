"""The priority of this tool's threads on CPUs that it shares with what it watches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FIRST = -20  # sched(7): the smallest nice value, with the most weight
_TASKS = Path("/proc/self/task")


@contextmanager
def ahead_of_others() -> Iterator[None]:
    """Run every thread of this process, with those that it starts meanwhile, before ordinary ones that want its CPU; so
    start no process inside. Where this process may not ask for that (CAP_SYS_NICE, RLIMIT_NICE), nothing changes.

    Every thread: one that waits for a CPU while it holds the interpreter's lock holds the others back.
    """
    before = dict(_niceness())
    for thread in before:
        _set(thread, _FIRST)
    try:
        yield
    finally:
        for thread, _ in _niceness():
            _set(thread, before.get(thread, before[os.getpid()]))


def _niceness() -> Iterator[tuple[int, int]]:
    for task in _TASKS.iterdir():
        with suppress(ProcessLookupError):
            yield int(task.name), os.getpriority(os.PRIO_PROCESS, int(task.name))


def _set(thread: int, nice: int) -> None:
    with suppress(PermissionError, ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, thread, nice)
