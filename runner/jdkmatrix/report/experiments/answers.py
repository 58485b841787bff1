"""The answer first: what one kind of experiment came to, JDK by JDK, in sentences made of figures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.experiments.base import Experiment, Sentences
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.experiments.result import ExperimentResult, Spread
from jdkmatrix.report.cells.experiment_cells import ExperimentCell, ExperimentSlice
from jdkmatrix.report.experiments.words import outcome_views, place
from jdkmatrix.report.views import Answer


@dataclass(frozen=True)
class _Told:
    """A cell as experiments tell of it (CompleteCell)."""

    piece: ExperimentSlice
    cell: ExperimentCell

    @property
    def key(self) -> CellKey:
        return self.cell.key

    @property
    def load(self) -> TaskLoad:
        return self.cell.record.task_load

    @property
    def table(self) -> Experiment | None:
        return self.cell.table

    @property
    def place(self) -> str:
        return place(self.piece, self.cell, without=("jdk",))

    @property
    def subject(self) -> str:
        return self.piece.subject(self.key)

    @property
    def load_words(self) -> str:
        return self.load.short_words()

    @property
    def results(self) -> Sequence[ExperimentResult]:
        return self.cell.usable_results

    def spread(self, name: str) -> Spread | None:
        return self.cell.spread(name)


def answers(piece: ExperimentSlice) -> tuple[Answer, ...]:
    """One per JDK. Figures are of forks that ran to their end; how others ended stands behind them."""
    found = []
    for jdk in piece.jdks:
        cells = [cell for cell in piece.cells if cell.key.jdk == jdk]
        complete = [_Told(piece, cell) for cell in cells if _complete(cell)]
        sentences = (*BY_NAME[piece.kind].sentences(complete), *_ends(piece, cells))
        nothing = (("", "No cell of this JDK has a fork whose figures can be used."),)
        found.append(Answer(jdk, sentences or nothing))
    return tuple(found)


def _complete(cell: ExperimentCell) -> bool:
    return bool(cell.usable) and all(
        fork.experiment.result and fork.experiment.result.outcome == "complete" for fork in cell.usable
    )


def _ends(piece: ExperimentSlice, cells: Iterable[ExperimentCell]) -> Sentences:
    """How cells ended that did not come to their end."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for outcome in outcome_views(cell.record.forks):
            if outcome.css != "ok":
                ended = (outcome.word, ": ".join(filter(None, (outcome.where, outcome.message))))
                found.setdefault(ended, []).append(_name(piece, cell))
    for (word, why), names in found.items():
        yield word, f"{'; '.join(names)} ({why})." if why else f"{'; '.join(names)}."


def _name(piece: ExperimentSlice, cell: ExperimentCell) -> str:
    if not piece.by_subject:
        return place(piece, cell, without=("jdk",))
    return ", ".join([piece.subject(cell.key), *filter(None, [place(piece, cell, without=("jdk", "workload"))])])
