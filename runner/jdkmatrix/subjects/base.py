"""The interface of a kind of subject to a run, before and beside its forks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from jdkmatrix.config.model import Matrix, Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.tables import Database, RemoteAnswers
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.jdks.identify import Vm
from jdkmatrix.subjects.parts import Parts


class SubjectKind(Protocol):
    """`setup`, `artefacts` and `inputs` are asked for of cells that can be measured."""

    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        """How the remote system answers; None where the cell calls none."""

    def database(self, matrix: Matrix, cell: CellKey) -> Database | None:
        """None where the cell keeps nothing in one."""
        return None

    def driver_cpus(self, matrix: Matrix) -> int | None:
        """How many a load driver has beside it; None: as many as go with the server's; 0: there is none."""
        return 0

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        """How long a fork takes, start and warm-up included."""

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        """For how long a fork is measured."""

    def why_no_turns(self, matrix: Matrix, cell: CellKey) -> str | None:
        """Why its forks are measured one after another where others take turns; None where they do, too."""

    def why_never(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str | None:
        """Why it cannot be measured, whatever parts there are; None where nothing is known against it."""
        return None

    def why_not(self, matrix: Matrix, parts: Parts, cell: CellKey) -> str | None:
        """Why it cannot be measured with these parts; None where it can. Its JDK is there."""
        return None

    def jvm_options(self, matrix: Matrix, cell: CellKey, vm: Vm) -> tuple[str, ...]:
        """The options of its JVM without those of its executor's tuning."""

    def setup(self, parts: Parts, cell: CellKey, options: tuple[str, ...], shared: Mapping[str, Any]) -> CellSetup:
        """`options`: all of its JVM; `shared`: the fields of `CellSetup`."""

    def artefacts(self, matrix: Matrix, parts: Parts, cell: CellKey) -> Iterable[Path]:
        """Our artefacts that it runs, and no other; without the remote system."""

    def inputs(self, matrix: Matrix, parts: Parts, cell: CellKey) -> Mapping[str, Any]:
        """Inputs of its identity that no other kind of subject has, as JSON."""
