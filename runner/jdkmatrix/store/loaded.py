"""A run as it was read back from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jdkmatrix.records.run import RunRecord, Session
from jdkmatrix.store.cells import CellRecord


def _as_loaded(cell: CellRecord) -> CellRecord:
    return cell


def measuring_sessions(run: RunRecord, cells: Iterable[CellRecord]) -> tuple[Session, ...]:
    """Those that have measured a fork of these cells which stands."""
    stand = {fork.session for cell in cells for fork in cell.forks}
    return tuple(session for session in run.sessions if session.number in stand)


@dataclass(frozen=True)
class LoadedRun:
    """`cells` are those that could be read, of a large run in outline (outline.py); `whole` gives one of them with all
    of its details, and raises MatrixError where its file cannot be read any more. `problems` says in plain words what
    is to be known of files. `damaged`: those of them that say what is lost, files that cannot be read or are not there.

    `directory` is the run's own folder; paths in a cell record are relative to `directory / "cells"`.
    """

    run: RunRecord
    cells: tuple[CellRecord, ...]
    problems: tuple[str, ...]
    directory: Path
    damaged: tuple[str, ...] = ()
    whole: Callable[[CellRecord], CellRecord] = field(default=_as_loaded, compare=False)

    @property
    def served(self) -> tuple[CellRecord, ...]:
        """Those with a server."""
        return tuple(cell for cell in self.cells if cell.key.has_server)

    @property
    def experiments(self) -> tuple[CellRecord, ...]:
        """Those without one."""
        return tuple(cell for cell in self.cells if not cell.key.has_server)
