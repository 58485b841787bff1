"""Pin by the kernel's cpuset controller: a cgroup for the server, one for the driver, one for the remote system.

Stronger than an affinity, which any thread may change for itself. Cgroups of version 2 only. The rules that decide are
those of the kernel's Documentation/admin-guide/cgroup-v2.rst:

- The controller must be handed down: "cpuset" in the parent's cgroup.controllers, then in its cgroup.subtree_control.
- A cgroup that has processes of its own, as the runner's own does, can hand down only threaded controllers (cpuset is
  one), and only to threaded children; so it must not have other children with processes.
- Who is not root must be able to write in the nearest cgroup above both the old and the new place of a process.

The runner's own cgroup and the processes in it stay as they are. A thread's affinity still counts inside its cpuset;
where the two have nothing in common, the kernel takes the cpuset.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.host.cgroup_limits import Hierarchy, read_hierarchies
from jdkmatrix.host.cpulist import format_cpu_list, parse_cpu_list

_NAME = re.compile(r"jdk-matrix-(?P<pid>\d+)-(?P<started>\d+)-[a-z]+(?P<enabled>-enabled)?")
_THREADED_CONTROLLERS = frozenset({"cpu", "cpuset", "perf_event", "pids"})
_EMPTY_TIMEOUT_S = 2.0
_ADVICE = "a scope of its own has one: systemd-run --scope -p Delegate=yes"


class CgroupError(MatrixError):
    """The kernel does not let us pin this way; sched_setaffinity remains."""


@dataclass(frozen=True)
class CgroupState:
    """What decides whether cpusets can be made below `parent`. `is_root`: the root of the hierarchy, for which the
    rule about own processes does not hold. `type`: cgroup.type. `busy_children`: those that have processes."""

    parent: Path
    is_root: bool
    type: str
    controllers: frozenset[str]
    handed_down: frozenset[str]
    has_processes: bool
    busy_children: tuple[str, ...]
    writable: bool
    read_only: bool
    cpuset_is_v1: bool

    @property
    def threaded(self) -> bool:
        """Whether children must be threaded."""
        return not self.is_root and (self.has_processes or self.type in ("threaded", "domain threaded"))


def probe(proc: Path = Path("/proc"), parent: Path | None = None) -> CgroupState | None:
    """Look at `parent` (default: the cgroup of this process); None when no hierarchy of version 2 is mounted."""
    hierarchies = read_hierarchies(proc)
    unified = next((hierarchy for hierarchy in hierarchies if hierarchy.version == 2), None)
    if unified is None:
        return None
    folder = parent or unified.folder
    handed_down = frozenset(_read(folder / "cgroup.subtree_control").split())
    to_write = [folder, folder / "cgroup.procs"]
    if "cpuset" not in handed_down:
        to_write.append(folder / "cgroup.subtree_control")
    return CgroupState(
        parent=folder,
        is_root=not (folder / "cgroup.type").exists(),
        type=_read(folder / "cgroup.type"),
        controllers=frozenset(_read(folder / "cgroup.controllers").split()),
        handed_down=handed_down,
        has_processes=bool(_read(folder / "cgroup.procs")),
        busy_children=tuple(
            child.name
            for child in sorted(folder.glob("*/"))
            if not _NAME.fullmatch(child.name) and "populated 1" in _read(child / "cgroup.events")
        ),
        writable=all(os.access(path, os.W_OK) for path in to_write),
        read_only=_is_read_only(folder),
        cpuset_is_v1=any(_has_v1_cpuset(hierarchy) for hierarchy in hierarchies),
    )


def why_not(state: CgroupState | None) -> str | None:
    """Why cpusets cannot be made, or None when nothing speaks against it. Pure."""
    return next(_obstacles(state), None)


def _obstacles(state: CgroupState | None) -> Iterator[str]:
    if state is None:
        yield "no cgroup hierarchy of version 2 is mounted"
        return
    where = f"the cgroup {state.parent}"
    if state.cpuset_is_v1:
        yield "the cpuset controller is in a cgroup hierarchy of version 1"
    if "cpuset" not in state.controllers:
        yield f"{where} is given no cpuset controller; {_ADVICE}"
    if state.read_only:
        yield f"{where} is mounted read-only"
    if not state.writable:
        yield f"this user may not write in {where}; {_ADVICE}"
    if state.type == "domain invalid":
        yield f"{where} is below a threaded one and cannot be used"
    if state.threaded and state.type == "domain":
        if state.busy_children:
            children = ", ".join(state.busy_children)
            yield f"{where} has processes, and so has {children} in it: nothing can be handed down then; {_ADVICE}"
        domain = sorted(state.handed_down - _THREADED_CONTROLLERS)
        if domain:
            yield f"{where} hands down {', '.join(domain)}: its children cannot be threaded"


class CpuGroup:
    """One cgroup with a cpuset of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that the kernel lets it use."""
        return parse_cpu_list(_read(self.folder / "cpuset.cpus.effective"))

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes in it. A threaded cgroup does not show them, only its threads."""
        try:
            text = (self.folder / "cgroup.procs").read_text()
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            tids = (self.folder / "cgroup.threads").read_text().split()
            return tuple(sorted({pid for tid in tids if (pid := _process_of(int(tid)))}))
        return tuple(sorted(int(pid) for pid in text.split()))

    def outside(self, pid: int, proc: Path = Path("/proc")) -> tuple[int, ...]:
        """The threads of the process that are not in it: somebody has moved them (proc_pid_cgroup(5))."""
        texts = {int(task.name): _read(task / "cgroup") for task in (proc / str(pid) / "task").glob("*")}
        # Empty: it ended while we looked.
        return tuple(sorted(tid for tid, text in texts.items() if text and not self._is_place(text)))

    def _is_place(self, text: str) -> bool:
        """By the name alone, which no other cgroup has: where the hierarchy is mounted does not matter."""
        return any(line.startswith("0::") and line.endswith(f"/{self.folder.name}") for line in text.splitlines())

    def limit_to(self, cpus: Sequence[int]) -> None:
        """Give it these CPUs from now on; threads elsewhere are moved at once.

        Raises:
            CgroupError: the kernel refuses, or grants others.
        """
        _write(self.folder / "cpuset.cpus", format_cpu_list(cpus))
        if self.cpus != tuple(sorted(cpus)):
            granted = format_cpu_list(self.cpus) or "none"
            raise CgroupError(f"{self.folder}: asked for CPUs {format_cpu_list(cpus)}, the kernel grants {granted}")

    def add(self, pid: int) -> None:
        """Move the process, with all its threads; what it starts from then on is in here too.

        Raises:
            CgroupError: there is no such process, or the kernel refuses.
        """
        _write(self.folder / "cgroup.procs", str(pid))


