"""The blocks behind a ratio. Pure.

A ratio is that of the blocks that have both arms; the figures beside it are those of all usable forks. Where the two
say different things, the reader is told which blocks were paired and what each arm came to in these.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from jdkmatrix.figures.metrics import P99
from jdkmatrix.report.blocks.inline import joined, small
from jdkmatrix.report.blocks.tables import Column, DataTable
from jdkmatrix.report.cells.cell_figures import amount, of_metric
from jdkmatrix.report.cells.cellstats import Comparison
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.stats.ratios import Ratio


def paired_words(compared: Comparison) -> str | None:
    """Which blocks, and both arms' means over exactly these; None where that is what the cells' own figures say."""
    pairs = compared.pairs
    if not pairs:
        return None
    metric = compared.metric
    here = [amount(metric, statistics.geometric_mean(arm)) for arm in zip(*pairs.values(), strict=True)]
    own = [of_metric(metric, cell, why="").text for cell in (compared.cell, compared.base)]
    every = {fork.fork for cell in (compared.cell, compared.base) for fork in cell.record.forks}
    if here == own and every == pairs.keys():
        return None
    numbers = ", ".join(map(str, pairs))
    both = f"{here[0]} against {here[1]} {metric.unit}"
    if every != pairs.keys():
        return f"paired in {'block' if len(pairs) == 1 else 'blocks'} {numbers}; {both} there"
    if metric is P99:
        return f"{both} as the mean of the forks’ own p99"
    return f"{both} in the rounds that count in both"


def pairs_title(compared: Comparison) -> str:
    """Each block's pair, for a tooltip."""
    return "; ".join(f"block {block}: {above} / {below} = {ratio}" for block, above, below, ratio in _pairs(compared))


def pair_table(compared: Comparison) -> DataTable:
    metric, arms = compared.metric, (compared.cell.key.executor, compared.base.key.executor)
    return DataTable(
        f"Blocks of {metric.title}",
        (
            Column(joined(metric.title, " ", small(metric.unit)), head=True),
            *(Column(title, "num") for title in (*arms, "Ratio")),
        ),
        tuple((f"block {block}", *figures) for block, *figures in _pairs(compared)),
    )


def _pairs(compared: Comparison) -> Iterator[tuple[int, str, str, str]]:
    for block, (above, below) in compared.pairs.items():
        one, other = (amount(compared.metric, value) for value in (above, below))
        yield block, one, other, ratio_value(Ratio(above / below, None, None, 1))
