"""Expectations that the program itself wrote down before it measured. Pure."""

from __future__ import annotations

from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import code, joined, small
from jdkmatrix.report.blocks.kinds import Fact
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice

_NO_FORMULA = "none"


def expectation_of(fork: Fork, about: str = "") -> Fact | None:
    """A figure's formula and its source. `about`: which cells it is for."""
    found = fork.result.expected if fork.result else None
    if found is None:
        return None
    named = next((one.metric for one in fork.readings if one.expected is not None), None)
    figure = named or (found.quantity or "").rpartition(".")[2].replace("_", " ")
    name = "No figure is expected" if found.formula == _NO_FORMULA else joined(f"{figure} = ", code(found.formula))
    return Fact(name, joined(found.source, *([small(about)] if about else [])))


def expectations(piece: ExperimentSlice) -> tuple[Fact, ...]:
    """Each formula with its source once, and which cells it is for."""
    found: dict[Fact, tuple[Fork, list[tuple[str, str, str]]]] = {}
    for cell in piece.cells:
        key = cell.key
        for fork in cell.record.forks:
            if fork.readings and (expected := expectation_of(fork)):
                _, about = found.setdefault(expected, (fork, []))
                about.append((piece.subject(key), key.executor, key.jdk))
    told = []
    for fork, about in found.values():
        names = (", ".join(dict.fromkeys(column)) for column in zip(*about, strict=True))
        told.append(expectation_of(fork, "; ".join(names)))
    return tuple(filter(None, told))
