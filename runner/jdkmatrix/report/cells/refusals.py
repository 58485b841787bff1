"""The pairs of a page one arm of which the gates refused more often. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.refusals import one_sided, refused_by_arm
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.stats.verdicts import ArmRefusals
from jdkmatrix.store.cells import CellRecord

Refusals = Mapping[tuple[CellKey, CellKey], ArmRefusals]  # by the keys of both arms


def page_refusals(cells: Cells, experiments: Iterable[CellStats] = ()) -> Refusals:
    """All pairs are one family: every cell of a server with what it is compared with, A/A checks among them, and every
    two arms of an experiment under the same condition."""
    found = {
        (cell.key, base.key): told for cell, base in _pairs(cells, experiments) if (told := refused_by_arm(cell, base))
    }
    return one_sided(found)


def _pairs(cells: Cells, experiments: Iterable[CellStats]) -> Iterator[tuple[CellRecord, CellRecord]]:
    yield from ((cell.record, base.record) for cell, base in cells.compared())
    groups: dict[CellKey, list[CellRecord]] = {}
    for one in experiments:
        groups.setdefault(one.key.group, []).append(one.record)
    for arms in groups.values():
        yield from ((later, earlier) for earlier, later in combinations(arms, 2))
