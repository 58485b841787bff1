"""The answer first: what one workload and load says about virtual threads, JDK by JDK, in sentences. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from jdkmatrix.records import CellKey
from jdkmatrix.report.cellstats import Metric
from jdkmatrix.report.judgements import DENOMINATOR, NUMERATOR, Judgements
from jdkmatrix.report.numbers import ratio_value
from jdkmatrix.report.slices import Slice
from jdkmatrix.report.views import Answer
from jdkmatrix.report.wording import Finding, condition, finding, marked_interval, ratio_sentence
from jdkmatrix.stats import Judged


def answers(
    judgements: Judgements, part: Slice, metrics: Sequence[Metric], seen: Mapping[str, Sequence[tuple[str, str]]]
) -> tuple[Answer, ...]:
    """One per JDK, on these figures of its load, the leading one first; `seen`: sentences about its executors that are
    no ratios."""
    found = []
    for jdk in part.jdks:
        keys = [key for key in part.keys if (key.jdk, key.executor) == (jdk, NUMERATOR)]
        judged = [(metric, {key: one for key in keys if (one := judgements.of(metric, key))}) for metric in metrics]
        found.append(_answer(jdk, keys, judged, tuple(seen.get(jdk, ()))))
    return tuple(found)


def _answer(
    jdk: str,
    keys: Sequence[CellKey],
    judged: Sequence[tuple[Metric, dict[CellKey, Judged]]],
    seen: tuple[tuple[str, str], ...],
) -> Answer:
    told = [(metric, by_key) for metric, by_key in judged if by_key]
    if not told and seen:
        return Answer(jdk, seen)
    if not told:
        return Answer(f"{jdk}: no answer", (("", f"No block has both {NUMERATOR} and {DENOMINATOR} usable."),))
    if len(keys) > 1:
        return Answer(jdk, (*seen, *((metric.title, _tally(by_key, metric, len(keys))) for metric, by_key in told)))
    single = [(metric, next(iter(by_key.values()))) for metric, by_key in told]
    sentences = tuple((metric.title, ratio_sentence(metric, one, NUMERATOR, DENOMINATOR)) for metric, one in single)
    return Answer(f"{jdk}: {_verdict(*single[0])}", (*seen, *sentences))


def _verdict(metric: Metric, judged: Judged) -> str:
    found = finding(judged, metric)
    if found is Finding.NO_EVIDENCE_YET:
        return f"no evidence yet of a difference in {metric.name}"
    if found is Finding.NO_DIFFERENCE_SEEN:
        return f"no difference seen in {metric.name}"
    if found is Finding.ONE_BLOCK:
        return "one block measured, a hint only"
    better, worse = (NUMERATOR, DENOMINATOR) if found is Finding.BETTER else (DENOMINATOR, NUMERATOR)
    return f"{better} ahead of {worse} in {metric.name}"


_TALLY = {
    Finding.BETTER: f"{NUMERATOR} better",
    Finding.WORSE: f"{DENOMINATOR} better",
    Finding.NO_EVIDENCE_YET: "no evidence yet",
    Finding.NO_DIFFERENCE_SEEN: "no difference seen",
    Finding.ONE_BLOCK: "one block only",
}


def _tally(by_key: dict[CellKey, Judged], metric: Metric, conditions: int) -> str:
    """How often each finding came up, and where the ratio was farthest from 1."""
    findings = [finding(judged, metric) for judged in by_key.values()]
    counts = [f"{text} in {findings.count(found)}" for found, text in _TALLY.items() if found in findings]
    if len(findings) < conditions:
        counts.append(f"no pair in {conditions - len(findings)}")
    key, judged = max(by_key.items(), key=lambda item: abs(math.log(item[1].ratio.value)))
    said = ", ".join(filter(None, (marked_interval(judged), _TALLY[finding(judged, metric)])))
    farthest = f"{ratio_value(judged.ratio)} ({said}) at {condition(key.cpus, key.burn_us)}"
    return f"of {conditions} conditions: {', '.join(counts)}. Farthest from 1: {farthest}."
