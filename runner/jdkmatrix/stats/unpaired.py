"""Compare two arms whose forks share no block: those of two runs. Pure.

Welch's interval of the difference of two means, on logarithms, so that it is that of the ratio of two geometric means
(B. L. Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are Involved",
Biometrika 34(1-2), 1947, pp. 28-35). It assumes that nothing changed between the runs but what is compared: whatever
the host does differently on another day is in the ratio, and in no interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from jdkmatrix.stats.intervals import nominal_confidence, p_without_scatter, standard_error
from jdkmatrix.stats.ratios import Ratio, of_logs, sequential_p


def unpaired_ratio(
    numerators: Sequence[float], denominators: Sequence[float], *, sequential: bool = False, least: float = 0.0
) -> Ratio | None:
    """Return the geometric mean of `numerators` over that of `denominators`, all above 0; its `blocks` are those of the
    arm with fewer. `sequential`, `least`: as in paired_ratio. None if an arm is empty."""
    above, below = ([math.log(one) for one in arm] for arm in (numerators, denominators))
    return difference_of_logs(above, below, sequential=sequential, least=least)


def difference_of_logs(
    above: Sequence[float], below: Sequence[float], *, sequential: bool = False, least: float = 0.0
) -> Ratio | None:
    """Do as unpaired_ratio, for values that are logarithms already. `least`: the standard error is no less."""
    if not above or not below:
        return None
    difference = statistics.fmean(above) - statistics.fmean(below)
    fewest = min(len(above), len(below))
    if fewest < 2:
        return Ratio(math.exp(difference), None, None, fewest)
    confidence = nominal_confidence(sequential=sequential)
    one, other = standard_error(above) ** 2, standard_error(below) ** 2
    error = max(math.sqrt(one + other), least)
    if error == 0:
        half, p_value = 0.0, p_without_scatter(difference)
    else:
        from scipy.special import stdtr, stdtrit  # noqa: PLC0415 - see the package

        scattered = one**2 / (len(above) - 1) + other**2 / (len(below) - 1)
        freedom = (one + other) ** 2 / scattered if scattered else fewest - 1
        half = float(stdtrit(freedom, (1 + confidence) / 2)) * error
        p_value = 2 * float(stdtr(freedom, -abs(difference) / error))
    ends = (difference - half, difference + half)
    return of_logs(difference, ends, fewest, sequential_p(p_value) if sequential else p_value)
