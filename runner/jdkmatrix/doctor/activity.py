"""Activity of processes and interrupts on this host over a short interval in which this process sleeps."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from jdkmatrix.host.cpu_ticks import CpuTicks, read_ticks
from jdkmatrix.reading import text_if_readable

_NAMED = 3  # processes: enough to know which to end


@dataclass(frozen=True)
class Process:
    name: str
    cpu_s: float


@dataclass(frozen=True)
class Snapshot:
    """Cumulative counters at one moment: `processes` by pid, `interrupts` of devices by CPU."""

    monotonic_ns: int
    own_cpu_ns: int
    ticks: Mapping[int, CpuTicks]
    processes: Mapping[int, Process]
    interrupts: Mapping[int, int]


@dataclass(frozen=True)
class Activity:
    """`foreign_cpus`: how many CPUs' worth of time others used; `busiest`: these processes with their shares, busiest
    first; `interrupts_per_s`: those of devices, by CPU."""

    elapsed_s: float
    foreign_cpus: float
    busiest: tuple[tuple[str, float], ...]
    interrupts_per_s: Mapping[int, float]


def observe(
    root: Path, interval_s: float, processes: Callable[[], Mapping[int, Process]], cpus: Collection[int]
) -> Activity | None:
    """Watch for `interval_s` seconds; None if the kernel's /proc/stat is not shown. `cpus`: as for `between`."""
    before = _snapshot(root, processes)
    if before is None:
        return None
    time.sleep(interval_s)
    after = _snapshot(root, processes)
    return None if after is None else between(before, after, cpus, ticks_per_s=os.sysconf("SC_CLK_TCK"))


def between(before: Snapshot, after: Snapshot, cpus: Collection[int], *, ticks_per_s: int) -> Activity:
    """Return the activity between two snapshots. Foreign load is counted on `cpus`, the ones that a run may use (empty:
    not known, so all of them). Pure."""
    elapsed_s = max((after.monotonic_ns - before.monotonic_ns) / 1e9, 1 / ticks_per_s)
    known = before.ticks.keys() & after.ticks.keys() & set(cpus or after.ticks)
    rested = sum(_rested(after.ticks[cpu]) - _rested(before.ticks[cpu]) for cpu in known) / ticks_per_s
    busy_s = len(known) * elapsed_s - rested
    own_s = (after.own_cpu_ns - before.own_cpu_ns) / 1e9
    used = {
        pid: process.cpu_s - (before.processes[pid].cpu_s if pid in before.processes else 0.0)
        for pid, process in after.processes.items()
    }
    busiest = sorted((pid for pid in used if used[pid] > 0), key=lambda pid: -used[pid])[:_NAMED]
    return Activity(
        elapsed_s=elapsed_s,
        foreign_cpus=max(0.0, (busy_s - own_s) / elapsed_s),
        busiest=tuple((f"{after.processes[pid].name} ({pid})", used[pid] / elapsed_s) for pid in busiest),
        interrupts_per_s={
            cpu: (count - before.interrupts.get(cpu, 0)) / elapsed_s for cpu, count in after.interrupts.items()
        },
    )


def _rested(ticks: CpuTicks) -> int:
    """Sum idle and stolen ticks: the kernel knows when a CPU idles, but may count other time in timer ticks only."""
    return ticks.idle + ticks.steal


def parse_interrupts(text: str) -> dict[int, int]:
    """Count device interrupts by CPU: the numbered lines of /proc/interrupts (proc_interrupts(5)). Lettered ones are
    the CPUs' own timers and calls to each other; on aarch64 the timers are numbered as well."""
    lines = text.splitlines()
    cpus = [int(number) for number in re.findall(r"CPU(\d+)", lines[0])] if lines else []
    counts = dict.fromkeys(cpus, 0)
    for line in lines[1:]:
        label, _, rest = line.partition(":")
        if label.strip().isdigit() and not rest.endswith("arch_timer"):
            for cpu, count in zip(cpus, rest.split(), strict=False):
                counts[cpu] += int(count) if count.isdigit() else 0
    return counts


def other_processes() -> dict[int, Process]:
    """Return every process on this host except this one, by pid."""
    processes = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if times is not None and process.pid != os.getpid():
            processes[process.pid] = Process(process.info["name"] or "?", times.user + times.system)
    return processes


def _snapshot(root: Path, processes: Callable[[], Mapping[int, Process]]) -> Snapshot | None:
    ticks = read_ticks(root / "proc")
    if not ticks:
        return None
    interrupts = parse_interrupts(text_if_readable(root / "proc/interrupts") or "")
    # Walking through all processes takes long, the first time even longer: read the clocks right after the ticks.
    monotonic_ns, own_cpu_ns = time.monotonic_ns(), time.process_time_ns()
    return Snapshot(
        processes=processes(),
        monotonic_ns=monotonic_ns,
        own_cpu_ns=own_cpu_ns,
        ticks=ticks,
        interrupts=interrupts,
    )
