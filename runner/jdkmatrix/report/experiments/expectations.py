"""What is expected, as the program itself wrote it down before it measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.experiments.result import ExperimentResult
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.experiments.views import Expectation

_NO_FORMULA = "none"


def expectation_of(result: ExperimentResult, about: str = "") -> Expectation | None:
    found = result.expected
    if found is None:
        return None
    named = next((figure.name for figure in result.readings if figure.expected is not None), None)
    figure = named or (found.quantity or "").rpartition(".")[2].replace("_", " ")
    formula = None if found.formula == _NO_FORMULA else found.formula
    return Expectation(figure, formula, found.source, about)


def expectations(piece: ExperimentSlice) -> tuple[Expectation, ...]:
    """Each formula with its source once, and which cells it is for."""
    found: dict[Expectation, list[tuple[str, str, str]]] = {}
    for cell in piece.cells:
        key = cell.key
        subject = piece.subject(key)
        for result in cell.results:
            expected = expectation_of(result)
            if expected is not None and result.seen is not None:
                found.setdefault(expected, []).append((subject, key.executor, key.jdk))
    return tuple(
        Expectation(
            one.figure, one.formula, one.source, "; ".join(_listed(column) for column in zip(*about, strict=True))
        )
        for one, about in found.items()
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
