"""The results of a run for other programs: a table of figures, and the verdicts on published claims. Pure.

Figures are in the units of the pages, and unrounded. What is missing is an empty field, never a 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jdkmatrix.domain.cell_key import AXES
from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import virtual_of
from jdkmatrix.figures.fork_figures import overall
from jdkmatrix.figures.metrics import THROUGHPUT, Metric, metrics_of, over_forks
from jdkmatrix.report.cells.advice import Side, advise
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.claims.verdicts import JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate

# `value`: the geometric mean over forks, with its 95 % interval; of readings of experiments the median, which has none.
# `bound`: "≥" or "<" where forks give a bound only. `ratio`: over the same cell on `versus`, paired in blocks.
# `p_adjusted`: over all that the page compares.
COLUMNS = (
    *("run_id", "cell_id", *AXES, "driver", "figure", "unit", "forks"),
    *("value", "interval_low", "interval_high", "least", "most", "bound"),
    *("versus", "ratio", "ratio_low", "ratio_high", "blocks", "p_adjusted", "verdict"),
)
# `value`, `versus_value`: what both came to in a block; the ratio of a cell is the geometric mean of `ratio`.
BLOCK_COLUMNS = (
    *("run_id", "cell_id", *AXES, "driver", "figure", "unit", "versus"),
    *("block", "value", "versus_value", "ratio"),
)
Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results(judged: JudgedRun) -> Iterator[Row]:
    """One for each figure of each cell, with those of `COLUMNS` that it has. What has two names, as throughput has
    where it is that at saturation, too, is there once, by the name that executors are compared by."""
    run_id = judged.run.run_id
    for cell in (*judged.cells, *judged.experiments):
        yield from ({"run_id": run_id, **row} for row in _of_cell(cell, judged.judgements))


def blocks(judged: JudgedRun) -> Iterator[Row]:
    """One for each block behind each ratio of `results`, with `BLOCK_COLUMNS`."""
    for cell in judged.cells:
        for metric in cell.metrics:
            compared = judged.judgements.comparison(metric, cell.key)
            for block, (above, below) in compared.pairs.items() if compared else ():
                yield {
                    "run_id": judged.run.run_id,
                    **_whose(cell, metric),
                    "versus": compared.base.key.executor if compared else "",
                    "block": block,
                    "value": above,
                    "versus_value": below,
                    "ratio": above / below,
                }


def as_csv(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """The names of the columns first."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _field(value) for name, value in row.items()})
    return sink.getvalue()


