"""Choose the kind of subject of a cell, and assemble its setup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.jdks.jvm import heap_bytes
from jdkmatrix.provision.own import option_files
from jdkmatrix.records.run import Calibration, HostFacts
from jdkmatrix.subjects.base import SubjectKind
from jdkmatrix.subjects.experiments.kind import Experiments
from jdkmatrix.subjects.parts import Flags, Parts, jdk_inputs, tuning_for, workload_of
from jdkmatrix.subjects.served.kind import ServedApplications

_SERVED: SubjectKind = ServedApplications()
_EXPERIMENTS: SubjectKind = Experiments()
_COLLECTOR = re.compile(r"-XX:[+-]Use\w+GC\b|-Xgcpolicy:")


def kind_of(matrix: Matrix, cell: CellKey) -> SubjectKind:
    return _EXPERIMENTS if isinstance(matrix.loads[cell.load], TaskLoad) else _SERVED


def jvm_options(matrix: Matrix, cell: CellKey, vm: Vm) -> tuple[str, ...]:
    """Return the options of the cell’s JVM, those of its tuning last, so that they win, and without any other collector
    than the tuning’s: a JVM with two does not start."""
    tuning = tuning_for(matrix, cell)
    given = kind_of(matrix, cell).jvm_options(matrix, cell, vm)
    if any(map(_COLLECTOR.match, tuning.jvm_options)):
        given = tuple(option for option in given if not _COLLECTOR.match(option))
    return (*given, *(f"-D{name}={value}" for name, value in tuning.properties.items()), *tuning.jvm_options)


def assemble(
    matrix: Matrix,
    profile: Profile,
    parts: Parts,
    cpu_sets: Mapping[CellKey, CpuSets],
    calibration: Calibration | None,
    host: HostFacts,
    confiner: Confiner,
    flags: Flags,
) -> Iterator[tuple[CellKey, CellSetup]]:
    """Yield the setup of every cell of `cpu_sets`, all of which can be measured. `calibration`: None if nothing burns.

    Raises:
        MatrixError: a JVM does not start with its options, or a file that they name cannot be read.
    """
    for cell, cpus in cpu_sets.items():
        kind, jdk, tuning = kind_of(matrix, cell), parts.jdk(cell.jdk), tuning_for(matrix, cell)
        workload = workload_of(matrix, cell)
        options = jvm_options(matrix, cell, jdk.entry.vm)
        burn = calibration if cell.burn_us else None
        load = parts.loads.get(cell) or matrix.task_load(cell)
        remote = parts.remote(matrix, kind.remote(matrix, cell))
        database = parts.database(kind.database(matrix, cell))
        drivers_jdk = parts.jdk(matrix.driver.jdk) if remote or kind.driver_cpus(matrix) != 0 else None
        server = parts.servers.get(cell.server)
        artefacts = (*kind.artefacts(matrix, parts, cell), *((remote.jar,) if remote else ()))
        jvm_flags, own_files = flags.of(jdk, cpus, options, workload.limits), option_files(options)
        shared = {
            "matrix": matrix,
            "profile": profile,
            "host": host,
            "confiner": confiner,
            "load": load,
            "workload": workload,
            "cpu_sets": cpus,
            "calibration": burn,
            "burn_rounds": round(cell.burn_us * burn.rounds_per_us) if burn else 0,
            "jvm_flags": jvm_flags,
            "kernel": tuning.kernel,
            "remote": remote,
            "database": database,
            "heap_bytes": heap_bytes(jvm_flags, options),
            "why_no_turns": kind.why_no_turns(matrix, cell),
            "unpinned_jdks": {one.home: one.files_sha256 for one in (jdk, drivers_jdk) if one and not one.is_ours},
            "inputs": {
                "load": load.model_dump(),
                "artefacts": parts.workloads.digests(artefacts),
                "jdk": jdk_inputs(jdk),
                "remote_jdk": jdk_inputs(parts.jdk(matrix.driver.jdk)) if remote else None,
                "jvm_options": list(options),
                **({"option_files": own_files} if own_files else {}),
                "kernel": dict(tuning.kernel),
                "jdk_files_sha256": jdk.files_sha256,
                "server_files_sha256": server.files_sha256 if server else None,
                "driver_jdk_files_sha256": drivers_jdk.files_sha256 if drivers_jdk else None,
                **({"postgresql": [database.postgres.version, database.postgres.files_sha256]} if database else {}),
                **kind.inputs(matrix, parts, cell),
            },
        }
        yield cell, kind.setup(parts, cell, options, shared)
