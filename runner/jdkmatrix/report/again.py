"""The A/A check: one executor measured as two. What its arms differ by is chance, and says what else may be. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from jdkmatrix.config.executors import base_of, is_again
from jdkmatrix.report.cellstats import THROUGHPUT, Cells
from jdkmatrix.report.numbers import ratio_interval, ratio_value
from jdkmatrix.report.views import Notice
from jdkmatrix.report.wording import condition
from jdkmatrix.stats import Ratio


def aa_notices(cells: Cells) -> Iterable[Notice]:
    """One for each cell that was measured again."""
    for key in cells.keys:
        if not is_again(key.executor):
            continue
        base = base_of(key.executor)
        arms = f"{base} against itself on {key.jdk}, {key.workload}, {condition(key.cpus, key.burn_us)}, {key.load}"
        ratio = cells.ratio(THROUGHPUT, key, base)
        if ratio is None:
            yield Notice("warn", "No A/A check", f"{arms}: no block has both arms usable.")
            continue
        found = f"{arms}: throughput ratio {ratio_value(ratio)}"
        detectable = detectable_share(ratio)
        if detectable is None:
            yield Notice("info", "A/A check", f"{found} in one block: no interval.")
            continue
        found += f", 95 % interval {ratio_interval(ratio)}"
        if contains_one(ratio):
            able = f"In {ratio.blocks} blocks this host can tell differences above {detectable * 100:.0f} %."
            yield Notice("info", "A/A check", f"{found}. {able}")
        else:
            yield Notice(
                "warn",
                "A/A check failed",
                f"{found}: a difference where there is none. One check in twenty does so by chance; otherwise "
                "something on this host favours one arm, and no difference here is to be trusted.",
            )


def contains_one(ratio: Ratio) -> bool:
    return ratio.ci_low is not None and ratio.ci_high is not None and ratio.ci_low <= 1 <= ratio.ci_high


def detectable_share(ratio: Ratio) -> float | None:
    """By how much a ratio of so many blocks, scattered like this one, must exceed 1 for its interval to leave 1 out:
    the half-width of the interval on the log scale, as a share. None without an interval."""
    half = ratio.half_width_log
    if half is None:
        return None
    return math.expm1(half)
