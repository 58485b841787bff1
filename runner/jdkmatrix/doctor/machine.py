"""Virtualisation and the clock source."""

from __future__ import annotations

from jdkmatrix.doctor.base import Check, Host, HostChange
from jdkmatrix.host.virtualisation import read_machine

_CLOCK = "/sys/devices/system/clocksource/clocksource0"

# Read in user space, without a system call (vdso(7)): the CPU's own counters, and the pages that KVM and Hyper-V share
# with their guests.
CLOCKS_WITHOUT_SYSTEM_CALL = frozenset({"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"})


def machine(host: Host) -> Check | None:
    here = read_machine(host.root)
    if here.is_virtual is None and not here.in_container:
        return None
    below = "bare metal" if here.is_virtual is False else "a VM" if here.is_virtual else "a machine of unknown kind"
    found = f"container on {below}" if here.in_container else below.removeprefix("a ")
    found += f" ({here.maker})" if here.maker else ""
    if not here.is_virtual:
        return Check("not shown" if here.is_virtual is None else "ready", found)
    why = "other guests share caches and memory, and the hypervisor moves CPUs: figures differ from hour to hour"
    return Check("noisy", found, why, "compare only within one run; absolute figures need bare metal")


def clock_source(host: Host) -> Check | None:
    """Check the clock source. The kernel lists the best one first, and none that it found to be unstable."""
    current = host.text(f"{_CLOCK}/current_clocksource")
    if not current:
        return None
    if current in CLOCKS_WITHOUT_SYSTEM_CALL:
        return Check("ready", current)
    why = "reading the time costs a system call, and servers read it for every request"
    available = (host.text(f"{_CLOCK}/available_clocksource") or "").split()
    better = next((clock for clock in available if clock in CLOCKS_WITHOUT_SYSTEM_CALL), None)
    if better is None:
        return Check("noisy", current, why, "see in dmesg why the kernel gave up the TSC")
    change = HostChange(f"{_CLOCK}/current_clocksource", better, "the time without a system call")
    return Check("noisy", current, why, f"echo {better} > {change.file}", (change,))
