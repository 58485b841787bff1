"""Keep the server and the driver on their CPUs for a whole run, by the kernel's cpusets or by affinity alone.

An affinity is a wish that every thread may change for itself; nothing leaves the cpuset of a cgroup. Where cgroups can
be used, both hold. The server's cgroup has the driver's CPUs too as long as the JIT compiler may run there; meanwhile
the affinity keeps all other threads away from them, since a thread inherits it. When the server is warm, its cgroup
shrinks to its own CPUs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from jdkmatrix.fork import affinity
from jdkmatrix.host import launch
from jdkmatrix.host.cgroup_cpuset import CpuGroup, CpuGroups, cpu_groups, why_not
from jdkmatrix.host.cgroup_folders import CgroupError
from jdkmatrix.host.cgroup_tree import CgroupState
from jdkmatrix.records.forks import ConfinementMethod

Role = Literal["sut", "driver", "remote"]
_ROLES: tuple[Role, ...] = ("sut", "driver", "remote")


class Confiner(Protocol):
    """How this run confines; `why_not_cgroup` is in words, None where it does so by cgroup."""

    @property
    def method(self) -> ConfinementMethod: ...

    @property
    def why_not_cgroup(self) -> str | None: ...

    def group(self, role: Role, cpus: Collection[int]) -> Path | None:
        """The folder of the cgroup to start a program of `role` in, from now on limited to `cpus`; None: no cgroup.

        Raises:
            CgroupError: the kernel refuses.
        """

    def confine(self, pid: int, cpus: Collection[int]) -> None:
        """Keep every thread of the server `pid` on `cpus` from now on, and look at each.

        Raises:
            CgroupError: the kernel refuses, or a thread is not in the server's cgroup.
            AffinityError: a thread is somewhere else nevertheless.
        """


@dataclass(frozen=True)
class AffinityConfiner:
    """Confines by sched_setaffinity alone."""

    why_not_cgroup: str

    @property
    def method(self) -> ConfinementMethod:
        return "sched_setaffinity"

    def group(self, role: Role, cpus: Collection[int]) -> None:
        return None

    def confine(self, pid: int, cpus: Collection[int]) -> None:
        affinity.confine(pid, cpus)


@dataclass(frozen=True)
class CgroupConfiner:
    """Confines by a cgroup for each role, and by affinity inside it."""

    groups: CpuGroups
    proc: Path = Path("/proc")

    @property
    def method(self) -> ConfinementMethod:
        return "cgroup cpuset"

    @property
    def why_not_cgroup(self) -> None:
        return None

    def group(self, role: Role, cpus: Collection[int]) -> Path:
        group = self.groups[role]
        group.limit_to(tuple(cpus))
        return group.folder

    def confine(self, pid: int, cpus: Collection[int]) -> None:
        folder = self.group("sut", cpus)
        outside = self.groups["sut"].outside(pid, self.proc)
        if outside:
            raise CgroupError(f"{len(outside)} threads of process {pid} are not in the cgroup {folder}")
        affinity.confine(pid, cpus)


@contextmanager
def confinement(state: CgroupState | None, cpus: Collection[int], *, also: Collection[str] = ()) -> Iterator[Confiner]:
    """Confine by cgroup where a trial shows that it is permitted, else by affinity. `cpus`: all that this process may
    use. `also`: controllers that these cgroups get too where they can, for limits (`host.limits`).

    No cgroup is left behind.
    """
    reason = why_not(state)
    with ExitStack() as stack:
        confiner: Confiner
        if reason is None:
            try:
                confiner = CgroupConfiner(stack.enter_context(_tried_groups(state, cpus, also)))
            except CgroupError as error:
                confiner = AffinityConfiner(str(error))
        else:
            confiner = AffinityConfiner(reason)
        yield confiner


@contextmanager
def _tried_groups(state: CgroupState | None, cpus: Collection[int], also: Collection[str]) -> Iterator[CpuGroups]:
    with cpu_groups(state, {role: tuple(cpus) for role in _ROLES}, also=also) as groups:
        for role in _ROLES:
            _try(groups[role])
        yield groups


def _try(group: CpuGroup) -> None:
    """Whether a process may be started in a cgroup shows only when one is."""
    process = launch.spawn(["true"], cpus=group.cpus, cgroups=[group.folder], stderr=subprocess.PIPE)
    _, errors = process.communicate()
    if process.returncode != 0:
        raise CgroupError(errors.decode(errors="replace").strip())
