"""Keep this tool off the CPUs of the server while it is measured.

It reads clocks and asks for gauges while the load runs; what it used on the server's CPUs would be taken from the
server, and more from one that has many threads to be read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.host.topology import read_topology


def cpus_beside(allowed: Collection[int], sets: CpuSets, cores: Iterable[Collection[int]]) -> frozenset[int]:
    """The CPUs for this tool: on CPUs that nobody has and that share no core with the server's, else beside the driver
    and the remote system, else anywhere. `cores`: the CPUs of each."""
    free = set(allowed) - {*sets.sut, *sets.driver, *sets.remote}
    free -= {cpu for core in cores if set(core) & set(sets.sut) for cpu in core}
    return frozenset(free or set(allowed) - set(sets.sut) or set(allowed))


@contextmanager
def runner_beside(sets: CpuSets) -> Iterator[None]:
    """All threads of this process are there until the end, and so are those that they start."""
    allowed = os.sched_getaffinity(0)
    _move(cpus_beside(allowed, sets, read_topology().cores))
    try:
        yield
    finally:
        _move(allowed)


def _move(cpus: Collection[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        try:
            os.sched_setaffinity(int(thread.name), cpus)
        except ProcessLookupError:
            continue  # it has just ended
