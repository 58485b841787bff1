"""The figures of a cell as every page and the terminal show them: one definition each. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import P99, Metric
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.latency import percentile_figure
from jdkmatrix.report.words.numbers import Figure, count, over_forks, quantity


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
