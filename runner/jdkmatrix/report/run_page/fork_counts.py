"""How many forks of a run can be used, and what became of the others: the first thing to know of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.domain.quantities import plural
from jdkmatrix.loads.attainment import ForkOutcome, fate
from jdkmatrix.report.cells.cellstats import planned_forks
from jdkmatrix.store.loaded import LoadedRun


@dataclass(frozen=True)
class ForkCount:
    """How many forks can be used, and what became of the others, in a line. `amber`: some were lost."""

    text: str
    amber: bool


def count_forks(loaded: LoadedRun) -> ForkCount:
    """ "6 of 8 forks usable: 1 lost to faults of the host or of the measurement, 1 lost to the server’s own doing; 2
    measured again"."""
    cells = loaded.cells
    forks = sum(len(cell.forks) for cell in cells)
    usable = sum(fork.conclusive for cell in cells for fork in cell.forks)
    own_doing = sum(
        not fork.conclusive and fate(fork, cell.load) is not ForkOutcome.LOST for cell in cells for fork in cell.forks
    )
    recorded = {cell.key.cell_id: len(cell.forks) for cell in cells}
    missing = sum(max(0, number - recorded.get(cell, 0)) for cell, number in planned_forks(loaded.run).items())
    losses = {
        "lost to faults of the host or of the measurement": forks - usable - own_doing,
        "lost to the server’s own doing": own_doing,
        "without a readable record": missing,
    }
    lost = ", ".join(f"{number} {what}" for what, number in losses.items() if number)
    again = sum(len(cell.attempts) for cell in cells)
    text = f"{usable} of {plural(forks + missing, 'fork')} usable"
    return ForkCount(
        text=f"{text}{f': {lost}' if lost else ''}{f'; {again} measured again' if again else ''}", amber=lost != ""
    )
