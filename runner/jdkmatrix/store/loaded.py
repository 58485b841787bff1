"""A run as it was read back from disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.records import AnyCell, CellRecord, ExperimentRecord, RunRecord


@dataclass(frozen=True)
class LoadedRun:
    """`cells` (of servers) and `experiments` (without one) are those that could be read; `problems` says in plain words
    what is to be known of files. `damaged`: those of them that say what is lost, files that cannot be read or are not
    there.

    `directory` is the run's own folder; paths in a cell record are relative to `directory / "cells"`.
    """

    run: RunRecord
    cells: tuple[CellRecord, ...]
    problems: tuple[str, ...]
    directory: Path
    experiments: tuple[ExperimentRecord, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def every_cell(self) -> tuple[AnyCell, ...]:
        return (*self.cells, *self.experiments)
