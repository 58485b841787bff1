"""Plan how the limits of a server are enforced on this host: by cgroups, by rlimit, or by watching it.

What is not used, and why:

- RLIMIT_NPROC counts the threads of a user on the whole host, and does not apply to root (getrlimit(2)).
- Nothing but a cgroup enforces a quota of CPU time.
- RLIMIT_AS counts addresses, not memory. A JVM reserves many times what it uses: its heap, 1 GiB for classes, 240 MiB
  for code, 64 MiB for each malloc arena. A limit that lets it start does not keep it from filling the host's memory.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.tables import Limits
from jdkmatrix.errors import MatrixError, why_refused
from jdkmatrix.host import cgroup_folders, cgroup_tree
from jdkmatrix.host.cgroup_limits import read_hierarchies
from jdkmatrix.host.cgroup_tree import CgroupState
from jdkmatrix.records.limits import Enforcement, Enforcer, LimitName

Controller = Literal["pids", "memory", "cpu"]
CONTROLLERS: tuple[Controller, ...] = ("pids", "memory", "cpu")
_CAP_SYS_RESOURCE = 24  # linux/capability.h


@dataclass(frozen=True)
class V1Place:
    """The place of this process in a hierarchy of version 1."""

    folder: Path
    writable: bool
    read_only: bool


@dataclass(frozen=True)
class LimitHost:
    """Facts of the host that decide how limits are enforced. `of_cpu_group`: the controllers of the cgroup of version 2
    that keeps the server on its CPUs; None where none does, and a separate one could be made below `unified`. A process
    is in only one cgroup of version 2. `open_files_max`: the highest limit that this process may give another."""

    unified: CgroupState | None
    v1: Mapping[Controller, V1Place]
    of_cpu_group: frozenset[str] | None
    open_files_max: int


@dataclass(frozen=True)
class LimitPlan:
    """`v1_parents`: the folder below which to make a cgroup for a controller. `v2_parent`: the cgroup below which to
    make one of version 2 for all `v2_controllers`; None where they go into the one that pins the server to its CPUs."""

    limits: Limits
    enforced: tuple[Enforcement, ...]
    v1_parents: Mapping[Controller, Path] = field(default_factory=dict)
    v2_controllers: frozenset[Controller] = frozenset()
    v2_parent: CgroupState | None = None

    @property
    def open_files_max(self) -> int | None:
        return next((one.maximum for one in self.enforced if one.by == "rlimit"), None)

    @property
    def watched(self) -> frozenset[LimitName]:
        return frozenset(one.limit for one in self.enforced if one.by == "watch")


def read_limit_host(cpu_group: Path | None = None, proc: Path = Path("/proc")) -> LimitHost:
    """Read this process's cgroups. `cpu_group`: the one of version 2 that keeps the server on its CPUs, if any."""
    may_raise = _has_capability(cgroup_folders.read(proc / "self/status"), _CAP_SYS_RESOURCE)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Nobody gets a limit beyond fs.nr_open, whatever the privilege (getrlimit(2)).
    most = int(cgroup_folders.read(proc / "sys/fs/nr_open") or 0) if may_raise else hard
    return LimitHost(
        unified=cgroup_tree.probe(proc),
        v1={
            controller: V1Place(
                hierarchy.folder,
                writable=os.access(hierarchy.folder, os.W_OK),
                read_only=cgroup_folders.is_read_only(hierarchy.folder),
            )
            for hierarchy in read_hierarchies(proc)
            for controller in CONTROLLERS
            if controller in hierarchy.controllers
        },
        of_cpu_group=(
            None if cpu_group is None else frozenset(cgroup_folders.read(cpu_group / "cgroup.controllers").split())
        ),
        open_files_max=2**63 - 1 if most == resource.RLIM_INFINITY else max(soft, hard, most),
    )


def plan_limits(limits: Limits, host: LimitHost) -> LimitPlan:
    """Choose the strongest means for each limit that is asked for. Pure.

    Raises:
        MatrixError: nothing holds a quota of CPU time here.
    """
    enforced: list[Enforcement] = []
    v1_parents: dict[Controller, Path] = {}
    v2_controllers: set[Controller] = set()
    wanted: tuple[tuple[LimitName, Controller, int | None], ...] = (
        ("threads", "pids", limits.threads_max),
        ("memory", "memory", limits.memory_bytes_max),
        ("CPU quota", "cpu", None if limits.cpu_quota_cpus is None else round(limits.cpu_quota_cpus * 1000)),
    )
    for name, controller, maximum in wanted:
        if maximum is None:
            continue
        not_v2, not_v1 = _why_not_v2(controller, host), _why_not_v1(controller, host.v1)
        by: Enforcer = "watch"
        if not_v2 is None:
            by = "cgroup v2"
            v2_controllers.add(controller)
        elif not_v1 is None:
            by = "cgroup v1"
            v1_parents[controller] = host.v1[controller].folder
        elif controller == "cpu":
            raise MatrixError(f"no CPU quota can be set here: {not_v2}; {not_v1}")
        # Why nothing stronger: version 2 comes before version 1, and both before the watch.
        why_not = () if by == "cgroup v2" else tuple(reason for reason in (not_v2, not_v1) if reason is not None)
        enforced.append(Enforcement(limit=name, maximum=maximum, by=by, why_not=why_not))
    if limits.open_files_max is not None:
        enforced.append(_files(limits.open_files_max, host))
    makes_own = v2_controllers and host.of_cpu_group is None
    return LimitPlan(
        limits, tuple(enforced), v1_parents, frozenset(v2_controllers), host.unified if makes_own else None
    )


def why_no_limit(quota_cpus: float, cpus: int) -> str | None:
    """Say why this quota of CPU time limits nothing for a server on so many CPUs; None where it does. Pure."""
    return f"a quota of {quota_cpus:g} CPUs limits nothing on {plural(cpus, 'CPU')}" if quota_cpus > cpus else None


def why_no_quota(quota_cpus: float, host: LimitHost) -> str | None:
    """Say why this host cannot hold a server to this quota of CPU time; None where it can. Pure."""
    return why_refused(lambda: plan_limits(Limits(cpu_quota_cpus=quota_cpus), host))


def _why_not_v2(controller: Controller, host: LimitHost) -> str | None:
    if host.of_cpu_group is None:
        return cgroup_tree.why_not(host.unified, controller)
    has_it = controller in host.of_cpu_group
    return None if has_it else f"the cgroup that keeps the server on its CPUs has no {controller} controller"


def _why_not_v1(controller: Controller, places: Mapping[Controller, V1Place]) -> str | None:
    if controller not in places:
        return f"no cgroup hierarchy of version 1 has the {controller} controller"
    place = places[controller]
    if place.read_only:
        return f"the cgroup {place.folder} is mounted read-only"
    return None if place.writable else f"this user may not write in the cgroup {place.folder}"


def _files(wanted: int, host: LimitHost) -> Enforcement:
    if wanted <= host.open_files_max:
        return Enforcement(limit="open files", maximum=wanted, by="rlimit")
    reason = f"{wanted:,} were asked for, but this host permits {host.open_files_max:,}"
    return Enforcement(limit="open files", maximum=host.open_files_max, by="rlimit", why_not=(reason,))


def _has_capability(status: str, capability: int) -> bool:
    """Look the capability up in the text of /proc/PID/status (proc_pid_status(5))."""
    effective = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) >> capability & 1)
