"""The figures of a cell as every page and the terminal show them, one definition each, and the blocks behind a ratio.
Pure.

A ratio is that of the blocks that have both arms; the figures beside it are those of all usable forks. Where the two
say different things, the reader is told which blocks were paired and what each arm came to in these.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import P99, Metric
from jdkmatrix.report.blocks.inline import joined, small
from jdkmatrix.report.blocks.tables import Column, DataTable
from jdkmatrix.report.cells.cellstats import CellStats, Comparison
from jdkmatrix.report.cells.latency import percentile_figure
from jdkmatrix.report.words.numbers import Figure, count, over_forks, quantity, ratio_value
from jdkmatrix.stats.ratios import Ratio


def of_metric(metric: Metric, cell: CellStats | None, *, why: str) -> Figure:
    """Over all usable forks, those that stand in no ratio too. p99 is that of all requests together. `why`: the reason
    where there is no figure."""
    if metric is P99:
        return percentile(cell, "99", why=why)
    if cell is not None and cell.usable:
        why = metric.missing
    if metric.over_forks == "most":
        most = max((figure.value for figure in cell.figures(metric).values()), default=None) if cell else None
        if metric.significant == 0:
            return count(None if most is None else round(most), why=why)
        return quantity(most, metric.significant, why=why, scale=metric.scale)
    return over_forks(cell.figures(metric).values() if cell else (), metric.significant, why=why, scale=metric.scale)


def percentile(cell: CellStats | None, name: str, *, why: str) -> Figure:
    """In ms, over all requests of the usable forks together."""
    if cell is not None and cell.usable:
        why = "the driver recorded no such latency"
    return percentile_figure(cell.latency if cell else None, name, why=why)


def amount(metric: Metric, value: float) -> str:
    """A figure of one fork, or a mean of some, with the digits that the cell's own has."""
    return digits(value * metric.scale, metric.significant)


def failed_words(cell: CellStats) -> str | None:
    """How many requests failed, which are in no throughput; None where none did, or the load goes on until some do."""
    failed = cell.failed_requests
    if not failed or cell.kind.overloads:
        return None
    return f"{failed:,} failed"


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
