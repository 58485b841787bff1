"""The cells of a run, workload by workload, server by server and load by load. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import NUMERATOR
from jdkmatrix.report.words.sentences import condition
from jdkmatrix.terms.cell_key import CellKey, TaskSize
from jdkmatrix.terms.executors import is_virtual, references
from jdkmatrix.terms.quantities import delay_words, work_words
from jdkmatrix.terms.servers import own_pool


class Pair(NamedTuple):
    """The executor above the line, and the one below it."""

    numerator: str
    base: str

    @property
    def words(self) -> str:
        return f"{self.numerator} / {self.base}"


@dataclass(frozen=True)
class Slice:
    """The cells of one workload, server and load, and their values on the other axes, in the order of the run."""

    workload: str
    server: str
    load: str
    keys: tuple[CellKey, ...]
    cells: tuple[CellStats, ...]

    @cached_property
    def pair(self) -> Pair:
        """Virtual threads over the server’s own pool, or what was measured in their place."""
        usual = Pair(NUMERATOR, own_pool(self.server))
        over = references(self.executors, self.server)
        others = (Pair(name, base) for name, base in over.items() if is_virtual(name) and not is_virtual(base))
        return usual if {*usual} <= {*self.executors} else next((one for one in others if one.base in over), usual)

    @cached_property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @cached_property
    def cpus(self) -> tuple[int, ...]:
        return tuple(sorted({key.cpus for key in self.keys}))

    @cached_property
    def tasks(self) -> tuple[TaskSize, ...]:
        return tuple(sorted({key.task for key in self.keys}))

    @cached_property
    def executors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.executor for key in self.keys))

    def conditions(self, order: Sequence[str]) -> Iterator[tuple[str, list[CellStats]]]:
        """The cells of each number of CPUs, task and JDK, by executor in this order, with a title."""
        found: dict[tuple[int, TaskSize, str], list[CellStats]] = {}
        for cell in self.cells:
            found.setdefault((cell.key.cpus, cell.key.task, cell.key.jdk), []).append(cell)
        for place in itertools.product(self.cpus, self.tasks, self.jdks):
            if here := found.get(place):
                cpus, task, jdk = place
                here.sort(key=lambda cell: order.index(cell.key.executor))
                yield f"{jdk}, {condition(cpus, task)}", here

    def task_words(self, task: TaskSize) -> str:
        """What tells this task from the others of the slice."""
        works, waits = {one.burn_us for one in self.tasks}, {one.wait_us for one in self.tasks}
        if len(waits) == 1:
            return work_words(task.burn_us)
        delay = delay_words(task.wait_us)
        return delay if len(works) == 1 else f"{work_words(task.burn_us)}, {delay}"


def slices(cells: Cells) -> tuple[Slice, ...]:
    found: dict[tuple[str, str, str], list[CellKey]] = {}
    for key in cells.keys:
        found.setdefault((key.workload, key.server, key.load), []).append(key)
    return tuple(
        Slice(workload, server, load, tuple(keys), tuple(cell for key in keys if (cell := cells.get(key))))
        for (workload, server, load), keys in found.items()
    )
