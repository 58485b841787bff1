"""Pin with the kernel's cpuset controller: a cgroup for the server, one for the driver, one for the remote system.

This is stronger than an affinity, which any thread may change for itself. Cgroups of version 2 only. A thread's
affinity still applies inside its cpuset; where the two have nothing in common, the kernel uses the cpuset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from jdkmatrix.host import cgroup_folders as folders
from jdkmatrix.host import cgroup_tree
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import CgroupState
from jdkmatrix.host.cpulist import format_cpu_list, parse_cpu_list

CPUSET = "cpuset"
Role = TypeVar("Role", bound=str)


@dataclass(frozen=True)
class CpuGroup:
    """One cgroup with a cpuset of its own."""

    folder: Path

    @property
    def cpus(self) -> tuple[int, ...]:
        """The CPUs that the kernel lets it use."""
        return parse_cpu_list(folders.read(self.folder / "cpuset.cpus.effective"))

    def outside(self, pid: int, proc: Path = Path("/proc")) -> tuple[int, ...]:
        """Return the threads of the process that are not in it: somebody has moved them (proc_pid_cgroup(5))."""
        texts = {int(task.name): folders.read(task / "cgroup") for task in (proc / str(pid) / "task").glob("*")}
        # Empty: it ended while we looked.
        return tuple(sorted(tid for tid, text in texts.items() if text and not self._is_place(text)))

    def _is_place(self, text: str) -> bool:
        """Compare by name alone, which no other cgroup has: where the hierarchy is mounted does not matter."""
        return any(line.startswith("0::") and line.endswith(f"/{self.folder.name}") for line in text.splitlines())

    def limit_to(self, cpus: Sequence[int]) -> None:
        """Give it these CPUs from now on; threads on others are moved at once.

        Raises:
            CgroupError: the kernel refuses, or grants others.
        """
        folders.write(self.folder / "cpuset.cpus", format_cpu_list(cpus))
        if self.cpus != tuple(sorted(cpus)):
            granted = format_cpu_list(self.cpus) or "none"
            raise CgroupError(f"{self.folder}: asked for CPUs {format_cpu_list(cpus)}, but the kernel grants {granted}")


@contextmanager
def cpu_groups(
    state: CgroupState | None, cpus: Mapping[Role, Sequence[int]], *, also: Collection[str] = ()
) -> Iterator[dict[Role, CpuGroup]]:
    """Make a cgroup per role below `state.parent`; leave nothing behind. `also`: further controllers for these cgroups
    where nothing prevents it, for limits.

    Raises:
        CgroupError: it cannot be done; then nothing is changed.
    """
    reason = cgroup_tree.why_not(state, CPUSET)
    if state is None or reason:
        raise CgroupError(f"no cpusets by cgroup: {reason}")
    controllers = {CPUSET, *(name for name in also if cgroup_tree.why_not(state, name) is None)}
    with cgroup_tree.children(state, tuple(cpus), controllers) as made:
        groups = {role: CpuGroup(made[role]) for role in cpus}
        for role, wanted in cpus.items():
            groups[role].limit_to(wanted)
        yield groups
