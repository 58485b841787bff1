"""The interface between a kind of subject and a run, before and beside its forks."""

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
    """A kind of subject. `setup`, `artefacts` and `inputs` are asked only of cells that can be measured."""

    def remote(self, matrix: Matrix, cell: CellKey) -> RemoteAnswers | None:
        """Return how the remote system answers; None if the cell calls none."""

    def database(self, matrix: Matrix, cell: CellKey) -> Database | None:
        """Return the cell's database; None if it keeps nothing in one."""
        return None

    def driver_cpus(self, matrix: Matrix) -> int | None:
        """Return how many CPUs its load driver has; None: as many as go with the server's; 0: there is no driver."""
        return 0

    def expected_s(self, matrix: Matrix, profile: Profile, cell: CellKey) -> float:
        """Return how long a fork takes, start and warm-up included."""

    def length_words(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str:
        """Say for how long a fork is measured."""

    def why_no_turns(self, matrix: Matrix, cell: CellKey) -> str | None:
        """Return why its forks are measured one by one where others take turns; None if they take turns, too."""

    def why_never(self, matrix: Matrix, profile: Profile, cell: CellKey) -> str | None:
        """Return why it cannot be measured, whatever parts there are; None if nothing is known against it."""
        return None

    def why_not(self, matrix: Matrix, parts: Parts, cell: CellKey) -> str | None:
        """Return why it cannot be measured with these parts; None if it can. Its JDK is there."""
        return None

    def jvm_options(self, matrix: Matrix, cell: CellKey, vm: Vm) -> tuple[str, ...]:
        """Return the options of its JVM without those of its executor's tuning."""

    def setup(self, parts: Parts, cell: CellKey, options: tuple[str, ...], shared: Mapping[str, Any]) -> CellSetup:
        """Return the cell's setup. `options`: all those of its JVM; `shared`: the fields of `CellSetup`."""

    def artefacts(self, matrix: Matrix, parts: Parts, cell: CellKey) -> Iterable[Path]:
        """Return our artefacts that it runs, and no others; without the remote system."""

    def inputs(self, matrix: Matrix, parts: Parts, cell: CellKey) -> Mapping[str, Any]:
        """Return inputs of its identity that no other kind of subject has, as JSON."""
