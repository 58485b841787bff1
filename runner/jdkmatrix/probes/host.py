"""Read the host before and after a window: CPU ticks, pressure stall information, throttling, swapping, its clocks."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jdkmatrix.domain.quantities import rise
from jdkmatrix.host.cgroup_limits import Hierarchy, read_hierarchies
from jdkmatrix.host.cpu_ticks import CpuTicks, kernels_ticks
from jdkmatrix.host.cpulist import read_cpu_list
from jdkmatrix.probes.cpu_balance import Used, balance
from jdkmatrix.reading import text_if_readable
from jdkmatrix.records.pressure import CpuUse, Pressure

_PROC = Path("/proc")
_CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Clocks:
    """Clocks read together. The monotonic clock is slewed but never stepped, and stands still while the host is
    suspended; the boot-time clock goes on then; the real-time clock is the one that can be set (clock_gettime(2))."""

    monotonic_ns: int
    boottime_ns: int
    realtime_ns: int


@dataclass(frozen=True)
class HostReading:
    """Counters since boot; None where the kernel does not report them."""

    clocks: Clocks
    ticks: Mapping[int, CpuTicks]  # by CPU; empty where they are numbered otherwise
    psi_some_us: int | None  # total stall time, /proc/pressure/cpu
    throttled_us: int | None  # of the runner's own cgroup, which holds server and driver, and of those above it
    swapped_pages: int | None  # in and out, whole host
    threads_ended: int | None = None  # of all processes of the host


def parse_psi(text: str) -> int | None:
    match = re.search(r"^some .*\btotal=(\d+)", text, re.MULTILINE)
    return int(match.group(1)) if match else None


def parse_throttled_us(text: str) -> int | None:
    """Return the throttled time in a cgroup's cpu.stat, in µs; version 1 has it in ns."""
    match = re.search(r"^throttled_(usec|time) (\d+)$", text, re.MULTILINE)
    if match is None:
        return None
    return int(match.group(2)) if match.group(1) == "usec" else int(match.group(2)) // 1000


def parse_swapped_pages(text: str) -> int | None:
    """Return the number of pages swapped in and out, from /proc/vmstat."""
    found = re.findall(r"^pswp(?:in|out) (\d+)$", text, re.MULTILINE)
    return sum(map(int, found)) if found else None


def parse_threads_ended(stat: str, loadavg: str) -> int | None:
    """Return the number of threads that were ever started (`processes`, which counts clones, too: proc_stat(5)) minus
    those that exist now (proc_loadavg(5))."""
    started = re.search(r"^processes (\d+)$", stat, re.MULTILINE)
    alive = re.search(r" \d+/(\d+) ", loadavg)
    return int(started.group(1)) - int(alive.group(1)) if started and alive else None


def read_throttled_us(hierarchies: Iterable[Hierarchy]) -> int | None:
    """Return the time in µs that quotas held back this process's cgroups and their ancestors, which hold it back as
    well; each counts its own (Documentation/scheduler/sched-bwc.rst). None if none counts it."""
    of_cpu = (one for one in hierarchies if one.version == 2 or "cpu" in one.controllers)
    texts = (_text(folder / "cpu.stat") for one in of_cpu for folder in one.upwards)
    found = [throttled_us for text in texts if (throttled_us := parse_throttled_us(text)) is not None]
    return sum(found) if found else None


def read_idle_entries(cpu: int, cpus_folder: Path = _CPUS) -> int | None:
    """Return how often a CPU went idle since boot, in any state; None if no cpuidle driver counts it."""
    counts = [text_if_readable(file) for file in cpus_folder.glob(f"cpu{cpu}/cpuidle/state*/usage")]
    return sum(int(count or 0) for count in counts) if counts else None


def read_tasks_ns(hierarchies: Iterable[Hierarchy], cpus_folder: Path = _CPUS) -> dict[int, int]:
    """Return how long tasks have run since boot, by CPU: cpuacct's sum of the root cgroup of version 1
    (Documentation/admin-guide/cgroup-v1/cpuacct.rst). Empty where that is not shown: a namespace has another cgroup in
    its place, without the `release_agent` that only the root has (cgroups.rst there)."""
    for one in hierarchies:
        usage = text_if_readable(one.mount / "cpuacct.usage_percpu") if "cpuacct" in one.controllers else None
        if usage and (one.mount / "release_agent").exists():
            return dict(zip(read_cpu_list(cpus_folder / "possible"), map(int, usage.split()), strict=False))
    return {}


