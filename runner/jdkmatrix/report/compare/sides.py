"""The two sides of a comparison: what they are called, and what else differs between them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.loads.kinds import loads_words
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.run.identity import changes

IN_TIME = ("before", "after")


@dataclass(frozen=True)
class ComparedSide:
    """Cells of one run; where an axis is compared, only those with `value` on `axis`."""

    run: RunRecord
    cells: Cells
    axis: str | None = None
    value: str | None = None

    @property
    def name(self) -> str:
        return self.run.run_id if self.value is None else f"{self.value} in {self.run.run_id}"

    def compared(self) -> tuple[CellKey, ...]:
        if self.axis is None:
            return self.cells.keys
        return tuple(key for key in self.cells.keys if getattr(key, self.axis) == self.value)

    def in_place_of(self, other: CellKey) -> CellKey:
        """Return the cell of this side that is compared with `other`, a cell of the other side."""
        return other if self.axis is None else other.model_copy(update={self.axis: self.value})


def names_of(before: ComparedSide, after: ComparedSide) -> tuple[str, str]:
    """Return the two values of an axis, else before and after."""
    if before.value is None or after.value is None or before.value == after.value:
        return IN_TIME
    return before.value, after.value


def is_one_run(one: RunRecord, other: RunRecord) -> bool:
    """Return whether both are the same run. The id alone does not tell: it is a folder's name, which two may share."""
    return (one.run_id, one.started_at) == (other.run_id, other.started_at)


def title_of(before: ComparedSide, after: ComparedSide) -> str:
    if is_one_run(before.run, after.run):
        return f"{after.value} over {before.value} in {after.run.run_id}"
    old, new = (f" ({name})" if name in IN_TIME else "" for name in names_of(before, after))
    return f"{after.name}{new} over {before.name}{old}"


def on_side(name: str) -> str:
    return name if name in IN_TIME else f"with {name}"


def run_differences(before: ComparedSide, after: ComparedSide) -> list[str]:
    """List the differences that no cell's identity records."""
    old, new = (_versions(side.run) for side in (before, after))
    return [f"{name}: {old[name]}, then {new[name]}" for name in new if name in old and old[name] != new[name]]


def _versions(run: RunRecord) -> Mapping[str, str]:
    session = run.latest_session
    commit = session.git_commit[:12] if session.git_commit else "not known"
    return {
        **{f"JDK {jdk.id}": jdk.version or "not known" for jdk in run.jdks if jdk.selected and jdk.available},
        **{f"server {server.id}": server.version for server in run.servers},
        **{f"driver {driver.name}": driver.version for driver in run.drivers},
        "commit of the project": f"{commit}{' with uncommitted changes' if session.git_dirty else ''}",
    }


def input_differences(before: ComparedSide, after: ComparedSide, base: CellStats, cell: CellStats) -> str:
    """Describe the differences in what decides a cell's result, except the compared axis; "" for none."""
    if before.cells is after.cells:
        if cell.load == base.load:
            return ""
        return f"the load {cell.key.load} ({loads_words([base.load])}; then {loads_words([cell.load])})"
    compared = {"cell", "measuring_code", *([after.axis, f"{after.axis}_files_sha256"] if after.axis else [])}
    old, new = (
        {name: value for name, value in one.record.identity.inputs.items() if name not in compared}
        for one in (base, cell)
    )
    return changes(old, new)
