"""Which CPUs there are: a thin reader of /sys, and the value that decisions are made on."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CPU_ROOT = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Cpu:
    """One hardware thread. `core` is unique in its package."""

    cpu: int
    core: int
    package: int


@dataclass(frozen=True)
class Topology:
    """The CPUs that this process may use, in rising order."""

    cpus: tuple[Cpu, ...]

    @property
    def cores(self) -> tuple[tuple[int, ...], ...]:
        """The hardware threads of each physical core, in the order of their first thread."""
        cores: dict[tuple[int, int], list[int]] = {}
        for cpu in self.cpus:
            cores.setdefault((cpu.package, cpu.core), []).append(cpu.cpu)
        return tuple(tuple(threads) for threads in cores.values())


def read_topology(root: Path = CPU_ROOT, allowed: Iterable[int] | None = None) -> Topology:
    """Read the topology of the CPUs in `allowed` (default: this process's affinity).

    A kernel or container that hides the topology files gives every CPU a core of its own.
    """
    numbers = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    return Topology(tuple(_read_cpu(root, number) for number in numbers))


def _read_cpu(root: Path, number: int) -> Cpu:
    folder = root / f"cpu{number}" / "topology"
    try:
        core = int((folder / "core_id").read_text())
        package = int((folder / "physical_package_id").read_text())
    except (OSError, ValueError):
        core, package = number, 0
    return Cpu(cpu=number, core=core, package=package)
