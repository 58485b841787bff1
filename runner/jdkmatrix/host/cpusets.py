"""Which CPUs the server gets and which the driver. Pure.

Not handled yet: L3 and NUMA domains, hybrid cores, isolated CPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.host.topology import Topology


@dataclass(frozen=True)
class CpuSets:
    """`sut` and `driver` are disjoint unless `overlapped`. `shares_cores`: sibling threads of one core are in use,
    so that one side can slow the other down."""

    sut: tuple[int, ...]
    driver: tuple[int, ...]
    overlapped: bool
    shares_cores: bool


class TooFewCpusError(ValueError):
    """This host cannot give the cell its CPUs; the message says how many are missing."""


def assign(topology: Topology, *, sut_cpus: int, driver_cpus: int, overlap: bool) -> CpuSets:
    """Give the server the highest CPUs, the driver the lowest: CPU 0 serves most interrupts.

    One thread of each core while there are enough cores; then sibling threads as well; then, if `overlap` allows it,
    the driver gets CPUs of the server.

    Raises:
        TooFewCpusError: the host has too few.
    """
    cores = topology.cores
    one_per_core = sorted(threads[0] for threads in cores)
    every_thread = [cpu.cpu for cpu in topology.cpus]
    needed = sut_cpus + driver_cpus
    for cpus in (one_per_core, every_thread):
        if len(cpus) >= needed:
            return CpuSets(
                sut=tuple(cpus[-sut_cpus:]),
                driver=tuple(cpus[:driver_cpus]),
                overlapped=False,
                shares_cores=cpus is not one_per_core and len(every_thread) > len(cores),
            )
    if overlap and len(every_thread) >= max(sut_cpus, driver_cpus):
        return CpuSets(
            sut=tuple(every_thread[-sut_cpus:]),
            driver=tuple(every_thread[:driver_cpus]),
            overlapped=True,
            shares_cores=len(every_thread) > len(cores),
        )
    raise TooFewCpusError(
        f"cpus = {sut_cpus} needs {sut_cpus} + {driver_cpus} for the driver; this host has {len(every_thread)}"
    )
