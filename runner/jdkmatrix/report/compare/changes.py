"""Two runs, or two JDKs or executors of one run: what got better or worse, and what else changed. Pure.

Within a run, figures are paired by block number. Those of two runs are not paired: on one host every figure itself is
compared, and on any two hosts the ratio of virtual threads to the server's pool, since that is paired inside each run.
As on a run's page, a ratio is not judged if its arms lost different numbers of forks, or if the gates refused one arm
more often; and on one host the number of forks that did what their load asks for is compared, too."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import P99, Metric, metrics_of
from jdkmatrix.figures.paired import least_error_of
from jdkmatrix.figures.refusals import one_sided_among
from jdkmatrix.loads.attainment import contrast
from jdkmatrix.loads.base import Bound
from jdkmatrix.report.cells.cellstats import CellStats, Comparison
from jdkmatrix.report.cells.judgements import Family, Refusals, counted, of_forks, page_refusals
from jdkmatrix.report.cells.shown import of_metric, over_forks
from jdkmatrix.report.compare.sides import (
    ComparedSide,
    input_differences,
    names_of,
    on_side,
    run_differences,
    title_of,
)
from jdkmatrix.report.words.numbers import apart, ratio_interval, ratio_value, reads_as_factor
from jdkmatrix.report.words.sentences import PairFinding, cell_words, finding, not_judged_words, possible_words
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.unpaired import difference_of_logs, unpaired_ratio
from jdkmatrix.stats.verdicts import FAMILY_ERROR, ArmRefusals, Judged, Losses


@dataclass(frozen=True, kw_only=True)
class SideChange:
    """The change from `before` to `after` of one figure, as a ratio, or of how many forks did what their load asks for.
    `values`: before and after.

    `over`: the executor that the figure is divided by inside each run; None: the figure itself. `regression`: it got
    significantly worse, by more than was allowed; never set for a figure over another one where the figure itself is
    compared, too, since it also falls where only the other one got better. `open`: it is no regression, but one is not
    excluded."""

    key: CellKey
    figure: str
    title: str
    over: str | None = None
    values: str
    ratio: Ratio | None = None
    shown: str
    interval: str | None = None
    p_adjusted: float | None
    word: str
    regression: bool
    open: bool

    @property
    def what(self) -> str:
        return f"{self.title}, over {self.over}" if self.over else self.title


@dataclass(frozen=True)
class Compared:
    """A comparison. `else_changed`: what else differs between the sides; `why_not`: why the figures themselves are not
    compared; `left_out`: cells that only one side has, or has usable forks of; `lost`: what was to be measured after,
    too, but no longer has a figure. `names`: what the columns call the two sides."""

    before: str
    after: str
    names: tuple[str, str]
    title: str
    threshold: float
    else_changed: tuple[str, ...]
    why_not: str | None
    left_out: tuple[str, ...]
    lost: tuple[str, ...]
    changes: tuple[SideChange, ...]

    @property
    def regressions(self) -> tuple[SideChange, ...]:
        return tuple(change for change in self.changes if change.regression)

    @property
    def open(self) -> tuple[SideChange, ...]:
        return tuple(change for change in self.changes if change.open)


_Named = tuple[CellKey, str, str | None]  # the cell, the metric's id or "outcome", and the executor that it is over
_Told = dict[_Named, tuple[Metric, str]]  # for each ratio its metric, and the values before and after
_OUTCOME = "outcome"


def compare_sides(before: ComparedSide, after: ComparedSide, *, threshold: float) -> Compared:
    """Compare each figure by which executors are compared, where both sides have it, and what forks did. `threshold`:
    the share beyond which a figure's change for the worse is a regression."""
    one_host = before.run.latest_session.host.id == after.run.latest_session.host.id
    names = names_of(before, after)
    then, now = map(on_side, names)
    pairs = [(key, after.cells.get(key), before.cells.get(before.in_place_of(key))) for key in after.compared()]
    both = [(cell, base) for _, cell, base in pairs if cell and base]
    gaps = [_gap(*pair, then, now) for pair in pairs]
    there = {before.in_place_of(key) for key in after.compared()}
    only_before = [key for key in before.compared() if key not in there]
    # It was to be measured there, too.
    refused = {key: why for key in only_before if (why := after.run.refused.get(after.in_place_of(key)))}
    over = [(cell, before.cells.reference(base.key), after.cells.reference(cell.key)) for cell, base in both]
    bases = [f"{cell_words(cell.key)}: over {old} {then}, over {new} {now}" for cell, old, new in over if old != new]
    inputs = (input_differences(before, after, base, cell) for cell, base in both)
    families, told = _families(before, after, both, threshold, absolute=one_host)
    unknown = _without_ratio(before, after, both, told, (then, now), absolute=one_host)
    changes = [change for family in families for change in _changes(family, told, threshold, names)]
    places = {key: place for place, key in enumerate(after.cells.keys)}
    return Compared(
        before=before.name,
        after=after.name,
        names=names,
        title=title_of(before, after),
        threshold=threshold,
        else_changed=tuple(dict.fromkeys([*run_differences(before, after), *filter(None, inputs)])),
        why_not=None if one_host else "they were measured on two hosts",
        left_out=(
            *(why for why, _ in gaps if why),
            *(f"{cell_words(key)}: only {then}" for key in only_before),
            *([] if one_host else bases),
        ),
        lost=(
            *(why for why, lost in gaps if why and lost),
            *unknown,
            *(
                f"{cell_words(key)}: not testable {now}: {why}"
                for key, why in refused.items()
                if (cell := before.cells.get(key)) and cell.usable
            ),
        ),
        changes=tuple(sorted(changes, key=lambda change: places[change.key])),
    )


