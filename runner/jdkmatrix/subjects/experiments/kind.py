"""Experiments without a server, as a run sees them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.tables import RemoteAnswers
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.jdks.jvm import options_of
from jdkmatrix.subjects.base import SubjectKind
from jdkmatrix.subjects.experiments.measurement import FOLDER, ProgramCell
from jdkmatrix.subjects.parts import Parts

_MAIN = "jdkmatrix.standalone.Main"
# The start of a JVM, and what is done all at once.
_START_S = 5.0


class Experiments(SubjectKind):
    """Experiments, which load themselves: beside one is only the remote system that some of them call."""

    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        return matrix.experiments[cell.workload].calls

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        measured_s = profile.windows * profile.window_s
        experiment, load = matrix.experiments[cell.workload], matrix.task_load(cell)
        return _START_S + experiment.expected_s(cell, load, measured_s)

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        if matrix.experiments[cell.workload].TIMED:
            return f"{profile.windows * profile.window_s:g} s in one piece"
        return "until all are done"

    def why_no_turns(self, matrix: Matrix, cell: CellKey) -> str:
        return "an experiment without a server runs in one piece"

    def why_never(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str | None:
        return matrix.experiments[cell.workload].why_never(cell, matrix.task_load(cell))

    def jvm_options(self, matrix: Matrix, cell: CellKey, vm: Vm) -> tuple[str, ...]:
        experiment = matrix.experiments[cell.workload]
        options = options_of(experiment.jvm, vm) if experiment.jvm else ()
        return (*options, *experiment.vm_options(cell.executor))

    def setup(self, parts: Parts, cell: CellKey, options: tuple[str, ...], shared: Mapping[str, Any]) -> ProgramCell:
        jars = self.artefacts(shared["matrix"], parts, cell)
        program = ("-cp", os.pathsep.join(map(str, jars)), _MAIN) if len(jars) > 1 else ("-jar", str(jars[0]))
        files = f"-Djava.io.tmpdir={FOLDER}"
        return ProgramCell(**shared, command=(str(parts.java(cell.jdk)), files, *options, *program))

    def artefacts(self, matrix: Matrix, parts: Parts, cell: CellKey) -> tuple[Path, ...]:
        libraries = (f"{name}.jar" for name in matrix.experiments[cell.workload].libraries)
        return tuple(map(parts.workloads.file, ("standalone.jar", *libraries)))

    def inputs(self, matrix: Matrix, parts: Parts, cell: CellKey) -> dict[str, Any]:
        return {"experiment": matrix.experiments[cell.workload].model_dump()}
