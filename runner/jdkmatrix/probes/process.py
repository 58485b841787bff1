"""Read the SUT's processes and threads in /proc, and compute the difference between two readings."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.reading import text_if_readable

# If more than this share of the threads alive at the start of a window have ended by its end, or ended threads used
# more than this share of the CPU time, sums over living threads are not the process's: with one thread per request they
# would miss nearly everything.
CHURN_SHARE_MAX = 0.10

# Prefixes of the kernel's names of compiler threads: HotSpot's "C1 CompilerThread0", OpenJ9's "JIT Compilation
# Thread-000", Graal's "JVMCI-native CompilerThread0" (of which none was seen here). Of a name that is too long,
# different versions of HotSpot keep the first 15 characters, or 7 and the end, "C1 Comp..hread0":
# os::set_native_thread_name (os_linux.cpp).
JIT_THREADS = ("C1 Comp", "C2 Comp", "JIT Compilation", "JVMCI-n", "JVMCI C")

# The thread in which HotSpot answers jcmd; it does nothing else. On an idle server, a reading of its memory took 21 ms
# in this thread and 26 ms in the whole process (JDK 21, 47 threads), 35.4 and 35.5 ms (JDK 25, 49 threads), 92.7 and
# 93.3 ms (JDK 25, 545 threads). Under load only the thread can tell: the process's clock includes the requests.
ATTACH_THREADS = ("Attach Listener",)


class SutGoneError(MatrixError):
    """The process has ended."""


@dataclass(frozen=True)
class ThreadCounters:
    """Counters of one thread since it started. `name` is the kernel's, at most 15 characters long."""

    name: str
    cpu_ns: int
    voluntary_switches: int
    involuntary_switches: int
    run_queue_wait_ns: int


@dataclass(frozen=True)
class Glance:
    """One process at one moment, from two small files and its clock, however many threads it has."""

    monotonic_ns: int
    cpu_ns: int  # user and system, including threads that have ended
    rss_bytes: int  # how exact: docs/method.md
    virt_bytes: int
    thread_count: int


@dataclass(frozen=True)
class Reading:
    """One process at one moment, with each of its threads: 40 µs per thread, so only for the ends of windows."""

    at: Glance
    threads: Mapping[int, ThreadCounters] = field(repr=False)  # by thread id


@dataclass(frozen=True)
class Scheduling:
    voluntary_switches: int
    involuntary_switches: int
    run_queue_wait_s: float


_ENDED = ("Z", "X")


def cpu_time_ns(pid: int) -> int:
    """Return the CPU time of all threads of `pid`, living and ended, in ns.

    It reads the CPU-time clock of another process, whose id is made as by MAKE_PROCESS_CPUCLOCK in the kernel's
    include/linux/posix-timers.h (clock_getcpuclockid(3)). /proc/PID/stat has the same figure in ticks of 10 ms.
    """
    cpuclock_sched = 2
    try:
        return time.clock_gettime_ns((~pid << 3) | cpuclock_sched)
    except OSError:
        raise SutGoneError(f"process {pid} has ended") from None


def glance(pid: int) -> Glance:
    """Read what costs little. Raises: SutGoneError: no such process, or one that has ended and is not waited for."""
    proc = Path(f"/proc/{pid}")
    try:
        virt_pages, rss_pages = (proc / "statm").read_text().split()[:2]
        # Fields 3 and 20 of proc_pid_stat(5); the second may contain anything but is the last in brackets.
        stat = (proc / "stat").read_text(errors="replace").rpartition(")")[2].split()
        state, thread_count = stat[0], int(stat[17])
    except (OSError, ValueError, IndexError):
        raise SutGoneError(f"process {pid} has ended") from None
    if state in _ENDED and thread_count <= 1:  # a first thread may end before the others
        raise SutGoneError(f"process {pid} has ended")
    page = os.sysconf("SC_PAGE_SIZE")
    return Glance(
        monotonic_ns=time.monotonic_ns(),
        cpu_ns=cpu_time_ns(pid),
        rss_bytes=int(rss_pages) * page,
        virt_bytes=int(virt_pages) * page,
        thread_count=thread_count,
    )


