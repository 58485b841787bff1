"""What a cell of an experiment is measured with. Pure, but for what each JVM says of its own flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jdkmatrix.alone.command import vm_options
from jdkmatrix.config.experiments import Experiment, Fanout
from jdkmatrix.config.model import Matrix
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure.assemble import Flags, Parts, java_of, jdk_inputs, remote_jdk_inputs, tuning_for
from jdkmatrix.measure.draft import RemoteParts
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.provision.jdks.resolve import Unavailable
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records import Calibration, CellKey
from jdkmatrix.sut.jvm import options_of


@dataclass(frozen=True)
class AloneParts:
    """`command`: up to the program's own arguments. `rounds_per_us` and `burn_rounds` are 0 where nothing is burnt."""

    experiment: Experiment
    command: tuple[str, ...]
    cpu_sets: CpuSets
    burn_rounds: int
    rounds_per_us: float
    jvm_flags: Mapping[str, str]
    kernel: Mapping[str, str]
    remote: RemoteParts | None
    inputs: Mapping[str, Any]


def assemble_alone(
    matrix: Matrix,
    parts: Parts,
    cpu_sets: Mapping[CellKey, CpuSets],
    calibration: Calibration | None,
    pinner: Pinner,
) -> Iterator[tuple[CellKey, AloneParts]]:
    """For every cell of `cpu_sets` that has no server, all of which can be measured. `calibration`: None where nothing
    burns.

    Raises:
        MatrixError: a JVM does not start with its options.
    """
    flags = Flags(pinner)
    for cell, cpus in cpu_sets.items():
        if cell.has_server:
            continue
        jdk = parts.jdks[cell.jdk]
        if isinstance(jdk, Unavailable):
            raise TypeError(f"{cell.cell_id} cannot be measured and should not be here")
        experiment = matrix.experiments[cell.workload]
        tuning = tuning_for(matrix, cell)
        options = (
            *(options_of(experiment.jvm, jdk.entry.vm) if experiment.jvm else ()),
            *vm_options(experiment, cell.executor),
            *(f"-D{name}={value}" for name, value in tuning.properties.items()),
        )
        java = java_of(parts.jdks, cell.jdk)
        rounds_per_us = calibration.rounds_per_us if calibration and cell.burn_us else 0.0
        yield (
            cell,
            AloneParts(
                experiment=experiment,
                command=(str(java), *options, "-jar", str(parts.workloads.standalone_jar)),
                cpu_sets=cpus,
                burn_rounds=round(cell.burn_us * rounds_per_us),
                rounds_per_us=rounds_per_us,
                jvm_flags=flags.of(jdk, cpus, options),
                kernel=tuning.kernel,
                remote=_remote(matrix, parts, experiment),
                inputs={
                    "experiment": experiment.model_dump(),
                    "artefacts": parts.workloads.digests(_artefacts(parts.workloads, experiment)),
                    "jdk": jdk_inputs(jdk),
                    "remote_jdk": remote_jdk_inputs(matrix, parts) if isinstance(experiment, Fanout) else None,
                    "jvm_options": list(options),
                    "kernel": dict(tuning.kernel),
                },
            ),
        )


def _artefacts(workloads: Workloads, experiment: Experiment) -> tuple[Path, ...]:
    """Those of ours that it runs, and no other."""
    called = (workloads.remote_jar,) if isinstance(experiment, Fanout) else ()
    return (workloads.standalone_jar, *called)


def _remote(matrix: Matrix, parts: Parts, experiment: Experiment) -> RemoteParts | None:
    """It runs on the driver's JDK, whatever the cell's is."""
    if not isinstance(experiment, Fanout):
        return None
    return RemoteParts(parts.workloads.remote_jar, java_of(parts.jdks, matrix.driver.jdk), experiment.remote)
