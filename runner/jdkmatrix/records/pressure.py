"""Who used the CPUs, and what else the host did."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.domain.record import Record

CpuRole = Literal["sut", "driver", "remote", "runner"]


class CpuUse(Record):
    """A set of CPUs over one window, and who used them; all shares are of these CPUs together.

    `busy_share`: neither idle nor stolen; `own_share`: by the processes of these roles; `interrupt_share`: hard and
    soft interrupts as the kernel reports them; `foreign_share`: what is left (probes/cpu_balance.py), possibly below 0
    through rounding; `by_tasks`: true if that is what others' tasks ran, false if it is what was neither idle nor ours;
    `rounding_share`: what rounding may add to it, 0 in older records; `idle_entries_per_s`: how often each CPU went
    idle on average, None if that was not counted."""

    roles: tuple[CpuRole, ...]
    cpus: tuple[int, ...]
    busy_share: float
    own_share: float
    interrupt_share: float
    foreign_share: float
    by_tasks: bool = False
    steal_share: float
    rounding_share: float = 0.0
    idle_entries_per_s: float | None = None


class Pressure(Record):
    """The host over one window; None where the kernel does not report a figure.

    `elapsed_s`: between the readings, the time that all shares are of; `threads_ended`: of all processes of the host
    meanwhile. Older records have neither. `writers_share`: what kernel threads that write to disks used of the CPUs of
    a program that waits for the disk; they count as the program's own. None: not counted."""

    steal_share: float  # of all CPUs that we use; since 3 December 2026 without those of this tool alone
    foreign_cpu_share: float  # of the same: busy, but not with a process of ours
    cpu_use: tuple[CpuUse, ...] = ()  # by set of CPUs; empty: not counted by set
    irq_time_accounting: bool | None = None  # True if process clocks leave interrupts out; None: not known
    runner_cpu_share: float | None = None  # of one CPU, by this tool
    psi_cpu_some_share: float | None
    throttled_share: float | None = None  # of the window, by CPU quotas, summed over CPUs
    swapped_bytes_per_s: float | None = None  # in and out, whole host
    clock_step_s: float | None = None  # how far the time of day moved relative to the monotonic clock
    suspended_s: float | None = None
    elapsed_s: float | None = None
    threads_ended: int | None = None
    writers_share: float | None = None

    def use_of(self, role: CpuRole) -> CpuUse | None:
        """Return the use of the CPUs that `role` has, including that by whoever shares them."""
        return next((use for use in self.cpu_use if role in use.roles), None)
