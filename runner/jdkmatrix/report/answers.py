"""The answer first: what one workload and load says about virtual threads, JDK by JDK, in sentences. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jdkmatrix.records import CellKey, CellLoad
from jdkmatrix.report.cellstats import CPU, METRICS, THROUGHPUT, Cells, Metric
from jdkmatrix.report.heat import DENOMINATOR, NUMERATOR
from jdkmatrix.report.numbers import ratio_interval, ratio_value
from jdkmatrix.report.slices import Slice
from jdkmatrix.report.views import Answer
from jdkmatrix.report.wording import Finding, condition, finding, ratio_sentence
from jdkmatrix.stats import Ratio


def answers(cells: Cells, part: Slice, kind: CellLoad | None) -> tuple[Answer, ...]:
    """One per JDK. A rate load fixes throughput, so that CPU per request leads there."""
    rate = kind is not None and kind.kind == "rate"
    metrics = sorted(METRICS, key=lambda metric: (metric is not CPU) if rate else (metric is not THROUGHPUT))
    found = []
    for jdk in part.jdks:
        keys = [key for key in part.keys if (key.jdk, key.executor) == (jdk, NUMERATOR)]
        ratios = {
            metric.id: {key: ratio for key in keys if (ratio := cells.ratio(metric, key, DENOMINATOR))}
            for metric in METRICS
        }
        found.append(_answer(jdk, keys, [(metric, ratios[metric.id]) for metric in metrics]))
    return tuple(found)


def _answer(jdk: str, keys: Sequence[CellKey], ratios: Sequence[tuple[Metric, dict[CellKey, Ratio]]]) -> Answer:
    told = [(metric, by_key) for metric, by_key in ratios if by_key]
    if not told:
        return Answer(f"{jdk}: no answer", (("", f"No block has both {NUMERATOR} and {DENOMINATOR} usable."),))
    if len(keys) > 1:
        return Answer(jdk, tuple((metric.title, _tally(by_key, metric, len(keys))) for metric, by_key in told))
    single = [(metric, next(iter(by_key.values()))) for metric, by_key in told]
    sentences = tuple((metric.title, ratio_sentence(metric, ratio, NUMERATOR, DENOMINATOR)) for metric, ratio in single)
    return Answer(f"{jdk}: {_verdict(*single[0])}", sentences)


def _verdict(metric: Metric, ratio: Ratio) -> str:
    found = finding(ratio, metric)
    if found is Finding.NO_DIFFERENCE_SEEN:
        return f"no difference seen in {_lower(metric)}"
    if found is Finding.ONE_BLOCK:
        return "one block measured, a hint only"
    better, worse = (NUMERATOR, DENOMINATOR) if found is Finding.BETTER else (DENOMINATOR, NUMERATOR)
    return f"{better} ahead of {worse} in {_lower(metric)}"


def _lower(metric: Metric) -> str:
    return metric.title if metric.title[:3] in ("CPU", "p99") else metric.title.lower()


def _tally(by_key: dict[CellKey, Ratio], metric: Metric, conditions: int) -> str:
    """How often each finding came up, and where the ratio was farthest from 1."""
    findings = [finding(ratio, metric) for ratio in by_key.values()]
    words = {
        Finding.BETTER: f"{NUMERATOR} better in",
        Finding.WORSE: f"{DENOMINATOR} better in",
        Finding.NO_DIFFERENCE_SEEN: "no difference seen in",
        Finding.ONE_BLOCK: "one block only in",
    }
    counts = [f"{text} {findings.count(found)}" for found, text in words.items() if found in findings]
    if len(findings) < conditions:
        counts.append(f"no pair in {conditions - len(findings)}")
    key, ratio = max(by_key.items(), key=lambda item: abs(math.log(item[1].value)))
    interval = ratio_interval(ratio)
    shown = f"{ratio_value(ratio)} ({interval})" if interval else ratio_value(ratio)
    where = condition(key.cpus, key.burn_us)
    return f"of {conditions} conditions {', '.join(counts)}. Farthest from 1: {shown} at {where}."
