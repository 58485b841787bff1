"""Memory and disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.doctor.base import Diagnosis, Host, HostChange, Property, chosen
from jdkmatrix.doctor.cgroup import limit_files

_THP = "/sys/kernel/mm/transparent_hugepage"
_SWAPPINESS = "/proc/sys/vm/swappiness"

MEMORY_NEEDED_BYTES = 3 * 2**30  # server, driver and remote with their heaps, and the page cache of a Liberty
DISK_NEEDED_BYTES = 2 * 2**30  # recordings and logs of a long run, and what a crash of a JVM writes
SWAPPINESS_CALM = 1  # the least that still lets the kernel take anonymous pages when nothing else is left


@dataclass(frozen=True)
class MemoryLeft:
    """`group_bytes`: what the control group leaves, None without a limit."""

    available_bytes: int
    group_bytes: int | None


class Memory(Property[MemoryLeft]):
    name = "memory"
    not_shown = "how much memory is available stays unknown"

    def read(self, host: Host) -> MemoryLeft | None:
        available = _meminfo_bytes(host).get("MemAvailable")
        if available is None:
            return None
        left = []
        for file in limit_files(host, "memory", "memory.limit_in_bytes", "memory.max") or ():
            limit = host.number(file)
            used_name = "memory.current" if file.endswith("memory.max") else "memory.usage_in_bytes"
            used = host.number(f"{file.rpartition('/')[0]}/{used_name}")
            if limit is not None and used is not None:
                left.append(max(0, limit - used))
        return MemoryLeft(available, min(left, default=None))

    def judge(self, value: MemoryLeft) -> Diagnosis:
        left_bytes, where = value.available_bytes, ""
        if value.group_bytes is not None and value.group_bytes < left_bytes:
            left_bytes, where = value.group_bytes, " in this control group"
        found = f"{left_bytes / 2**30:.1f} GiB available{where}"
        if left_bytes >= MEMORY_NEEDED_BYTES:
            return Diagnosis("ready", found)
        why = "server, driver and remote would push each other out of memory"
        return Diagnosis("unfit", found, why, f"free {MEMORY_NEEDED_BYTES / 2**30:.0f} GiB")


@dataclass(frozen=True)
class SwapUse:
    total_bytes: int
    used_bytes: int
    swappiness: int | None


class Swap(Property[SwapUse]):
    """`--tune` lowers swappiness; switching swap off is left as advice: swapoff moves every page back and can fail or
    kill processes half-way, so that it is not a write that can be taken back."""

    name = "swap"
    not_shown = "whether there is swap stays unknown"

    def read(self, host: Host) -> SwapUse | None:
        memory = _meminfo_bytes(host)
        if "SwapTotal" not in memory or "SwapFree" not in memory:
            return None
        used_bytes = memory["SwapTotal"] - memory["SwapFree"]
        return SwapUse(memory["SwapTotal"], used_bytes, host.number(_SWAPPINESS))

    def judge(self, value: SwapUse) -> Diagnosis:
        if not value.total_bytes:
            return Diagnosis("ready", "none")
        found = f"{value.used_bytes / 2**30:.1f} of {value.total_bytes / 2**30:.1f} GiB used"
        found += "" if value.swappiness is None else f", swappiness {value.swappiness}"
        if not value.used_bytes and value.swappiness is not None and value.swappiness <= SWAPPINESS_CALM:
            return Diagnosis("ready", found)
        why = "a collector that touches a page on disk stops the server for milliseconds"
        return Diagnosis("noisy", found, why, "swapoff -a while measuring")

    def fix(self, value: SwapUse) -> tuple[HostChange, ...]:
        if not value.total_bytes or value.swappiness is None or value.swappiness <= SWAPPINESS_CALM:
            return ()
        return (HostChange(_SWAPPINESS, str(SWAPPINESS_CALM), "heap pages go to disk last"),)


@dataclass(frozen=True)
class HugePages:
    enabled: str
    defrag: str | None


class TransparentHugePages(Property[HugePages]):
    """Documentation/admin-guide/mm/transhuge.rst. A JVM asks by madvise with -XX:+UseTransparentHugePages."""

    name = "huge pages"
    not_shown = "whether the kernel joins pages into huge ones stays unknown"

    def read(self, host: Host) -> HugePages | None:
        enabled, defrag = host.text(f"{_THP}/enabled"), host.text(f"{_THP}/defrag")
        return None if enabled is None else HugePages(chosen(enabled), None if defrag is None else chosen(defrag))

    def judge(self, value: HugePages) -> Diagnosis:
        found = f"{value.enabled}, defrag {value.defrag or 'not shown'}"
        if value.enabled == "always":
            why = "khugepaged joins pages of the server when it finds time: heap and stacks get faster at some point"
            return Diagnosis("noisy", found, why, f"echo madvise > {_THP}/enabled")
        if value.enabled != "never" and value.defrag == "always":
            why = "whoever asks for a huge page stands still while the kernel moves others together"
            return Diagnosis("noisy", found, why, f"echo madvise > {_THP}/defrag")
        return Diagnosis("ready", found)

    def fix(self, value: HugePages) -> tuple[HostChange, ...]:
        changes = []
        if value.enabled == "always":
            changes.append(HostChange(f"{_THP}/enabled", "madvise", "huge pages only for who asks for them"))
        if value.enabled != "never" and value.defrag == "always":
            changes.append(HostChange(f"{_THP}/defrag", "madvise", "no standing still for huge pages unless asked for"))
        return tuple(changes)


@dataclass(frozen=True)
class DiskLeft:
    folder: str
    free_bytes: int


class Disk(Property[DiskLeft]):
    name = "disk"
    not_shown = "the free space where results go stays unknown"

    def read(self, host: Host) -> DiskLeft | None:
        folder = _existing(host.results)
        try:
            space = os.statvfs(folder)
        except OSError:
            return None
        return DiskLeft(str(folder), space.f_bavail * space.f_frsize)

    def judge(self, value: DiskLeft) -> Diagnosis:
        found = f"{value.free_bytes / 2**30:.1f} GiB free"
        if value.free_bytes >= DISK_NEEDED_BYTES:
            return Diagnosis("ready", found)
        why = "a full disk ends a run in the middle"
        return Diagnosis("unfit", found, why, f"free {DISK_NEEDED_BYTES / 2**30:.0f} GiB at {value.folder}")


def _existing(folder: Path) -> Path:
    folder = folder.absolute()
    return next(candidate for candidate in (folder, *folder.parents) if candidate.exists())


def _meminfo_bytes(host: Host) -> Mapping[str, int]:
    text = host.text("/proc/meminfo") or ""
    return {key: int(kib) * 1024 for key, kib in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
