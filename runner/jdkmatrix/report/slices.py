"""The cells of a run, workload by workload, server by server and load by load. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.records import CellKey
from jdkmatrix.report.cellstats import Cells, CellStats
from jdkmatrix.report.wording import condition


@dataclass(frozen=True)
class Slice:
    """The cells of one workload, server and load, and their values on the other axes, in the order of the run."""

    workload: str
    server: str
    load: str
    keys: tuple[CellKey, ...]
    cells: tuple[CellStats, ...]

    @property
    def jdks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.jdk for key in self.keys))

    @property
    def cpus(self) -> tuple[int, ...]:
        return tuple(sorted({key.cpus for key in self.keys}))

    @property
    def burns(self) -> tuple[int, ...]:
        return tuple(sorted({key.burn_us for key in self.keys}))

    @property
    def executors(self) -> frozenset[str]:
        return frozenset(key.executor for key in self.keys)

    def conditions(self, order: Sequence[str]) -> Iterator[tuple[str, list[CellStats]]]:
        """The cells of each number of CPUs, work and JDK, by executor in this order, with a title."""
        for cpus, burn_us, jdk in itertools.product(self.cpus, self.burns, self.jdks):
            here = [
                cell for cell in self.cells if (cell.key.jdk, cell.key.cpus, cell.key.burn_us) == (jdk, cpus, burn_us)
            ]
            if here:
                here.sort(key=lambda cell: order.index(cell.key.executor))
                yield f"{jdk}, {condition(cpus, burn_us)}", here


def slices(cells: Cells) -> tuple[Slice, ...]:
    found: dict[tuple[str, str, str], list[CellKey]] = {}
    for key in cells.keys:
        found.setdefault((key.workload, key.server, key.load), []).append(key)
    return tuple(
        Slice(workload, server, load, tuple(keys), tuple(cell for key in keys if (cell := cells.get(key))))
        for (workload, server, load), keys in found.items()
    )
