"""The 95 % interval of a mean of independent values, one per fork or per block. Pure.

The replicate is the fork, never the window: windows inside one JVM share its compilation, heap layout and thread
placement, so their scatter says nothing about the next start. A. Georges, D. Buytaert, L. Eeckhout, "Statistically
Rigorous Java Performance Evaluation", OOPSLA 2007, pp. 57-76, treat the mean of each VM invocation as one observation
and put Student's t interval on those; T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013,
pp. 63-74, show why repetition has to happen at the highest level that varies.

Student's t for any number of values ("The Probable Error of a Mean", Biometrika 6(1), 1908, pp. 1-25), so that interval
and p-value come from one method and agree. It assumes independent, roughly normal values. How often it covers the truth
where they are not, in per cent of 10,000 simulated data sets (measured again by the tests):

    of n values                       3      5      8     12
    normal                           95     95     95     95
    t with 3 degrees of freedom      96     96     96     96
    bursts in both arms              96     97     97     97
    bursts in one arm                93     91     88     86
    AR(1), correlation 0.3           91     88     87     86
    two modes of a start, one arm    79     78     89     93
    two modes of a start, both       97     98     96     95

Bursts: every value scatters by 1 %, and one in ten is another 5 % lower, on average (exponentially distributed). If
they hit one arm only, the values are skewed, and a few of them do not show how much. The BCa bootstrap (B. Efron,
"Better Bootstrap Confidence Intervals", JASA 82(397), 1987, pp. 171-185), which follows skew, covered no more there:
85 % of 8 and of 12 values; with bursts in both arms 88 % and 87 %. Two modes: one start in four ends up 8 % slower for
good, on top of a scatter of 1 %. A few forks of one arm may all be fast, and then show nothing of it: below ten, the
interval covers far less than it claims. So it does if blocks are added until ratios are known to ± 2 % (stopping.py):
79 %. With a scatter of 2 % it covers 91, 90, 92 and 94 %. Only more forks help; from eight on, `modes` looks for modes.
Correlated values are another matter: no interval for independent values helps, and `dependence` tests for them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

CONFIDENCE = 0.95
# Where the number of blocks was decided by looking at them (stopping.py): looking favours samples that scatter less
# than the truth does, so that a nominal 95 % would cover 92 %.
SEQUENTIAL_CONFIDENCE = 0.97
_EXP_MAX = 709.0  # of a 64-bit float
MANY = 10**9  # values; more of them make an interval no narrower by Student's t
_ROUNDING = 1e-12  # anything smaller, relative to the values, is rounding error


def nominal_confidence(*, sequential: bool) -> float:
    """Return the nominal confidence. `sequential`: blocks were added by looking at the figures (stopping.py)."""
    return SEQUENTIAL_CONFIDENCE if sequential else CONFIDENCE


def mean_interval(
    values: Sequence[float], confidence: float = CONFIDENCE, least_error: float = 0.0
) -> tuple[float, float] | None:
    """Return low and high end; None for a single value. `least_error`: a lower bound on the standard error."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    half = student_t(confidence, len(values)) * max(standard_error(values), least_error)
    return mean - half, mean + half


def exp(log: float) -> float:
    """Return e to this power, infinite beyond the range of a float: figures can differ by orders of magnitude."""
    return math.exp(log) if log < _EXP_MAX else math.inf


def p_of_zero(values: Sequence[float], least_error: float = 0.0) -> float:
    """Return the two-sided p-value of "the true mean is 0", from at least two values: below 1 - c exactly if the
    interval of confidence c excludes 0."""
    mean, error = statistics.fmean(values), max(standard_error(values), least_error)
    if error == 0:
        return p_without_scatter(mean)
    from scipy.special import stdtr  # noqa: PLC0415 - see the package

    return 2 * float(stdtr(len(values) - 1, -abs(mean) / error))


def p_without_scatter(mean: float) -> float:
    """Return 1 for a mean of 0, even if rounding has left something of it, and 0 for any other."""
    return 1.0 if abs(mean) <= _ROUNDING else 0.0


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of at least two values; 0 if they differ by rounding only."""
    spread = statistics.stdev(values)
    return 0.0 if spread <= _ROUNDING * (1 + abs(statistics.fmean(values))) else spread / math.sqrt(len(values))


def student_t(confidence: float, n: float) -> float:
    """Return the two-sided quantile of Student's t for the mean of n values, which has n - 1 degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 - a third of the time that scipy.stats takes

    return float(stdtrit(n - 1, (1 + confidence) / 2))
