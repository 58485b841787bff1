"""Watch the host while an experiment measures, but not while its program starts, warms up and writes.

The host is read again and again, and afterwards the program tells when it measured. Only then are the readings that
enclose that span chosen: the last before its start, the first after its end. They are up to `EVERY_S` outside it, which
does not matter for a span of some seconds but does for a shorter one. Around a short span, readings further away are
taken until `SHORTEST_S` lie between them: the clock ticks in which a CPU's idle time is counted are 2 % of two CPUs in
a quarter of a second.

A reading takes one counter after another. If the program's threads fill this tool's CPUs, too, it may have to wait for
a CPU in between, and what the program used meanwhile would be in the host's counters and not in the program's: beside
2,000 threads that waited for a pool of connections, that made up to 66 % of two CPUs look foreign. So this tool runs
first where it may, and a reading that was interrupted is left out. Beside 2,000 threads that only spun, a reading took
up to 132 ms, 33 on average; with this tool running first, up to 14 ms, 2 on average (Linux 6.18).

When a program waits for the disk, threads of the kernel work for it. They count as the program's own: otherwise the
gate would refuse it for what it is.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from jdkmatrix.domain.quantities import rise
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.probes.cpu_balance import Used
from jdkmatrix.probes.host import HostReading, pressure, read_host
from jdkmatrix.probes.kernel_writers import KernelWriters
from jdkmatrix.probes.pace import Pace
from jdkmatrix.probes.process import SutGoneError, cpu_time_ns
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import MeasuredSpan
from jdkmatrix.records.remote import RemoteStats

# A reading takes about half a millisecond of the runner's CPU time.
EVERY_S = 0.25
SHORTEST_S = 0.5
_LOOK_AT_MOST_S = 1.0
# A reading was interrupted if it took more than this share of what is measured, and so many times as long as the first,
# before the program started. Others may have four times that share (foreign_sut_share_max).
_IN_ONE_GO_SHARE = 0.005
_TIMES_THE_FIRST = 4


@dataclass(frozen=True)
class Moment:
    """The host, and the CPU time that is ours, each since its process started; the program's is 0 before it did.
    `writers_cpu_ns`: of the kernel's threads that write to disks, None if they are not counted or not shown; `took_ns`:
    from the first of these counters to the last."""

    host: HostReading
    program_cpu_ns: int
    remote_cpu_ns: int
    runner_cpu_ns: int
    took_ns: int
    writers_cpu_ns: int | None = None

    @property
    def monotonic_ns(self) -> int:
        return self.host.clocks.monotonic_ns


@dataclass(frozen=True)
class Stretch:
    """The host from one moment to another."""

    before: Moment
    after: Moment

    @property
    def duration_s(self) -> float:
        return (self.after.monotonic_ns - self.before.monotonic_ns) / 1e9

    def pressure(self, cpus: CpuSets, *, irq_time_accounting: bool | None) -> Pressure:
        """Return the pressure on the CPUs of program and remote system; `irq_time_accounting`: see host/irq_time.py."""
        before, after = self.before, self.after
        writers_ns = rise(before.writers_cpu_ns, after.writers_cpu_ns)
        used = [
            Used("sut", cpus.sut, (after.program_cpu_ns - before.program_cpu_ns + (writers_ns or 0)) / 1e9),
            Used("runner", tuple(sorted(os.sched_getaffinity(0))), (after.runner_cpu_ns - before.runner_cpu_ns) / 1e9),
        ]
        if cpus.remote:
            used.append(Used("remote", cpus.remote, (after.remote_cpu_ns - before.remote_cpu_ns) / 1e9))
        found = pressure(before.host, after.host, used=used, irq_time_accounting=irq_time_accounting)
        if writers_ns is None:
            return found
        return found.model_copy(update={"writers_share": writers_ns / 1e9 / (self.duration_s * len(cpus.sut))})

    def of_remote(self, whole: RemoteStats) -> RemoteStats:
        """Return the remote system's figures with the CPU time of this stretch; its lateness is still of `whole`."""
        return whole.model_copy(
            update={
                "cpu_s": (self.after.remote_cpu_ns - self.before.remote_cpu_ns) / 1e9,
                "since_monotonic_ns": self.before.monotonic_ns,
                "now_monotonic_ns": self.after.monotonic_ns,
            }
        )


