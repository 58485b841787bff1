"""Advice on which executor to use: a sentence for each figure of a condition that may matter to a reader. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural, wait_words, work_words
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.figures.metrics import BY_ID, P99, Metric, metrics_of
from jdkmatrix.report.cells.causes import held_back, is_far_behind
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.heat import outcome_tone, tone
from jdkmatrix.report.cells.judgements import JudgedOutcomes, Judgements, counted
from jdkmatrix.report.cells.shown import of_metric
from jdkmatrix.report.words.numbers import Figure, apart, much, off_one, ratio_value, reads_as_factor, than
from jdkmatrix.report.words.sentences import PairFinding, capitalised, finding, marked_interval, not_judged_words
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import CONFIDENCE
from jdkmatrix.stats.pooling import pooled
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import RELEVANT, Judged, Verdict, verdict_by_interval


class Side(Enum):
    """The executor that a figure favours."""

    VIRTUAL = "virtual"
    POOL = "pool"
    OPEN = "open"


OUTCOME = "outcome"  # in addition to the ids of metrics

# Read back from files; its bounds keep the quotient of any two finite and above 0.
KeptRatio = Annotated[float, Field(ge=1e-150, le=1e150)]

_SIDE_OF = {PairFinding.BETTER: Side.VIRTUAL, PairFinding.WORSE: Side.POOL}
_VIRTUAL, _POOL = "virtual threads", "the pool"
_DO = {Side.VIRTUAL: "Use virtual threads", Side.POOL: "Keep the pool"}
_NONE_COMPARES = "where no block has a figure of both that compares"
_NONE_SEEN = 5e-4  # a ratio this close to 1 is shown as 1.000


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The answer of one figure under one condition. `side`: the executor that `sentence` recommends; `word`, `tone`:
    the finding of this figure alone, in a few words and as in HeatCell. `value`: of virtual threads over the pool;
    `under`: its interval, or why there is none; `judged`: it has a verdict ("no difference seen" is one); `ratio`,
    `low`, `high`: unrounded, None for the ends where one block was measured, and where the figure is a count of forks;
    `blocks`: how many are behind the ratio, 0 where there is none; they may differ between figures of a condition;
    `confidence`: the nominal one of the interval; `least_error`: as in Ratio; `relevant`: the share from which a
    difference matters. `note`: the end of `sentence`, which says what the ratio does not.
    """

    figure: str
    title: str
    side: Side
    word: str
    tone: str
    value: str
    under: str
    judged: bool
    ratio: KeptRatio | None = None
    low: KeptRatio | None = None
    high: KeptRatio | None = None
    blocks: int = 0
    confidence: float = CONFIDENCE
    least_error: float = 0.0
    relevant: float = RELEVANT
    sentence: str
    note: str = ""

    def estimate(self) -> Estimate | None:
        """Return the estimate; None where it has no interval, or is not judged."""
        if not self.judged or self.ratio is None or self.low is None or self.high is None:
            return None
        found = Estimate(self.ratio, self.low, self.high, self.blocks, of_ratio=True, confidence=self.confidence)
        return replace(found, least_error=self.least_error)


def advise(judgements: Judgements, key: CellKey) -> tuple[Advice, ...]:
    """Advise by what forks did, where some did not do what their load asks for, and by each figure of the load that
    virtual threads and the pool both have; `key`: of virtual threads. What forks did comes first, unless it is
    undecided and a figure is decided. p99 comes last, where it is measured and not judged. Where both have the leading
    figure of the load and it cannot be compared, no other takes its place."""
    cells = judgements.cells
    cell, pool = cells.get(key), cells.get(key.model_copy(update={"executor": own_pool(key.server)}))
    if cell is None or pool is None:
        return ()
    found = [(metric, judged) for metric in metrics_of(cell.load) if (judged := judgements.of(metric, key))]
    outcomes = judgements.outcomes(key)
    told = (_of_outcomes(cell, outcomes),) if outcomes is not None and outcomes.worth_reporting else ()

    def of(metric: Metric, judged: Judged) -> Advice:
        """Advise by one figure. Where only one of the two does what its load asks for, that comes before the figure."""
        own = _side(judged, metric)
        behind, name = (pool, _POOL) if own is Side.VIRTUAL else (cell, _VIRTUAL)
        why = None if own is Side.OPEN else held_back(behind, far_behind=is_far_behind(metric, judged))
        note = f" With {name} the server was {why}." if why else ""
        one = replace(_of_ratio(metric, judged, found, asked_of(cell), note), confidence=cells.confidence)
        if outcomes is None or not outcomes.differs:
            return one
        sentence = f"{_of_outcomes(cell, outcomes).sentence} {_of_figure(metric, judged)}"
        return replace(one, side=_SIDE_OF[outcomes.finding], sentence=sentence, note="")

    figures = tuple(of(metric, judged) for metric, judged in found)
    if (bounds := _bounds(cell, pool, found)) and not (outcomes and outcomes.differs):
        others = (
            replace(one, side=Side.OPEN, sentence=_of_figure(metric, judged), note="")
            for one, (metric, judged) in zip(figures, found, strict=True)
        )
        return (bounds, *told, *others, *_unjudged_p99(cell, pool, found))
    decided = any(one.side is not Side.OPEN for one in figures)
    first = (*figures, *told) if decided and not (outcomes and outcomes.differs) else (*told, *figures)
    return (*first, *_unjudged_p99(cell, pool, found)) if first else ()


