"""What the blocks of one condition say, while others are still to come. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from jdkmatrix.domain.executors import is_aa_arm, is_virtual, references
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.report.words.numbers import ratio_interval, ratio_value, span
from jdkmatrix.run.blocks import comparisons
from jdkmatrix.stats.intervals import CONFIDENCE, student_t
from jdkmatrix.stats.protocols import blocks_needed
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.store.cells import CellRecord

BLOCKS_TOLD_MAX = 200  # beyond that, more blocks are no way


def so_far(group: Sequence[CellRecord], precision: float, block_s: float) -> str | None:
    """The leading figure of virtual threads, or of the first that is compared; None where no block has two arms, or one
    arm has lost more forks than the other. `group`: the cells of one condition; `precision`: a share that the ratio is
    to be known to; `block_s`: seconds that another block takes."""
    cells = {cell.key.executor: cell for cell in group}
    bases = references(cells, group[0].key.server)
    blocks = max(fork.fork for cell in group for fork in cell.forks)
    found = {name: arms for name, arms in comparisons(group, blocks).items() if bases[str(name)] != name}
    if not found:
        return None
    name = min(map(str, found), key=lambda name: (is_aa_arm(name), not is_virtual(name)))
    base, ratio = cells[bases[name]], paired_ratio(*found[name])
    if ratio is None:
        return None
    figure = metrics_of(base.load)[0].name
    told = f"{figure} with {name} is {ratio_value(ratio)} × that with {base.key.executor}"
    return f"so far: {told} ({_known(ratio)}){_ahead(ratio, precision, lambda n: span(n * block_s))}"


def _known(ratio: Ratio) -> str:
    interval = ratio_interval(ratio)
    return f"95 %: {interval}, {plural(ratio.blocks, 'block')}" if interval else "1 block, no interval yet"


def _ahead(ratio: Ratio, precision: float, span_of: Callable[[int], str]) -> str:
    more = blocks_ahead(ratio, precision)
    if more is None:
        return ""
    if not more:
        return f"; known to {plus_minus(math.expm1(ratio.half_width_log or 0))}"
    if more > BLOCKS_TOLD_MAX:
        return f"; to {plus_minus(precision)} more than {BLOCKS_TOLD_MAX} blocks"
    return f"; to {plus_minus(precision)} about {plural(more, 'more block')}, {span_of(more)}"


def blocks_ahead(ratio: Ratio, precision: float) -> int | None:
    """How many more blocks would tell the ratio to ± `precision` (a share), if they scatter as those before; None where
    nothing says how they scatter."""
    half = ratio.half_width_log
    if half is None or not math.isfinite(half):
        return None
    if half <= math.log1p(precision):
        return 0
    variance = ratio.blocks * (half / student_t(CONFIDENCE, ratio.blocks)) ** 2
    return blocks_needed(variance, math.log1p(precision), CONFIDENCE, ratio.blocks + 1) - ratio.blocks


def plus_minus(share: float) -> str:
    """ "± 5 %"."""
    return f"± {share * 100:.2g} %"