def read_threads(pid: int, proc: Path = Path("/proc")) -> dict[int, ThreadCounters]:
    """Read the counters of every living thread; empty if the process has ended.

    Raises:
        MatrixError: this kernel does not tell the CPU time of threads.
    """
    threads: dict[int, ThreadCounters] = {}
    try:
        tasks = list(os.scandir(proc / str(pid) / "task"))
    except OSError:
        return threads
    for task in tasks:
        status, schedstat = (text_if_readable(Path(task.path, name)) for name in ("status", "schedstat"))
        if status is None or schedstat is None:
            continue  # it ended while we read
        if (counters := parse_thread(status, schedstat)) is not None:
            threads[int(task.name)] = counters
    if tasks and not threads and not (proc / "self/schedstat").exists():
        raise MatrixError(
            "this kernel does not show the CPU time of threads, such as the JIT compiler's: it has no "
            "/proc/PID/task/TID/schedstat (CONFIG_SCHED_INFO)"
        )
    return threads


def parse_thread(status: str, schedstat: str) -> ThreadCounters | None:
    """Parse the texts of task/TID/status and task/TID/schedstat; None for a thread that is just ending."""
    _, found, switches = status.partition("voluntary_ctxt_switches:")
    fields = schedstat.split()
    if not found or len(fields) != 3:
        return None
    voluntary, _, rest = switches.partition("\n")
    return ThreadCounters(
        name=status.partition("Name:")[2].partition("\n")[0].strip(),
        cpu_ns=int(fields[0]),
        voluntary_switches=int(voluntary),
        involuntary_switches=int(rest.partition(":")[2].partition("\n")[0]),  # a line of shadow stacks may follow
        run_queue_wait_ns=int(fields[1]),
    )


def difference(before: Reading, after: Reading) -> Scheduling | None:
    """Return the counts of all threads between two readings; None if too many ended in between to tell."""
    lived = before.threads.keys() & after.threads.keys()
    spent_ns = after.at.cpu_ns - before.at.cpu_ns
    if len(before.threads) - len(lived) > CHURN_SHARE_MAX * len(before.threads):
        return None
    if cpu_ns_of(("",), before, after) < (1 - CHURN_SHARE_MAX) * spent_ns:
        return None

    def counted(counter: str) -> int:
        now: int = sum(getattr(thread, counter) for thread in after.threads.values())
        then: int = sum(getattr(before.threads[tid], counter) for tid in lived)
        return now - then

    voluntary, involuntary = counted("voluntary_switches"), counted("involuntary_switches")
    return Scheduling(voluntary, involuntary, counted("run_queue_wait_ns") / 1e9)


def cpu_share_of(names: Collection[str], before: Reading, after: Reading) -> float:
    """Return the CPU time of threads with these kernel names, as a share of the process's less its JIT compiler's."""
    total_ns = cpu_ns_without_jit(before, after)
    return cpu_ns_of(tuple(names), before, after) / total_ns if names and total_ns > 0 else 0.0


def cpu_ns_without_jit(before: Reading, after: Reading) -> int:
    """Return the CPU time of the process between two readings, less its JIT compiler's."""
    return after.at.cpu_ns - before.at.cpu_ns - cpu_ns_of(JIT_THREADS, before, after)


def cpu_ns_of(names: tuple[str, ...], before: Reading, after: Reading) -> int:
    """Return the CPU time between two readings of threads whose names begin so; those that ended are not counted."""
    return sum(thread_cpu_ns(tid, before, after) for tid, now in after.threads.items() if now.name.startswith(names))


def thread_cpu_ns(tid: int, before: Reading, after: Reading) -> int:
    """Return the CPU time of a thread of the later reading since the earlier one, or since the thread began."""
    return after.threads[tid].cpu_ns - (before.threads[tid].cpu_ns if tid in before.threads else 0)
