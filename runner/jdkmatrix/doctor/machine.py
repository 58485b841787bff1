"""Virtualisation and the clock source."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property

_CLOCK = "/sys/devices/system/clocksource/clocksource0"

# Read in user space, without a system call (vdso(7)): the CPU's own counters, and the pages that KVM and Hyper-V share
# with their guests.
CLOCKS_WITHOUT_SYSTEM_CALL = frozenset({"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"})


@dataclass(frozen=True)
class Layers:
    """`virtual` is None where nothing tells. `maker` is who made the machine, by its firmware."""

    virtual: bool | None
    container: bool
    maker: str | None


class Machine(Property[Layers]):
    """x86 guests see a CPU flag; others a device tree or /sys/hypervisor. Containers leave a file behind or tell
    their first process (Docker, Podman, systemd-nspawn, LXC)."""

    name = "machine"
    not_shown = "whether other guests share the hardware stays unknown"

    def read(self, host: Host) -> Layers | None:
        cpuinfo = host.text("/proc/cpuinfo")
        container = any(host.at(file).exists() for file in ("/.dockerenv", "/run/.containerenv"))
        container = container or "container=" in (host.text("/proc/1/environ") or "")
        if cpuinfo is None:
            return None
        virtual: bool | None = None
        flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
        if host.text("/sys/hypervisor/type") or host.at("/proc/device-tree/hypervisor").exists():
            virtual = True
        elif flags:
            virtual = "hypervisor" in flags.group(1).split()
        if virtual is None and not container:
            return None
        return Layers(virtual, container, host.text("/sys/class/dmi/id/sys_vendor") or None)

    def judge(self, value: Layers) -> Diagnosis:
        below = "metal" if value.virtual is False else "VM" if value.virtual else "machine of unknown kind"
        found = f"container on a {below}" if value.container else below
        found += f" ({value.maker})" if value.maker else ""
        if value.virtual is False:
            return Diagnosis("ready", found)
        if value.virtual is None:
            return Diagnosis("not shown", found, self.not_shown)
        why = "other guests share caches and memory, and the hypervisor moves CPUs: figures differ from hour to hour"
        return Diagnosis("noisy", found, why, "compare inside one run only; absolute figures want metal")


@dataclass(frozen=True)
class Clock:
    current: str
    available: tuple[str, ...]


class ClockSource(Property[Clock]):
    name = "clock source"
    not_shown = "what reading the time costs stays unknown"

    def read(self, host: Host) -> Clock | None:
        current = host.text(f"{_CLOCK}/current_clocksource")
        available = (host.text(f"{_CLOCK}/available_clocksource") or "").split()
        return Clock(current, tuple(available)) if current else None

    def judge(self, value: Clock) -> Diagnosis:
        if value.current in CLOCKS_WITHOUT_SYSTEM_CALL:
            return Diagnosis("ready", value.current)
        why = "reading the time costs a system call, and servers read it for every request"
        better = self._better(value)
        advice = f"echo {better} > {_CLOCK}/current_clocksource" if better else "see in dmesg why the tsc was given up"
        return Diagnosis("noisy", value.current, why, advice)

    def fix(self, value: Clock) -> tuple[HostChange, ...]:
        better = self._better(value)
        if value.current in CLOCKS_WITHOUT_SYSTEM_CALL or better is None:
            return ()
        return (HostChange(f"{_CLOCK}/current_clocksource", better, "the time without a system call"),)

    def _better(self, value: Clock) -> str | None:
        """The kernel lists the best first, and no clock that it found to be unstable."""
        return next((clock for clock in value.available if clock in CLOCKS_WITHOUT_SYSTEM_CALL), None)
