"""Which groups of cells need another block? Pure: from recorded forks, so that a resumed run decides alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping

from jdkmatrix.config.executors import reference
from jdkmatrix.records import CellRecord
from jdkmatrix.stats.forks import leading_by_block
from jdkmatrix.stats.stopping import Arms, Decision, StoppingRules, Why, after_block


def decide(group: Iterable[CellRecord], blocks: int, rules: StoppingRules) -> Decision:
    """After `blocks` blocks of the cells of one group; what later blocks say, where there are any, is not looked at."""
    return after_block(blocks, comparisons(group, blocks), rules)


def comparisons(group: Iterable[CellRecord], blocks: int) -> dict[Hashable, Arms]:
    """By executor: its leading figure and that of the executor that it is compared with, per block.

    Where nothing is compared (a single executor, say), every executor's own figure must be precise instead: it is
    paired with 1.
    """
    by_block: dict[str, Mapping[int, float]] = {
        cell.key.executor: {block: value for block, value in leading_by_block(cell).items() if block <= blocks}
        for cell in group
    }
    found: dict[Hashable, Arms] = {
        executor: (figures, by_block[reference(executor)])
        for executor, figures in by_block.items()
        if reference(executor) != executor and reference(executor) in by_block
    }
    return found or {executor: (figures, dict.fromkeys(figures, 1.0)) for executor, figures in by_block.items()}


def words(decision: Decision, blocks: int, rules: StoppingRules) -> str:
    """The decision with the figures that made it, in a line."""
    widths = [math.expm1(width) for width in decision.half_widths_log.values() if width is not None]
    known = f"known to ± {max(widths):.1%}" if widths else "no ratio"
    asked = f"± {rules.precision:.1%} asked for"
    end = {Why.PRECISE: "enough", Why.MOST: "the most that the profile allows"}.get(decision.why, "one more")
    return f"{known} after {blocks} blocks, {asked}: {end}"
