"""The answer first: what one workload and load says about virtual threads, JDK by JDK, in sentences. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jdkmatrix.records import CellKey, Load
from jdkmatrix.report.cellstats import CPU, METRICS, THROUGHPUT, Cells, Metric
from jdkmatrix.report.heat import DENOMINATOR, NUMERATOR
from jdkmatrix.report.numbers import plural, ratio_interval, ratio_value
from jdkmatrix.report.views import Answer
from jdkmatrix.report.wording import Finding, condition, finding, ratio_sentence
from jdkmatrix.stats import Ratio


def answers(
    cells: Cells,
    workload: str,
    load: str,
    jdks: Sequence[str],
    cpus: Sequence[int],
    burns: Sequence[int],
    kind: Load | None,
) -> tuple[Answer, ...]:
    """One per JDK. A rate load fixes throughput, so that CPU per request leads there."""
    rate = kind is not None and kind.kind == "rate"
    metrics = sorted(METRICS, key=lambda metric: (metric is not CPU) if rate else (metric is not THROUGHPUT))
    found = []
    for jdk in jdks:
        keys = [
            CellKey(workload=workload, jdk=jdk, executor=NUMERATOR, cpus=c, burn_us=b, load=load)
            for c in cpus
            for b in burns
        ]
        ratios = {
            metric.id: {key: ratio for key in keys if (ratio := cells.ratio(metric, key, DENOMINATOR))}
            for metric in METRICS
        }
        found.append(_answer(jdk, keys, [(metric, ratios[metric.id]) for metric in metrics]))
    return tuple(found)


def _answer(jdk: str, keys: Sequence[CellKey], ratios: Sequence[tuple[Metric, dict[CellKey, Ratio]]]) -> Answer:
    if not any(by_key for _, by_key in ratios):
        return Answer(f"{jdk}: no answer.", (f"No block has both {NUMERATOR} and {DENOMINATOR} usable.",))
    if len(keys) == 1:
        sentences = tuple(
            ratio_sentence(metric, ratio, NUMERATOR, DENOMINATOR)
            for metric, by_key in ratios
            for ratio in by_key.values()
        )
        lead_metric, lead_ratios = next((m, r) for m, r in ratios if r)
        return Answer(f"{jdk}: {_verdict(lead_metric, next(iter(lead_ratios.values())))}", sentences)
    sentences = tuple(_tally(metric, by_key, len(keys)) for metric, by_key in ratios if by_key)
    return Answer(f"{jdk}:", sentences)


def _verdict(metric: Metric, ratio: Ratio) -> str:
    found = finding(ratio, metric)
    if found is Finding.NO_DIFFERENCE_SEEN:
        return f"no difference seen in {_lower(metric)}."
    if found is Finding.ONE_BLOCK:
        return f"one block, a hint only, in {_lower(metric)}."
    better, worse = (NUMERATOR, DENOMINATOR) if found is Finding.BETTER else (DENOMINATOR, NUMERATOR)
    return f"{better} ahead of {worse} in {_lower(metric)}."


def _lower(metric: Metric) -> str:
    return metric.title if metric.title[:3] in ("CPU", "p99") else metric.title.lower()


def _tally(metric: Metric, by_key: dict[CellKey, Ratio], conditions: int) -> str:
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
    return (
        f"{metric.title}, over {plural(conditions, 'condition')}: {', '.join(counts)}. Farthest from 1: {shown} at "
        f"{condition(key.cpus, key.burn_us)}."
    )
