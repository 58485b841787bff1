"""What a run must know of a kind of subject, before and beside its forks."""

from __future__ import annotations

from typing import Protocol

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.tables import RemoteAnswers
from jdkmatrix.fork.fork_record import CellParts
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.records.run import Calibration
from jdkmatrix.subjects.parts import Flags, Parts


class SubjectKind(Protocol):
    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        """How the remote system answers; None where the cell calls none."""

    def driver_cpus(self, matrix: Matrix) -> int:
        """How many a load driver needs beside it."""

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        """How long a fork takes, start and warm-up included."""

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        """For how long a fork is measured."""

    def why_not(self, matrix: Matrix, parts: Parts, cell: CellKey) -> str | None:
        """Why it cannot be measured with these parts; None where it can. Its JDK is there."""

    def assemble(
        self,
        matrix: Matrix,
        parts: Parts,
        cell: CellKey,
        cpus: CpuSets,
        calibration: Calibration | None,
        flags: Flags,
    ) -> CellParts:
        """What a cell that can be measured is measured with. `calibration`: None where nothing burns.

        Raises:
            MatrixError: its JVM does not start with its options.
        """
