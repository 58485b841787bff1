"""Which kind of subject a cell has, and what it is measured with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellParts
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.jvm import heap_bytes
from jdkmatrix.records.run import Calibration
from jdkmatrix.subjects.base import SubjectKind
from jdkmatrix.subjects.experiments.kind import Experiments
from jdkmatrix.subjects.parts import Flags, Parts, jdk_inputs, tuning_for
from jdkmatrix.subjects.served.kind import ServedApplications

_SERVED: SubjectKind = ServedApplications()
_EXPERIMENTS: SubjectKind = Experiments()


def kind_of(cell: CellKey) -> SubjectKind:
    return _SERVED if cell.has_server else _EXPERIMENTS


def assemble(
    matrix: Matrix,
    parts: Parts,
    cpu_sets: Mapping[CellKey, CpuSets],
    calibration: Calibration | None,
    confiner: Confiner,
) -> Iterator[tuple[CellKey, CellParts]]:
    """For every cell of `cpu_sets`, all of which can be measured. `calibration`: None where nothing burns.

    Raises:
        MatrixError: a JVM does not start with its options.
    """
    flags = Flags(confiner)
    for cell, cpus in cpu_sets.items():
        kind, jdk, tuning = kind_of(cell), parts.jdk(cell.jdk), tuning_for(matrix, cell)
        of_tuning = (f"-D{name}={value}" for name, value in tuning.properties.items())
        options = (*kind.jvm_options(matrix, cell, jdk.entry.vm), *of_tuning)
        burn = calibration if cell.burn_us else None
        subject = kind.subject(matrix, parts, cell, options, burn)
        remote = parts.remote(matrix, kind.remote(matrix, cell))
        drivers_jdk = parts.jdk(matrix.driver.jdk) if remote or kind.driver_cpus(matrix) else None
        server = parts.servers[cell.server] if cell.has_server else None
        artefacts = (*kind.artefacts(matrix, parts, cell), *((remote.jar,) if remote else ()))
        jvm_flags = flags.of(jdk, cpus, options)
        yield (
            cell,
            CellParts(
                subject=subject,
                cpu_sets=cpus,
                burn_rounds=round(cell.burn_us * burn.rounds_per_us) if burn else 0,
                jvm_flags=jvm_flags,
                heap_bytes=heap_bytes(jvm_flags, options),
                kernel=tuning.kernel,
                remote=remote,
                inputs={
                    "load": subject.load.model_dump(),
                    "artefacts": parts.workloads.digests(artefacts),
                    "jdk": jdk_inputs(jdk),
                    "remote_jdk": jdk_inputs(parts.jdk(matrix.driver.jdk)) if remote else None,
                    "jvm_options": list(options),
                    "kernel": dict(tuning.kernel),
                    "jdk_files_sha256": jdk.files_sha256,
                    "server_files_sha256": server.files_sha256 if server else None,
                    "driver_jdk_files_sha256": drivers_jdk.files_sha256 if drivers_jdk else None,
                    **kind.inputs(matrix, parts, cell),
                },
            ),
        )
