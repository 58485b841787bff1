"""Balance every CPU over a window: attribute its time to our processes and to others. Pure.

Where the kernel shows how long tasks ran on each CPU (cpuacct, in the root cgroup of version 1), others had what our
own processes did not: both are sums of one clock, and include neither waking a CPU nor interrupts while it idles.

Elsewhere, what remains of the elapsed time after subtracting idle time, stolen time and the time of our own processes
was somebody else's. Kernels that stop the tick in idle (CONFIG_NO_HZ_IDLE, kernel/time/tick-sched.c) keep the idle time
of a CPU to the microsecond, at every entry to and exit from idle, and show it in ticks of 10 ms (proc_stat(5)). The
columns for user and system time are worth less: without CONFIG_VIRT_CPU_ACCOUNTING they count timer ticks, and miss a
process that sleeps at the tick. They are not used.

Interrupts: the kernel's own loopback traffic runs in soft interrupts, 10 to 20 % of a busy CPU. With
CONFIG_IRQ_TIME_ACCOUNTING the clock of a process leaves them out, and /proc/stat reports them exactly: they are
subtracted as well. Without it they are in the clock of the process that they interrupt, and /proc/stat counts them in
ticks; subtracting that too would count them twice and hide a foreign load of the same size. `host/irq_time.py` finds
out which of the two this kernel does.

Without cpuacct, time that is nobody's counts as foreign, and a gate must allow for it; for the end of a thread and for
rounding (of the sum, by what runs at the reading: a tick of the kernel at most) everywhere:

- Leaving idle, and interrupts that arrive in idle. Compared with the kernel's own sum over all tasks (cpuacct), each
  entry to idle that cpuidle counts costs 2 to 5 µs where one thread sleeps or is woken, 4.4 to 5.8 µs under HTTP, 4 to
  10 µs in experiments that wake both CPUs 5,000 to 10,000 times a second, 5 to 26 µs where 1,000 to 2,000 times (on a
  virtual machine; 1 to 3 % of a CPU there). A CPU that is always busy has none. Where entries are not counted, it is
  bounded only by how busy a CPU is: it was 1.5 to 2.6 % of one that was busy half of the time, 0.5 % where it idled for
  95 % of it (runner/tests/samples/windows, infoq-cpu).
- The end of a thread. When it leaves its process, the kernel adds to the process's clock what the scheduler had last
  charged it with (`__exit_signal`, kernel/exit.c), and what it runs after that, until it is gone, is in no clock of the
  process: 4.2 to 5.2 µs per thread, Java's or Python's, compared with the sum of its cgroup (cpuacct). 10,000 threads
  of the experiment `spawn` lose 50 ms; freeing them costs kernel threads up to 25 ms more.
- Ticks round idle time by up to 10 ms per CPU at either end, 0.3 % of a window of 3 s on one CPU.

Stolen time that the hypervisor does not report is in our own clocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import rise
from jdkmatrix.host.cpu_ticks import CpuTicks
from jdkmatrix.records.pressure import CpuRole, CpuUse


@dataclass(frozen=True)
class Used:
    """CPU seconds of our processes of one role, and the CPUs that they were kept on."""

    role: CpuRole
    cpus: tuple[int, ...]
    cpu_s: float


def balance(
    before: Mapping[int, CpuTicks],
    after: Mapping[int, CpuTicks],
    used: Iterable[Used],
    *,
    elapsed_s: float,
    ticks_per_s: int,
    irq_time_accounting: bool | None,
) -> tuple[CpuUse, ...]:
    """Return one entry for each set of CPUs that roles share; none for a set that /proc/stat does not show whole.

    `irq_time_accounting` is ignored where the kernel sums up tasks. None (not known) is taken as False: if that is
    wrong, interrupts count as foreign, and good windows are refused; the other way round, a foreign load would go
    unseen.
    """
    found = []
    for group in _sharing(used):
        cpus = tuple(sorted({cpu for one in group for cpu in one.cpus}))
        if not cpus or not set(cpus) <= before.keys() & after.keys() or elapsed_s <= 0:
            continue

        def share(column: str, cpus: Sequence[int] = cpus) -> float:
            ticks: int = sum(getattr(after[cpu], column) - getattr(before[cpu], column) for cpu in cpus)
            return ticks / ticks_per_s / (elapsed_s * len(cpus))

        def rate(counter: str, cpus: Sequence[int] = cpus) -> float | None:
            rises = [rise(getattr(before[cpu], counter), getattr(after[cpu], counter)) for cpu in cpus]
            return None if None in rises else sum(filter(None, rises)) / (elapsed_s * len(cpus))

        steal, interrupts = share("steal"), share("interrupts")
        busy = 1.0 - share("idle") - steal
        own = sum(one.cpu_s for one in group) / (elapsed_s * len(cpus))
        tasks_ns_per_s = rate("tasks_ns")
        if tasks_ns_per_s is not None:
            tasks = tasks_ns_per_s / 1e9
        else:
            tasks = busy - (interrupts if irq_time_accounting else 0.0)
        found.append(
            CpuUse(
                roles=tuple(one.role for one in group),
                cpus=cpus,
                busy_share=busy,
                own_share=own,
                interrupt_share=interrupts,
                foreign_share=tasks - own,
                by_tasks=tasks_ns_per_s is not None,
                steal_share=steal,
                # Each CPU is off by less than a tick, with a standard deviation of 0.41: this is 2.4 times their sum's.
                rounding_share=1 / (ticks_per_s * elapsed_s * math.sqrt(len(cpus))),
                idle_entries_per_s=rate("idle_entries"),
            )
        )
    return tuple(found)


def _sharing(used: Iterable[Used]) -> list[list[Used]]:
    """Group roles whose CPUs overlap: nothing tells which of them used a shared CPU."""
    groups: list[list[Used]] = []
    for one in used:
        meeting = [group for group in groups if any(set(one.cpus) & set(other.cpus) for other in group)]
        groups = [group for group in groups if group not in meeting]
        groups.append([*(other for group in meeting for other in group), one])
    return groups
