"""What the host's CPUs did: /proc/stat and pressure stall information."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.records import Pressure


@dataclass(frozen=True)
class CpuTicks:
    """One line of /proc/stat (proc_stat(5)), in clock ticks. `busy` leaves interrupts out: the kernel may account
    the work of our own loopback traffic there, and it belongs to nobody."""

    busy: int
    steal: int


@dataclass(frozen=True)
class HostReading:
    monotonic_ns: int
    ticks: Mapping[int, CpuTicks]  # by CPU
    psi_some_us: int | None  # total stall time, /proc/pressure/cpu


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


def read_host(monotonic_ns: int) -> HostReading:
    try:
        pressure = Path("/proc/pressure/cpu").read_text()
    except OSError:
        pressure = ""
    return HostReading(
        monotonic_ns=monotonic_ns,
        ticks=parse_stat(Path("/proc/stat").read_text()),
        psi_some_us=parse_psi(pressure),
    )


def pressure(before: HostReading, after: HostReading, *, cpus: Sequence[int], own_cpu_s: float) -> Pressure:
    """What happened between two readings on the CPUs of the SUT and the driver.

    `own_cpu_s` is what SUT, driver and runner used; the rest of the busy time was somebody else's. Ticks are coarse
    (10 ms) and so is the result: about 1 % over 1 s.
    """
    elapsed_s = (after.monotonic_ns - before.monotonic_ns) / 1e9
    hertz = os.sysconf("SC_CLK_TCK")
    known = [cpu for cpu in set(cpus) if cpu in before.ticks and cpu in after.ticks]
    busy_s = sum(after.ticks[cpu].busy - before.ticks[cpu].busy for cpu in known) / hertz
    steal_s = sum(after.ticks[cpu].steal - before.ticks[cpu].steal for cpu in known) / hertz
    capacity_s = elapsed_s * max(len(known), 1)
    stalled = None
    if before.psi_some_us is not None and after.psi_some_us is not None:
        stalled = min(1.0, (after.psi_some_us - before.psi_some_us) / 1e6 / elapsed_s)
    return Pressure(
        steal_share=steal_s / capacity_s,
        foreign_cpu_share=max(0.0, (busy_s - own_cpu_s) / capacity_s),
        psi_cpu_some_share=stalled,
    )
