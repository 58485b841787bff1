"""The CPUs of the host: a thin reader of /sys and /proc, and the value on which decisions are made.

Not handled: dies and clusters inside one L3 domain, and caches that are shared across L3 domains.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jdkmatrix.host.cgroup_limits import CgroupLimits, read_hierarchies, read_limits
from jdkmatrix.host.cpu_ticks import read_ticks
from jdkmatrix.host.cpulist import read_cpu_list

CPU_ROOT = Path("/sys/devices/system/cpu")
# Favoured cores of one kind differ by a few per cent in their capacity, kinds by a third and more.
_EFFICIENCY_CAPACITY_SHARE_MAX = 0.75

CoreKind = Literal["performance", "efficiency"]
Limit = Literal["the CPU affinity of this process", "the cgroup's cpuset"]


@dataclass(frozen=True)
class Cpu:
    """One hardware thread. `core`, `l3` and `node` are unique on the machine; a core and an L3 domain are named by
    their lowest CPU. `isolated`: in no scheduler domain (isolcpus), so that the kernel never moves a thread onto it or
    off it; `tickless`: no timer tick while one thread runs (nohz_full), which is quiet, but leaves the clock of its
    process up to a second behind, as the doctor says."""

    cpu: int
    core: int
    package: int = 0
    node: int = 0
    l3: int = 0
    kind: CoreKind = "performance"
    isolated: bool = False
    tickless: bool = False


@dataclass(frozen=True)
class Topology:
    """The CPUs of a host. `cpus`: those that this process may use, in ascending order; `withheld`: online, but not for
    this process, because of `limit`; `offline`: present, but switched off; `quota_cpus`: CPU seconds per second that
    its cgroup grants; `uncounted`: those of `cpus` whose times /proc/stat does not tell."""

    cpus: tuple[Cpu, ...]
    withheld: tuple[Cpu, ...] = ()
    limit: Limit | None = None
    offline: tuple[int, ...] = ()
    quota_cpus: float | None = None
    uncounted: tuple[int, ...] = ()

    @property
    def cores(self) -> tuple[tuple[int, ...], ...]:
        """The usable hardware threads of each physical core, in the order of their first thread."""
        cores: dict[int, list[int]] = {}
        for cpu in self.cpus:
            cores.setdefault(cpu.core, []).append(cpu.cpu)
        return tuple(tuple(threads) for threads in cores.values())

    @property
    def busy_at_most(self) -> int:
        """The number of CPUs that may be busy at once."""
        usable = len(self.cpus)
        return usable if self.quota_cpus is None else min(usable, math.floor(self.quota_cpus))


def read_topology(
    sysfs: Path = Path("/sys"), proc: Path = Path("/proc"), affinity: Iterable[int] | None = None
) -> Topology:
    """Read which CPUs this process may use: its affinity (default: the kernel's answer) inside its cgroup's cpuset.

    A kernel or container that hides files gives every CPU a core of its own, one L3 domain and one node.
    """
    may_use = frozenset(os.sched_getaffinity(0) if affinity is None else affinity)
    cpu_root = sysfs / "devices/system/cpu"
    online = frozenset(read_cpu_list(cpu_root / "online")) | may_use
    limits = read_limits(read_hierarchies(proc))
    usable = may_use & (limits.cpuset or may_use) or may_use
    cpus = _read_cpus(sysfs, cpu_root, online)
    return Topology(
        cpus=tuple(cpu for cpu in cpus if cpu.cpu in usable),
        withheld=tuple(cpu for cpu in cpus if cpu.cpu not in usable),
        limit=_limit(online, usable, limits),
        offline=tuple(sorted(frozenset(read_cpu_list(cpu_root / "present")) - online)),
        quota_cpus=limits.quota_cpus,
        uncounted=tuple(sorted(usable - read_ticks(proc).keys())),
    )


def _limit(online: frozenset[int], usable: frozenset[int], limits: CgroupLimits) -> Limit | None:
    if usable == online:
        return None
    # The kernel clips the affinity to the cpuset: what is missing beyond that comes from the affinity itself.
    return "the cgroup's cpuset" if usable == online & (limits.cpuset or online) else "the CPU affinity of this process"


def _read_cpus(sysfs: Path, cpu_root: Path, online: frozenset[int]) -> tuple[Cpu, ...]:
    packages = {cpu: _number(cpu_root / f"cpu{cpu}/topology/physical_package_id") for cpu in online}
    lowest_of_package: dict[int, int] = {}
    for cpu in sorted(online):
        lowest_of_package.setdefault(packages[cpu], cpu)
    nodes = _nodes(sysfs / "devices/system/node")
    efficiency = _efficiency_cpus(sysfs, cpu_root, online)
    isolated = read_cpu_list(cpu_root / "isolated")
    tickless = read_cpu_list(cpu_root / "nohz_full")
    return tuple(
        Cpu(
            cpu=cpu,
            core=min(_core_cpus(cpu_root / f"cpu{cpu}/topology"), default=cpu),
            package=packages[cpu],
            node=nodes.get(cpu, 0),
            l3=min(_l3_cpus(cpu_root / f"cpu{cpu}/cache"), default=lowest_of_package[packages[cpu]]),
            kind="efficiency" if cpu in efficiency else "performance",
            isolated=cpu in isolated,
            tickless=cpu in tickless,
        )
        for cpu in sorted(online)
    )


def _core_cpus(folder: Path) -> tuple[int, ...]:
    return read_cpu_list(folder / "core_cpus_list") or read_cpu_list(folder / "thread_siblings_list")


def _l3_cpus(folder: Path) -> tuple[int, ...]:
    for index in sorted(folder.glob("index*")):
        if _number(index / "level") == 3:
            return read_cpu_list(index / "shared_cpu_list")
    return ()


def _nodes(folder: Path) -> Mapping[int, int]:
    return {
        cpu: int(node.name.removeprefix("node"))
        for node in sorted(folder.glob("node[0-9]*"))
        for cpu in read_cpu_list(node / "cpulist")
    }


def _efficiency_cpus(sysfs: Path, cpu_root: Path, online: frozenset[int]) -> frozenset[int]:
    """Find the efficiency cores: on Intel, the kernel lists them as separate performance-monitoring units, two where
    those on the SoC tile differ from the others (arch/x86/events/intel/core.c); elsewhere a smaller capacity tells."""
    listed = read_cpu_list(sysfs / "devices/cpu_atom/cpus") + read_cpu_list(sysfs / "devices/cpu_lowpower/cpus")
    for folder in (cpu_root / "types").glob("intel_atom*"):
        listed += read_cpu_list(folder / "cpulist")
    if listed:
        return frozenset(listed)
    capacities = {cpu: _number(cpu_root / f"cpu{cpu}/cpu_capacity") for cpu in online}
    limit = _EFFICIENCY_CAPACITY_SHARE_MAX * max(capacities.values(), default=0)
    return frozenset(cpu for cpu, capacity in capacities.items() if capacity < limit)


def _number(path: Path) -> int:
    """Read a number; 0 where there is none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0
