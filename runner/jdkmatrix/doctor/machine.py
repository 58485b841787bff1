"""Virtualisation and the clock source."""

from __future__ import annotations

import re

from jdkmatrix.doctor.base import Check, Host, HostChange

_CLOCK = "/sys/devices/system/clocksource/clocksource0"

# Read in user space, without a system call (vdso(7)): the CPU's own counters, and the pages that KVM and Hyper-V share
# with their guests.
CLOCKS_WITHOUT_SYSTEM_CALL = frozenset({"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"})


def machine(host: Host) -> Check | None:
    """x86 guests see a CPU flag; others a device tree or /sys/hypervisor. Containers leave a file behind or tell
    their first process (Docker, Podman, systemd-nspawn, LXC)."""
    cpuinfo = host.text("/proc/cpuinfo")
    if cpuinfo is None:
        return None
    in_container = any(host.at(file).exists() for file in ("/.dockerenv", "/run/.containerenv"))
    in_container = in_container or "container=" in (host.text("/proc/1/environ") or "")
    is_virtual: bool | None = None  # nothing tells
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if host.text("/sys/hypervisor/type") or host.at("/proc/device-tree/hypervisor").exists():
        is_virtual = True
    elif flags:
        is_virtual = "hypervisor" in flags.group(1).split()
    if is_virtual is None and not in_container:
        return None
    below = "metal" if is_virtual is False else "VM" if is_virtual else "machine of unknown kind"
    found = f"container on a {below}" if in_container else below
    maker = host.text("/sys/class/dmi/id/sys_vendor")
    found += f" ({maker})" if maker else ""
    if not is_virtual:
        return Check("not shown" if is_virtual is None else "ready", found)
    why = "other guests share caches and memory, and the hypervisor moves CPUs: figures differ from hour to hour"
    return Check("noisy", found, why, "compare inside one run only; absolute figures want metal")


def clock_source(host: Host) -> Check | None:
    """The kernel lists the best first, and no clock that it found to be unstable."""
    current = host.text(f"{_CLOCK}/current_clocksource")
    if not current:
        return None
    if current in CLOCKS_WITHOUT_SYSTEM_CALL:
        return Check("ready", current)
    why = "reading the time costs a system call, and servers read it for every request"
    available = (host.text(f"{_CLOCK}/available_clocksource") or "").split()
    better = next((clock for clock in available if clock in CLOCKS_WITHOUT_SYSTEM_CALL), None)
    if better is None:
        return Check("noisy", current, why, "see in dmesg why the tsc was given up")
    change = HostChange(f"{_CLOCK}/current_clocksource", better, "the time without a system call")
    return Check("noisy", current, why, f"echo {better} > {change.file}", (change,))
