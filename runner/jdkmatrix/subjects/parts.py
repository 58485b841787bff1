"""The parts that the cells of a run share: workloads, servers, JDKs, drivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jdkmatrix.config.model import Matrix, Tuning, Workload
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import tuning_of
from jdkmatrix.domain.loads import CellLoad
from jdkmatrix.domain.tables import Database, Limits, RemoteAnswers
from jdkmatrix.drivers.base import Driver
from jdkmatrix.errors import MatrixError
from jdkmatrix.experiments.base import Experiment
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import DatabaseParts, RemoteParts
from jdkmatrix.fork.resource_limits import limited
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.jvm import read_flags
from jdkmatrix.jdks.resolve import Available
from jdkmatrix.provision.own import OwnFiles
from jdkmatrix.provision.postgres import Postgres
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import InstalledServer


@dataclass(frozen=True)
class Parts:
    """The parts. `servers`: by name on axis `server`; `jdks`: of the selected cells, the driver and the remote system;
    `loads`: of the selected cells with a server, as far as they are known; `drivers`: of those cells; `postgres`: None
    if nothing needs it. A text says why one cannot be had. `own`: files of the users' applications, by workload."""

    workloads: Workloads
    servers: Mapping[str, InstalledServer]
    jdks: Mapping[str, Available | str]
    loads: Mapping[CellKey, CellLoad]
    drivers: Mapping[CellKey, Driver | str]
    postgres: Postgres | str | None = None
    own: Mapping[str, OwnFiles] = field(default_factory=dict)

    @property
    def not_here(self) -> tuple[str, ...]:
        """The names of what cells need and cannot have."""
        parts = {**self.jdks, "the database": self.postgres}
        return tuple(name for name, found in parts.items() if isinstance(found, str))

    def jdk(self, name: str) -> Available:
        """Raises: TypeError: it cannot be had, which somebody should have seen before."""
        found = self.jdks[name]
        if isinstance(found, str):
            raise TypeError(f"{name} is not available")
        return found

    def java(self, jdk: str) -> Path:
        return self.jdk(jdk).home / "bin" / "java"

    def driver(self, cell: CellKey) -> Driver:
        """Raises: TypeError: none can make its load, which somebody should have seen before."""
        found = self.drivers[cell]
        if isinstance(found, str):
            raise TypeError(f"{cell.cell_id}: {found}")
        return found

    def remote(self, matrix: Matrix, answers: RemoteAnswers | None) -> RemoteParts | None:
        """Return the remote system's parts; it runs on the driver's JDK, whatever the cell's is."""
        if answers is None:
            return None
        return RemoteParts(self.workloads.file("remote.jar"), self.java(matrix.driver.jdk), answers)

    def database(self, asked: Database | None) -> DatabaseParts | None:
        """Raises: TypeError: it cannot be had, which somebody should have seen before."""
        if asked is None:
            return None
        if not isinstance(self.postgres, Postgres):
            raise TypeError(f"no database: {self.postgres}")
        return DatabaseParts(self.postgres, asked)


class Flags:
    """The flags of JVMs, asked for once per set of options, CPUs and those limits that a JVM looks at."""

    def __init__(self, confiner: Confiner) -> None:
        self._confiner = confiner
        self._known: dict[tuple[object, ...], dict[str, str]] = {}

    def of(
        self, jdk: Available, cpus: CpuSets, options: tuple[str, ...], limits: Limits | None = None
    ) -> dict[str, str]:
        """Return the flags. `limits`: of its box; empty if the JVM does not start in it, as its forks will then tell.

        Raises:
            MatrixError: it does not start with these options, or nothing holds it to its quota of CPU time here.
        """
        seen = limits.model_copy(update={"threads_max": None, "open_files_max": None}) if limits else Limits()
        asked = (jdk.entry.id, cpus.sut, options, seen)
        if asked not in self._known:
            with limited(seen, self._confiner.group("sut", cpus.sut)) as box:
                java = jdk.home / "bin" / "java"
                try:
                    flags = read_flags(java, jdk.entry.vm, options, cpus=cpus.sut, cgroups=box.cgroups)
                except MatrixError:
                    if seen == Limits():
                        raise
                    self.of(jdk, cpus, options)  # raises if it does not start without a box, either
                    flags = {}
                self._known[asked] = flags
        return self._known[asked]


def workload_of(matrix: Matrix, cell: CellKey) -> Workload | Experiment:
    """Return the table of the cell's workload or experiment."""
    return matrix.workloads.get(cell.workload) or matrix.experiments[cell.workload]


def tuning_for(matrix: Matrix, cell: CellKey) -> Tuning:
    """Return the tuning that this cell's executor names; an empty one if it names none."""
    name = tuning_of(cell.executor)
    return matrix.tunings[name] if name else Tuning(description="none")


def jdk_inputs(jdk: Available) -> dict[str, Any]:
    return {"version": jdk.version, "version_output": jdk.version_output, "release": jdk.release}