def _driven_alike(cell: CellStats, base: CellStats) -> bool:
    return not cell.driver or not base.driver or cell.driver == base.driver


def _gap(key: CellKey, cell: CellStats | None, base: CellStats | None, then: str, now: str) -> tuple[str | None, bool]:
    """Return why the two are not compared, and whether what was measured before may have got worse unseen."""
    if cell is None or base is None:
        why = f"{cell_words(key)}: not measured {then if base is None else now}"
    elif not _driven_alike(cell, base):
        why = f"{cell_words(key)}: driven by {base.driver} {then}, by {cell.driver} {now}"
    elif cell.usable and base.usable:
        return None, False
    else:
        sides = [side for side, one in ((then, base), (now, cell)) if not one.usable]
        why = f"{cell_words(key)}: no usable fork {' and '.join(sides)}"
    return why, base is not None and bool(base.usable)


def _without_ratio(
    before: ComparedSide,
    after: ComparedSide,
    both: Sequence[tuple[CellStats, CellStats]],
    told: _Told,
    sides: tuple[str, str],
    *,
    absolute: bool,
) -> Iterator[str]:
    """Yield each figure that a cell had before, be it a bound, and that has no ratio, though it may have got worse."""
    found = {(key, metric_id) for key, metric_id, _ in told}
    for cell, base in both:
        on_trial = absolute or after.cells.reference(cell.key) != cell.key.executor
        if not (on_trial and cell.usable and base.usable and _driven_alike(cell, base)):
            continue
        for metric in metrics_of(cell.load):
            if (cell.key, metric.id) in found or not base.figures(metric) or _is_no_worse(metric, cell, base):
                continue
            without = [side for side, one in zip(sides, (base, cell), strict=True) if not one.by_block(metric)]
            why = "not over one executor on both sides" if not absolute else "no block has one on both sides"
            if without:
                why = f"no fork has a figure to compare {' or '.join(without)}"
            yield f"{cell_words(cell.key)}, {metric.title}: {why}"


