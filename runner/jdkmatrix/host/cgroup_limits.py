"""Limits set by the cgroups of this process: a set of CPUs, a quota of CPU time, memory. Versions 1 and 2.

Not handled: a cgroup that is not mounted anywhere visible to this process; then there is nothing to read, and its quota
shows only in the throttling counters.
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
    """One mounted cgroup hierarchy. `controllers` is empty for version 2; `folder` is this process's cgroup in it."""

    version: int
    mount: Path
    folder: Path
    controllers: frozenset[str] = frozenset()

    @property
    def upwards(self) -> tuple[Path, ...]:
        """The cgroup of this process and its ancestors, as far as they are mounted."""
        return tuple(path for path in (self.folder, *self.folder.parents) if path.is_relative_to(self.mount))


def read_hierarchies(proc: Path) -> tuple[Hierarchy, ...]:
    """Read the mounted hierarchies in which this process has a place (proc_pid_cgroup(5), mountinfo(5))."""
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
    """Read the narrowest limits of this process's cgroups and their ancestors."""
    cpusets: list[frozenset[int]] = []
    for hierarchy in hierarchies:
        names = ("cpuset.cpus.effective",) if hierarchy.version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
        # The nearest one that has a value: the kernel has intersected it with those above.
        lists = (read_cpu_list(folder / name) for folder in hierarchy.upwards for name in names)
        cpusets.extend([frozenset(cpus) for cpus in lists if cpus][:1])
    return CgroupLimits(
        cpuset=frozenset.intersection(*cpusets) if cpusets else None,
        quota_cpus=min(quotas_cpus(hierarchies), default=None),
    )


def counted(text: str, key: str) -> int | None:
    """Return the number that follows this key in the text of a file such as memory.events."""
    found = re.search(rf"^{key} (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else None


def quotas_cpus(hierarchies: Iterable[Hierarchy], read: Read = text_if_readable) -> Iterator[float]:
    """Yield the quotas of the cgroups and their ancestors, in CPU seconds per second."""
    for hierarchy in hierarchies:
        for folder in hierarchy.upwards:
            if quota := _quota_cpus(folder, hierarchy.version, read):
                yield quota


def memory_left_bytes(hierarchies: Iterable[Hierarchy], read: Read = text_if_readable) -> int | None:
    """Return the bytes that the narrowest limit of the cgroups and their ancestors leaves, with page cache that the
    kernel would drop; None: no limit. File pages not used for a while count as used until others need them."""
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


# By version: the files of the limit and of the usage, and the row of memory.stat.
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
    """Return where `place` lies if the mount shows the hierarchy from `root` down; if outside, the mount itself."""
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
    """Decode the octal numbers that mountinfo writes for white space and backslashes."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
