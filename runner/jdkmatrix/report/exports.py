"""The results of a run for other programs: a table of figures, and the verdicts on published claims. Pure.

Figures are in the units of the pages, and unrounded. What is missing is an empty field, never a 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jdkmatrix.figures.fork_figures import overall
from jdkmatrix.figures.metrics import METRICS, THROUGHPUT, Metric
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentCell
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.claims.verdicts import JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.terms.cell_key import AXES, CellKey

# `value`: of a cell with a server the geometric mean over forks, with its 95 % interval; of one without the median,
# with the least and the most. `bound`: "≥" or "<" where forks give a bound only. `ratio`: over the same cell on
# `versus`, paired in blocks. `p_adjusted`: over all that the page compares.
COLUMNS = (
    *("run_id", "cell_id", *AXES, "figure", "unit", "forks"),
    *("value", "interval_low", "interval_high", "least", "most", "bound"),
    *("versus", "ratio", "ratio_low", "ratio_high", "blocks", "p_adjusted", "verdict"),
)
Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results(judged: JudgedRun) -> Iterator[Row]:
    """One for each figure of each cell, with those of `COLUMNS` that it has."""
    run_id = judged.run.run_id
    for cell in judged.cells:
        yield from ({"run_id": run_id, **row} for row in _of_served(cell, judged.judgements))
    for lone in judged.experiments:
        yield from ({"run_id": run_id, **row} for row in _of_experiment(lone))


def as_csv(rows: Iterable[Row]) -> str:
    """`COLUMNS` first."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})
    return sink.getvalue()


def as_json(rows: Iterable[Row]) -> list[Row]:
    """What a float cannot say in JSON is null."""
    return [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def jmh(cells: Cells) -> list[Row]:
    """Throughput in the form of `-rf json` of the Java Microbenchmark Harness, which its viewers read: a fork there is
    a fork here, with one iteration, its figure. The error is the larger half of the 95 % interval."""
    return [found for cell in cells if (found := _jmh(cell)) is not None]


def _jmh(cell: CellStats) -> Row | None:
    figures = list(cell.figures(THROUGHPUT).values())
    over = overall(figures)
    if over is None or over.bounded:
        return None
    summary = over.summary
    ends = [end for end in (summary.ci_low, summary.ci_high) if end is not None]
    return {
        "benchmark": f"jdkmatrix.{cell.key.workload}.{cell.key.executor}",
        "mode": "thrpt",
        "threads": 1,
        "forks": len(figures),
        "params": {axis: str(getattr(cell.key, axis)) for axis in AXES},
        "primaryMetric": {
            "score": summary.geomean,
            "scoreError": max((abs(end - summary.geomean) for end in ends), default="NaN"),
            "scoreConfidence": ends or ["NaN", "NaN"],
            "scoreUnit": "ops/s",
            "rawData": [[figure.value] for figure in figures],
        },
        "secondaryMetrics": {},
    }


def _field(value: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def _of_cell(key: CellKey) -> Row:
    return {"cell_id": key.cell_id, **{axis: getattr(key, axis) for axis in AXES}}


def _of_served(cell: CellStats, judgements: Judgements) -> Iterator[Row]:
    for metric in METRICS:
        figures = list(cell.figures(metric).values())
        over = overall(figures)
        if over is None:
            continue
        values = [figure.value * metric.scale for figure in figures]
        row: Row = {
            **_of_cell(cell.key),
            "figure": metric.id,
            "unit": metric.unit,
            "forks": len(figures),
            "value": over.summary.geomean * metric.scale,
            "least": min(values),
            "most": max(values),
            "bound": over.bound.value if over.bounded and over.bound else "",
        }
        if not over.bounded and over.summary.ci_low is not None and over.summary.ci_high is not None:
            row |= {
                "interval_low": over.summary.ci_low * metric.scale,
                "interval_high": over.summary.ci_high * metric.scale,
            }
        yield {**row, **_compared(cell, metric, judgements)}


def _compared(cell: CellStats, metric: Metric, judgements: Judgements) -> Row:
    judged, compared = judgements.of(metric, cell.key), judgements.comparison(metric, cell.key)
    if judged is None or compared is None:
        return {}
    ratio = judged.ratio
    return {
        "versus": compared.base.key.executor,
        "ratio": ratio.value,
        "ratio_low": ratio.ci_low,
        "ratio_high": ratio.ci_high,
        "blocks": ratio.blocks,
        "p_adjusted": judged.p_adjusted,
        "verdict": judged.verdict.value,
    }


def _of_experiment(cell: ExperimentCell) -> Iterator[Row]:
    for spread in cell.spreads:
        yield {
            **_of_cell(cell.key),
            "figure": spread.name,
            "unit": spread.unit,
            "forks": spread.forks,
            "value": spread.median,
            "least": spread.least,
            "most": spread.most,
        }


def verdicts(judged: Sequence[JudgedClaim]) -> list[dict[str, Any]]:
    """As JSON; an estimate without an interval has null in its ends."""
    return [
        {
            "claim": one.claim.id,
            "source": one.claim.source.title,
            "verdict": one.verdict.value,
            "why": one.why,
            "checks": [_check(check) for check in one.checks],
        }
        for one in judged
    ]


def _check(one: JudgedCheck) -> dict[str, Any]:
    return {
        "says": one.check.says,
        "verdict": one.verdict.value,
        "why": one.why,
        "unit": one.unit,
        "low": one.band.low,
        "high": one.band.high,
        "inference": one.check.inference,
        "cells": [_cell(cell) for cell in one.cells],
    }


def _cell(one: JudgedCell) -> dict[str, Any]:
    return {
        "cell_id": one.key.cell_id,
        "verdict": one.verdict.value,
        "why": one.why,
        "blocks_to_decide": one.blocks,
        "estimate": _estimate(one.estimate) if one.estimate else None,
    }


def _estimate(one: Estimate) -> dict[str, Any]:
    high = None if one.high is None or math.isinf(one.high) else one.high
    return {"value": one.value, "low": one.low, "high": high, "blocks": one.blocks}