def advised(judgements: Judgements) -> dict[CellKey, tuple[Advice, ...]]:
    """Return the advice by the cells that stand for virtual threads, where there is any."""
    cells = judgements.cells
    asked = {key: advise(judgements, key) for key in cells.keys if cells.stands_for_virtual(key)}
    return {key: told for key, told in asked.items() if told}


def _of_outcomes(cell: CellStats, judged: JudgedOutcomes) -> Advice:
    """Advise by how many forks did what their load asks for; a fork that did not has no other figure."""
    side = _SIDE_OF.get(judged.finding, Side.OPEN)
    one, other = judged.contrast.numerator, judged.contrast.denominator
    said = f"with {_VIRTUAL} the server {judged.against} with {_POOL}"
    undecided = f"{capitalised(said)}: {judged.verdict_words}."
    return Advice(
        figure=OUTCOME,
        title=judged.question.title,
        side=side,
        word=_word(judged.finding),
        tone=outcome_tone(judged),
        value=f"{counted(one)} / {counted(other)}",
        under="forks",
        judged=side is not Side.OPEN,
        sentence=undecided if side is Side.OPEN else f"{_DO[side]} for {asked_of(cell)}: {said}.",
    )


def _unjudged_p99(cell: CellStats, pool: CellStats, found: Sequence[tuple[Metric, Judged]]) -> tuple[Advice, ...]:
    """Report p99 of both where it is not among the judged figures; a reader who asks for p99 must not get another one
    instead."""
    both = [of_metric(P99, one, why="") for one in (cell, pool)]
    if any(metric is P99 for metric, _ in found) or any(one.sort is None for one in both):
        return ()
    compares = P99 in metrics_of(cell.load)
    why = _NONE_COMPARES if compares else "in a closed loop, where a slow answer delays the next request"
    return (_unjudged(P99, "p99", both, why),)


def _bounds(cell: CellStats, pool: CellStats, found: Sequence[tuple[Metric, Judged]]) -> Advice | None:
    """Report the leading figure of the load where both have it, no block has two that compare, and another figure could
    take its place."""
    leading = next(iter(metrics_of(cell.load)), None)
    if leading is None or not found or found[0][0] is leading:
        return None
    both = [of_metric(leading, one, why="") for one in (cell, pool)]
    if any(one.sort is None for one in both):
        return None
    return _unjudged(leading, capitalised(leading.name), both, _NONE_COMPARES)


def _unjudged(metric: Metric, name: str, both: Sequence[Figure], why: str) -> Advice:
    """Report a figure of virtual threads and of the pool without a verdict."""
    one, other = (figure.text for figure in both)
    unit = f" {metric.unit}" if metric.unit else ""
    return Advice(
        figure=metric.id,
        title=metric.title,
        side=Side.OPEN,
        word=PairFinding.NOT_JUDGED.value,
        tone="none",
        value=f"{one} / {other}",
        under=f"{metric.unit}, not judged".lstrip(", "),
        judged=False,
        sentence=f"{name} is not judged {why}: it was {one}{unit} with {_VIRTUAL} and {other}{unit} with {_POOL}.",
    )


def over_runs(advice: Sequence[Advice], runs: Sequence[Sequence[Advice]], asked: str) -> tuple[Advice, ...]:
    """Return the advice of one run, with each ratio that it decided replaced by what all `runs` come to together, and
    left open where these do not decide it. `runs`: the advice of each; `asked`: the demand on the server."""
    found = {one.figure: judged for one in advice if one.figure in BY_ID and (judged := _together(one, runs))}
    told = [(BY_ID[figure], judged) for figure, judged in found.items()]

    def again(one: Advice) -> Advice:
        if (judged := found.get(one.figure)) is None:
            return one
        metric = BY_ID[one.figure]
        return _of_ratio(metric, judged, told, asked, one.note if _side(judged, metric) is one.side else "")

    return tuple(map(again, advice))


def _together(advice: Advice, runs: Sequence[Sequence[Advice]]) -> Judged | None:
    same = (one for of_run in runs for one in of_run if one.figure == advice.figure)
    estimates = [estimate for one in same if (estimate := one.estimate())]
    if advice.side is Side.OPEN or len(estimates) < 2:
        return None
    whole = pooled(estimates)
    ratio = Ratio(whole.value, whole.low, whole.high, whole.blocks, least_error=whole.least_error)
    return Judged(ratio, None, 1, verdict_by_interval(ratio, advice.relevant), relevant=advice.relevant)


def _word(found: PairFinding) -> str:
    who = {PairFinding.BETTER: _VIRTUAL, PairFinding.WORSE: _POOL}.get(found)
    return f"{who} better" if who else found.value


