"""Threads are put on their CPUs, and that is verified."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from jdkmatrix.fork.affinity import allow_jit, astray, confine, cpus_beside
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.probes.process import glance, read_threads

SCRIPT = """
import threading, time
for name in ("worker", "other"):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
for thread in threading.enumerate()[1:]:  # as the kernel cuts a name that is not ASCII
    with open("/proc/self/task/%d/comm" % thread.native_id, "wb") as comm:
        comm.write("异步任务-1".encode()[:7])
with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
    comm.write("C2 CompilerThread0")
print("ready", flush=True)
time.sleep(60)
"""


def masks(pid: int) -> dict[int, set[int]]:
    return {int(task.name): os.sched_getaffinity(int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir()}


@contextmanager
def three_threads() -> Iterator[int]:
    """Start a process with three threads, of which the first is called like the compiler's; yield its pid."""
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.wait()


two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs to tell one from the other")


@two_cpus
def test_only_the_compiler_is_let_out_and_everybody_is_put_back() -> None:
    first, *_, last = sorted(os.sched_getaffinity(0))
    with three_threads() as pid:
        confine(pid, {last})
        assert set(map(frozenset, masks(pid).values())) == {frozenset({last})}
        assert len(masks(pid)) == len(read_threads(pid)) == 3
        assert [one.name[:2] for one in read_threads(pid).values()].count("异步") == 2
        assert glance(pid).thread_count == 3
        allow_jit(pid, {first, last})
        assert sorted(map(sorted, masks(pid).values())) == sorted([[first, last], [last], [last]])
        confine(pid, {last})
        assert all(mask == {last} for mask in masks(pid).values())
    allow_jit(pid, {first})
    confine(pid, {first})


@two_cpus
def test_a_thread_that_keeps_to_one_of_its_cpus_is_left_there() -> None:
    first, *_, last = sorted(os.sched_getaffinity(0))
    with three_threads() as pid:
        confine(pid, {first, last})
        pinned, *others = sorted(masks(pid))
        os.sched_setaffinity(pinned, {last})
        assert astray(pid, {first, last}) == ()
        assert sorted(astray(pid, {last})) == others
        confine(pid, {first, last})
        assert masks(pid)[pinned] == {last}


@pytest.mark.parametrize(
    ("allowed", "cores", "expected"),
    [
        (range(4), [(0,), (1,), (2,), (3,)], {3}),
        (range(4), [(0, 2), (1, 3)], {0}),  # the fourth is the other thread of the server's core
        (range(3), [(0,), (1,), (2,)], {0}),  # not beside the remote system, too: two roles, two balances
        (range(1, 3), [(1,), (2,)], {2}),
        (range(3), [(0, 1), (2,)], {2}),
        ((1, 3), [(1, 3)], {3}),
        ((1,), [(1,)], {1}),
        (range(8), [(0, 4), (1, 5), (2, 6), (3, 7)], {3, 4, 6, 7}),
    ],
)
def test_this_tool_keeps_off_the_cores_of_the_server(
    allowed: Sequence[int], cores: list[tuple[int, ...]], expected: set[int]
) -> None:
    sets = CpuSets(sut=(1,), driver=(0,), remote=(2,), overlapped=False)
    assert cpus_beside(allowed, sets, cores) == expected