def enclosing(moments: Sequence[Moment], span: MeasuredSpan | None) -> Stretch:
    """Return the stretch from the last moment before the span to the first after it, or from earlier ones to later ones
    until `SHORTEST_S` lie between them. Pure.

    `moments` are in order, the first before the program's start, the last after its end; the stretch is from the first
    to the last if the program tells no span, or one not inside. Of those between, only moments taken in one go count.
    """
    first, between, last = moments[0], moments[1:-1], moments[-1]
    whole = Stretch(first, last)
    if span is None:
        return whole
    longest_ns = max(_IN_ONE_GO_SHARE * max(span.duration_s, SHORTEST_S) * 1e9, _TIMES_THE_FIRST * first.took_ns)
    complete = [first, *(moment for moment in between if moment.took_ns <= longest_ns), last]
    before = [moment for moment in complete if moment.monotonic_ns <= span.start_monotonic_ns]
    after = [moment for moment in complete if moment.monotonic_ns >= span.end_monotonic_ns]
    if not before or not after:
        return whole
    while (stretch := Stretch(before[-1], after[0])).duration_s < SHORTEST_S and stretch != whole:
        before, after = before[:-1] or before, after[1:] or after
    return stretch


def longest_s(span: MeasuredSpan) -> float:
    """Return how long the stretch of `enclosing` is at most, if readings are taken in time."""
    return max(span.duration_s, SHORTEST_S) + 2 * EVERY_S


class HostWatch:
    """A watch to enter before the program is started, and exit once that was waited for; `moments` are then complete.

    While it runs, `follow` reads every `EVERY_S`. `cpus`: of the program and of the remote system; `remote_pid`: of the
    latter, if any, which outlives the program; `waits_for_disk`: true if the program does."""

    def __init__(self, cpus: Sequence[int], remote_pid: int | None, *, waits_for_disk: bool = False) -> None:
        self._cpus, self._remote_pid = cpus, remote_pid
        self._writers = KernelWriters() if waits_for_disk else None
        self.moments: list[Moment] = []
        self._children_ns = _children_cpu_ns()

    def follow(self, pid: int) -> Pace:
        """Return a pace that reads between enter and exit; it stops by itself when the program ends."""

        def look() -> None:
            self._read(lambda: cpu_time_ns(pid))

        return Pace("host watch", look, every_s=EVERY_S, look_at_most_s=_LOOK_AT_MOST_S)

    def __enter__(self) -> Self:
        self._read(lambda: 0)
        return self

    def __exit__(self, *stopped: object) -> None:
        # That a remote system is gone is reported by whoever asks it for its figures.
        with suppress(SutGoneError):
            # The program's own clock is gone with it; what it used is now counted for the process that waited for it.
            self._read(lambda: _children_cpu_ns() - self._children_ns)

    def _read(self, program_cpu_ns: Callable[[], int]) -> None:
        begun_ns = time.monotonic_ns()
        program_ns, host = program_cpu_ns(), read_host(self._cpus)
        remote_ns = 0 if self._remote_pid is None else cpu_time_ns(self._remote_pid)
        writers_ns = self._writers.cpu_ns() if self._writers else None
        runner_ns = time.process_time_ns()
        took_ns = time.monotonic_ns() - begun_ns
        self.moments.append(Moment(host, program_ns, remote_ns, runner_ns, took_ns, writers_ns))


def _children_cpu_ns() -> int:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((children.ru_utime + children.ru_stime) * 1e9)
