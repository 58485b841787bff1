"""Made-up machines for the tests of the CPU planner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from jdkmatrix.host.topology import Cpu, Topology


def machine(
    cores: int,
    *,
    threads_per_core: int = 1,
    cores_per_l3: int | None = None,
    cores_per_node: int | None = None,
    cores_per_package: int | None = None,
    efficiency_cores: int = 0,
    isolated: Collection[int] = (),
    tickless: Collection[int] = (),
) -> Topology:
    """Numbered as Linux does: 0..n-1 are the first threads, then their siblings, then efficiency cores without any."""
    cpus = [
        Cpu(
            cpu=thread * cores + core, core=core, node=core // (cores_per_node or cores),
            package=core // (cores_per_package or cores), l3=core - core % (cores_per_l3 or cores),
        )
        for thread in range(threads_per_core)
        for core in range(cores)
    ]  # fmt: skip
    first = len(cpus)
    cpus += [Cpu(cpu=cpu, core=cpu, kind="efficiency") for cpu in range(first, first + efficiency_cores)]
    return Topology(tuple(replace(cpu, isolated=cpu.cpu in isolated, tickless=cpu.cpu in tickless) for cpu in cpus))


def confined(topology: Topology, allowed: Collection[int]) -> Topology:
    """The machine as a container with this cpuset sees it."""
    return replace(
        topology,
        cpus=tuple(cpu for cpu in topology.cpus if cpu.cpu in allowed),
        withheld=tuple(cpu for cpu in topology.cpus if cpu.cpu not in allowed),
        limit="the cgroup's cpuset",
    )


def without(topology: Topology, offline: Collection[int]) -> Topology:
    """The machine with CPUs switched off."""
    cpus = tuple(cpu for cpu in topology.cpus if cpu.cpu not in offline)
    lowest: dict[int, int] = {}
    for cpu in cpus:  # a core is called by its lowest CPU that is online
        lowest.setdefault(cpu.core, cpu.cpu)
    return replace(
        topology, cpus=tuple(replace(cpu, core=lowest[cpu.core]) for cpu in cpus), offline=tuple(sorted(offline))
    )


VM = machine(2)
DESKTOP = machine(16, threads_per_core=2, cores_per_l3=8)
SERVER = machine(64, threads_per_core=2, cores_per_l3=8, cores_per_node=16, cores_per_package=32)
HYBRID = machine(8, threads_per_core=2, efficiency_cores=16)
CONTAINER = confined(SERVER, range(20, 32))
HALF_CORES = confined(machine(8, threads_per_core=2), [*range(8), 12, 13, 14, 15])
METERED = replace(DESKTOP, quota_cpus=4.5)
PARTLY_OFF = without(DESKTOP, [3, 8, 9, 10, 11, 31])
ISOLATED = machine(8, isolated=[4, 5, 6, 7], tickless=[4, 5, 6, 7])

MACHINES = {
    "2-core VM": VM,
    "16-core desktop with SMT": DESKTOP,
    "2 sockets, 64 cores, 4 nodes": SERVER,
    "hybrid": HYBRID,
    "container with a cpuset": CONTAINER,
    "container with half of some cores": HALF_CORES,
    "container with a quota": METERED,
    "CPUs switched off": PARTLY_OFF,
    "isolated CPUs": ISOLATED,
}
