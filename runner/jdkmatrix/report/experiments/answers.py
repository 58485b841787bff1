"""The answer first: what one kind of experiment came to, JDK by JDK, in sentences made of figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.experiments.base import CompleteCell, Sentences
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.report.blocks.kinds import AnswerBox
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.words import endings, given, place, seen_in


def answers(piece: ExperimentSlice) -> tuple[AnswerBox, ...]:
    """One per JDK. Figures are of forks that ran to their end; how others ended stands behind them."""
    found = []
    for jdk in piece.jdks:
        cells = [cell for cell in piece.cells if cell.key.jdk == jdk]
        complete = [_told(piece, cell) for cell in cells if _complete(cell)]
        sentences = (*BY_NAME[piece.kind].sentences(complete), *_ends(piece, cells))
        nothing = (("", "No cell of this JDK has a fork whose figures can be used."),)
        found.append(AnswerBox(jdk, sentences or nothing))
    return tuple(found)


def _told(piece: ExperimentSlice, cell: CellStats) -> CompleteCell:
    return CompleteCell(
        key=cell.key,
        load=given(cell),
        table=cell.table,
        place=place(piece, cell, without=("jdk",)),
        subject=piece.subject(cell.key),
        seen=seen_in(cell),
        spreads={one.name: one for one in cell.spreads},
    )


def _complete(cell: CellStats) -> bool:
    return bool(cell.usable) and all(result.outcome == "complete" for result in cell.usable_results)


def _ends(piece: ExperimentSlice, cells: Iterable[CellStats]) -> Sentences:
    """How cells ended that did not come to their end."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for outcome in endings(cell.record.forks):
            if outcome.css != "ok":
                ended = (outcome.word, ": ".join(filter(None, (outcome.where, outcome.message))))
                found.setdefault(ended, []).append(_name(piece, cell))
    for (word, why), names in found.items():
        yield word, f"{'; '.join(names)} ({why})." if why else f"{'; '.join(names)}."


def _name(piece: ExperimentSlice, cell: CellStats) -> str:
    if not piece.by_subject:
        return place(piece, cell, without=("jdk",))
    return ", ".join([piece.subject(cell.key), *filter(None, [place(piece, cell, without=("jdk", "workload"))])])
