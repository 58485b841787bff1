"""Ratio tables with a diverging colour scale around 1. Pure.

They are HTML tables, not charts: a reader can select the figures, follow a cell to its page, read them without
JavaScript and with a screen reader, and on a narrow screen they scroll in a box of their own with text at full size.
The scale is logarithmic (a factor of 2 and of 1/2 are equally far from 1), the same on every page whatever the data,
and blue to orange, which every common form of colour blindness tells apart. The colour says whom the figure favours,
so that "less CPU" and "more throughput" have the same colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jdkmatrix.domain.cell_key import CellKey, TaskSize
from jdkmatrix.domain.quantities import MISSING
from jdkmatrix.figures.metrics import Metric
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.report.blocks.kinds import HeatCell, HeatMap
from jdkmatrix.report.cells.judgements import JudgedOutcomes, Judgements
from jdkmatrix.report.cells.shown import no_ratio_words, pairs_title
from jdkmatrix.report.cells.slices import Pair, Slice
from jdkmatrix.report.words.numbers import ratio_value
from jdkmatrix.report.words.sentences import PairFinding, because, finding, losses_words, marked_interval
from jdkmatrix.stats.verdicts import Judged, Verdict

# The factors away from 1 at which the next colour begins.
EDGES = (1.02, 1.05, 1.1, 1.2, 1.4, 2.0)
# For outcomes of forks, which are no factors: neither faint nor the strongest.
_OUTCOME_LEVEL = 4


def tone(judged: Judged, metric: Metric) -> str:
    """Return the colour of a ratio; without a verdict it is the neutral one, however far from 1 the ratio is, or a
    hatching where its own interval excludes 1."""
    favour = judged.ratio.value if metric.more_is_better else 1 / judged.ratio.value
    match judged.verdict:
        case Verdict.NOT_JUDGED:
            return "unjudged"
        case Verdict.NO_EVIDENCE_YET:
            return "leans-n" if favour > 1 else "leans-d"
        case Verdict.CANNOT_TELL:
            return "blind"
        case Verdict.DIFFERENT:
            pass
        case _:
            return "even"
    distance = math.exp(abs(math.log(favour)))
    # A hair of tolerance, so that 1 / (1 / 1.05) is as far from 1 as 1.05 is.
    level = sum(distance >= edge * (1 - 1e-9) for edge in EDGES)
    return "even" if level == 0 else f"{'n' if favour > 1 else 'd'}{level}"


def outcome_tone(judged: JudgedOutcomes) -> str:
    if judged.finding is PairFinding.NOT_JUDGED:
        return "unjudged"
    side = {PairFinding.BETTER: "n", PairFinding.WORSE: "d"}.get(judged.finding)
    return f"{side}{_OUTCOME_LEVEL}" if side else "even"


def ratio_cell(judgements: Judgements, metric: Metric, key: CellKey, base: CellKey, pair: Pair) -> HeatCell:
    cells, compared = judgements.cells, judgements.comparison(metric, key)
    judged = judgements.of(metric, key)
    if judged is None:
        lost = f"; {losses_words(compared.losses)}" if compared else ""
        why = f"{no_ratio_words(cells, key, base)}{lost}"
        return HeatCell(MISSING, basis="no pair", decided=False, title=why)
    pairs = pairs_title(compared) if compared else None
    better = {PairFinding.BETTER: pair.numerator, PairFinding.WORSE: pair.base}.get(finding(judged, metric))
    said = f"{f'{better} better, ' if better else ''}{because(judged)}"
    return HeatCell(
        value=ratio_value(judged.ratio),
        interval=marked_interval(judged),
        basis="not judged" if judged.verdict is Verdict.NOT_JUDGED else f"n {judged.ratio.blocks}",
        tone=tone(judged, metric),
        decided=better is not None,
        title=f"{metric.title}, {pair.words}: {said}{f'. {pairs}' if pairs else ''}",
        href=cell_page(key),
    )


def outcome_cell(judged: JudgedOutcomes | None, key: CellKey, pair: Pair) -> HeatCell:
    """Show how many forks of either did what their load asks for."""
    if judged is None:
        return HeatCell(MISSING, decided=False, title="one of the two has no record")
    one, other = judged.contrast.numerator, judged.contrast.denominator
    return HeatCell(
        value=f"{one.yes}/{one.told}",
        interval=f"against {other.yes}/{other.told}",
        basis="not judged" if judged.finding is PairFinding.NOT_JUDGED else "forks",
        tone=outcome_tone(judged),
        decided=judged.finding in (PairFinding.BETTER, PairFinding.WORSE),
        title=judged.sentence(*pair),
        href=cell_page(key),
    )


def _cell(judgements: Judgements, figure: Metric | str, key: CellKey, pair: Pair) -> HeatCell:
    """Build a cell. `key`: the numerator's, of a condition that the run may not have; `figure`: a metric, or the
    question that forks were asked."""
    cells, base = judgements.cells, key.model_copy(update={"executor": pair.base})
    if not {key, base} <= {*cells.peers(key)}:
        return HeatCell("", decided=False, title="not a condition of this run")
    if not isinstance(figure, Metric):
        return outcome_cell(judgements.outcomes(key), key, pair)
    return ratio_cell(judgements, figure, key, base, pair)


def mapped(judgements: Judgements, piece: Slice, metrics: Sequence[Metric]) -> tuple[Metric | str, ...]:
    """Return what heat maps show: the first of these metrics and the others as far as the run compares them, after the
    question that forks were asked, where its outcomes are worth a place."""
    keys = [key for key in piece.keys if key.executor == piece.pair.numerator]
    found = [one for key in keys if (one := judgements.outcomes(key))]
    others = (metric for metric in metrics[1:] if any(judgements.comparison(metric, key) for key in keys))
    asked = next((one.question.title for one in found if one.worth_reporting and one.question.in_tables), None)
    return (*([asked] if asked else []), *metrics[:1], *others)


def scorecard(judgements: Judgements, figures: Sequence[Metric | str], piece: Slice, of: str = "") -> HeatMap:
    """Map a single condition, the first of `piece`: JDKs down, figures across."""
    keys = {jdk: _key(piece, jdk, piece.cpus[0], piece.tasks[0]) for jdk in piece.jdks}
    rows = [(jdk, tuple(_cell(judgements, one, key, piece.pair) for one in figures)) for jdk, key in keys.items()]
    return HeatMap(piece.pair.words, "JDK", tuple(map(_title, figures)), tuple(rows), of)


def heat_map(judgements: Judgements, figure: Metric | str, piece: Slice, jdk: str, of: str = "") -> HeatMap:
    """Map one JDK: CPUs down, tasks across."""
    keys = {cpus: [_key(piece, jdk, cpus, task) for task in piece.tasks] for cpus in piece.cpus}
    rows = [(str(cpus), tuple(_cell(judgements, figure, key, piece.pair) for key in row)) for cpus, row in keys.items()]
    return HeatMap(_title(figure), "CPUs", tuple(map(piece.task_words, piece.tasks)), tuple(rows), of)


def _title(figure: Metric | str) -> str:
    return figure.title if isinstance(figure, Metric) else figure


def _key(piece: Slice, jdk: str, cpus: int, task: TaskSize) -> CellKey:
    changed = {"jdk": jdk, "executor": piece.pair.numerator, "cpus": cpus}
    return piece.keys[0].model_copy(update={**changed, "burn_us": task.burn_us, "wait_us": task.wait_us})


def legend() -> tuple[tuple[str, str], ...]:
    """List tone and factor of each step, from "denominator far better" through even to "numerator far better"."""
    levels = range(len(EDGES), 0, -1)
    left, right = ([(f"{side}{level}", f"{EDGES[level - 1]:g}") for level in levels] for side in "dn")
    return (*left, ("even", "1"), *reversed(right))