@dataclass(frozen=True)
class CpuGroups:
    """By role: "sut", "driver", "remote"."""

    groups: Mapping[str, CpuGroup]

    def __getitem__(self, role: str) -> CpuGroup:
        return self.groups[role]


@contextmanager
def cpu_groups(state: CgroupState | None, cpus: Mapping[str, Sequence[int]]) -> Iterator[CpuGroups]:
    """Make a cgroup per role below `state.parent`; leave nothing behind, neither of ours nor of a killed runner.

    Processes that are still in one at the end go back to the runner's own cgroup. The controller is taken back from
    the parent if it was handed down here and no other runner uses it.

    Raises:
        CgroupError: it cannot be done; then nothing is changed.
    """
    reason = why_not(state)
    if state is None or reason:
        raise CgroupError(f"no cpusets by cgroup: {reason}")
    remove_leftovers(state.parent)
    enabled = not _is_handed_down(state.parent)
    made: list[CpuGroup] = []
    try:
        if enabled:
            _write(state.parent / "cgroup.subtree_control", "+cpuset")
        groups = {}
        for role, wanted in cpus.items():
            group = groups[role] = _make(state.parent, role, enabled=enabled)
            made.append(group)
            if state.threaded:
                _write(group.folder / "cgroup.type", "threaded")
            group.limit_to(wanted)
        yield CpuGroups(groups)
    finally:
        _remove(state, made, enabled=enabled)


