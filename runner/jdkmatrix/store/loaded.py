"""A run as read back from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.records.run import RunRecord, Session
from jdkmatrix.store.cells import CellRecord


def _as_loaded(cell: CellRecord) -> CellRecord:
    return cell


def measuring_sessions(run: RunRecord, cells: Iterable[CellRecord]) -> tuple[Session, ...]:
    """Return the sessions that measured a fork of these cells which still stands."""
    stand = {fork.session for cell in cells for fork in cell.forks}
    return tuple(session for session in run.sessions if session.number in stand)


_IN_WORDS = {"host": "host, CPU or kernel", "jdk": "version of the JDK", "server": "release of the server"}


def of_earlier(run: RunRecord, cell: CellRecord, refused: Mapping[CellKey, str]) -> str | None:
    """Return why this cell's figures are not among what the latest session measures; None if they are. Those of a stage
    that it has not reached were measured with what there was before. `refused`: as in RunRecord."""
    if cell.key in refused:
        return f"the latest session cannot measure it: {refused[cell.key]}"
    if run.status == "complete":
        return None
    host = run.latest_session.host
    now: dict[str, dict[str, str | None]] = {
        "host": {"hostname_hash": host.hostname_hash, "kernel": host.kernel, "cpu": host.cpu.model},
        "jdk": {"version": next((jdk.version for jdk in run.jdks if jdk.id == cell.key.jdk), None)},
        "server": {"version": next((one.version for one in run.servers if one.id == cell.key.server), None)},
    }
    for part, facts in now.items():
        was = cell.identity.inputs.get(part)
        if isinstance(was, dict) and any(fact and was.get(name, fact) != fact for name, fact in facts.items()):
            return f"the latest session has another {_IN_WORDS[part]}, and has not measured it yet"
    return None


@dataclass(frozen=True)
class LoadedRun:
    """A run. `cells` are those that could be read, in outline if the run is large (outline.py); `whole` returns one of
    them with all its details, and raises MatrixError if its file can no longer be read. `problems` says in plain words
    what is to be known of files. `damaged`: those of them that say what is lost: files that are unreadable or missing.

    `earlier`: cells of an earlier session, not of what the latest one measures with.

    `directory` is the run's own folder; paths in a cell record are relative to `directory / "cells"`.
    """

    run: RunRecord
    cells: tuple[CellRecord, ...]
    problems: tuple[str, ...]
    directory: Path
    damaged: tuple[str, ...] = ()
    earlier: tuple[CellRecord, ...] = ()
    whole: Callable[[CellRecord], CellRecord] = field(default=_as_loaded, compare=False)

    @property
    def served(self) -> tuple[CellRecord, ...]:
        """The cells with a server."""
        return tuple(cell for cell in self.cells if cell.key.has_server)

    @property
    def experiments(self) -> tuple[CellRecord, ...]:
        """The cells without a server."""
        return tuple(cell for cell in self.cells if not cell.key.has_server)
