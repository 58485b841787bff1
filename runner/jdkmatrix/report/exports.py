"""The results of a run for other programs: a table of figures, and the verdicts on published claims. Pure.

Figures are in the units of the pages, and unrounded. What is missing is an empty field, never a 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any

from jdkmatrix.figures.fork_figures import overall
from jdkmatrix.figures.metrics import METRICS, Metric
from jdkmatrix.report.cellstats import Cells, CellStats
from jdkmatrix.report.claim_verdicts import JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.experiments.cells import ExperimentCell, Experiments
from jdkmatrix.report.judgements import Judgements
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.terms.cell_key import AXES, CellKey
from jdkmatrix.terms.executors import reference

# `value`: of a cell with a server the geometric mean over forks, with its 95 % interval; of one without the median,
# with the least and the most. `bound`: "≥" or "<" where forks give a bound only. `ratio`: over the same cell on
# `versus`, paired in blocks. `p_adjusted`: over all that the page compares.
COLUMNS = (
    *("run_id", "cell_id", *AXES, "figure", "unit", "forks"),
    *("value", "interval_low", "interval_high", "least", "most", "bound"),
    *("versus", "ratio", "ratio_low", "ratio_high", "blocks", "p_adjusted", "verdict"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results_csv(run_id: str, cells: Cells, judgements: Judgements, experiments: Experiments) -> str:
    """One line for each figure of each cell, `COLUMNS` first."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for row in (
        *(row for cell in cells for row in _of_served(cell, judgements)),
        *(row for lone in experiments for row in _of_experiment(lone)),
    ):
        writer.writerow({name: _field(value) for name, value in {"run_id": run_id, **row}.items()})
    return sink.getvalue()


def _field(value: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def _of_cell(key: CellKey) -> dict[str, object]:
    return {"cell_id": key.cell_id, **{axis: getattr(key, axis) for axis in AXES}}


def _of_served(cell: CellStats, judgements: Judgements) -> Iterator[dict[str, object]]:
    for metric in METRICS:
        figures = list(cell.figures(metric).values())
        over = overall(figures)
        if over is None:
            continue
        values = [figure.value * metric.scale for figure in figures]
        row: dict[str, object] = {
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


def _compared(cell: CellStats, metric: Metric, judgements: Judgements) -> dict[str, object]:
    judged = judgements.of(metric, cell.key)
    if judged is None:
        return {}
    ratio = judged.ratio
    return {
        "versus": reference(cell.key.executor, cell.key.server),
        "ratio": ratio.value,
        "ratio_low": ratio.ci_low,
        "ratio_high": ratio.ci_high,
        "blocks": ratio.blocks,
        "p_adjusted": judged.p_adjusted,
        "verdict": judged.verdict.value,
    }


def _of_experiment(cell: ExperimentCell) -> Iterator[dict[str, object]]:
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
