"""The ratios of one condition from the blocks so far, while others are still to come. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jdkmatrix.domain.executors import is_aa_arm, is_virtual, references
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.report.words.numbers import ratio_interval, ratio_value, span
from jdkmatrix.run.blocks import comparisons
from jdkmatrix.stats.intervals import nominal_confidence, student_t
from jdkmatrix.stats.protocols import blocks_needed
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.stats.stopping import blocks_help, half_width_that_tells
from jdkmatrix.store.cells import CellRecord

BLOCKS_TOLD_MAX = 200  # beyond that, more blocks are no remedy


def so_far(group: Sequence[CellRecord], precision: float, block_s: float, *, sequential: bool) -> str | None:
    """Describe the leading figure of virtual threads, or of the first that is compared; None if no block has two arms,
    or one arm has lost more forks than the other. `group`: the cells of one condition; `precision`: the share to which
    the ratio is to be known, `sequential`: by adding blocks until it is; `block_s`: seconds per further block."""
    cells = {cell.key.executor: cell for cell in group}
    bases = references(cells, group[0].key.server)
    blocks = max(fork.fork for cell in group for fork in cell.forks)
    every = {str(name): arms for name, arms in comparisons(group, blocks).items()}
    found = {name: arms for name, arms in every.items() if bases[name] in cells.keys() - {name}}
    if not found:
        return None
    name = min(found, key=lambda name: (is_aa_arm(name), not is_virtual(name)))
    base, arms = cells[bases[name]], found[name]
    ratio = paired_ratio(arms.above, arms.below, sequential=sequential, least=arms.least)
    if ratio is None:
        return None
    told = f"{metrics_of(base.load)[0].name} with {name} is {ratio_value(ratio)} × that with {base.key.executor}"
    return f"so far: {told} ({_known(ratio)}){_ahead(ratio, precision, block_s, sequential=sequential)}"


def _known(ratio: Ratio) -> str:
    interval = ratio_interval(ratio)
    return f"95 %: {interval}, {plural(ratio.blocks, 'block')}" if interval else "1 block, no interval yet"


def _ahead(ratio: Ratio, precision: float, block_s: float, *, sequential: bool) -> str:
    more = blocks_ahead(ratio, precision, sequential=sequential)
    if more is None:
        return ""
    if not more:
        return f"; known to {plus_minus(math.expm1(ratio.half_width_log or 0))}"
    share = plus_minus(math.expm1(half_width_that_tells(ratio.value, precision)))
    if more > BLOCKS_TOLD_MAX:
        return f"; {share} needs more than {BLOCKS_TOLD_MAX} more blocks"
    return f"; {share} needs about {plural(more, 'more block')}, {span(more * block_s)}"


def blocks_ahead(ratio: Ratio, precision: float, *, sequential: bool) -> int | None:
    """Return how many more blocks would settle the ratio as stopping.py requires, if it stays and they scatter like
    those before; None where nothing says how they scatter, or no number would. `precision`: a share; `sequential`: as
    in paired_ratio."""
    half = ratio.half_width_log
    if half is None or not math.isfinite(half):
        return None
    needed = half_width_that_tells(ratio.value, precision)
    if half <= needed:
        return 0
    if not blocks_help(ratio, precision, sequential=sequential):
        return None
    confidence = nominal_confidence(sequential=sequential)
    variance = ratio.blocks * (half / student_t(confidence, ratio.blocks)) ** 2
    blocks = blocks_needed(variance, needed, confidence, ratio.blocks + 1, least_error=ratio.least_error)
    return blocks - ratio.blocks


def plus_minus(share: float) -> str:
    """Format a share: "± 5 %"."""
    return f"± {share * 100:.2g} %"
