"""Times of each CPU since boot by kind of activity, in ticks: the rows of /proc/stat, and the kernel's sum over all
tasks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.reading import text_if_readable


@dataclass(frozen=True)
class CpuTicks:
    """A line of /proc/stat (proc_stat(5)), in clock ticks. `idle`: including waiting for IO; `interrupts`: hard and
    soft ones. `tasks_ns`: how long tasks ran, whoever's, by the clock of processes; `idle_entries`: how often the CPU
    went idle, in any state (Documentation/admin-guide/pm/cpuidle.rst); None where the kernel does not show that."""

    idle: int
    interrupts: int
    steal: int
    tasks_ns: int | None = None
    idle_entries: int | None = None


def read_ticks(proc: Path) -> dict[int, CpuTicks]:
    """Read the ticks by CPU; none where the kernel's own file is not shown: in a container, another may be mounted over
    it (lxcfs), which numbers the container's CPUs from 0 on."""
    return kernels_ticks(text_if_readable(proc / "stat") or "", proc)


def kernels_ticks(stat: str, proc: Path) -> dict[int, CpuTicks]:
    """Read the ticks as `read_ticks` does, where the text of /proc/stat is already known."""
    try:
        return parse_stat(stat) if (proc / "stat").stat().st_dev == proc.stat().st_dev else {}
    except (OSError, ValueError):
        return {}


def parse_stat(text: str) -> dict[int, CpuTicks]:
    """Parse the per-CPU lines of /proc/stat."""
    ticks: dict[int, CpuTicks] = {}
    for match in re.finditer(r"^cpu(\d+) (.+)$", text, re.MULTILINE):
        _user, _nice, _system, idle, iowait, irq, softirq, steal = map(int, match.group(2).split()[:8])
        ticks[int(match.group(1))] = CpuTicks(idle=idle + iowait, interrupts=irq + softirq, steal=steal)
    return ticks
