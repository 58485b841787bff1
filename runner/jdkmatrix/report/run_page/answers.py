"""The answer first: what one workload and load says about virtual threads, JDK by JDK, in sentences. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile

from jdkmatrix.domain.cell_key import CellKey, TaskSize
from jdkmatrix.domain.executors import reference, tuning_of
from jdkmatrix.domain.quantities import wait_words
from jdkmatrix.figures.metrics import Metric
from jdkmatrix.report.blocks.kinds import AnswerBox
from jdkmatrix.report.cells.advice import more_switches
from jdkmatrix.report.cells.judgements import (
    JudgedOutcomes,
    Judgements,
    against,
    counted,
    finding_of,
    sentence,
    worth_reporting,
)
from jdkmatrix.report.cells.shown import paired_words
from jdkmatrix.report.cells.slices import Pair, Slice
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.report.words.sentences import (
    PairFinding,
    change,
    condition,
    finding,
    marked_interval,
    not_judged_words,
    possible_words,
    ratio_sentence,
)
from jdkmatrix.stats.verdicts import Judged


def answers(
    judgements: Judgements, piece: Slice, metrics: Sequence[Metric], seen: Mapping[str, Sequence[tuple[str, str]]]
) -> tuple[AnswerBox, ...]:
    """One per JDK, on these figures of its load, the leading one first; `seen`: sentences about its executors that are
    no ratios."""
    return tuple(_answer(judgements, piece, metrics, jdk, tuple(seen.get(jdk, ()))) for jdk in piece.jdks)


def _cause(judgements: Judgements, metric: Metric, key: CellKey) -> tuple[tuple[str, str], ...]:
    """A measurement beside the leading figure that may be why one of the two is behind."""
    judged, compared = judgements.of(metric, key), judgements.comparison(metric, key)
    found = finding(judged, metric) if judged else None
    if compared is None or found not in (PairFinding.BETTER, PairFinding.WORSE):
        return ()
    arms = (compared.base, compared.cell) if found is PairFinding.BETTER else (compared.cell, compared.base)
    switches = more_switches(*arms)
    if switches is None:
        return ()
    told = ", ".join(f"{text} with {arm.key.executor}" for text, arm in zip(switches, arms, strict=True))
    return (("A likely cause", f"context switches per request: {told}."),)


def _tuned(judgements: Judgements, piece: Slice, metric: Metric, jdk: str) -> tuple[tuple[str, str], ...]:
    """The gain of each tuning in the leading figure."""
    return tuple(
        (key.executor, ratio_sentence(metric, one, key.executor, reference(key.executor, key.server)))
        for key in piece.keys
        if key.jdk == jdk
        and tuning_of(key.executor)
        and key.executor != piece.pair.numerator
        and (one := judgements.of(metric, key))
    )


def _answer(
    judgements: Judgements, piece: Slice, metrics: Sequence[Metric], jdk: str, seen: tuple[tuple[str, str], ...]
) -> AnswerBox:
    pair = piece.pair
    keys = [key for key in piece.keys if (key.jdk, key.executor) == (jdk, pair.numerator)]
    judged = [(metric, {key: one for key in keys if (one := judgements.of(metric, key))}) for metric in metrics]
    outcomes = {key: outcome for key in keys if (outcome := judgements.outcomes(key))}
    told = [(metric, by_key) for metric, by_key in judged if by_key]
    news = {key: outcome for key, outcome in outcomes.items() if worth_reporting(outcome)}
    single = len(keys) == 1 and bool(metrics)
    behind = (*_cause(judgements, metrics[0], keys[0]), *_tuned(judgements, piece, metrics[0], jdk)) if single else ()
    if not told and not news:
        nothing = f"No block has both {pair.numerator} and {pair.base} usable."
        lead = jdk if seen else f"{jdk}: no answer"
        return AnswerBox(lead, (*(seen or (("", nothing),)), *behind))
    amber = any(finding(one, metric) is PairFinding.NOT_JUDGED for metric, by_key in told for one in by_key.values())
    if len(keys) > 1:
        first = [*_crossovers(pair, keys, judged, outcomes), *([_outcomes_tally(pair, outcomes)] if news else [])]
        tallies = [(metric.title, _tally(pair, by_key, metric, len(keys))) for metric, by_key in told]
        return AnswerBox(jdk, (*seen, *first, *tallies), amber)
    (key,) = keys
    sentences = [(outcome.question.title, f"{sentence(outcome, *pair)}.") for outcome in news.values()]
    for metric, by_key in told:
        compared = judgements.comparison(metric, key)
        paired = paired_words(compared) if compared else None
        sentences.append((metric.title, ratio_sentence(metric, by_key[key], *pair, paired=paired)))
    lead = _lead(pair, [(metric, by_key[key]) for metric, by_key in told], next(iter(news.values()), None))
    return AnswerBox(f"{jdk}: {lead}", (*seen, *sentences, *behind), amber)


def _crossovers(
    pair: Pair,
    keys: Sequence[CellKey],
    judged: Sequence[tuple[Metric, dict[CellKey, Judged]]],
    outcomes: Mapping[CellKey, JudgedOutcomes],
) -> list[tuple[str, str]]:
    """From which delay on, by CPUs and work, where several delays were measured. Who did what the load asks for comes
    before the leading figure, where that makes a difference."""

    def found(key: CellKey) -> PairFinding | None:
        told = outcomes.get(key)
        if told is not None and told.differs:
            return finding_of(told)
        metric, by_key = judged[0]
        return finding(by_key[key], metric) if key in by_key else None

    by_place: dict[tuple[int, int], dict[int, PairFinding | None]] = {}
    for key in keys:
        by_place.setdefault((key.cpus, key.burn_us), {})[key.wait_us] = found(key)
    return [
        (f"From which delay? {condition(cpus, TaskSize(burn_us, 0))}", crossover_sentence(findings, *pair))
        for (cpus, burn_us), findings in sorted(by_place.items())
        if len(findings) > 1
    ]


def _lead(pair: Pair, judged: Sequence[tuple[Metric, Judged]], outcomes: JudgedOutcomes | None) -> str:
    """Which forks did what they were to do comes first, where that makes a difference or nothing else is known."""
    if outcomes is not None and (outcomes.differs or not judged):
        found = finding_of(outcomes)
        ahead = {PairFinding.BETTER: pair, PairFinding.WORSE: pair[::-1]}.get(found)
        if ahead is None:
            return f"{pair.numerator} {against(outcomes)} with {pair.base}, {found.value}"
        return f"{ahead[0]} ahead of {ahead[1]}: {pair.numerator} {against(outcomes)}"
    return _verdict(pair, *judged[0])


def _verdict(pair: Pair, metric: Metric, judged: Judged) -> str:
    found = finding(judged, metric)
    if found is PairFinding.NOT_JUDGED:
        return f"{metric.name} not judged: {not_judged_words(judged, *pair)}"
    if found is PairFinding.NO_EVIDENCE_YET:
        return f"no evidence yet of a difference in {metric.name}"
    if found is PairFinding.CANNOT_TELL:
        return f"cannot tell about {metric.name}: {possible_words(judged)}"
    if found is PairFinding.NO_DIFFERENCE_SEEN:
        return f"no difference seen in {metric.name}"
    if found is PairFinding.ONE_BLOCK:
        return "one block measured, a hint only"
    better, worse = pair if found is PairFinding.BETTER else pair[::-1]
    return f"{better} ahead of {worse} in {metric.name}"


def _counts(pair: Pair, findings: Sequence[PairFinding], conditions: int) -> str:
    """ "liberty better in 2 of 3 conditions, no difference seen in 1"."""
    named = {PairFinding.BETTER: f"{pair.numerator} better", PairFinding.WORSE: f"{pair.base} better"}
    counts = {found: findings.count(found) for found in PairFinding if found in findings}
    said = {named.get(found, found.value): number for found, number in counts.items()}
    if len(findings) < conditions:
        said["no pair"] = conditions - len(findings)
    (first, number), *others = said.items()
    whole = f"all {conditions}" if number == conditions else f"{number} of {conditions}"
    return ", ".join([f"{first} in {whole} conditions", *(f"{text} in {number}" for text, number in others)])


def _tally(pair: Pair, by_key: dict[CellKey, Judged], metric: Metric, conditions: int) -> str:
    """How often each finding came up, and where the ratio was farthest from 1."""
    findings = [finding(judged, metric) for judged in by_key.values()]
    key, judged = max(by_key.items(), key=lambda item: abs(math.log(item[1].ratio.value)))
    found = finding(judged, metric)
    open_ = None if found in (PairFinding.BETTER, PairFinding.WORSE) else found.value
    basis = ", ".join(filter(None, (f"ratio {ratio_value(judged.ratio)}", marked_interval(judged), open_)))
    largest = f"{change(judged.ratio, *pair)} ({basis}), with {condition(key.cpus, key.task)}"
    return f"{_counts(pair, findings, conditions)}. The largest difference: {largest}."


def _outcomes_tally(pair: Pair, by_key: Mapping[CellKey, JudgedOutcomes]) -> tuple[str, str]:
    """Like `_tally`, of how many forks did what their load asks for."""
    counts = _counts(pair, [finding_of(one) for one in by_key.values()], len(by_key))
    key, widest = max(by_key.items(), key=lambda item: item[1].contrast.gap)
    one, other = widest.contrast.numerator, widest.contrast.denominator
    largest = f"{counted(one)} forks with {pair.numerator}, {counted(other)} with {pair.base}"
    return widest.question.title, f"{counts}. The largest difference: {largest}, with {condition(key.cpus, key.task)}."


_OPEN = (
    *(PairFinding.NO_EVIDENCE_YET, PairFinding.NO_DIFFERENCE_SEEN, PairFinding.CANNOT_TELL),
    *(PairFinding.ONE_BLOCK, PairFinding.TOO_FEW_FORKS),
)
_Findings = Mapping[int, PairFinding | None]  # by delay in µs; None where there is no pair


def ahead_from_us(findings: _Findings) -> int | None:
    """The shortest measured delay from which on one executor is ahead at every longer one, too."""
    ahead = list(takewhile(lambda wait_us: findings[wait_us] is PairFinding.BETTER, sorted(findings, reverse=True)))
    return ahead[-1] if ahead else None


def crossover_sentence(findings: _Findings, numerator: str, denominator: str) -> str:
    """Speaks of the delays that were measured, and of none between them."""
    waits, since = sorted(findings), ahead_from_us(findings)

    def at(*wanted: PairFinding | None) -> list[int]:
        return [wait_us for wait_us in waits if findings[wait_us] in wanted]

    ahead, behind = at(PairFinding.BETTER), at(PairFinding.WORSE)
    if since == waits[0]:
        words = f"{numerator} is ahead at every delay that was measured"
    elif since is not None:
        before = _delays([wait_us for wait_us in waits if wait_us < since])
        words = f"{numerator} is ahead from a delay of {wait_words(since)} on; it is not at {before}"
    elif ahead:
        words = f"{numerator} is ahead at {_delays(ahead)}, but not at every longer delay"
    else:
        words = f"{numerator} is not ahead at any delay that was measured"
    parts = [words]
    if behind:
        parts.append(f"{denominator} is ahead at {_delays(behind)}")
    if open_ := at(*_OPEN):
        parts.append(f"nothing is shown at {_delays(open_)}")
    if unjudged := at(PairFinding.NOT_JUDGED, None):
        parts.append(f"no verdict at {_delays(unjudged)}")
    return f"{'; '.join(parts)}. Measured: {_delays(waits)}."


def _delays(waits_us: Sequence[int]) -> str:
    words = [wait_words(wait_us) if wait_us else "0 ms" for wait_us in waits_us]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
