"""Memory and disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from jdkmatrix.doctor.base import Check, Host, HostChange
from jdkmatrix.host.cgroup_limits import memory_left_bytes
from jdkmatrix.host.facts import chosen

_THP = "/sys/kernel/mm/transparent_hugepage"
_SWAPPINESS = "/proc/sys/vm/swappiness"
_NUMA_BALANCING = "/proc/sys/kernel/numa_balancing"

MEMORY_NEEDED_BYTES = 3 * 2**30  # server, driver and remote with their heaps, and Liberty's page cache
DISK_NEEDED_BYTES = 2 * 2**30  # recordings and logs of a long run, and what a crashing JVM writes
SWAPPINESS_CALM = 1  # the lowest that still lets the kernel take anonymous pages when nothing else is left


def memory(host: Host) -> Check | None:
    left_bytes, where = _meminfo_bytes(host).get("MemAvailable"), ""
    if left_bytes is None:
        return None
    within = memory_left_bytes(host.hierarchies, host.text)
    if within is not None and within < left_bytes:
        left_bytes, where = within, " in this control group"
    found = f"{left_bytes / 2**30:.1f} GiB available{where}"
    if left_bytes >= MEMORY_NEEDED_BYTES:
        return Check("ready", found)
    why = "server, driver and remote would push each other out of memory"
    return Check("unfit", found, why, f"free {MEMORY_NEEDED_BYTES / 2**30:.0f} GiB")


def swap(host: Host) -> Check | None:
    """Check swap. `--tune` lowers swappiness; switching swap off is advice only: swapoff moves every page back and can
    fail or kill processes half-way, so it is not a write that can be undone."""
    known = _meminfo_bytes(host)
    if "SwapTotal" not in known or "SwapFree" not in known:
        return None
    total_bytes, used_bytes = known["SwapTotal"], known["SwapTotal"] - known["SwapFree"]
    if not total_bytes:
        return Check("ready", "none")
    swappiness = host.number(_SWAPPINESS)
    is_calm = swappiness is not None and swappiness <= SWAPPINESS_CALM
    found = f"{used_bytes / 2**30:.1f} of {total_bytes / 2**30:.1f} GiB used"
    found += "" if swappiness is None else f", swappiness {swappiness}"
    if not used_bytes and is_calm:
        return Check("ready", found)
    why = "a collector that touches a swapped-out page stops the server for milliseconds"
    change = HostChange(_SWAPPINESS, str(SWAPPINESS_CALM), "heap pages go to disk last")
    fits = used_bytes < known.get("MemAvailable", 0) - MEMORY_NEEDED_BYTES
    advice = "swapoff -a while measuring, swapon -a afterwards" if fits else "end what uses memory, or add some"
    return Check("noisy", found, why, advice, () if swappiness is None or is_calm else (change,))


def huge_pages(host: Host) -> Check | None:
    """Check huge pages (Documentation/admin-guide/mm/transhuge.rst): -XX:+UseTransparentHugePages asks by madvise."""
    shown, defrag = host.text(f"{_THP}/enabled"), chosen(host.text(f"{_THP}/defrag") or "")
    if shown is None:
        return None
    enabled = chosen(shown)
    noisy: list[tuple[str, HostChange]] = []
    if enabled == "always":
        why = "khugepaged joins pages of the server when it finds time: heap and stacks get faster at some point"
        noisy.append((why, HostChange(f"{_THP}/enabled", "madvise", "huge pages only for those who ask for them")))
    if enabled != "never" and defrag == "always":
        why = "whoever asks for a huge page stalls while the kernel moves other pages together"
        noisy.append((why, HostChange(f"{_THP}/defrag", "madvise", "no stalls for huge pages unless asked for")))
    found = f"{enabled}, defrag {defrag or 'not shown'}"
    if not noisy:
        return Check("ready", found)
    why, first = noisy[0]
    return Check("noisy", found, why, f"echo madvise > {first.file}", tuple(change for _, change in noisy))


def numa_balancing(host: Host) -> Check | None:
    """Check NUMA balancing. Documentation/admin-guide/sysctl/kernel.rst advises against it if a program is bound to a
    node, as servers are here. The kernel switches it on by itself if there are several nodes."""
    mode = host.number(_NUMA_BALANCING)
    if mode is None:
        return None
    if not mode:
        return Check("ready", "off")
    why = "the kernel unmaps pages of the server again and again, to see from which node they are used"
    change = HostChange(_NUMA_BALANCING, "0", "no page faults of a server that stays on its node")
    return Check("noisy", "on", why, f"echo 0 > {_NUMA_BALANCING}", (change,))


def disk(host: Host) -> Check | None:
    results = host.results.absolute()
    try:  # a parent may be closed to this user
        folder = next(candidate for candidate in (results, *results.parents) if candidate.exists())
        space = os.statvfs(folder)
    except OSError:
        return None
    free_bytes = space.f_bavail * space.f_frsize
    found = f"{free_bytes / 2**30:.1f} GiB free"
    if free_bytes >= DISK_NEEDED_BYTES:
        return Check("ready", found)
    why = "a full disk ends a run in the middle"
    return Check("unfit", found, why, f"free {DISK_NEEDED_BYTES / 2**30:.0f} GiB at {folder}")


def _meminfo_bytes(host: Host) -> Mapping[str, int]:
    text = host.text("/proc/meminfo") or ""
    return {key: int(kib) * 1024 for key, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
