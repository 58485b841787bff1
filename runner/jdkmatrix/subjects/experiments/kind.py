"""Experiments without a server, seen from a run."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.tables import RemoteAnswers
from jdkmatrix.fork.fork_record import CellParts
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.jdks.jvm import options_of
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.run import Calibration
from jdkmatrix.subjects.experiments.measurement import Program
from jdkmatrix.subjects.parts import Flags, Parts, jdk_inputs, tuned, tuning_for

# The start of a JVM, and what is done all at once.
_START_S = 5.0


class Experiments:
    """An experiment loads itself: nothing is beside it but the remote system that some of them call."""

    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        return matrix.experiments[cell.workload].calls

    def driver_cpus(self, matrix: Matrix) -> int:
        return 0

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        measured_s = profile.windows * profile.window_s
        experiment, load = matrix.experiments[cell.workload], matrix.task_load(cell)
        return _START_S + experiment.expected_s(cell, load, measured_s)

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        if matrix.experiments[cell.workload].TIMED:
            return f"{profile.windows * profile.window_s:g} s in one piece"
        return "until all are done"

    def why_not(self, matrix: Matrix, parts: Parts, cell: CellKey) -> str | None:
        return None

    def assemble(
        self,
        matrix: Matrix,
        parts: Parts,
        cell: CellKey,
        cpus: CpuSets,
        calibration: Calibration | None,
        flags: Flags,
    ) -> CellParts:
        jdk, experiment = parts.jdk(cell.jdk), matrix.experiments[cell.workload]
        load, tuning = matrix.task_load(cell), tuning_for(matrix, cell)
        options = (
            *(options_of(experiment.jvm, jdk.entry.vm) if experiment.jvm else ()),
            *experiment.vm_options(cell.executor),
            *tuned(tuning),
        )
        rounds_per_us = calibration.rounds_per_us if calibration else 0.0
        answers = self.remote(matrix, cell)
        return CellParts(
            subject=Program(
                load=load,
                experiment=experiment,
                command=(str(parts.java(cell.jdk)), *options, "-jar", str(parts.workloads.file("standalone.jar"))),
                rounds_per_us=rounds_per_us,
            ),
            cpu_sets=cpus,
            burn_rounds=round(cell.burn_us * rounds_per_us),
            jvm_flags=flags.of(jdk, cpus, options),
            kernel=tuning.kernel,
            remote=parts.remote(matrix, answers),
            inputs={
                "load": load.model_dump(),
                "experiment": experiment.model_dump(),
                "artefacts": parts.workloads.digests(_artefacts(parts.workloads, answers)),
                "jdk": jdk_inputs(jdk),
                "remote_jdk": parts.remote_jdk_inputs(matrix, answers),
                "jvm_options": list(options),
                "kernel": dict(tuning.kernel),
                **parts.files_inputs(matrix, cell, drivers_jdk=answers is not None),
            },
        )


def _artefacts(workloads: Workloads, answers: RemoteAnswers | None) -> tuple[Path, ...]:
    """Those of ours that it runs, and no other."""
    called = (workloads.file("remote.jar"),) if answers else ()
    return (workloads.file("standalone.jar"), *called)
