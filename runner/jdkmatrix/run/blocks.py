"""Decide which groups of cells need another block. Pure: from recorded forks, so that a resumed run decides alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from jdkmatrix.domain.executors import references
from jdkmatrix.figures.fork_figures import arm_forks, comparable
from jdkmatrix.figures.metrics import leading_figures, metrics_of
from jdkmatrix.figures.paired import least_error_of, paired_figures
from jdkmatrix.loads.base import ForkFigure
from jdkmatrix.stats.stopping import Arms, Decision, StoppingRules, Why, after_block, half_width_that_tells
from jdkmatrix.stats.verdicts import ArmForks, losses_among
from jdkmatrix.store.cells import CellRecord

T = TypeVar("T")


def decide(group: Iterable[CellRecord], blocks: int, rules: StoppingRules) -> Decision:
    """Decide after `blocks` blocks of the cells of one group; later blocks, where there are any, do not count."""
    return after_block(blocks, comparisons(group, blocks), rules)


def comparisons(group: Iterable[CellRecord], blocks: int) -> dict[Hashable, Arms]:
    """Return, by executor, its leading figure and that of the executor that it is compared with, per block, from forks
    whose figure may stand in a ratio.

    Where nothing is compared (a single executor, say), every executor's own figure must be precise instead: it is
    paired with 1. A comparison whose arms lost different numbers of forks is not judged, however many blocks follow: it
    is left without figures, so that it holds nothing up.
    """
    cells = {cell.key.executor: cell for cell in group}
    told = {executor: _up_to(blocks, leading_figures(cell)) for executor, cell in cells.items()}
    figures = {executor: comparable(mine) for executor, mine in told.items()}
    found: dict[Hashable, Arms] = {}
    for executor in figures:
        base = references(cells, cells[executor].key.server)[executor]
        if base != executor and base in figures:
            leading = metrics_of(cells[base].load)[0]
            above, below = (_up_to(blocks, arm) for arm in paired_figures(leading, cells[executor], cells[base]))
            lost = losses_among(*(_arm(cells[one], blocks, told[one]) for one in (executor, base)))
            loads = cells[executor].load, cells[base].load
            least = least_error_of(leading, *zip(loads, (above.values(), below.values()), strict=True))
            found[executor] = Arms({}, {}) if lost.differ else Arms(above, below, least)
    return found or {executor: _by_itself(cells[executor], mine) for executor, mine in figures.items()}


def _arm(cell: CellRecord, blocks: int, figures: Mapping[int, ForkFigure]) -> ArmForks:
    forks = [fork for fork in cell.forks if fork.fork <= blocks]
    return arm_forks(len(forks), forks, cell.load, figures)


def _by_itself(cell: CellRecord, figures: Mapping[int, float]) -> Arms:
    least = least_error_of(metrics_of(cell.load)[0], (cell.load, figures.values()))
    return Arms(figures, dict.fromkeys(figures, 1.0), least)


def _up_to(blocks: int, by_block: Mapping[int, T]) -> dict[int, T]:
    return {block: figure for block, figure in by_block.items() if block <= blocks}


def words(decision: Decision, blocks: int, rules: StoppingRules) -> str:
    """Describe the decision, with the figures behind it, in one line."""
    widths = [
        (half, half_width_that_tells(ratio.value, rules.precision))
        for ratio in decision.ratios.values()
        if ratio and (half := ratio.half_width_log) is not None
    ]
    untold = [str(name) for name, ratio in decision.ratios.items() if ratio is None or ratio.half_width_log is None]
    known, needed = "no ratio", math.log1p(rules.precision)
    if widths:
        half, needed = max(widths, key=lambda one: one[0] / one[1])
        known = f"known to ± {math.expm1(half):.1%}"
    if widths and untold:
        known += f" (not that of {', '.join(untold)})"
    ends = {
        Why.PRECISE: "enough",
        Why.MOST: "the most that the profile allows",
        Why.NO_FINER: "no more, since it is read too coarsely",
    }
    end = ends.get(decision.why, "one more")
    if decision.why is Why.PRECISE and not widths:
        end = "no more, since no ratio could be judged"
    return f"{known} after {blocks} blocks, ± {math.expm1(needed):.1%} needed: {end}"
