"""Made-up machines."""

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
    """Number CPUs as Linux does: first threads (0..n-1), then their siblings, then efficiency cores without any."""
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


VM = machine(2)
DESKTOP = machine(16, threads_per_core=2, cores_per_l3=8)
METERED = replace(DESKTOP, quota_cpus=4.5)
