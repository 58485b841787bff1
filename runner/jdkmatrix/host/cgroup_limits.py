"""Limits by the cgroups of this process: a set of CPUs, a quota of CPU time, memory. Versions 1 and 2.

Not handled: a cgroup that is mounted nowhere where this process can see it; then there is nothing to read, and its
quota shows only in the throttling counters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from jdkmatrix.host.cpulist import read_cpu_list
from jdkmatrix.reading import text_if_readable

Read = Callable[[Path], str | None]


@dataclass(frozen=True)
class CgroupLimits:
    """`cpuset`: the CPUs that the cgroup may use; `quota_cpus`: CPU seconds per second. None: no limit is seen."""

    cpuset: frozenset[int] | None = None
    quota_cpus: float | None = None


@dataclass(frozen=True)
class Hierarchy:
    """One mounted cgroup hierarchy. `controllers` is empty for version 2; `folder` is where this process is in it."""

    version: int
    mount: Path
    folder: Path
    controllers: frozenset[str] = frozenset()

    @property
    def upwards(self) -> tuple[Path, ...]:
        """This process's cgroup and those that it is in, as far as they are mounted."""
        return tuple(path for path in (self.folder, *self.folder.parents) if path.is_relative_to(self.mount))


def read_hierarchies(proc: Path) -> tuple[Hierarchy, ...]:
    """The hierarchies that are mounted and that this process has a place in (proc_pid_cgroup(5), mountinfo(5))."""
    places = dict(_places(text_if_readable(proc / "self/cgroup") or ""))
    found: dict[frozenset[str], Hierarchy] = {}
    for line in (text_if_readable(proc / "self/mountinfo") or "").splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.partition(" ")
        if kind not in ("cgroup", "cgroup2"):
            continue
        root, mount = (_unescaped(field) for field in fields.split()[3:5])
        version = 2 if kind == "cgroup2" else 1
        named = frozenset(options.split()[-1].split(","))
        for controllers, place in places.items():
            is_here = not controllers if version == 2 else bool(controllers) and controllers <= named
            if is_here:
                folder = _below(Path(mount), root, place)
                found.setdefault(controllers, Hierarchy(version, Path(mount), folder, controllers))
    return tuple(found.values())


def read_limits(hierarchies: Sequence[Hierarchy]) -> CgroupLimits:
    """The narrowest limits on the way up from this process's cgroups."""
    cpusets: list[frozenset[int]] = []
    for hierarchy in hierarchies:
        names = ("cpuset.cpus.effective",) if hierarchy.version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
        # The nearest one that tells: the kernel has intersected it with those above.
        lists = (read_cpu_list(folder / name) for folder in hierarchy.upwards for name in names)
        cpusets.extend([frozenset(cpus) for cpus in lists if cpus][:1])
    return CgroupLimits(
        cpuset=frozenset.intersection(*cpusets) if cpusets else None,
        quota_cpus=min(quotas_cpus(hierarchies), default=None),
    )


def counted(text: str, key: str) -> int | None:
    """The number that a file such as memory.events has behind this key."""
    found = re.search(rf"^{key} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def quotas_cpus(hierarchies: Iterable[Hierarchy], read: Read = text_if_readable) -> Iterator[float]:
    """Those on the way up, in CPU seconds per second."""
    for hierarchy in hierarchies:
        for folder in hierarchy.upwards:
            if quota := _quota_cpus(folder, hierarchy.version, read):
                yield quota


def memory_left_bytes(hierarchies: Iterable[Hierarchy], read: Read = text_if_readable) -> int | None:
    """The bytes that the narrowest limit on the way up leaves, with the page cache that the kernel would drop; None: no
    limit. Pages of files that were not used for a while count as used until others need them."""
    left = []
    for hierarchy in hierarchies:
        if hierarchy.version == 1 and "memory" not in hierarchy.controllers:
            continue
        limit_file, used_file, cache = _MEMORY[hierarchy.version]
        for folder in hierarchy.upwards:
            limit, used = ((read(folder / name) or "").strip() for name in (limit_file, used_file))
            if limit.isdigit() and used.isdigit():
                stat = (read(folder / "memory.stat") or "").splitlines()
                rows = dict(row.split(maxsplit=1) for row in stat if " " in row)
                left.append(max(0, int(limit) - int(used) + int(rows.get(cache, 0))))
    return min(left, default=None)


# By version: the files of the limit and of what is used, and the row of memory.stat.
_MEMORY = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def _places(text: str) -> Iterator[tuple[frozenset[str], str]]:
    for line in text.splitlines():
        _, controllers, place = line.split(":", 2)
        if not controllers.startswith("name="):
            yield frozenset(filter(None, controllers.split(","))), place


def _below(mount: Path, root: str, place: str) -> Path:
    """Where `place` lies when the mount shows the hierarchy from `root` down; the mount itself when it lies outside."""
    path = PurePosixPath(place)
    if ".." in path.parts or not path.is_relative_to(root):
        return mount
    return mount / path.relative_to(root)


def _quota_cpus(folder: Path, version: int, read: Read) -> float | None:
    if version == 2:
        words = (read(folder / "cpu.max") or "").split()
    else:
        words = [read(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
    try:
        quota_us, period_us = (int(word) for word in words)
    except ValueError:  # "max", or no such file
        return None
    return quota_us / period_us if quota_us > 0 and period_us > 0 else None


def _unescaped(field: str) -> str:
    """mountinfo writes white space and backslashes as octal numbers."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
