"""Set the CPUs on which the threads of a process may run: widen them for the JIT compiler, put them back, verify."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.probes.process import JIT_THREADS


class AffinityError(MatrixError):
    """A thread may run where it must not."""


def allow_jit(pid: int, cpus: Collection[int]) -> None:
    """Let the compiler's threads, and those that they start, run on `cpus`."""
    for tid, name in _threads(pid):
        if name.startswith(JIT_THREADS) and _get(tid) != set(cpus):
            _set(tid, cpus)


def confine(pid: int, cpus: Collection[int]) -> None:
    """Put every thread of the process on `cpus`, and look.

    Raises:
        AffinityError: a thread is somewhere else nevertheless.
    """
    # A thread that is being started inherits the mask of the one that starts it, so one pass can miss it.
    for _ in range(3):
        left = astray(pid, cpus)
        if not left:
            return
        for tid in left:
            _set(tid, cpus)
    raise AffinityError(f"{len(left)} threads of process {pid} do not stay on CPUs {sorted(cpus)}")


def astray(pid: int, cpus: Collection[int]) -> tuple[int, ...]:
    """The ids of the threads that may run elsewhere."""
    return tuple(tid for tid, _ in _threads(pid) if _get(tid) not in (None, set(cpus)))


def _threads(pid: int) -> Iterator[tuple[int, str]]:
    try:
        tasks = list(os.scandir(f"/proc/{pid}/task"))
    except OSError:
        return  # it has ended
    for task in tasks:
        try:
            name = Path(task.path, "comm").read_text().strip()
        except OSError:
            continue  # it ended while we read
        yield int(task.name), name


def _get(tid: int) -> set[int] | None:
    try:
        return os.sched_getaffinity(tid)
    except ProcessLookupError:
        return None


def _set(tid: int, cpus: Collection[int]) -> None:
    try:
        os.sched_setaffinity(tid, cpus)
    except ProcessLookupError:
        return
