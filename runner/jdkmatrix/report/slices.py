"""The cells of a run, workload by workload and load by load. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.records import CellKey
from jdkmatrix.report.cellstats import Cells, CellStats


@dataclass(frozen=True)
class Slice:
    """The cells of one workload and load, and the values they take on the other axes, in the order of the run."""

    workload: str
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


def slices(cells: Cells) -> tuple[Slice, ...]:
    found: dict[tuple[str, str], list[CellKey]] = {}
    for key in cells.keys:
        found.setdefault((key.workload, key.load), []).append(key)
    return tuple(
        Slice(workload, load, tuple(keys), tuple(cell for key in keys if (cell := cells.get(key))))
        for (workload, load), keys in found.items()
    )