def _is_no_worse(metric: Metric, cell: CellStats, base: CellStats) -> bool:
    """Return whether bounds alone say that each fork of `cell` is at least as good as any of `base`."""
    new, old = (tuple(one.figures(metric).values()) for one in (cell, base))
    figures = (*new, *old)
    all_exact = all(figure.bound is Bound.NONE for figure in figures)
    if not new or all_exact or not all(figure.comparable for figure in figures):
        return False
    better, worse = (Bound.AT_LEAST, Bound.BELOW) if metric.more_is_better else (Bound.BELOW, Bound.AT_LEAST)
    if any(figure.bound is worse for figure in new) or any(figure.bound is better for figure in old):
        return False
    values, then = ([figure.value for figure in side] for side in (new, old))
    return min(values) >= max(then) if metric.more_is_better else max(values) <= min(then)


def _families(
    before: ComparedSide,
    after: ComparedSide,
    both: Sequence[tuple[CellStats, CellStats]],
    threshold: float,
    *,
    absolute: bool,
) -> tuple[Iterable[Family[_Named]], _Told]:
    """Build one family for what may be a regression, others for A/A arms and for figures over another executor where
    the figure itself is compared, too. `both`: cells of both sides, after and before; `absolute`: as `_figures`."""
    families: dict[tuple[bool, bool], Family[_Named]] = defaultdict(lambda: Family(threshold))
    told: _Told = {}
    refused = one_sided_among((cell.key, cell.record, base.record) for cell, base in both)
    inside = page_refusals(before.cells), page_refusals(after.cells)
    for cell, base in both:
        if not _driven_alike(cell, base):
            continue
        again = is_aa_arm(cell.key.executor)
        figures = _figures(cell, base, before, after, inside, absolute=absolute)
        for metric, over, ratio, losses, within, values in figures:
            if ratio is not None:
                name = cell.key, metric.id, over
                one_sided = within if over else refused.get(cell.key)
                families[again, over is not None and absolute].ratios[name] = ratio, losses, one_sided
                told[name] = metric, values
        if absolute:  # of two hosts, the faster one alone may hold a rate
            attained = contrast(cell.attained, base.attained, error=FAMILY_ERROR)
            outcome = cell.question, attained, refused.get(cell.key)
            families[again, False].outcomes[cell.key, _OUTCOME, None] = outcome
    return families.values(), told


_Figure = tuple[Metric, str | None, Ratio | None, Losses, ArmRefusals | None, str]


def _figures(
    cell: CellStats,
    base: CellStats,
    before: ComparedSide,
    after: ComparedSide,
    inside: tuple[Refusals, Refusals],
    *,
    absolute: bool,
) -> Iterator[_Figure]:
    """Yield each figure with the executor that it is over, the ratio of both sides, what the arms lost, what gates
    refused inside a run, and its values before and after. `inside`: one-sided refusals within the run before and within
    that after; `absolute`: the figures themselves are compared, too."""
    same_run = before.cells is after.cells
    sequential = before.run.stopping is not None or after.run.stopping is not None
    for metric in metrics_of(cell.load):
        old, new = (_shown(metric, one) for one in (base, cell))
        values = f"{old} → {new} {metric.unit.replace('requests', 'req')}"
        if same_run:
            if paired := after.cells.over(metric, cell.key, base.key):
                yield metric, None, paired.ratio, paired.losses, None, values
            continue
        if absolute:
            arms = [tuple(one.by_block(metric).values()) for one in (cell, base)]
            least = least_error_of(metric, *zip((cell.load, base.load), arms, strict=True))
            ratio = unpaired_ratio(*arms, sequential=sequential, least=least)
            yield metric, None, ratio, _losses(metric, cell, base), None, values
        over = after.cells.reference(cell.key)
        above, below = after.cells.over(metric, cell.key), before.cells.over(metric, base.key)
        if above and below and above.ratio and below.ratio and _one_base(above, below):
            least = math.hypot(above.ratio.least_error, below.ratio.least_error)
            ratio = difference_of_logs(above.logs, below.logs, sequential=sequential, least=least)
            values = f"{ratio_value(below.ratio)} → {ratio_value(above.ratio)}"
            losses = above.losses if above.losses.differ else below.losses
            within = inside[1].get((cell.key, above.base.key)) or inside[0].get((base.key, below.base.key))
            yield metric, over, ratio, losses, within, values


