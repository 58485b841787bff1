"""The figures of two cells as they may stand in ratios, block by block. Pure.

Forks of one block that were measured in turns are compared round by round: any drift while they run affects both within
a second or two. A round that a gate took from one of them counts in neither, and the geometric mean over the others
represents the fork, so that the ratio of two forks is the geometric mean of the ratios of their rounds. A round in
which a server answered nothing has no ratio, but to leave it out would leave out the server's worst second: both forks
are then represented by their figures over all common rounds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from statistics import fmean

from jdkmatrix.figures.metrics import Metric
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.stats.ratios import least_error
from jdkmatrix.store.cells import CellRecord

_NO_ROUNDS: tuple[Mapping[int, float], ...] = ({}, {})


def paired_figures(metric: Metric, cell: CellRecord, base: CellRecord) -> tuple[dict[int, float], dict[int, float]]:
    """Return the figures of `cell` and of `base` by block number, for blocks in which both may stand in a ratio."""
    above: dict[int, float] = {}
    below: dict[int, float] = {}
    for fork, other in _pairs(cell, base):
        parts, by_round = (fork, other), _NO_ROUNDS
        if fork.took_turns_with(other):
            rounds = _valid_rounds(fork) & _valid_rounds(other)
            parts = fork.only(rounds), other.only(rounds)
            told = tuple(_by_round(metric, part) for part in parts)
            by_round = told if all(len(one) == len(rounds) for one in told) else _NO_ROUNDS
        one, two = (_figure(metric, *part) for part in zip(parts, (cell, base), by_round, strict=True))
        if one is not None and two is not None:
            above[fork.fork], below[fork.fork] = one, two
    return above, below


def least_error_of(metric: Metric, *arms: tuple[AnyLoad, Collection[float]]) -> float:
    """Return the least standard error that the log of their ratio, or of one arm's mean, has (stats/ratios.py). `arms`:
    the load of each, and its figures."""
    return least_error(*(step_share(metric, load, arm) for load, arm in arms))


def step_share(metric: Metric, load: AnyLoad, arm: Collection[float]) -> float:
    """Return the step in which figures of one arm are read, as a share of their mean; 0 for none."""
    mean = fmean(arm) if arm else 0.0
    return metric.step(load, mean) / mean if mean > 0 else 0.0


def logs_of_rounds(metric: Metric, cell: CellRecord, base: CellRecord) -> list[list[float]]:
    """Return, for each block in which both are usable, the log ratios of the rounds that count in both; none if they
    took no turns, or windows do not have the figure."""
    found = []
    for fork, other in _pairs(cell, base):
        one, two = _by_round(metric, fork), _by_round(metric, other)
        rounds = sorted(one.keys() & two.keys()) if fork.took_turns_with(other) else ()
        found.append([math.log(one[index] / two[index]) for index in rounds])
    return found


def _valid_rounds(fork: Fork) -> frozenset[int]:
    return frozenset(window.index for window in fork.valid_windows)


def _pairs(cell: CellRecord, base: CellRecord) -> Iterator[tuple[Fork, Fork]]:
    """Yield the usable forks of every block that has both, under the load of the same driver."""
    others = {(fork.fork, fork.driver): fork for fork in base.forks if fork.usable}
    for fork in cell.forks:
        if fork.usable and (other := others.get((fork.fork, fork.driver))):
            yield fork, other


def _figure(metric: Metric, fork: Fork, cell: CellRecord, by_round: Mapping[int, float]) -> float | None:
    """Return the figure of a fork. `by_round`: those of its rounds if all of them have one; else empty."""
    figure = metric.of(fork, cell.load) if fork.usable else None
    if figure is None or not figure.compares:
        return None
    return math.exp(fmean(map(math.log, by_round.values()))) if by_round else figure.value


def _by_round(metric: Metric, fork: Fork) -> dict[int, float]:
    if metric.of_window is None:
        return {}
    found = {window.index: metric.of_window(window) for window in fork.valid_windows}
    return {index: value for index, value in found.items() if value > 0}
