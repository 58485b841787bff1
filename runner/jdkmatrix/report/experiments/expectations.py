"""What is expected, as the program itself wrote it down before it measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.records.forks import Fork
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.views import Expectation

_NO_FORMULA = "none"


def expectation_of(fork: Fork, about: str = "") -> Expectation | None:
    found = fork.result.expected if fork.result else None
    if found is None:
        return None
    named = next((one.metric for one in fork.readings if one.expected is not None), None)
    figure = named or (found.quantity or "").rpartition(".")[2].replace("_", " ")
    formula = None if found.formula == _NO_FORMULA else found.formula
    return Expectation(figure, formula, found.source, about)


def expectations(piece: ExperimentSlice) -> tuple[Expectation, ...]:
    """Each formula with its source once, and which cells it is for."""
    found: dict[Expectation, list[tuple[str, str, str]]] = {}
    for cell in piece.cells:
        key = cell.key
        subject = piece.subject(key)
        for fork in cell.record.forks:
            expected = expectation_of(fork)
            if expected is not None and fork.readings:
                found.setdefault(expected, []).append((subject, key.executor, key.jdk))
    return tuple(
        Expectation(
            one.figure, one.formula, one.source, "; ".join(_listed(column) for column in zip(*about, strict=True))
        )
        for one, about in found.items()
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
