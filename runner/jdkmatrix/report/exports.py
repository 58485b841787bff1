"""The results of a run for other programs: a table of figures, and the verdicts on published claims. Pure.

Figures are in the units of the pages, and unrounded. What is missing is an empty field, never a 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from jdkmatrix.domain.cell_key import AXES
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.fork_figures import OverForks
from jdkmatrix.figures.metrics import P99, THROUGHPUT, Metric, metrics_of
from jdkmatrix.loads.attainment import ForkOutcome, fate
from jdkmatrix.loads.base import Bound
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.cells.advice import OUTCOME, Side, advised
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.claims.evidence import SeenFigure
from jdkmatrix.report.claims.verdicts import JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Verdict

# `value`: the geometric mean over forks, with its 95 % interval. Without an interval: the arithmetic mean where a fork
# has 0, the largest of any fork for peaks and counts (RSS, threads, the longest wait, time-outs), and the median for
# readings of experiments.
# `forks_compared`: how many of these forks did what their load asks for, so that their figure may stand in a ratio.
# `bound`: "≥" or "<" where forks give only a bound; where bounds point both ways, there is neither it nor a `value`.
# `ratio`: over the same cell on `versus`, paired by block. `p_adjusted`: for everything that the page compares.
# A ratio of an experiment has a row of its own, without a `value`: over another arm, over the workload or load that a
# claim compares it with, or of the median over what is `EXPECTED`. Only claims judge it; "not judged": nor do they.
# "p99-of-all" and its like are percentiles of all requests together, as pages show them: a `value` without an interval.
# "p99", which ratios are made of, is the geometric mean of the forks' own.
# `did_as_asked` to `reasons`: only in the row "outcome", whose `forks` is the sum of the first two: forks that did what
# their load asks for, that did not, and that were lost to faults; and codes of what happened, with how many forks each.
COLUMNS = (
    *("run_id", "cell_id", *AXES, "driver", "figure", "unit", "forks", "forks_compared"),
    *("value", "interval_low", "interval_high", "least", "most", "bound"),
    *("versus", "ratio", "ratio_low", "ratio_high", "blocks", "p_adjusted", "verdict"),
    *("did_as_asked", "fell_short", "lost", "failed_requests", "reasons"),
)
# `value`, `versus_value`: both figures of a block; the ratio of a cell is the geometric mean of `ratio`.
BLOCK_COLUMNS = (
    *("run_id", "cell_id", *AXES, "driver", "figure", "unit", "versus"),
    *("block", "value", "versus_value", "ratio"),
)
EXPECTED = "expected"
_PERCENTILES = ("50", "99", "99.9")
Row = dict[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results(judged: JudgedRun) -> Iterator[Row]:
    """Yield rows with `COLUMNS`: for each cell with a server, one for what became of its forks and one for each
    percentile of all its requests; one for each figure of each cell; and one for each ratio of an experiment. `versus`
    to `verdict` are there only with a ratio, or where outcomes are compared. A figure with two names, such as
    throughput that is also the one at saturation, comes once, under the name by which executors are compared."""
    for cell in (*judged.cells, *judged.experiments):
        if not cell.is_program:
            yield _outcome(judged, cell)
            yield from _of_all_requests(judged, cell)
        for metric in _told_once(cell):
            over = cell.over_forks(metric)
            if over is None:
                continue
            whose = _whose(judged, cell, metric.id, metric.unit)
            did = sum(one.comparable and one.bound is Bound.NONE for one in cell.figures(metric).values())
            row = {**whose, "forks": over.forks, "forks_compared": did}
            if over.bound is not None:
                row["value"] = over.value
            if not over.bounded:
                row |= {"interval_low": over.low, "interval_high": over.high}
            bound = over.bound.value if over.bounded and over.bound else ""
            row |= {"least": over.least.value, "most": over.most.value, "bound": bound}
            if (one := judged.judgements.of(metric, cell.key)) is not None:
                row |= _over(judged.cells.reference(cell.key), one.ratio)
                row |= {"p_adjusted": one.p_adjusted, "verdict": one.verdict.value}
            yield row
        if cell.is_program:
            yield from _ratios_of_experiment(judged, cell)


def blocks(judged: JudgedRun) -> Iterator[Row]:
    """Yield a row for each block behind each ratio of `results`, with `BLOCK_COLUMNS`."""
    served = (judged.judgements.comparison(metric, cell.key) for cell in judged.cells for metric in cell.metrics)
    for one in (*filter(None, served), *chain.from_iterable(judged.beside.values())):
        whose = {**_whose(judged, one.cell, one.metric.id, one.metric.unit), "versus": _other(one)}
        for block, (above, below) in one.pairs.items():
            values = {"value": above * one.metric.scale, "versus_value": below * one.metric.scale}
            yield {**whose, "block": block, **values, "ratio": above / below}


def _ratios_of_experiment(judged: JudgedRun, cell: CellStats) -> Iterator[Row]:
    for spread in cell.spreads:
        if (ratio := spread.over_expected) is not None:
            yield {**_whose(judged, cell, spread.name, spread.unit), "versus": EXPECTED, "ratio": ratio}
    for one in judged.beside.get(cell.key, ()):
        if one.ratio is not None:
            row = {**_whose(judged, cell, one.metric.id, one.metric.unit), **_over(_other(one), one.ratio)}
            yield row if judged.may_compare(one) else {**row, "verdict": Verdict.NOT_JUDGED.value}


def _other(compared: Comparison) -> str:
    """Name what a cell is compared with: by its executor, or where that is the same, by its workload or load."""
    cell, base = compared.cell.key, compared.base.key
    axes = ("executor", "workload", "load")
    return next(str(getattr(base, axis)) for axis in axes if getattr(base, axis) != getattr(cell, axis))


def _over(versus: str, ratio: Ratio) -> Row:
    ends = {"ratio_low": ratio.ci_low, "ratio_high": ratio.ci_high}
    return {"versus": versus, "ratio": ratio.value, "blocks": ratio.blocks, **ends}


def _outcome(judged: JudgedRun, cell: CellStats) -> Row:
    """Build the row for what became of the forks, which is there even if none has a figure."""
    arm, happened = cell.attained, Counter(code for fork in cell.record.forks for code in _codes(fork))
    told = [fork for fork in cell.record.forks if fate(fork, cell.record.load) is not ForkOutcome.LOST]
    row = {
        **_whose(judged, cell, OUTCOME, "forks"),
        **{"forks": arm.told, "did_as_asked": arm.yes, "fell_short": arm.no, "lost": arm.lost},
        "failed_requests": sum(window.load.failed for fork in told for window in fork.valid_windows),
        "reasons": "; ".join(f"{code} {number}" for code, number in happened.items()),
    }
    if (one := judged.judgements.outcomes(cell.key)) is not None:
        found = Verdict.DIFFERENT if one.differs else one.finding
        row |= {"versus": judged.cells.reference(cell.key), "p_adjusted": one.p_adjusted, "verdict": found.value}
    return row


def _of_all_requests(judged: JudgedRun, cell: CellStats) -> Iterator[Row]:
    if (pooled := cell.latency) is None:
        return
    for name in _PERCENTILES:
        bound = pooled.bound(name)
        if (found := pooled.percentiles.get(name)) and bound is not None:
            whose = _whose(judged, cell, f"p{name}-of-all", P99.unit)
            yield {**whose, "forks": pooled.forks, "value": found.merged_us * P99.scale, "bound": bound.value}


def _codes(fork: Fork) -> Iterable[str]:
    """Return the codes of what happened in a fork, each once."""
    shortfalls = (reason for window in fork.valid_windows for reason in window.shortfalls)
    return dict.fromkeys(reason.code for reason in (*fork.reasons, *shortfalls))


def _whose(judged: JudgedRun, cell: CellStats, figure: str, unit: str) -> Row:
    axes = {axis: getattr(cell.key, axis) for axis in AXES}
    whose = {"run_id": judged.run.run_id, "cell_id": cell.key.cell_id, **axes, "driver": cell.driver}
    return {**whose, "figure": figure, "unit": unit}


def _told_once(cell: CellStats) -> Iterator[Metric]:
    compared = metrics_of(cell.load)
    told = {metric.of for metric in compared}
    for metric in cell.metrics:
        if metric in compared or metric.of not in told:
            told.add(metric.of)
            yield metric


def as_csv(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> str:
    """Write the rows as CSV, with the names of the columns first."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _field(value) for name, value in row.items()} for row in rows)
    return sink.getvalue()


