"""The blocks behind a ratio. Pure.

A ratio is that of the blocks that have both arms; the figures beside it are those of all usable forks. Where the two
say different things, the reader is told which blocks were paired and what each arm came to in these.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from jdkmatrix.figures.metrics import P99
from jdkmatrix.report.cells.cell_figures import amount, of_metric
from jdkmatrix.report.cells.cellstats import CellStats, Comparison
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.stats.ratios import Ratio


@dataclass(frozen=True)
class PairRow:
    """One block, with the figures of both arms and their ratio."""

    block: int
    numerator: str
    denominator: str
    ratio: str


@dataclass(frozen=True)
class PairTable:
    """The blocks behind one ratio."""

    title: str
    unit: str
    numerator: str
    denominator: str
    rows: tuple[PairRow, ...]


def paired_words(compared: Comparison) -> str | None:
    """Which blocks, and both arms' means over exactly these; None where that is what the cells' own figures say."""
    pairs = compared.pairs
    if not pairs:
        return None
    metric = compared.metric
    here = [amount(metric, statistics.geometric_mean(arm)) for arm in zip(*pairs.values(), strict=True)]
    own = [of_metric(metric, cell, why="").text for cell in (compared.cell, compared.base)]
    every = _blocks(compared.cell) | _blocks(compared.base)
    if here == own and every == pairs.keys():
        return None
    numbers = ", ".join(map(str, pairs))
    both = f"{here[0]} against {here[1]} {metric.unit}"
    if every != pairs.keys():
        return f"paired in {_noun(len(pairs))} {numbers}; {both} there"
    if metric is P99:
        return f"{both} as the mean of the forks’ own p99"
    return f"{both} in the rounds that count in both"


def pairs_title(compared: Comparison) -> str:
    """Each block's pair, for a tooltip."""
    return "; ".join(
        f"block {row.block}: {row.numerator} / {row.denominator} = {row.ratio}" for row in pair_table(compared).rows
    )


def pair_table(compared: Comparison) -> PairTable:
    metric = compared.metric
    return PairTable(
        title=metric.title,
        unit=metric.unit,
        numerator=compared.cell.key.executor,
        denominator=compared.base.key.executor,
        rows=tuple(
            PairRow(block, amount(metric, above), amount(metric, below), ratio_value(_single(above / below)))
            for block, (above, below) in compared.pairs.items()
        ),
    )


def _single(value: float) -> Ratio:
    return Ratio(value, None, None, 1)


def _blocks(cell: CellStats) -> set[int]:
    return {fork.fork for fork in cell.record.forks}


def _noun(number: int) -> str:
    return "block" if number == 1 else "blocks"
