"""Set CPU affinity: widen it for the JIT compiler's threads of a process, narrow it again, verify it; and keep this
tool off the server's CPUs."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.host.topology import read_topology
from jdkmatrix.probes.process import JIT_THREADS
from jdkmatrix.reading import text_if_readable


class AffinityError(MatrixError):
    """A thread may run on CPUs that it must not use."""


def allow_jit(pid: int, cpus: Collection[int]) -> None:
    """Let the JIT compiler's threads, and those that they start, run on `cpus`."""
    for tid, name in _threads(pid):
        if name.startswith(JIT_THREADS) and _get(tid) != set(cpus):
            _set(tid, cpus)


def confine(pid: int, cpus: Collection[int]) -> None:
    """Put every thread of the process on `cpus`, and verify it.

    Raises:
        AffinityError: a thread is somewhere else nevertheless.
    """
    # A new thread inherits the mask of the one that starts it, so a single pass can miss it.
    for _ in range(3):
        if not (left := astray(pid, cpus)):
            return
        for tid in left:
            _set(tid, cpus)
    if left := astray(pid, cpus):
        raise AffinityError(f"{len(left)} threads of process {pid} do not stay on CPUs {sorted(cpus)}")


def astray(pid: int, cpus: Collection[int]) -> tuple[int, ...]:
    """Return the ids of the threads that may run elsewhere. One that an application keeps on some of these CPUs may
    not."""
    return tuple(tid for tid, _ in _threads(pid) if not (_get(tid) or set()) <= set(cpus))


def cpus_beside(allowed: Collection[int], sets: CpuSets, cores: Iterable[Collection[int]]) -> frozenset[int]:
    """Choose the CPUs for this tool: unassigned ones that share no core with the server's, else the driver's, else the
    remote system's, both on such cores if possible, else those beside the server. Never those of two roles at once,
    whose CPU use could then be reported only together. `cores`: the CPUs of each."""
    shared = {cpu for core in cores if set(core) & set(sets.sut) for cpu in core}
    rest = set(allowed) - set(sets.sut)
    places = [(rest - shared).difference(sets.all)]
    places += [some & set(role) for some in (rest - shared, rest) for role in (sets.driver, sets.remote)]
    return frozenset(next(filter(None, (*places, rest)), set(allowed)))


@contextmanager
def runner_beside(sets: CpuSets) -> Iterator[None]:
    """Keep this tool off the server's CPUs while it is measured. It reads clocks and asks for gauges under load: what
    that used would be taken from the server, and more from one with many threads to read.

    All threads of this process, and those that they start, stay elsewhere until the end."""
    allowed = os.sched_getaffinity(0)
    _move(cpus_beside(allowed, sets, read_topology().cores))
    try:
        yield
    finally:
        _move(allowed)


def _move(cpus: Collection[int]) -> None:
    for tid, _ in _threads(os.getpid()):
        _set(tid, cpus)


def _threads(pid: int) -> Iterator[tuple[int, str]]:
    try:
        tasks = list(os.scandir(f"/proc/{pid}/task"))
    except OSError:
        return  # it has ended
    for task in tasks:
        name = text_if_readable(Path(task.path, "comm"))
        if name is not None:  # else it ended while we read
            yield int(task.name), name


def _get(tid: int) -> set[int] | None:
    try:
        return os.sched_getaffinity(tid)
    except ProcessLookupError:
        return None


def _set(tid: int, cpus: Collection[int]) -> None:
    with suppress(ProcessLookupError):
        os.sched_setaffinity(tid, cpus)
