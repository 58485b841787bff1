"""Who had the CPUs, and what else the host did."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.domain.record import Record

CpuRole = Literal["sut", "driver", "remote", "runner"]


class CpuUse(Record):
    """A set of CPUs over one window, and who had them; all shares are of these CPUs together.

    `busy_share`: neither idle nor stolen; `own_share`: by the processes of these roles; `interrupt_share`: hard and
    soft interrupts as the kernel tells them; `foreign_share`: what is left (probes/cpu_balance.py), below 0 by
    rounding; `by_tasks`: whether it is what tasks of others ran, or else what was neither idle nor ours;
    `rounding_share`: what rounding may add to it, 0 in older records; `idle_entries_per_s`: how often each of them went
    idle on average, None where that was not counted."""

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
    """The host over one window; None where the kernel does not tell.

    `elapsed_s`: between the readings that all shares are of; `threads_ended`: of all processes of the host meanwhile.
    Older records have neither. `writers_share`: of the CPUs of a program that waits for the disk, by threads of the
    kernel that write to disks; they count as the program's own. None: not counted."""

    steal_share: float  # of all CPUs that we use
    foreign_cpu_share: float  # of the same: busy, and by no process of ours
    cpu_use: tuple[CpuUse, ...] = ()  # by set of CPUs; empty: not counted so
    irq_time_accounting: bool | None = None  # does the clock of a process leave interrupts out? None: not known
    runner_cpu_share: float | None = None  # of one CPU, by this tool
    psi_cpu_some_share: float | None
    throttled_share: float | None = None  # of the window, by CPU quotas, summed over CPUs
    swapped_bytes_per_s: float | None = None  # in and out, whole host
    clock_step_s: float | None = None  # how far the time of day moved beyond the monotonic clock
    suspended_s: float | None = None
    elapsed_s: float | None = None
    threads_ended: int | None = None
    writers_share: float | None = None

    def use_of(self, role: CpuRole) -> CpuUse | None:
        """The use of the CPUs that `role` has, with whoever shares them."""
        return next((use for use in self.cpu_use if role in use.roles), None)
