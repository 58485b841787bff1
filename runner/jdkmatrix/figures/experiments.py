"""What the readings of an experiment come to over the forks of a cell. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from jdkmatrix.experiments.result import Reading, Spread
from jdkmatrix.store.cells import CellRecord


def spreads(cell: CellRecord) -> tuple[Spread, ...]:
    """Over the forks that can be used, in the order of their readings. The median, since two or three forks have no
    more to say; the least and the most beside it."""
    found: dict[str, list[Reading]] = {}
    for fork in cell.forks:
        if fork.usable and fork.experiment.result is not None:
            for reading in fork.experiment.result.readings:
                found.setdefault(reading.name, []).append(reading)
    return tuple(_spread(name, same) for name, same in found.items())


def outcomes(cell: CellRecord) -> tuple[str, ...]:
    """What its forks ended with, each once, in the order of forks."""
    return tuple(
        dict.fromkeys(fork.experiment.result.outcome for fork in cell.forks if fork.experiment.result is not None)
    )


def _spread(name: str, same: Sequence[Reading]) -> Spread:
    values = [reading.value for reading in same]
    expected = [reading.expected for reading in same if reading.expected is not None]
    return Spread(
        name=name,
        unit=same[0].unit,
        median=median(values),
        least=min(values),
        most=max(values),
        forks=len(values),
        expected=median(expected) if expected else None,
    )
