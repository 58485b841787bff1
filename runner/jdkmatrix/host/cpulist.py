"""The kernel's list format for CPUs, "0-2,5" (cpuset(7))."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """ "0-2,5" → (0, 1, 2, 5).

    Raises:
        ValueError: the text is no such list.
    """
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return tuple(cpus)


def read_cpu_list(path: Path) -> tuple[int, ...]:
    """Read a list; empty where there is no such file or no list in it: an unused nohz_full says "(null)"."""
    try:
        return parse_cpu_list(path.read_text())
    except (OSError, ValueError):
        return ()


def format_cpu_list(cpus: Iterable[int]) -> str:
    """(0, 1, 2, 5) → "0-2,5"."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
