"""The cost of looking at parks: a burn with JDK Flight Recorder beside the same without it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.experiments.base import at
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import say
from jdkmatrix.report.blocks.kinds import PageBlock, Prose
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.words import place
from jdkmatrix.report.words.numbers import Figure, missing


def overhead(piece: ExperimentSlice) -> Iterator[PageBlock]:
    """Ratios are taken inside blocks: median, and least to most."""
    rows: list[tuple[Cell, ...]] = []
    plain: dict[CellKey, list[CellStats]] = {}
    for cell in piece.cells:
        if cell.record.parameters.get("parks") is False:
            plain.setdefault(_condition(cell), []).append(cell)
    for watched in piece.cells:
        alike = (cell for cell in plain.get(_condition(watched), ()) if _rest(cell) == _rest(watched))
        if watched.record.parameters.get("parks") is True and (unwatched := next(alike, None)) is not None:
            condition = f"{watched.key.jdk}, {place(piece, watched, without=('workload', 'jdk'))}"
            rows.append((condition, *(_ratio(watched, unwatched, keys) for keys in ("throughput_per_s", "cpu_s"))))
    if rows:
        yield Prose(say("cost_of_recording"), "Cost of recording")
        yield DataTable("Cost of recording", columns("Condition", "Throughput|ratio#", "CPU time|ratio#"), rows)


def _condition(cell: CellStats) -> CellKey:
    return cell.key.model_copy(update={"workload": ""})


def _rest(cell: CellStats) -> dict[str, object]:
    """What it is asked beside being watched."""
    return {name: value for name, value in cell.record.parameters.items() if name != "parks"}


def _ratio(watched: CellStats, unwatched: CellStats, keys: str) -> Figure:
    below = {fork.fork: value for fork in unwatched.usable if (value := _value(fork, keys))}
    ratios = [
        above / below[fork.fork]
        for fork in watched.usable
        if fork.fork in below and (above := _value(fork, keys)) is not None
    ]
    if not ratios:
        return missing("no block has both usable")
    middle = median(ratios)
    under = f"{min(ratios):.2f}–{max(ratios):.2f}" if min(ratios) != max(ratios) else None
    return Figure(f"{middle:.2f}", middle, f"median of {plural(len(ratios), 'block')}", under)


def _value(fork: Fork, keys: str) -> float | None:
    found: float | None = at(fork.result.seen, keys) if fork.result else None
    return found
