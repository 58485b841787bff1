"""Which kind of subject a cell has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellParts
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.records.run import Calibration
from jdkmatrix.subjects.base import SubjectKind
from jdkmatrix.subjects.experiments.kind import Experiments
from jdkmatrix.subjects.parts import Flags, Parts
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
        yield cell, kind_of(cell).assemble(matrix, parts, cell, cpus, calibration if cell.burn_us else None, flags)