def remove_leftovers(parent: Path, proc: Path = Path("/proc")) -> tuple[Path, ...]:
    """Remove the cgroups of runners that are gone, and return them. One that still has processes stays.

    The controller is taken back from `parent` if such a runner handed it down and no other uses it.
    """
    removed = []
    enabled = False
    for folder in sorted(parent.glob("jdk-matrix-*")):
        name = _NAME.fullmatch(folder.name)
        if name and _started(proc, int(name["pid"])) != name["started"] and _try_rmdir(folder):
            removed.append(folder)
            enabled = enabled or name["enabled"] is not None
    if enabled:
        _take_back(parent)
    return tuple(removed)


def _make(parent: Path, role: str, *, enabled: bool) -> CpuGroup:
    """The name says whose it is, and whether its owner handed the controller down: another runner may have to tidy."""
    mark = "-enabled" if enabled else ""
    folder = parent / f"jdk-matrix-{os.getpid()}-{_started(Path('/proc'), os.getpid())}-{role}{mark}"
    try:
        _mkdir(folder)
    except OSError as error:
        raise CgroupError(f"cannot make the cgroup {folder}: {error.strerror}") from error
    return CpuGroup(folder)


def _remove(state: CgroupState, made: Sequence[CpuGroup], *, enabled: bool) -> None:
    home = CpuGroup(_own_folder() or state.parent)
    for group in made:
        deadline = time.monotonic() + _EMPTY_TIMEOUT_S
        while not _try_rmdir(group.folder) and time.monotonic() < deadline:
            for pid in group.pids:
                _try_add(home, pid)
            time.sleep(0.01)  # a process that has just ended leaves its cgroup a moment later
    if enabled:
        _take_back(state.parent)


def _is_handed_down(parent: Path) -> bool:
    return "cpuset" in _read(parent / "cgroup.subtree_control").split()


def _take_back(parent: Path) -> None:
    """The kernel would take the cpusets of other runners' cgroups away with it, so not while there are any."""
    if any(_NAME.fullmatch(child.name) for child in parent.iterdir()):
        return
    try:
        _write(parent / "cgroup.subtree_control", "-cpuset")
    except CgroupError:
        return  # a child hands it down further: somebody else has begun to use it


def _try_add(group: CpuGroup, pid: int) -> None:
    try:
        group.add(pid)
    except CgroupError:
        return  # it has ended; what cannot be moved shows in the cgroup that stays


def _try_rmdir(folder: Path) -> bool:
    try:
        _rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _own_folder() -> Path | None:
    return next((hierarchy.folder for hierarchy in read_hierarchies(Path("/proc")) if hierarchy.version == 2), None)


def _has_v1_cpuset(hierarchy: Hierarchy) -> bool:
    return hierarchy.version == 1 and "cpuset" in hierarchy.controllers


def _started(proc: Path, pid: int) -> str | None:
    """When the process started, in clock ticks since boot (proc_pid_stat(5), field 22); None when there is none.

    With the pid it names a process for good: a pid alone is used again."""
    text = _read(proc / str(pid) / "stat")
    return text.rpartition(")")[2].split()[19] if text else None


def _process_of(tid: int) -> int | None:
    found = re.search(r"^Tgid:\s+(\d+)", _read(Path(f"/proc/{tid}/status")), re.MULTILINE)
    return int(found.group(1)) if found else None


def _is_read_only(folder: Path) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _mkdir(folder: Path) -> None:
    folder.mkdir()


def _rmdir(folder: Path) -> None:
    folder.rmdir()


def _write(path: Path, text: str) -> None:
    try:
        file = os.open(path, os.O_WRONLY)  # never makes one
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
    except OSError as error:
        raise CgroupError(f"cannot write {text!r} to {path}: {error.strerror}") from error
