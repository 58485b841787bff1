"""Put together what each cell is measured with, from the parts that all cells share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jdkmatrix.config.executors import base_of, tuning_of
from jdkmatrix.config.model import Matrix, Tuning, Workload
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.drivers.base import Driver
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure.draft import CellParts, RemoteParts
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.provision.jdks.resolve import Available, Unavailable
from jdkmatrix.provision.liberty import Liberty
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records import Calibration, CellKey, CellLoad
from jdkmatrix.sut.applications import BANKING_ACCOUNTS, REMOTE_CLIENT, application_of
from jdkmatrix.sut.instance import Instance
from jdkmatrix.sut.jvm import options_of, read_flags
from jdkmatrix.sut.liberty_layout import sources

_NATIVE_MEMORY_TRACKING = "-XX:NativeMemoryTracking=summary"


@dataclass(frozen=True)
class Parts:
    """What is shared by all cells."""

    workloads: Workloads
    servers: Mapping[str, Liberty]  # by name on axis `server`
    jdks: Mapping[str, Available | Unavailable]  # of the selected cells and of driver and remote system
    loads: Mapping[CellKey, CellLoad]  # of the selected cells with a server, as far as they are known
    drivers: Mapping[CellKey, Driver | str]  # of those cells; a text says why there is none


class Flags:
    """Asks each JVM for its flags once per set of options and CPUs."""

    def __init__(self, pinner: Pinner) -> None:
        self._pinner = pinner
        self._known: dict[tuple[str, tuple[int, ...], tuple[str, ...]], dict[str, str]] = {}

    def of(self, jdk: Available, cpus: CpuSets, options: tuple[str, ...]) -> dict[str, str]:
        """Raises: MatrixError: it does not start with these options."""
        asked = (jdk.entry.id, cpus.sut, options)
        if asked not in self._known:
            cgroup = self._pinner.group("sut", cpus.sut)
            java = jdk.home / "bin" / "java"
            self._known[asked] = read_flags(java, jdk.entry.vm, options, cpus=cpus.sut, cgroup=cgroup)
        return self._known[asked]


def assemble(
    matrix: Matrix,
    parts: Parts,
    cpu_sets: Mapping[CellKey, CpuSets],
    calibration: Calibration | None,
    pinner: Pinner,
) -> Iterator[tuple[CellKey, CellParts]]:
    """For every cell of `cpu_sets` that has a server, all of which can be measured. `calibration`: None where nothing
    burns.

    Raises:
        MatrixError: a JVM does not start with its options.
    """
    flags = Flags(pinner)
    for cell, cpus in cpu_sets.items():
        if not cell.has_server:
            continue
        jdk = parts.jdks[cell.jdk]
        driver = parts.drivers[cell]
        if isinstance(jdk, Unavailable) or isinstance(driver, str):
            raise TypeError(f"{cell.cell_id} cannot be measured and should not be here")
        java = java_of(parts.jdks, cell.jdk)
        workload = matrix.workloads[cell.workload]
        tuning = tuning_for(matrix, cell)
        options = (
            *_options(matrix, workload, jdk),
            *(f"-D{name}={value}" for name, value in tuning.properties.items()),
        )
        rounds_per_us = calibration.rounds_per_us if calibration and cell.burn_us else 0.0
        yield (
            cell,
            CellParts(
                load=parts.loads[cell],
                driver=driver,
                cpu_sets=cpus,
                burn_rounds=round(cell.burn_us * rounds_per_us),
                calibration=calibration if cell.burn_us else None,
                jvm_flags=flags.of(jdk, cpus, options),
                instance=Instance(
                    liberty=parts.servers[cell.server],
                    workloads=parts.workloads,
                    application=workload.application,
                    java=java,
                    vm=jdk.entry.vm,
                    feature_set=workload.features,
                    executor=base_of(cell.executor),
                    jvm_options=options,
                    rounds_per_us=rounds_per_us,
                    properties=_properties(workload),
                ),
                kernel=tuning.kernel,
                workload=workload,
                remote=_remote(matrix, parts, workload),
                mix=_mix(matrix, workload, cell),
                inputs=_inputs(matrix, parts, cell, jdk, options),
            ),
        )


def tuning_for(matrix: Matrix, cell: CellKey) -> Tuning:
    """What this cell's executor asks for; empty where it asks for nothing."""
    name = tuning_of(cell.executor)
    return matrix.tunings[name] if name else Tuning(description="none")