def asked_of(cell: CellStats) -> str:
    """Describe the demand on its server: "tasks of 100 µs", "requests that wait 2 ms for a remote system"."""
    task = cell.key.task
    waits = f"wait {wait_words(task.wait_us)} for a remote system" if task.wait_us else ""
    if task.burn_us:
        return f"tasks of {work_words(task.burn_us)}{f' that {waits}' if waits else ''}"
    return f"requests that {waits or 'do nothing'}" if waits or cell.does_nothing else "such requests"


def _side(judged: Judged, metric: Metric) -> Side:
    return _SIDE_OF.get(finding(judged, metric), Side.OPEN)


def _of_ratio(
    metric: Metric, judged: Judged, all_figures: Sequence[tuple[Metric, Judged]], asked: str, note: str
) -> Advice:
    side, ratio = _side(judged, metric), judged.ratio
    if side is Side.OPEN:
        sentence, note = _of_figure(metric, judged), ""
    else:
        others = [(other, one) for other, one in all_figures if other is not metric]
        effect = _effect(metric, ratio, named=side is Side.POOL)
        sentence = f"{_DO[side]} for {asked}: {effect}{_besides(others, side)}.{note}"
    return Advice(
        figure=metric.id,
        title=metric.title,
        side=side,
        word=_word(finding(judged, metric)),
        tone=tone(judged, metric),
        value=ratio_value(ratio),
        under=ratio_words(judged),
        judged=finding(judged, metric) not in (PairFinding.NOT_JUDGED, PairFinding.ONE_BLOCK),
        ratio=ratio.value,
        low=ratio.ci_low,
        high=ratio.ci_high,
        blocks=ratio.blocks,
        least_error=ratio.least_error,
        relevant=judged.relevant,
        sentence=sentence,
        note=note,
    )


def ratio_words(judged: Judged) -> str:
    """Return the ratio's interval, or why there is none."""
    if judged.verdict is Verdict.NOT_JUDGED:
        return "not judged"
    return marked_interval(judged) or "one block"


def _of_figure(metric: Metric, judged: Judged) -> str:
    """Put the figure alone into a sentence."""
    ratio = judged.ratio
    match finding(judged, metric):
        case PairFinding.BETTER | PairFinding.WORSE:
            return f"{capitalised(_effect(metric, ratio))}."
        case PairFinding.ONE_BLOCK:
            return f"Only a hint, from one block: {_effect(metric, ratio)}."
        case PairFinding.NOT_JUDGED:
            return f"{metric.title}: not judged, because {not_judged_words(judged, _VIRTUAL, _POOL)}."
        case PairFinding.NO_EVIDENCE_YET:
            family = plural(judged.family, "comparison")
            return f"No evidence yet: {_effect(metric, ratio)}, not significant among the {family} of its run."
        case PairFinding.CANNOT_TELL:
            return f"Cannot tell: with {_VIRTUAL} {metric.name} is anywhere {_span(ratio)}."
        case _:
            return f"No difference in {metric.name} was seen: with {_VIRTUAL} it is {_span(ratio)}."


def _effect(metric: Metric, ratio: Ratio, *, named: bool = True) -> str:
    """Say "with virtual threads throughput is 36 % lower (95 % interval 34 to 38 %)", or, without `named`,
    "throughput is 22 % higher than with the pool (...)": always of virtual threads over the pool."""
    low, high = ratio.ci_low, ratio.ci_high
    within = f" (95 % interval {_interval(ratio.value, low, high)})" if low and high else ""
    if named:
        return f"with {_VIRTUAL} {metric.name} is {much(ratio.value)}{within}"
    return f"{metric.name} is {much(ratio.value)} {than(ratio.value)} with {_POOL}{within}"


def _besides(others: Sequence[tuple[Metric, Judged]], side: Side) -> str:
    """Name the other figures that are decided, without intervals."""
    decided = [
        (metric, judged, favoured) for metric, judged in others if (favoured := _side(judged, metric)) is not Side.OPEN
    ]
    before = [side, *(favoured for _, _, favoured in decided)]
    return "".join(
        f", {'and' if favoured is last else 'but'} {metric.name} {much(judged.ratio.value)}"
        for last, (metric, judged, favoured) in zip(before, decided, strict=False)
    )


def _interval(value: float, low: float, high: float) -> str:
    """Format as factors where the value reads as one or an end is far; else in per cent, the end nearer to 1 first."""
    near, far = (low, high) if low >= 1 else (high, low)
    if reads_as_factor(value) or high / low - 1 > 1 or far >= 2:
        return f"{off_one(low)} to {off_one(high)} times"
    return f"{apart(near).removesuffix(' %')} to {apart(far)}"


def _span(ratio: Ratio) -> str:
    """Say "between 3.0 % lower and 2.0 % higher than with the pool (95 % interval)"."""
    low, high = ratio.ci_low, ratio.ci_high
    if low is None or high is None:
        return f"{much(ratio.value)} {than(ratio.value)} with {_POOL}, without an interval"
    if max(1 - low, high - 1) < _NONE_SEEN:
        return f"within 0.1 % of that with {_POOL} (95 % interval)"
    return f"between {much(low)} and {much(high)} {than(high)} with {_POOL} (95 % interval)"
