"""Which executor to take, by the figure that matters to a reader: a sentence for each figure of a condition. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from pydantic import Field

from jdkmatrix.figures.metrics import Metric
from jdkmatrix.report.cells.heat import outcome_tone, tone
from jdkmatrix.report.cells.judgements import JudgedOutcomes, Judgements
from jdkmatrix.report.cells.outcomes import against, counted, finding_of, is_news, verdict
from jdkmatrix.report.words.numbers import apart, higher, much, ratio_value, than
from jdkmatrix.report.words.sentences import Finding, change, finding, losses_words, marked_interval
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Judged, Verdict
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.quantities import digits, plural


class Side(Enum):
    """Whom a figure favours."""

    VIRTUAL = "virtual"
    POOL = "pool"
    OPEN = "open"


OUTCOME = "outcome"  # beside the ids of metrics

# Read back from files; its bounds keep the quotient of any two a finite number above 0.
KeptRatio = Annotated[float, Field(ge=1e-150, le=1e150)]

_SIDE_OF = {Finding.BETTER: Side.VIRTUAL, Finding.WORSE: Side.POOL}
_WITH = {Side.VIRTUAL: "virtual threads", Side.POOL: "the pool"}
_DO = {Side.VIRTUAL: "Use virtual threads", Side.POOL: "Keep the pool"}
_OTHER = {Side.VIRTUAL: Side.POOL, Side.POOL: Side.VIRTUAL}


@dataclass(frozen=True)
class Advice:
    """What one figure of one condition says. `side`: what `sentence` tells the reader to take; `tone`: as HeatCell's,
    of this figure alone. `value`: of virtual threads over the pool, `under`: its interval, or why there is none;
    `judged`: has it a verdict, be it that no difference was seen? `ratio`, `low`, `high`: unrounded, None for the ends
    where one block was measured, and where the figure is a count of forks."""

    figure: str
    title: str
    side: Side
    tone: str
    value: str
    under: str
    judged: bool
    ratio: KeptRatio | None
    low: KeptRatio | None
    high: KeptRatio | None
    sentence: str


def advise(judgements: Judgements, metrics: Sequence[Metric], key: CellKey) -> tuple[Advice, ...]:
    """On what forks did, where some did not do what their load asks for, and on each of these figures that virtual
    threads and the pool both have; `key` is the cell of virtual threads."""
    found = [(metric, judged) for metric in metrics if (judged := judgements.of(metric, key))]
    outcomes = judgements.outcomes(key)
    told = (_of_outcomes(outcomes),) if outcomes is not None and is_news(outcomes) else ()
    return (*told, *(_advice(metric, judged, found, outcomes) for metric, judged in found))


def _of_outcomes(judged: JudgedOutcomes) -> Advice:
    """How many forks did what their load asks for: a figure of its own, since a fork that did not has no other."""
    side = _SIDE_OF.get(finding_of(judged), Side.OPEN)
    one, other = judged.contrast.numerator, judged.contrast.denominator
    said = f"with virtual threads the server {against(judged)} with the pool"
    undecided = f"{said[0].upper()}{said[1:]}: {verdict(judged)}."
    return Advice(
        figure=OUTCOME,
        title=judged.question.title,
        side=side,
        tone=outcome_tone(judged),
        value=f"{counted(one)} / {counted(other)}",
        under="forks",
        judged=side is not Side.OPEN,
        ratio=None,
        low=None,
        high=None,
        sentence=undecided if side is Side.OPEN else f"{_DO[side]}: {said}.",
    )


def _advice(
    metric: Metric, judged: Judged, all_figures: Sequence[tuple[Metric, Judged]], outcomes: JudgedOutcomes | None
) -> Advice:
    """Where one of the two does what its load asks for and the other does not, that comes before any figure."""
    own = _SIDE_OF.get(finding(judged, metric), Side.OPEN)
    others = [(other, one) for other, one in all_figures if other is not metric]
    if outcomes is not None and outcomes.differs:
        side = _SIDE_OF[finding_of(outcomes)]
        sentence = f"{_of_outcomes(outcomes).sentence} {_of_figure(metric, judged)}"
    elif own is Side.OPEN:
        side, sentence = own, _of_figure(metric, judged)
    else:
        side, sentence = own, f"{_DO[own]}: {_effect(metric, judged.ratio, own)}{_besides(others, own)}."
    ratio = judged.ratio
    return Advice(
        figure=metric.id,
        title=metric.title,
        side=side,
        tone=tone(judged, metric),
        value=ratio_value(ratio),
        under=ratio_words(judged),
        judged=finding(judged, metric) not in (Finding.NOT_JUDGED, Finding.ONE_BLOCK),
        ratio=ratio.value,
        low=ratio.ci_low,
        high=ratio.ci_high,
        sentence=sentence,
    )


def ratio_words(judged: Judged) -> str:
    """The ratio's interval, or why there is none."""
    if judged.verdict is Verdict.NOT_JUDGED:
        return "not judged"
    return marked_interval(judged) or "one block"