def read_host(cpus: Iterable[int] = ()) -> HostReading:
    """Read the counters of the host. For `cpus`, also read how long tasks ran on them or, where that is not shown, how
    often they went idle, which takes a file for each idle state of each."""
    clocks = Clocks(time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns())
    stat = _text(_PROC / "stat")
    ticks, hierarchies = kernels_ticks(stat, _PROC), read_hierarchies(_PROC)
    tasks_ns = read_tasks_ns(hierarchies)
    for cpu in ticks.keys() & set(cpus):
        entries = None if cpu in tasks_ns else read_idle_entries(cpu)
        ticks[cpu] = replace(ticks[cpu], tasks_ns=tasks_ns.get(cpu), idle_entries=entries)
    return HostReading(
        clocks=clocks,
        ticks=ticks,
        threads_ended=parse_threads_ended(stat, _text(_PROC / "loadavg")),
        psi_some_us=parse_psi(_text(_PROC / "pressure/cpu")),
        throttled_us=read_throttled_us(hierarchies),
        swapped_pages=parse_swapped_pages(_text(_PROC / "vmstat")),
    )


def pressure(
    before: HostReading, after: HostReading, *, used: Sequence[Used], irq_time_accounting: bool | None
) -> Pressure:
    """Return the pressure between two readings. `used`: CPU time of our processes meanwhile, and their CPUs."""
    elapsed_s = (after.clocks.monotonic_ns - before.clocks.monotonic_ns) / 1e9
    stalled_us = rise(before.psi_some_us, after.psi_some_us)
    throttled_us = rise(before.throttled_us, after.throttled_us)
    swapped_pages = rise(before.swapped_pages, after.swapped_pages)
    threads_ended = rise(before.threads_ended, after.threads_ended)
    # The clocks are read one after another, microseconds apart.
    suspended_ns = max(0, _ahead(before.clocks, after.clocks, "boottime_ns"))
    by_cpus = balance(
        before.ticks,
        after.ticks,
        used,
        elapsed_s=elapsed_s,
        ticks_per_s=os.sysconf("SC_CLK_TCK"),
        irq_time_accounting=irq_time_accounting,
    )
    return Pressure(
        steal_share=mean_share(by_cpus, "steal_share"),
        foreign_cpu_share=max(0.0, mean_share(by_cpus, "foreign_share")),
        cpu_use=by_cpus,
        irq_time_accounting=irq_time_accounting,
        runner_cpu_share=sum(one.cpu_s for one in used if one.role == "runner") / elapsed_s,
        psi_cpu_some_share=None if stalled_us is None else min(1.0, stalled_us / 1e6 / elapsed_s),
        throttled_share=None if throttled_us is None else throttled_us / 1e6 / elapsed_s,
        swapped_bytes_per_s=(None if swapped_pages is None else swapped_pages * os.sysconf("SC_PAGE_SIZE") / elapsed_s),
        # Suspending a host moves its real time on as well; that is no step of its own.
        clock_step_s=(_ahead(before.clocks, after.clocks, "realtime_ns") - suspended_ns) / 1e9,
        suspended_s=suspended_ns / 1e9,
        elapsed_s=elapsed_s,
        # The two files are read one after another.
        threads_ended=None if threads_ended is None else max(0, threads_ended),
    )


def mean_share(by_cpus: Sequence[CpuUse], share: str) -> float:
    """Return the mean share over all CPUs but those of this tool alone; 0 if none is known."""
    measured = [use for use in by_cpus if set(use.roles) != {"runner"}]
    cpus = sum(len(use.cpus) for use in measured)
    return sum(getattr(use, share) * len(use.cpus) for use in measured) / cpus if cpus else 0.0


def _ahead(before: Clocks, after: Clocks, clock: str) -> int:
    """Return how much further than the monotonic clock another one went."""
    went: int = getattr(after, clock) - getattr(before, clock)
    return went - (after.monotonic_ns - before.monotonic_ns)


def _text(path: Path) -> str:
    return text_if_readable(path) or ""