def _properties(workload: Workload) -> dict[str, str]:
    """What the application is told, beside the address of the remote system."""
    accounts = {BANKING_ACCOUNTS: str(workload.accounts)} if workload.accounts else {}
    return accounts | ({REMOTE_CLIENT: workload.client} if workload.client else {})


def java_of(jdks: Mapping[str, Available | Unavailable], jdk: str) -> Path:
    found = jdks[jdk]
    if isinstance(found, Unavailable):
        raise TypeError(f"{jdk} is not available")
    return found.home / "bin" / "java"


def _options(matrix: Matrix, workload: Workload, jdk: Available) -> tuple[str, ...]:
    options = options_of(workload.jvm or matrix.jvm, jdk.entry.vm)
    watched = workload.memory_every_s is not None and jdk.entry.vm == "hotspot"
    return (*options, _NATIVE_MEMORY_TRACKING) if watched else options


def _remote(matrix: Matrix, parts: Parts, workload: Workload) -> RemoteParts | None:
    """It runs on the driver's JDK, whatever the cell's is."""
    if workload.remote is None:
        return None
    return RemoteParts(parts.workloads.remote_jar, java_of(parts.jdks, matrix.driver.jdk), workload.remote)


def _mix(matrix: Matrix, workload: Workload, cell: CellKey) -> RequestMix | None:
    if workload.mix is None:
        return None
    root = application_of(workload.application).root_of(workload.front)
    return matrix.mixes[workload.mix].below(root, f"burn_us={cell.burn_us}" if cell.burn_us else "")


def _inputs(matrix: Matrix, parts: Parts, cell: CellKey, jdk: Available, options: Sequence[str]) -> dict[str, Any]:
    workload, server = matrix.workloads[cell.workload], parts.servers[cell.server]
    return {
        "workload": workload.model_dump(),
        "mix": matrix.mixes[workload.mix].model_dump() if workload.mix else None,
        "artefacts": parts.workloads.digests(_artefacts(matrix, parts, cell)),
        "server": {"version": server.version, "sha256": server.sha256, "java_options": list(server.java_options)},
        "jdk": jdk_inputs(jdk),
        "remote_jdk": remote_jdk_inputs(matrix, parts) if workload.remote else None,
        "jvm_options": list(options),
        "kernel": dict(tuning_for(matrix, cell).kernel),
    }


def _artefacts(matrix: Matrix, parts: Parts, cell: CellKey) -> Iterator[Path]:
    """Those of ours that this cell runs, and no other."""
    workload, workloads = matrix.workloads[cell.workload], parts.workloads
    yield from sources(
        workloads,
        application=application_of(workload.application),
        feature_set=workload.features,
        executor=base_of(cell.executor),
    )
    if isinstance(parts.drivers[cell], LoadgenDriver):
        yield workloads.loadgen_jar
    if workload.remote:
        yield workloads.remote_jar


def jdk_inputs(jdk: Available) -> dict[str, Any]:
    return {"version": jdk.version, "version_output": jdk.version_output, "release": jdk.release}


def remote_jdk_inputs(matrix: Matrix, parts: Parts) -> dict[str, Any]:
    """It runs on the driver's JDK, whatever the cell's is."""
    jdk = parts.jdks[matrix.driver.jdk]
    if isinstance(jdk, Unavailable):
        raise TypeError(f"{matrix.driver.jdk} is not available")
    return jdk_inputs(jdk)
