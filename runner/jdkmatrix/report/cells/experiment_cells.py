"""The cells without a server of a run, and what one of them says. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.experiments.base import Experiment, Page
from jdkmatrix.experiments.kinds import BY_NAME, table_of
from jdkmatrix.experiments.result import ExperimentResult, Spread
from jdkmatrix.figures.experiments import spreads
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class ExperimentCell:
    """A cell with its record. Figures come from usable forks only."""

    record: CellRecord

    @property
    def key(self) -> CellKey:
        return self.record.key

    @property
    def kind(self) -> str | None:
        """As its table of matrix.toml says; a file from elsewhere may say nothing."""
        return _kind(self.record.parameters)

    @cached_property
    def table(self) -> Experiment | None:
        """What was asked for; None where its file does not say."""
        return table_of(self.record.parameters)

    @cached_property
    def usable(self) -> tuple[Fork, ...]:
        return tuple(fork for fork in self.record.forks if fork.usable)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """The leading figure first. One that is not finite is no figure, and no expectation."""
        return tuple(
            one if one.expected is None or math.isfinite(one.expected) else replace(one, expected=None)
            for one in spreads(self.record)
            if all(map(math.isfinite, (one.median, one.least, one.most)))
        )

    def spread(self, name: str) -> Spread | None:
        return next((one for one in self.spreads if one.name == name), None)

    @property
    def against(self) -> Spread | None:
        """The figure that the experiment's formula is about."""
        return next((one for one in self.spreads if one.expected is not None), None)

    @property
    def results(self) -> tuple[ExperimentResult, ...]:
        return tuple(fork.experiment.result for fork in self.record.forks if fork.experiment.result is not None)

    @property
    def usable_results(self) -> tuple[ExperimentResult, ...]:
        return tuple(fork.experiment.result for fork in self.usable if fork.experiment.result is not None)

    @property
    def status(self) -> Status | None:
        """The word for the whole cell; None when no fork of it has run."""
        statuses = [fork.status for fork in self.record.forks]
        return next((one for one in (Status.OK, Status.INVALID, Status.FAILED) if one in statuses), None)


class Experiments:
    """All cells of a run without a server: those that are planned, and those that have a record."""

    def __init__(self, run: RunRecord, records: Iterable[CellRecord]) -> None:
        self._by_key = {record.key: ExperimentCell(record) for record in records if not record.key.has_server}
        self._planned_kinds = _kinds_of(run.matrix)
        planned = dict.fromkeys(key for key in run.cells if not key.has_server)
        self.keys = (*planned, *(key for key in self._by_key if key not in planned))

    def get(self, key: CellKey) -> ExperimentCell | None:
        return self._by_key.get(key)

    def __iter__(self) -> Iterator[ExperimentCell]:
        return iter(cell for key in self.keys if (cell := self._by_key.get(key)))

    def kind_of(self, key: CellKey) -> str | None:
        """None where neither the record nor the run says."""
        cell = self.get(key)
        return (cell.kind if cell else None) or self._planned_kinds.get(key.workload)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Those that this run has, in the order of the page."""
        found = {self.kind_of(key) for key in self.keys}
        return tuple(kind for kind in BY_NAME if kind in found)

    def of_kind(self, kind: str) -> ExperimentSlice:
        keys = tuple(key for key in self.keys if self.kind_of(key) == kind)
        return ExperimentSlice(kind, keys, tuple(cell for key in keys if (cell := self.get(key))))


@dataclass(frozen=True)
class ExperimentSlice:
    """All cells of one kind of experiment, in the order of the run."""

    kind: str
    keys: tuple[CellKey, ...]
    cells: tuple[ExperimentCell, ...]

    @property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @property
    def page(self) -> Page:
        return BY_NAME[self.kind].PAGE

    def subject(self, key: CellKey) -> str:
        """What the rows of its cells are named by: in words of the experiment where it has some, with the name of its
        table where two have the same; else by that name."""
        rows = {cell.key.workload: row for cell in self.cells if cell.table and (row := cell.table.row)}
        mine = rows.get(key.workload, key.workload)
        return mine if list(rows.values()).count(mine) <= 1 else f"{mine}: {key.workload}"

    @property
    def by_subject(self) -> bool:
        """Do subjects lead on its rows, and not arms?"""
        return any(cell.table is not None and cell.table.row is not None for cell in self.cells)

    def varies(self, axis: str) -> bool:
        return len({getattr(key, axis) for key in self.keys}) > 1

    def tells_apart(self, axis: str) -> bool:
        """Does it tell cells apart that their experiment's name does not?"""
        if axis == "workload":
            return self.varies(axis)
        return len({(key.workload, getattr(key, axis)) for key in self.keys}) > len({key.workload for key in self.keys})


def _kind(parameters: Mapping[str, Any]) -> str | None:
    return next((kind for kind in BY_NAME if kind == parameters.get("experiment")), None)


def _kinds_of(matrix: Mapping[str, Any]) -> dict[str, str]:
    """By the name of the experiment, from the run's matrix.toml."""
    tables = matrix.get("experiments")
    if not isinstance(tables, Mapping):
        return {}
    named = {name: _kind(table) for name, table in tables.items() if isinstance(table, Mapping)}
    return {name: kind for name, kind in named.items() if kind is not None}
