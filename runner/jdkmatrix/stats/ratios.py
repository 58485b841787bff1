"""Two arms, compared inside blocks. Pure.

Pairing removes what both forks of a block share (the state of the host at that time), as in the matched-pair
comparison of A. Georges, L. Eeckhout, D. Buytaert, "Java Performance Evaluation through Rigorous Replay Compilation",
OOPSLA 2008, pp. 367-384. The ratios of the blocks are summarised by their geometric mean, and the interval is that of
the mean of their logarithms, so that swapping the arms inverts ratio and interval (P. J. Fleming, J. J. Wallace, "How
Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results", CACM 29(3), 1986, pp. 218-221, for the
mean of ratios). Both assume independent blocks (dependence.py tests whether they are).

Interval and p-value are Student's, and agree: p is below 0.05 exactly if the interval excludes 1. A page says
"different" by the p-value (verdicts.py), which it can adjust for all that it compares.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.intervals import (
    CONFIDENCE,
    SEQUENTIAL_CONFIDENCE,
    exp,
    mean_interval,
    nominal_confidence,
    p_of_zero,
)


@dataclass(frozen=True)
class Ratio:
    """Numerator over denominator with its 95 % interval, and the p-value of "the true ratio is 1".

    A single block has no interval and no p-value. `least_error`: a lower limit on the standard error of its log,
    however many blocks there are.
    """

    value: float
    ci_low: float | None
    ci_high: float | None
    blocks: int
    p_value: float | None = None
    least_error: float = 0.0

    @property
    def half_width_log(self) -> float | None:
        """Half the width of the interval of the log ratio: 0.02 is about ± 2 %."""
        if self.ci_low is None or self.ci_high is None:
            return None
        return (math.log(self.ci_high) - math.log(self.ci_low)) / 2


def paired_ratio(
    numerators: Mapping[int, float],
    denominators: Mapping[int, float],
    *,
    sequential: bool = False,
    least: float = 0.0,
) -> Ratio | None:
    """Return the geometric mean of numerator / denominator over the blocks that have both; each is keyed by block.

    `sequential`: the number of blocks was decided by looking at these figures, for which interval and p-value then
    compensate (stopping.py). `least`: the standard error of the log that no number of blocks can go below
    (least_error). None if no block has both arms.

    Raises:
        MatrixError: a figure is not finite and above 0, so that its block has no ratio.
    """
    logs = log_ratios(numerators, denominators)
    if not logs:
        return None
    mean = statistics.fmean(logs)
    interval = mean_interval(logs, nominal_confidence(sequential=sequential), least)
    if interval is None:
        return Ratio(math.exp(mean), None, None, len(logs))
    p_value = p_of_zero(logs, least)
    found = of_logs(mean, interval, len(logs), sequential_p(p_value) if sequential else p_value)
    return replace(found, least_error=least)


def least_error(*steps: float) -> float:
    """Return the least standard error of a sum or a difference of means whose values are read in these steps. Each is
    off by up to one, with a standard deviation of 1 / √12 of it; and if all read the same, all are off in the same way:
    they scatter too little, and more of them do not help. For the log of a ratio, steps are shares of what is read."""
    return math.hypot(*steps) / math.sqrt(12)


def step_behind(error: float) -> float:
    """Return the largest step, as a share of what is read, that such a least standard error can come from."""
    return error * math.sqrt(12)


def of_logs(mean: float, interval: tuple[float, float], blocks: int, p_value: float) -> Ratio:
    """Return the ratio behind logarithms."""
    low, high = map(exp, interval)
    return Ratio(math.exp(mean), low, high, blocks, p_value)


def sequential_p(p_value: float) -> float:
    """Adjust a p-value to be below 0.05 exactly if the interval at the sequential level excludes 1."""
    return min(1.0, p_value * (1 - CONFIDENCE) / (1 - SEQUENTIAL_CONFIDENCE))


def log_ratios(numerators: Mapping[int, float], denominators: Mapping[int, float]) -> list[float]:
    """Return the log ratios in the order of the blocks.

    Raises:
        MatrixError: as paired_ratio.
    """
    logs = []
    for block in sorted(numerators.keys() & denominators.keys()):
        for figure in (numerators[block], denominators[block]):
            if not (math.isfinite(figure) and figure > 0):
                raise MatrixError(f"block {block}: a ratio needs finite figures above 0, found {figure}")
        logs.append(math.log(numerators[block]) - math.log(denominators[block]))
    return logs
