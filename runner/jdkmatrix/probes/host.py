"""What the host did over a window: CPU ticks, pressure stall information, throttling, swapping, its clocks."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.records import Pressure

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class CpuTicks:
    """One line of /proc/stat (proc_stat(5)), in clock ticks. `busy` leaves interrupts out: the kernel may account
    the work of our own loopback traffic there, and it belongs to nobody."""

    busy: int
    steal: int


@dataclass(frozen=True)
class Clocks:
    """Read together. The monotonic clock is slewed but never stepped, and stands still while the host is suspended;
    the boot-time clock goes on then; the real-time clock is what somebody may set (clock_gettime(2))."""

    monotonic_ns: int
    boottime_ns: int
    realtime_ns: int


@dataclass(frozen=True)
class HostReading:
    """Counters since boot; None where the kernel does not tell."""

    clocks: Clocks
    ticks: Mapping[int, CpuTicks]  # by CPU
    psi_some_us: int | None  # total stall time, /proc/pressure/cpu
    throttled_us: int | None  # of the runner's own cgroup, which server and driver are in
    swapped_pages: int | None  # in and out, whole host


def parse_stat(text: str) -> dict[int, CpuTicks]:
    """The per-CPU lines of /proc/stat."""
    ticks: dict[int, CpuTicks] = {}
    for match in re.finditer(r"^cpu(\d+) (.+)$", text, re.MULTILINE):
        user, nice, system, _idle, _iowait, _irq, _softirq, steal = map(int, match.group(2).split()[:8])
        ticks[int(match.group(1))] = CpuTicks(busy=user + nice + system, steal=steal)
    return ticks


def parse_psi(text: str) -> int | None:
    match = re.search(r"^some .*\btotal=(\d+)", text, re.MULTILINE)
    return int(match.group(1)) if match else None


def parse_throttled_us(text: str) -> int | None:
    """From a cgroup's cpu.stat: `throttled_usec` of version 2, or `throttled_time` of version 1, in ns."""
    match = re.search(r"^throttled_(usec|time) (\d+)$", text, re.MULTILINE)
    if match is None:
        return None
    return int(match.group(2)) if match.group(1) == "usec" else int(match.group(2)) // 1000


def parse_swapped_pages(text: str) -> int | None:
    """From /proc/vmstat."""
    found = re.findall(r"^pswp(?:in|out) (\d+)$", text, re.MULTILINE)
    return sum(map(int, found)) if found else None


def cgroup_stat_paths(own_cgroup: str, root: Path = _CGROUP) -> tuple[Path, ...]:
    """Where the cpu.stat of the cgroup in /proc/self/cgroup may be (cgroups(7)), the likelier first."""
    paths = []
    for line in own_cgroup.splitlines():
        _, controllers, path = line.split(":", 2)
        relative = path.lstrip("/")
        if not controllers:
            paths.append(root / relative / "cpu.stat")
        elif "cpu" in controllers.split(","):
            paths.append(root / controllers / relative / "cpu.stat")
            paths.append(root / "cpu" / relative / "cpu.stat")
    return tuple(paths)


def read_clocks() -> Clocks:
    return Clocks(
        monotonic_ns=time.monotonic_ns(),
        boottime_ns=time.clock_gettime_ns(time.CLOCK_BOOTTIME),
        realtime_ns=time.time_ns(),
    )


def read_host() -> HostReading:
    stats = map(_text, cgroup_stat_paths(_text(_PROC / "self/cgroup")))
    return HostReading(
        clocks=read_clocks(),
        ticks=parse_stat(_text(_PROC / "stat")),
        psi_some_us=parse_psi(_text(_PROC / "pressure/cpu")),
        throttled_us=next((us for us in map(parse_throttled_us, stats) if us is not None), None),
        swapped_pages=parse_swapped_pages(_text(_PROC / "vmstat")),
    )


def pressure(before: HostReading, after: HostReading, *, cpus: Sequence[int], own_cpu_s: float) -> Pressure:
    """What happened between two readings on the CPUs of the SUT and the driver.

    `own_cpu_s` is what SUT, driver and runner used; the rest of the busy time was somebody else's. Ticks are coarse
    (10 ms) and so is the result: about 1 % over 1 s.
    """
    elapsed_s = (after.clocks.monotonic_ns - before.clocks.monotonic_ns) / 1e9
    hertz = os.sysconf("SC_CLK_TCK")
    known = [cpu for cpu in set(cpus) if cpu in before.ticks and cpu in after.ticks]
    busy_s = sum(after.ticks[cpu].busy - before.ticks[cpu].busy for cpu in known) / hertz
    steal_s = sum(after.ticks[cpu].steal - before.ticks[cpu].steal for cpu in known) / hertz
    capacity_s = elapsed_s * max(len(known), 1)
    stalled_us = _rise(before.psi_some_us, after.psi_some_us)
    throttled_us = _rise(before.throttled_us, after.throttled_us)
    swapped_pages = _rise(before.swapped_pages, after.swapped_pages)
    # The clocks are read one after another, microseconds apart.
    suspended_ns = max(0, _ahead(before.clocks, after.clocks, "boottime_ns"))
    return Pressure(
        steal_share=steal_s / capacity_s,
        foreign_cpu_share=max(0.0, (busy_s - own_cpu_s) / capacity_s),
        psi_cpu_some_share=None if stalled_us is None else min(1.0, stalled_us / 1e6 / elapsed_s),
        throttled_share=None if throttled_us is None else throttled_us / 1e6 / elapsed_s,
        swapped_bytes_per_s=(None if swapped_pages is None else swapped_pages * os.sysconf("SC_PAGE_SIZE") / elapsed_s),
        # Whoever suspends a host moves its real time on as well; that is no step of its own.
        clock_step_s=(_ahead(before.clocks, after.clocks, "realtime_ns") - suspended_ns) / 1e9,
        suspended_s=suspended_ns / 1e9,
    )


def _ahead(before: Clocks, after: Clocks, clock: str) -> int:
    """How much further than the monotonic clock another one went."""
    went: int = getattr(after, clock) - getattr(before, clock)
    return went - (after.monotonic_ns - before.monotonic_ns)


def _rise(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