def as_json(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with null for floats that JSON cannot hold."""
    return [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def jmh(judged: JudgedRun) -> list[Row]:
    """Return throughput in the format of `-rf json` of the Java Microbenchmark Harness, which its viewers read: a fork
    there is a fork here, with its figure as the only iteration. The error is the larger half of the 95 % interval.

    Viewers tell benchmarks apart by name alone, and take the last part of the name for the method: so the condition is
    the class, and the executor the method. github-action-benchmark takes any score in this format for a cost: it needs
    `better`."""
    jdks = {jdk.id: jdk.version for jdk in judged.run.jdks if jdk.version}
    return [found for cell in judged.cells if (found := _jmh(cell, jdks)) is not None]


def _jmh(cell: CellStats, jdks: Mapping[str, str]) -> Row | None:
    figures = list(cell.figures(THROUGHPUT).values())
    over = cell.mean(THROUGHPUT)
    if over is None or over.bounded or _has_failed(cell):
        return None
    key, ends = cell.key, [end for end in (over.low, over.high) if end is not None]
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
            "score": over.value,
            "scoreError": max((abs(end - over.value) for end in ends), default="NaN"),
            "scoreConfidence": ends or ["NaN", "NaN"],
            "scoreUnit": "ops/s",
            "rawData": [[figure.value] for figure in figures],
        },
        "secondaryMetrics": {},
    }


def better(cells: Cells, *, bigger: bool) -> list[Row]:
    """Return the figures by which executors are compared, as github-action-benchmark's `customBiggerIsBetter` or
    `customSmallerIsBetter` reads them. Figures for which some forks give only a bound are in neither."""
    return [
        {
            "name": f"{cell.key.cell_id} {metric.id}",
            "unit": metric.unit,
            "value": over.value,
            "range": f"{over.low}–{over.high}" if over.low is not None else "",
            "extra": f"{metric.title}; {plural(over.forks, 'fork')}; the range is its 95 % interval",
        }
        for cell, metric, over in compared_by(cells)
        if metric.more_is_better == bigger
    ]


def bencher(cells: Cells) -> dict[str, dict[str, dict[str, float]]]:
    """Return the same in the Bencher Metric Format: by cell and figure, the value and the ends of its 95 % interval."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for cell, metric, over in compared_by(cells):
        told = {"value": over.value, "lower_value": over.low, "upper_value": over.high}
        measures = {name: end for name, end in told.items() if end is not None}
        found.setdefault(cell.key.cell_id, {})[metric.id] = measures
    return found


def openmetrics(judged: JudgedRun) -> str:
    """Return gauges for Prometheus and its kin (OpenMetrics 1.0): for each cell the figures by which executors are
    compared and their ratios, with the ends of their 95 % intervals. `time` is left out: a scraper takes its own."""
    families: dict[str, list[str]] = {}

    def add(name: str, words: str, labels: Mapping[str, object], *told: float | None) -> None:
        """Add the gauges of one figure. `told`: a value, and the ends of its interval."""
        for (end, said), value in zip(_ENDS, told, strict=True):
            if value is not None and math.isfinite(value):
                head = [f"# TYPE {name}{end} gauge", f"# HELP {name}{end} {_label(f'{words}{said}')}"]
                named = ",".join(f'{key}="{_label(label)}"' for key, label in labels.items())
                families.setdefault(f"{name}{end}", head).append(f"{name}{end}{{{named}}} {value!r}")

    for cell, metric, over in compared_by(judged.cells):
        labels = {axis: getattr(cell.key, axis) for axis in AXES} | {"driver": cell.driver or ""}
        family = f"jdkmatrix_{metric.id.replace('-', '_')}"
        words = f"{metric.title}{f' in {metric.unit}' if metric.unit else ''}"
        add(family, words, labels, over.value, over.low, over.high)
        if (one := judged.judgements.of(metric, cell.key)) is not None:
            of_two = labels | {"versus": judged.cells.reference(cell.key), "verdict": one.verdict.value}
            ratio = (one.ratio.value, one.ratio.ci_low, one.ratio.ci_high)
            add(f"{family}_ratio", f"{metric.title} over that of `versus`", of_two, *ratio)
    return "\n".join([*(line for lines in families.values() for line in lines), "# EOF", ""])


_ENDS = (("", ""), ("_low", ", lower end of the 95 % interval"), ("_high", ", upper end of the 95 % interval"))


def _label(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def badges(judged: JudgedRun) -> list[Row]:
    """Return each condition with a badge in the format of shields.io's endpoints: virtual threads over the pool in the
    leading figure."""
    found = []
    for key, (lead, *_) in advised(judged.judgements).items():
        badge = {
            "schemaVersion": 1,
            "label": f"{lead.title}, virtual threads / pool",
            "message": f"{lead.value} ({lead.under})",
            "color": _BADGE_COLOURS[lead.side],
        }
        found.append({"condition": key.group_id, "badge": badge})
    return found


_BADGE_COLOURS = {Side.VIRTUAL: "orange", Side.POOL: "blue", Side.OPEN: "lightgrey"}


def compared_by(cells: Iterable[CellStats]) -> Iterator[tuple[CellStats, Metric, OverForks]]:
    """Yield each cell with each figure by which executors are compared, and its value over forks. Left out: figures for
    which some forks give only a bound or did not do what their load asks for, and cells in which some forks failed by
    themselves. There is no interval where its end would not be finite."""
    for cell in cells:
        for metric in metrics_of(cell.load) if not _has_failed(cell) else ():
            figures = cell.figures(metric)
            over = cell.over_forks(metric)
            if over is not None and not over.bounded and len(cell.by_block(metric)) == len(figures):
                ends = over.high is not None and math.isfinite(over.high)
                yield cell, metric, over if ends else replace(over, low=None, high=None)


def _has_failed(cell: CellStats) -> bool:
    """Return whether a server ended, hung or answered nothing by itself: what the others did is then no figure of the
    executor."""
    return any(not one.usable and fate(one, cell.load) is ForkOutcome.NO for one in cell.record.forks)


def _field(value: object) -> object:
    """Return a CSV field; text that a spreadsheet would take for a formula gets a leading apostrophe."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def verdicts(judged: Sequence[JudgedClaim]) -> list[Row]:
    """Return the verdicts for JSON. Ends are null without an interval; for a bound ("≥", "≤"), `value` is the mean over
    forks. `seen`: what the claim’s effect needs, and what was seen. `origin`: who drew the range."""

    def estimate(one: Estimate) -> Row:
        high = None if one.high is None or math.isinf(one.high) else one.high
        bound = "" if not one.one_sided else "≥" if one.low is not None else "≤"
        return {"value": one.value, "bound": bound, "low": one.low, "high": high, "blocks": one.blocks}

    def seen(one: SeenFigure) -> Row:
        return {**vars(one), "bound": one.bound.value}

    def cell(one: JudgedCell) -> Row:
        return {
            **{"cell_id": one.key.cell_id, "verdict": one.verdict.value, "why": one.why},
            **{"blocks_to_decide": one.blocks, "estimate": estimate(one.estimate) if one.estimate else None},
            "seen": list(map(seen, one.seen)),
        }

    def check(one: JudgedCheck) -> Row:
        return {
            **{"says": one.check.says, "verdict": one.verdict.value, "why": one.why, "unit": one.unit},
            **{"low": one.band.low, "high": one.band.high, "origin": one.origin, "inference": one.check.inference},
            "cells": list(map(cell, one.cells)),
        }

    return [
        {
            **{"claim": one.claim.id, "source": one.claim.source.title, "verdict": one.verdict.value, "why": one.why},
            "checks": list(map(check, one.checks)),
        }
        for one in judged
    ]