def as_json(rows: Iterable[Row]) -> list[Row]:
    """Floats that JSON cannot hold are null."""
    return [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def jmh(judged: JudgedRun) -> list[Row]:
    """Throughput in the form of `-rf json` of the Java Microbenchmark Harness, which its viewers read: a fork there is
    a fork here, with one iteration, its figure. The error is the larger half of the 95 % interval.

    Viewers tell benchmarks apart by the name alone, and take its last part for the method: so the condition is the
    class, and the executor the method. github-action-benchmark takes any score of this form for a cost: it needs
    `better`."""
    jdks = {jdk.id: jdk.version for jdk in judged.run.jdks if jdk.version}
    return [found for cell in judged.cells if (found := _jmh(cell, jdks)) is not None]


def _jmh(cell: CellStats, jdks: Mapping[str, str]) -> Row | None:
    figures = list(cell.figures(THROUGHPUT).values())
    over = overall(figures)
    if over is None or over.bounded:
        return None
    summary, key = over.summary, cell.key
    ends = [end for end in (summary.ci_low, summary.ci_high) if end is not None]
    names = (name.replace(".", "_") for name in (key.group_id, key.executor))
    return {
        "benchmark": ".".join(("jdkmatrix", *names)),
        "mode": "thrpt",
        "threads": 1,
        "forks": len(figures),
        **({"jdkVersion": jdks[key.jdk]} if key.jdk in jdks else {}),
        "measurementIterations": 1,
        "params": {axis: str(getattr(key, axis)) for axis in AXES},
        "primaryMetric": {
            "score": summary.geomean,
            "scoreError": max((abs(end - summary.geomean) for end in ends), default="NaN"),
            "scoreConfidence": ends or ["NaN", "NaN"],
            "scoreUnit": "ops/s",
            "rawData": [[figure.value] for figure in figures],
        },
        "secondaryMetrics": {},
    }


def better(cells: Cells, *, bigger: bool) -> list[Row]:
    """The figures that executors are compared by, as github-action-benchmark's `customBiggerIsBetter` or
    `customSmallerIsBetter` reads it. Figures of which some forks give a bound only are in neither."""
    return [
        {
            "name": f"{cell.key.cell_id} {metric.id}",
            "unit": metric.unit,
            "value": value,
            "range": f"{low}–{high}" if low is not None else "",
            "extra": f"{metric.title}; {plural(forks, 'fork')}; the range is its 95 % interval",
        }
        for cell, metric, value, (low, high), forks in _compared_by(cells)
        if metric.more_is_better == bigger
    ]


def bencher(cells: Cells) -> dict[str, dict[str, dict[str, float]]]:
    """The same in the Bencher Metric Format: by cell and figure, its value and the ends of its 95 % interval."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for cell, metric, value, (low, high), _ in _compared_by(cells):
        ends = {"lower_value": low, "upper_value": high}
        told = {name: end for name, end in ends.items() if end is not None}
        found.setdefault(cell.key.cell_id, {})[metric.id] = {"value": value, **told}
    return found


def openmetrics(judged: JudgedRun) -> str:
    """Gauges for Prometheus and its kin (OpenMetrics 1.0): of each cell the figures that executors are compared by and
    their ratios, with the ends of their 95 % intervals. `time` is not told: a scraper takes its own."""
    families: dict[str, list[str]] = {}

    def add(name: str, words: str, labels: Mapping[str, object], value: float) -> None:
        lines = families.setdefault(name, [f"# TYPE {name} gauge", f"# HELP {name} {_label(words)}"])
        told = ",".join(f'{key}="{_label(label)}"' for key, label in labels.items())
        lines.append(f"{name}{{{told}}} {value!r}")

    for cell, metric, value, ends, _ in _compared_by(judged.cells):
        labels = {axis: getattr(cell.key, axis) for axis in AXES} | {"driver": cell.driver or ""}
        family = f"jdkmatrix_{metric.id.replace('-', '_')}"
        unit = f" in {metric.unit}" if metric.unit else ""
        for end, found in zip(("", "_low", "_high"), (value, *ends), strict=True):
            if found is not None:
                add(f"{family}{end}", f"{metric.title}{unit}{_END_WORDS[end]}", labels, found)
        one = judged.judgements.of(metric, cell.key)
        compared = judged.judgements.comparison(metric, cell.key)
        if one is None or compared is None:
            continue
        over = labels | {"versus": compared.base.key.executor, "verdict": one.verdict.value}
        for end, found in zip(
            ("", "_low", "_high"), (one.ratio.value, one.ratio.ci_low, one.ratio.ci_high), strict=True
        ):
            if found is not None and math.isfinite(found):
                add(f"{family}_ratio{end}", f"{metric.title} over that of `versus`{_END_WORDS[end]}", over, found)
    return "\n".join([*(line for lines in families.values() for line in lines), "# EOF", ""])


_END_WORDS = {"": "", "_low": ", lower end of the 95 % interval", "_high": ", upper end of the 95 % interval"}


def _label(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def badges(judged: JudgedRun) -> list[Row]:
    """For each condition what it is, and a badge in the form of shields.io's endpoints: virtual threads over the pool
    in the leading figure."""
    found = []
    for key in judged.cells.keys:
        told = advise(judged.judgements, judged.cells, key) if key.executor == virtual_of(key.server) else ()
        if told:
            lead = told[0]
            badge = {
                "schemaVersion": 1,
                "label": f"{lead.title}, virtual threads / pool",
                "message": f"{lead.value} ({lead.under})",
                "color": _BADGE_COLOURS[lead.side],
            }
            found.append({"condition": key.group_id, "badge": badge})
    return found


_BADGE_COLOURS = {Side.VIRTUAL: "orange", Side.POOL: "blue", Side.OPEN: "lightgrey"}

_Ends = tuple[float, float] | tuple[None, None]


def _compared_by(cells: Cells) -> Iterator[tuple[CellStats, Metric, float, _Ends, int]]:
    """Value, interval and number of forks, in the unit of the figure."""
    for cell in cells:
        for metric in metrics_of(cell.load):
            over = over_forks(metric, cell.figures(metric).values())
            if over is None or over.bounded:
                continue
            ends: _Ends = (None, None)
            if over.low is not None and over.high is not None and math.isfinite(over.high):
                ends = over.low, over.high
            yield cell, metric, over.value, ends, over.forks


def _field(value: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def _told_once(cell: CellStats) -> Iterator[Metric]:
    compared = metrics_of(cell.load)
    told = {metric.of for metric in compared}
    for metric in cell.metrics:
        if metric in compared or metric.of not in told:
            told.add(metric.of)
            yield metric


def _of_cell(cell: CellStats, judgements: Judgements) -> Iterator[Row]:
    for metric in _told_once(cell):
        over = over_forks(metric, cell.figures(metric).values())
        if over is None:
            continue
        row: Row = {
            **_whose(cell, metric),
            "forks": over.forks,
            "value": over.value,
            "least": over.least,
            "most": over.most,
            "bound": over.bound.value if over.bounded and over.bound else "",
        }
        if not over.bounded and over.low is not None and over.high is not None:
            row |= {"interval_low": over.low, "interval_high": over.high}
        yield {**row, **_compared(cell, metric, judgements)}


def _whose(cell: CellStats, metric: Metric) -> Row:
    key = cell.key
    axes = {axis: getattr(key, axis) for axis in AXES}
    return {"cell_id": key.cell_id, **axes, "driver": cell.driver, "figure": metric.id, "unit": metric.unit}


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


def verdicts(judged: Sequence[JudgedClaim]) -> list[dict[str, Any]]:
    """For JSON; an estimate without an interval has null in its ends."""
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
