"""Several runs of a host under one condition: which of them answers, and what all of them say together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jdkmatrix.domain.quantities import digits
from jdkmatrix.report.cells.advice import Advice
from jdkmatrix.report.site.digest import MeasuredCondition, RunDigest
from jdkmatrix.report.words.numbers import with_interval
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.pooling import pooled


@dataclass(frozen=True)
class Answering:
    """`together`: the leading ratio of each run and of all, in words; None of a single run."""

    run: RunDigest
    condition: MeasuredCondition
    together: str | None = None


def answering(found: Sequence[tuple[RunDigest, MeasuredCondition]]) -> Answering:
    """Choose, of those that measured what the newest did, on the same JDK build, release of the server and version of
    the kernel, by the same driver and with the same files of the user's application, the one that knows the leading
    ratio best: a run with many faults must not hide one with few. `found`: newest first, at least one."""
    newest, condition = found[0]
    lead = condition.advice[0]
    same = [
        one for one in found if _build(*one) == _build(newest, condition) and one[1].advice[0].figure == lead.figure
    ]
    estimates = [(one, estimate) for one in same if (estimate := _estimate(one[1].advice[0], one[1].blocks))]
    if len(estimates) < 2:
        return Answering(newest, condition)
    (run, best), _ = min(estimates, key=lambda told: (told[1].high or 0.0) / (told[1].low or 1.0))
    return Answering(run, best, _together(lead, [estimate for _, estimate in estimates]))


def _build(run: RunDigest, condition: MeasuredCondition) -> tuple[str | None, ...]:
    jdk, server = dict(run.jdks).get(condition.jdk), dict(run.servers).get(condition.server)
    return jdk, server, run.kernel_version, condition.driver, dict(run.own).get(condition.workload)


def _estimate(advice: Advice, blocks: int) -> Estimate | None:
    """None where it has no interval."""
    if advice.ratio is None or advice.low is None or advice.high is None:
        return None
    return Estimate(advice.ratio, advice.low, advice.high, blocks, of_ratio=True)


def _together(lead: Advice, estimates: Sequence[Estimate]) -> str:
    alone = ", ".join(digits(one.value, 3) for one in estimates)
    all_of_them = pooled(estimates)
    value, *ends = with_interval(all_of_them.value, all_of_them.low or 0.0, all_of_them.high or 0.0)
    return f"{len(estimates)} runs, newest first: {lead.title.lower()} {alone}; together {value} ({'–'.join(ends)})"
