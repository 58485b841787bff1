"""Keep the server and the driver on their CPUs for a whole run, by the kernel's cpusets or by affinity alone.

An affinity is only a wish, which every thread may change for itself; nothing leaves the cpuset of a cgroup. Where
cgroups can be used, both apply. While the JIT compiler may use the driver's CPUs, the server's cgroup includes them;
all other threads are kept off them by their affinity, which a thread inherits. Once the server is warm, its cgroup
shrinks to its own CPUs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jdkmatrix.fork import affinity
from jdkmatrix.host import cgroup_tree, launch
from jdkmatrix.host.cgroup_cpuset import CPUSET, CpuGroup, cpu_groups
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import CgroupState
from jdkmatrix.records.forks import ConfinementMethod

Role = Literal["sut", "driver", "remote"]
_ROLES: tuple[Role, ...] = ("sut", "driver", "remote")


@dataclass(frozen=True)
class Confiner:
    """The means of confinement in this run: a cgroup for each role, with affinity inside it; or affinity alone, where
    there are no `groups` and `why_not_cgroup` says in words why."""

    groups: Mapping[Role, CpuGroup] | None
    why_not_cgroup: str | None
    proc: Path = Path("/proc")

    @property
    def method(self) -> ConfinementMethod:
        return "cgroup cpuset" if self.groups else "sched_setaffinity"

    def group(self, role: Role, cpus: Collection[int]) -> Path | None:
        """Limit the cgroup of `role` to `cpus` from now on; return its folder, to start a program in; None: no cgroup.

        Raises:
            CgroupError: the kernel refuses.
        """
        if self.groups is None:
            return None
        self.groups[role].limit_to(tuple(cpus))
        return self.groups[role].folder

    def confine(self, pid: int, cpus: Collection[int]) -> None:
        """Keep every thread of the server `pid` on `cpus` from now on, and verify each.

        Raises:
            CgroupError: the kernel refuses, or a thread is not in the server's cgroup.
            AffinityError: a thread is somewhere else nevertheless.
        """
        folder = self.group("sut", cpus)
        if self.groups and (outside := self.groups["sut"].outside(pid, self.proc)):
            raise CgroupError(f"{len(outside)} threads of process {pid} are not in the cgroup {folder}")
        affinity.confine(pid, cpus)


@contextmanager
def confinement(state: CgroupState | None, cpus: Collection[int], *, also: Collection[str] = ()) -> Iterator[Confiner]:
    """Confine by cgroup where a trial shows that this is permitted, else by affinity. `cpus`: all that this process may
    use. `also`: further controllers for these cgroups where possible, for limits (`host.limits`).

    No cgroup is left behind.
    """
    reason = cgroup_tree.why_not(state, CPUSET)
    with ExitStack() as stack:
        groups = None
        if reason is None:
            try:
                groups = stack.enter_context(_tried_groups(state, cpus, also))
            except CgroupError as error:
                reason = str(error)
        yield Confiner(groups, reason)


@contextmanager
def _tried_groups(
    state: CgroupState | None, cpus: Collection[int], also: Collection[str]
) -> Iterator[dict[Role, CpuGroup]]:
    """Make the cgroups and start a process in each: nothing else shows whether that is permitted."""
    with cpu_groups(state, {role: tuple(cpus) for role in _ROLES}, also=also) as groups:
        for group in groups.values():
            process = launch.spawn(["true"], cpus=group.cpus, cgroups=[group.folder], stderr=subprocess.PIPE)
            _, errors = process.communicate()
            if process.returncode != 0:
                raise CgroupError(errors.decode(errors="replace").strip())
        yield groups