def _losses(metric: Metric, *arms: CellStats) -> Losses:
    """Count the losses of two runs, whose figures are over all of their forks, however many blocks each has."""
    (above, above_of), (below, below_of) = ((one.forks - len(one.by_block(metric)), one.forks) for one in arms)
    new, old = (Counter(one.arm_forks(metric).own_doing.values()) for one in arms)
    alike = all(new[kind] * below_of == old[kind] * above_of for kind in new | old)
    return Losses(above, above_of, below, below_of, alike=alike)


def _one_base(above: Comparison, below: Comparison) -> bool:
    """Return whether both are over the same executor, and neither is over itself."""
    same = above.base.key.executor == below.base.key.executor
    return same and above.cell is not above.base and below.cell is not below.base


def _shown(metric: Metric, cell: CellStats) -> str:
    """Return the figure that a cell's ratio is made of: for p99, the mean of the forks' own, not that of all requests
    together."""
    own = metric is P99 and cell.figures(P99)
    figure = over_forks(P99, cell, why="") if own else of_metric(metric, cell, why="")
    return figure.text


def _changes(family: Family[_Named], told: _Told, threshold: float, names: tuple[str, str]) -> Iterator[SideChange]:
    ratios, outcomes, _ = family.judge()
    for (key, figure, over), one in ratios.items():
        metric, values = told[key, figure, over]
        found = finding(one, metric)
        worse = found is PairFinding.WORSE and abs(one.ratio.value - 1) > threshold
        counts = over is None or ((key, figure, None) not in told and not is_aa_arm(key.executor))
        yield SideChange(
            key=key,
            figure=figure,
            title=metric.title,
            over=over,
            values=values,
            ratio=one.ratio,
            shown=ratio_value(one.ratio),
            interval=ratio_interval(one.ratio),
            p_adjusted=one.p_adjusted,
            word=_word(one, found, *((key.executor, over) if over else names[::-1])),
            regression=worse and counts,
            open=counts and not worse and not _excludes_worse(one, metric, threshold),
        )
    for (key, *_), judged in outcomes.items():
        if not judged.worth_reporting:
            continue
        found, (new, old) = judged.finding, (judged.contrast.numerator, judged.contrast.denominator)
        yield SideChange(
            key=key,
            figure=_OUTCOME,
            title=judged.question.title,
            values=f"{counted(old)} → {of_forks(new)}",
            shown=f"{judged.against} {on_side(names[0])}",
            p_adjusted=judged.p_adjusted,
            word=found.value,
            regression=found is PairFinding.WORSE,
            open=not (judged.contrast.is_better or judged.differs) and old.yes > 0,
        )


def _excludes_worse(one: Judged, metric: Metric, threshold: float) -> bool:
    """Return whether the interval excludes a change for the worse by more than `threshold`."""
    low, high = one.ratio.ci_low, one.ratio.ci_high
    if one.losses.differ or one.refusals is not None or low is None or high is None:
        return False
    return low >= 1 - threshold if metric.more_is_better else high <= 1 + threshold


def _word(one: Judged, found: PairFinding, numerator: str, denominator: str) -> str:
    word: str = found.value
    if found in (PairFinding.BETTER, PairFinding.WORSE):
        ratio = one.ratio.value
        if reads_as_factor(ratio):
            return f"{word}: {digits(ratio, 2)} times as much"
        return f"{word}: {apart(ratio)} {'more' if ratio > 1 else 'less'}"
    if found is PairFinding.NOT_JUDGED:
        return f"{word}: {not_judged_words(one, numerator, denominator)}"
    if found is PairFinding.CANNOT_TELL:
        return f"{word}: {possible_words(one)}"
    return word
