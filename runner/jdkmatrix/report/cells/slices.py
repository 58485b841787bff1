"""The cells of a run in the parts that its page shows: by workload, server and load, or by kind of experiment. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from jdkmatrix.domain.cell_key import AXES, CellKey, TaskSize
from jdkmatrix.domain.executors import base_of, is_virtual, references, tuning_of
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import delay_words, plural
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.experiments.base import Page
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.words.sentences import added_work, condition


class Pair(NamedTuple):
    """The executor in the numerator, and the one in the denominator."""

    numerator: str
    base: str

    @property
    def words(self) -> str:
        return f"{self.numerator} / {self.base}"

    @property
    def is_tuning(self) -> bool:
        """True if it is one executor, tuned over untuned; of such a pair, only the leading figure is judged."""
        return tuning_of(self.numerator) is not None and base_of(self.numerator) == self.base

    def absent(self, executors: Iterable[str]) -> str | None:
        """Say which of the two is not among these; None where both are."""
        there = {*executors}
        missing = [name for name in self if name not in there]
        return f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} no cell here" if missing else None


@dataclass(frozen=True)
class CellGroup:
    """Cells of a run that are shown together on its page, and the keys of those that were planned, in its order.
    `order`: of all executors of the run."""

    keys: tuple[CellKey, ...]
    cells: tuple[CellStats, ...]
    order: tuple[str, ...]

    @cached_property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @property
    def beside(self) -> int:
        """The number of charts side by side: one for each JDK, where these are few."""
        return min(len(self.jdks), 3)

    def in_order(self, cells: Iterable[CellStats]) -> list[CellStats]:
        """Sort cells by executor."""
        return sorted(cells, key=lambda cell: self.order.index(cell.key.executor))


@dataclass(frozen=True)
class Slice(CellGroup):
    """The cells of one workload, server, load and driver, and their values on other axes."""

    @property
    def first_load(self) -> AnyLoad | None:
        """The load of one of its cells; others may have other rates. None where none was measured."""
        return next((cell.load for cell in self.cells), None)

    @cached_property
    def pair(self) -> Pair:
        """Virtual threads over the server’s own pool, or what was measured in their place; where there is neither, the
        first tuning over the executor that it tunes."""
        server = self.keys[0].server
        usual, over = Pair(virtual_of(server), own_pool(server)), references(self.executors, server)
        others = [Pair(name, base) for name, base in over.items() if is_virtual(name) and not is_virtual(base)]
        others += (pair for name, base in over.items() if (pair := Pair(name, base)).is_tuning)
        return usual if {*usual} <= {*self.executors} else next((one for one in others if one.base in over), usual)

    @property
    def driver(self) -> str | None:
        return next((name for cell in self.cells if (name := cell.driver)), None)

    @cached_property
    def cpus(self) -> tuple[int, ...]:
        return tuple(sorted({key.cpus for key in self.keys}))

    @cached_property
    def tasks(self) -> tuple[TaskSize, ...]:
        return tuple(sorted({key.task for key in self.keys}))

    @cached_property
    def executors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.executor for key in self.keys))

    @property
    def single(self) -> str | None:
        """The condition, where there is only one, the same for all JDKs."""
        return condition(self.cpus[0], self.tasks[0]) if len(self.cpus) == len(self.tasks) == 1 else None

    def conditions(self) -> Iterator[tuple[str, list[CellStats]]]:
        """Yield the cells of each number of CPUs, task and JDK, by executor, with a title that distinguishes them."""
        found = grouped(((cell.key.cpus, cell.key.task, cell.key.jdk), cell) for cell in self.cells)
        for place in itertools.product(self.cpus, self.tasks, self.jdks):
            if here := found.get(place):
                cpus, task, jdk = place
                yield jdk if self.single else f"{jdk}, {condition(cpus, task)}", self.in_order(here)

    def task_words(self, task: TaskSize) -> str:
        """Return the words that distinguish this task from the others of the slice."""
        works, waits = (len(set(sizes)) for sizes in zip(*self.tasks, strict=True))
        work, delay = added_work(task.burn_us), delay_words(task.wait_us)
        if waits == 1:
            return work
        return delay if works == 1 else f"{work}, {delay}"


def slices(cells: Cells) -> tuple[Slice, ...]:
    """Split cells into slices, by driver too: figures of two drivers make no table, no chart and no curve."""
    found = grouped(((key.workload, key.server, key.load), key) for key in cells.keys)
    parts = (some for keys in found.values() for some in _by_driver(cells, keys))
    return tuple(Slice(tuple(some), cells.some(some), cells.order) for some in parts)


def _by_driver(cells: Cells, keys: Sequence[CellKey]) -> Iterable[list[CellKey]]:
    """Group cells by driver; those that were not measured go with their peers, or with the first driver."""

    def of(key: CellKey) -> str | None:
        cell = cells.get(key)
        return cell.driver if cell else None

    told = [of(key) or next(filter(None, map(of, cells.peers(key))), None) for key in keys]
    first = next(filter(None, told), None)
    return grouped((name or first, key) for key, name in zip(keys, told, strict=True)).values()


def of_kinds(cells: Cells) -> tuple[ExperimentSlice, ...]:
    """Return the kinds of experiment that this run has, in the order of the page. A cell is in none of them where
    neither its record nor the run says what it is of."""
    planned = cells.run.matrix.get("experiments")
    tables = planned if isinstance(planned, Mapping) else {}

    def kind_of(key: CellKey) -> str | None:
        cell = cells.get(key)
        return (experiment_of(cell.record.parameters) if cell else None) or experiment_of(tables.get(key.workload))

    by_kind = grouped((kind_of(key), key) for key in cells.keys)
    there = ((kind, keys) for kind in BY_NAME if (keys := by_kind.get(kind)))
    return tuple(ExperimentSlice(tuple(keys), cells.some(keys), cells.order, kind) for kind, keys in there)


def experiment_of(table: object) -> str | None:
    """Return the experiment that a table of matrix.toml names; a file from elsewhere may say anything."""
    named: Any = table.get("experiment") if isinstance(table, Mapping) else None
    return next((kind for kind in BY_NAME if kind == named), None)


@dataclass(frozen=True)
class ExperimentSlice(CellGroup):
    """All cells of one kind of experiment."""

    kind: str

    @property
    def page(self) -> Page:
        return BY_NAME[self.kind].PAGE

    def subject(self, key: CellKey) -> str:
        """Return the name of its cells’ rows: words of the experiment where it has some, with the name of its table
        where two have the same; else that name."""
        mine = self._rows.get(key.workload, key.workload)
        return mine if list(self._rows.values()).count(mine) <= 1 else f"{mine}: {key.workload}"

    @cached_property
    def _rows(self) -> Mapping[str, str]:
        return {cell.key.workload: row for cell in self.cells if cell.table and (row := cell.table.row)}

    @property
    def by_subject(self) -> bool:
        """True if subjects, not arms, come first on its rows."""
        return any(cell.table is not None and cell.table.row is not None for cell in self.cells)

    def load_words(self, key: CellKey) -> str:
        """Return the load in words; its name where no cell with this load was measured."""
        load = next((cell.tasks for cell in self.cells if cell.key.load == key.load), None)
        return load.short_words() if load else key.load

    def axis_words(self, key: CellKey) -> dict[str, str]:
        return {
            "executor": key.executor,
            "workload": key.workload,
            "load": self.load_words(key),
            "cpus": plural(key.cpus, "CPU"),
            "burn_us": added_work(key.burn_us),
            "wait_us": delay_words(key.wait_us),
            "jdk": key.jdk,
        }

    def place(self, key: CellKey, *, without: Sequence[str]) -> str:
        """Return what distinguishes this cell from the others of its kind: its arm, and whatever else varies."""
        words = self.axis_words(key).items()
        shown = (text for axis, text in words if axis not in without and (axis == "executor" or self.varies(axis)))
        return ", ".join(shown)

    def varies(self, axis: str) -> bool:
        return axis in self._varying

    @cached_property
    def _varying(self) -> frozenset[str]:
        return frozenset(axis for axis in AXES if len({getattr(key, axis) for key in self.keys}) > 1)

    def tells_apart(self, axis: str) -> bool:
        """Return whether it distinguishes cells that their experiment's name does not."""
        if axis == "workload":
            return self.varies(axis)
        return len({(key.workload, getattr(key, axis)) for key in self.keys}) > len({key.workload for key in self.keys})