def _of_figure(metric: Metric, judged: Judged) -> str:
    """The figure alone, as a sentence."""
    found, ratio = finding(judged, metric), judged.ratio
    match found:
        case Finding.BETTER | Finding.WORSE:
            text = _effect(metric, ratio, _SIDE_OF[found])
            return f"{text[0].upper()}{text[1:]}."
        case Finding.ONE_BLOCK:
            changed = change(ratio, _WITH[Side.VIRTUAL], _WITH[Side.POOL])
            return f"Only a hint, from one block: {metric.name} is {changed}."
        case Finding.NOT_JUDGED:
            lost = losses_words(judged.losses, _WITH[Side.VIRTUAL], _WITH[Side.POOL])
            return f"{metric.title}: not judged, because {lost}."
        case Finding.NO_EVIDENCE_YET:
            return (
                f"No evidence yet: {_effect(metric, ratio, Side.VIRTUAL)}, which is too little among the "
                f"{plural(judged.family, 'comparison')} of its run."
            )
        case _:
            return f"No difference in {metric.name} was seen: with virtual threads it is {_span(ratio)}."


def _effect(metric: Metric, ratio: Ratio, side: Side) -> str:
    """ "throughput is 18 % higher than with virtual threads (95 % interval 14 to 22 %)", seen from `side`."""
    value, low, high = _seen_from(ratio, side)
    other = _WITH[_OTHER[side]]
    own = " with virtual threads" if side is Side.VIRTUAL else ""
    within = ""
    if low and high:
        ends = f"{digits(low, 2)} to {digits(high, 2)} times" if value >= 2 else _interval(low, high)
        within = f" (95 % interval {ends})"
    return f"{metric.name} is {much(value)}{own} {than(value)} with {other}{within}"


def _besides(others: Sequence[tuple[Metric, Judged]], side: Side) -> str:
    """What is decided of the other figures, without intervals."""
    parts = []
    for metric, judged in others:
        favoured = _SIDE_OF.get(finding(judged, metric))
        if favoured is None:
            continue
        value, _, _ = _seen_from(judged.ratio, side)
        parts.append(f", {'and' if favoured is side else 'but'} {metric.name} {much(value)}")
    return "".join(parts)


def _seen_from(ratio: Ratio, side: Side) -> tuple[float, float | None, float | None]:
    """Value and interval of `side` over the other."""
    if side is Side.VIRTUAL:
        return ratio.value, ratio.ci_low, ratio.ci_high
    low = 1 / ratio.ci_high if ratio.ci_high else None
    high = 1 / ratio.ci_low if ratio.ci_low else None
    return 1 / ratio.value, low, high


def _interval(low: float, high: float) -> str:
    """In per cent, the end nearer to no change first."""
    near, far = (low, high) if low >= 1 else (high, low)
    if high / low - 1 > 1 or far >= 2:
        return f"{digits(low, 2)} to {digits(high, 2)} times"
    return f"{apart(near).removesuffix(' %')} to {apart(far)}"


def _span(ratio: Ratio) -> str:
    """ "between 3.0 % lower and 2.0 % higher than with the pool (95 % interval)"."""
    low, high = ratio.ci_low, ratio.ci_high
    if low is None or high is None:
        return f"{apart(ratio.value)} {higher(ratio.value)} than with the pool, without an interval"
    if high >= 2:
        return f"between {digits(low, 2)} and {digits(high, 2)} times as high as with the pool (95 % interval)"
    return f"between {apart(low)} {higher(low)} and {apart(high)} {higher(high)} than with the pool (95 % interval)"
