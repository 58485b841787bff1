"""How precisely each ratio is known after so many blocks, and what more precision costs. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.figures.paired import logs_of_rounds
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import say
from jdkmatrix.report.blocks.kinds import Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.run_page.dependence import BlockChecks, lag1_figure, trend_figure
from jdkmatrix.report.words.numbers import Figure, missing, share, span
from jdkmatrix.report.words.sentences import ratio_name
from jdkmatrix.stats.protocols import (
    AsMeasured,
    Cost,
    FixedLength,
    Protocols,
    compare_protocols,
    cost_in_turns,
    measured_fork,
)
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.rounds import components
from jdkmatrix.stats.stopping import StoppingRules
from jdkmatrix.stats.verdicts import Verdict

_FIXED = FixedLength()
_OTHER_FIGURE = "worked out for throughput only"
_IN_TURNS = "only forks measured one after another show what forks of a fixed length would cost; these took turns"


def precision_section(run: RunRecord, cells: Cells, checks: BlockChecks, judgements: Judgements) -> tuple[Section, ...]:
    """None where no ratio has an interval."""
    # Those of the run, or the usual ones where the number of blocks was fixed.
    rules = StoppingRules(**run.stopping.model_dump()) if run.stopping else StoppingRules()
    rows = tuple(_rows(cells, checks, judgements, rules, adaptive=run.stopping is not None))
    if not rows:
        return ()
    asked = f"± {rules.precision:.1%}".replace("%", " %")
    fixed = f"{_FIXED.measure_s:.0f} s after a ramp of {_FIXED.ramp_s:.0f} s"
    notes = [Prose(text) for text in (checks.words, _turns(cells)) if text]
    table = DataTable("Precision of ratios", columns(*_COLUMNS), rows, sortable=True)
    words = say("precision", asked=asked, fixed=fixed)
    return (Section("precision", "Precision and its cost", (*notes, table), words),)


_COLUMNS = (
    *("Ratio", "Of", "Blocks#", "Known to#", "Lag 1|correlation#", "Trend|first to last block#", "Ended by"),
    *("As here#", "Fixed length#", "Time|share of fixed#"),
)


def _turns(cells: Cells) -> str | None:
    lost: dict[str, list[bool]] = {}
    for cell in cells:
        windows = [window for fork in cell.usable if fork.together for window in fork.windows]
        lost.setdefault(cell.key.executor, []).extend(not window.valid for window in windows)
    told = [f"{executor} {share(sum(every) / len(every)).text}" for executor, every in lost.items() if every]
    if not told:
        return None
    return (
        "Executors took turns, a short window of each round after round, and are compared round by round: a round that "
        f"a gate took from one counts in neither. So much of their rounds was lost: {', '.join(told)}."
    )


def _rows(
    cells: Cells, checks: BlockChecks, judgements: Judgements, rules: StoppingRules, *, adaptive: bool
) -> Iterator[tuple[Cell, ...]]:
    for cell, base in cells.compared():
        key = cell.key
        metric = cells.leading(key)
        judged = judgements.of(metric, key)
        half_width_log = judged.ratio.half_width_log if judged else None
        if judged is None or half_width_log is None:
            continue
        ratio, known = judged.ratio, math.expm1(half_width_log)
        ended_by = _decision(ratio, rules) if adaptive else "fixed number"
        found = checks.of(key)
        cost = _cost_of(cell, base, rules) if metric is THROUGHPUT else _OTHER_FIGURE
        whole = cost if isinstance(cost, Protocols) else None
        yield (
            ratio_name(key, base.key.executor),
            metric.title,
            Figure(str(ratio.blocks), ratio.blocks),
            Figure(f"± {known * 100:.{1 if known < 0.1 else 0}f} %", known),
            lag1_figure(found, ratio.blocks),
            trend_figure(found, ratio.blocks),
            judged.verdict.value if judged.verdict is Verdict.NOT_JUDGED else ended_by,
            _adaptive(cost),
            _cost(whole.fixed) if whole else _no_fixed(cost),
            Figure(f"{whole.time_share * 100:.0f} %", whole.time_share) if whole else _no_fixed(cost),
        )


def _decision(ratio: Ratio, rules: StoppingRules) -> str:
    if ratio.half_width_log is not None and ratio.half_width_log <= rules.half_width_log:
        return "precise enough"
    return "the most blocks" if ratio.blocks >= rules.max_blocks else "not precise enough"


def _cost_of(cell: CellStats, base: CellStats, rules: StoppingRules) -> AsMeasured | str:
    """With forks of a fixed length beside it where the run can tell (`Protocols`); or why there is no cost."""
    try:
        arms = [{fork.fork: measured_fork(fork) for fork in arm.usable} for arm in (cell, base)]
        found = components(logs_of_rounds(THROUGHPUT, cell.record, base.record))
        if found is not None:
            return cost_in_turns([*arms[0].values()], [*arms[1].values()], found, rules)
        return compare_protocols(arms[0], arms[1], rules)
    except MatrixError as error:
        return str(error)


def _cost(cost: Cost, title: str | None = None) -> Figure:
    return Figure(f"{plural(cost.blocks, 'block')}, {span(cost.total_s)}", cost.total_s, title)


def _adaptive(cost: AsMeasured | str) -> Figure:
    if isinstance(cost, str):
        return missing(cost)
    title = (
        f"scatter of the log ratio of one block: {cost.between_forks_log:.3f} between forks, "
        f"{cost.inside_forks_log:.3f} inside as recorded"
    )
    return _cost(cost.adaptive, title)


def _no_fixed(cost: AsMeasured | str) -> Figure:
    return missing(cost if isinstance(cost, str) else _IN_TURNS)
