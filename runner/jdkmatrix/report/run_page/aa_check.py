"""The A/A check: one executor measured as two. What its arms differ by is chance, and says what else may be. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import first_arm, is_aa_arm
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.outcomes import against, verdict
from jdkmatrix.report.words.numbers import ratio_interval, ratio_value
from jdkmatrix.report.words.sentences import because, condition, not_judged_words
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Verdict


def aa_notices(cells: Cells, judgements: Judgements, beside: Collection[CellKey] = ()) -> Iterable[Notice]:
    """One for each cell that was measured again, or of those under the condition of `beside`. The checks of a page are
    judged among themselves."""
    groups = {key.group for key in beside}
    for key in cells.keys:
        if not is_aa_arm(key.executor) or (groups and key.group not in groups):
            continue
        base = first_arm(key.executor)
        metric = cells.leading(key)
        arms = f"{base} against itself on {key.jdk}, {key.served}, {condition(key.cpus, key.task)}, {key.load}"
        judged = judgements.of(metric, key)
        outcomes = judgements.outcomes(key)
        if outcomes is not None and outcomes.differs:
            text = f"{arms}: the second arm {against(outcomes)} with the first, {verdict(outcomes)}"
            yield Notice("warn", "A/A check failed", f"{text}: a difference where there is none.")
        if judged is None:
            yield Notice("warn", "No A/A check", f"{arms}: no block has both arms usable.")
            continue
        ratio = judged.ratio
        if judged.verdict is Verdict.NOT_JUDGED:
            yield Notice("warn", "A/A check not judged", f"{arms}: {not_judged_words(judged)}.")
            continue
        found = f"{arms}: {metric.name} ratio {ratio_value(ratio)}"
        detectable = detectable_share(ratio)
        if detectable is None:
            yield Notice("info", "A/A check", f"{found} in one block: no interval.")
            continue
        found += f", 95 % interval {ratio_interval(ratio)}"
        reason = because(judged, "A/A check")
        if judged.verdict is Verdict.DIFFERENT:
            yield Notice(
                "warn",
                "A/A check failed",
                f"{found}, {reason}: a difference where there is none. One page in twenty says so by chance; otherwise "
                "something on this host favours one arm, and no difference here is to be trusted.",
            )
        else:
            able = (
                f"In {ratio.blocks} blocks a single comparison on this host can tell differences above "
                f"{detectable * 100:.0f} %, one among many only larger ones."
            )
            yield Notice("info", "A/A check", f"{found}; {reason}. {able}")


def detectable_share(ratio: Ratio) -> float | None:
    """By how much a ratio of so many blocks, scattered like this one, must exceed 1 for its interval to leave 1 out:
    the half-width of the interval on the log scale, as a share. None without an interval."""
    half = ratio.half_width_log
    if half is None:
        return None
    return math.expm1(half)
