"""Cells without a server, kind by kind of experiment. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jdkmatrix.domain.cell_key import AXES, CellKey
from jdkmatrix.experiments.base import Page
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.report.cells.cellstats import Cells, CellStats


def of_kinds(cells: Cells) -> tuple[ExperimentSlice, ...]:
    """Those that this run has, in the order of the page. Neither the record nor the run may say what a cell is of: then
    it is in none."""
    planned = cells.run.matrix.get("experiments")
    tables = planned if isinstance(planned, Mapping) else {}
    by_kind: dict[str | None, list[CellKey]] = {}
    for key in cells.keys:
        cell = cells.get(key)
        kind = (experiment_of(cell.record.parameters) if cell else None) or experiment_of(tables.get(key.workload))
        by_kind.setdefault(kind, []).append(key)
    return tuple(
        ExperimentSlice(kind, tuple(keys), tuple(cell for key in keys if (cell := cells.get(key))))
        for kind in BY_NAME
        if (keys := by_kind.get(kind))
    )


def experiment_of(table: object) -> str | None:
    """The experiment that a table of matrix.toml names; a file from elsewhere may say anything."""
    named: Any = table.get("experiment") if isinstance(table, Mapping) else None
    return next((kind for kind in BY_NAME if kind == named), None)


@dataclass(frozen=True)
class ExperimentSlice:
    """All cells of one kind of experiment, in the order of the run."""

    kind: str
    keys: tuple[CellKey, ...]
    cells: tuple[CellStats, ...]

    @property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @property
    def page(self) -> Page:
        return BY_NAME[self.kind].PAGE

    def subject(self, key: CellKey) -> str:
        """The name of its cells’ rows: words of the experiment where it has some, with the name of its table where two
        have the same; else that name."""
        mine = self._rows.get(key.workload, key.workload)
        return mine if list(self._rows.values()).count(mine) <= 1 else f"{mine}: {key.workload}"

    @cached_property
    def _rows(self) -> Mapping[str, str]:
        return {cell.key.workload: row for cell in self.cells if cell.table and (row := cell.table.row)}

    @property
    def by_subject(self) -> bool:
        """Do subjects lead on its rows, and not arms?"""
        return any(cell.table is not None and cell.table.row is not None for cell in self.cells)

    def varies(self, axis: str) -> bool:
        return axis in self._varying

    @cached_property
    def _varying(self) -> frozenset[str]:
        return frozenset(axis for axis in AXES if len({getattr(key, axis) for key in self.keys}) > 1)

    def tells_apart(self, axis: str) -> bool:
        """Does it tell cells apart that their experiment's name does not?"""
        if axis == "workload":
            return self.varies(axis)
        return len({(key.workload, getattr(key, axis)) for key in self.keys}) > len({key.workload for key in self.keys})
