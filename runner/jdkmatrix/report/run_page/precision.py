"""How precisely each ratio is known after so many blocks, what more precision costs, and whether the blocks are
correlated or drift. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.figures.paired import logs_of_rounds
from jdkmatrix.report.blocks.inline import say
from jdkmatrix.report.blocks.kinds import Notice, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.block_checks import BlockChecks
from jdkmatrix.report.cells.cellstats import Cells, CellStats, ordered_forks
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.words.numbers import Figure, missing, p_value, share, signed_share, span
from jdkmatrix.report.words.sentences import ratio_name
from jdkmatrix.stats import protocols
from jdkmatrix.stats.dependence import FEWEST_BLOCKS, JudgedDependence
from jdkmatrix.stats.rounds import components
from jdkmatrix.stats.stopping import StoppingRules, half_width_that_tells, more_help, tells
from jdkmatrix.stats.verdicts import Verdict


def dependence_notices(checks: BlockChecks) -> Iterable[Notice]:
    if checks.finding is None:
        return
    judged = checks.judged.values()
    text = f"Blocks are not independent of each other {checks.finding}. Intervals and p-values assume that they are."
    if any(one.correlated and one.found.lag1 > 0 for one in judged):
        text += (
            " Where neighbours are alike, intervals are too narrow: with a lag-1 correlation of 0.3, chance alone "
            "passes for a difference twice as often as it should."
        )
    if any(one.correlated and one.found.lag1 <= 0 for one in judged):
        text += (
            " Where blocks alternate up and down, intervals are too wide: perhaps an executor’s place inside its "
            "block matters, which changing places evens out."
        )
    if any(one.drifting for one in judged):
        text += " Where a ratio drifts, it averages over a change, and more blocks would give another value."
    yield Notice("warn", "Correlated blocks", text)


def _dependence_figures(judged: JudgedDependence | None, blocks: int) -> tuple[Figure, Figure]:
    """Return the figures of lag 1 and of the trend."""
    if judged is None:
        return (missing(f"{plural(blocks, 'block')}: nothing can be said about fewer than {FEWEST_BLOCKS}"),) * 2
    found = judged.found

    def figure(text: str, sort: float, own: float, adjusted: float) -> Figure:
        return Figure(text, sort, f"{p_value(own)} on its own", f"adjusted {p_value(adjusted)}")

    lag1 = figure(digits(found.lag1, 2), found.lag1, found.lag1_p, judged.lag1_p_adjusted)
    return lag1, figure(signed_share(found.change), found.change, found.trend_p, judged.trend_p_adjusted)


_OTHER_FIGURE = "worked out for throughput only"
_IN_TURNS = "only forks measured one after another show what forks of a fixed length would cost; these took turns"


def precision_section(judged: JudgedRun) -> tuple[Section, ...]:
    """Build the section; empty where no ratio has an interval."""
    run, checks = judged.run, judged.blocks
    # The run's own rules, or where the number of blocks was fixed, the usual ones for what it promises.
    usual = StoppingRules(precision=run.promised_precision)
    rules = StoppingRules(**run.stopping.model_dump()) if run.stopping else usual
    rows = tuple(_rows(judged, checks, rules))
    if not rows:
        return ()
    asked = f"± {rules.precision * 100:g} %"
    fixed = f"{protocols.FIXED_MEASURE_S:.0f} s after a ramp of {protocols.FIXED_RAMP_S:.0f} s"
    notes = [Prose(text) for text in (checks.words, _turns(judged.cells)) if text]
    heads = columns(
        *("Ratio", "Of", "Blocks#", "Known to#", "Lag 1|correlation#", "Trend|first to last block#", "Ended by"),
        *("As here#", "Fixed length#", "Time|share of fixed#"),
    )
    table = DataTable("Precision of ratios", heads, rows, sortable=True)
    words = say("precision", asked=asked, fixed=fixed)
    return (Section("precision", "Precision and its cost", (*notes, table), words),)


def _turns(cells: Cells) -> str | None:
    turns = ((cell.key.executor, fork) for cell in cells for fork in cell.usable if fork.together)
    lost = grouped((executor, not window.valid) for executor, fork in turns for window in fork.windows)
    if not lost:
        return None
    told = [f"{executor} {share(sum(every) / len(every)).text}" for executor, every in lost.items()]
    took = [any(fork.together for fork in cell.usable) for cell in cells]
    where = "" if all(took) else f"In {sum(took)} of {plural(len(took), 'cell')} "
    return (
        f"{where}{'executors' if where else 'Executors'} took turns, round after round with a short window of each, "
        "and are compared round by round: a round that a gate refused for one counts for neither. "
        f"Share of their rounds lost: {', '.join(told)}."
    )


def _rows(run: JudgedRun, checks: BlockChecks, rules: StoppingRules) -> Iterator[tuple[Cell, ...]]:
    ordered = ordered_forks(run.run)
    for cell, base in run.cells.compared():
        key = cell.key
        metric = run.cells.leading(key)
        judged = run.judgements.of(metric, key)
        half_width_log = judged.ratio.half_width_log if judged else None
        if judged is None or half_width_log is None:
            continue
        ratio, known = judged.ratio, math.expm1(half_width_log)
        needed_log = half_width_that_tells(ratio.value, rules.precision)
        forks = min(len(one.record.forks) for one in (cell, base))
        cut_off = run.run.status != "complete" and forks < ordered[key.cell_id]
        ended_by = "not complete" if cut_off else "fixed number"
        if run.run.stopping is not None and not (cut_off and forks < rules.min_blocks):
            coarse = not more_help(ratio, rules)
            early = "readings too coarse" if coarse else "not complete" if cut_off else "not precise enough"
            short = "limit of blocks" if forks >= rules.max_blocks else early
            ended_by = "precise enough" if tells(ratio, rules.precision) else short
        yield (
            ratio_name(key, base.key.executor),
            metric.title,
            Figure(str(ratio.blocks), ratio.blocks),
            Figure(_plus_minus(known), known, under=f"{_plus_minus(math.expm1(needed_log))} would tell"),
            *_dependence_figures(checks.judged.get(key), ratio.blocks),
            judged.verdict.value if judged.verdict is Verdict.NOT_JUDGED else ended_by,
            *(
                _costs(cell, base, needed_log, rules.min_blocks)
                if metric is THROUGHPUT
                else (missing(_OTHER_FIGURE),) * 3
            ),
        )


def _plus_minus(share_: float) -> str:
    return f"± {share_ * 100:.{1 if share_ < 0.1 else 0}f} %"


def _costs(cell: CellStats, base: CellStats, half_width_log: float, min_blocks: int) -> tuple[Figure, Figure, Figure]:
    """Estimate the time until the interval of the log ratio has this half-width: by the run's protocol, with forks of a
    fixed length where the run can tell, and the first as a share of the second."""
    try:
        above, below = ({fork.fork: protocols.measured_fork(fork) for fork in arm.usable} for arm in (cell, base))
        if rounds := components(logs_of_rounds(THROUGHPUT, cell.record, base.record)):
            cost = protocols.cost_in_turns([*above.values()], [*below.values()], rounds, half_width_log, min_blocks)
        else:
            cost = protocols.compare_protocols(above, below, half_width_log, min_blocks)
    except MatrixError as error:
        return (missing(str(error)),) * 3
    title = (
        f"scatter of the log ratio of one block: {cost.between_forks_log:.3f} between forks, "
        f"{cost.inside_forks_log:.3f} inside as recorded"
    )
    here = _cost(cost.adaptive, title)
    if cost.fixed is None:
        return here, missing(_IN_TURNS), missing(_IN_TURNS)
    time_share = cost.adaptive.total_s / cost.fixed.total_s
    return here, _cost(cost.fixed), Figure(f"{time_share * 100:.0f} %", time_share)


def _cost(cost: protocols.Cost, title: str | None = None) -> Figure:
    return Figure(f"{plural(cost.blocks, 'block')}, {span(cost.total_s)}", cost.total_s, title)
