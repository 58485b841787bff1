"""Decide when a series of windows has become steady, and when it was nearly so. Pure.

Published tests, one after the other, on the logarithms of CPU per request (or of a latency), since noise and warm-up
act as factors:

1. MSER cuts off the warm-up: of all possible cuts, the one that makes the standard error of the rest smallest (K. P.
   White Jr., "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation 69(6), 1997, pp.
   323-334; compared with others by K. P. White Jr., M. J. Cobb, S. C. Spratt, "A Comparison of Five Steady-State
   Truncation Heuristics for Simulation", WSC 2000, pp. 755-760). Batches of five (MSER-5) are not used: a warm-up of
   twenty windows would have four. At least `tail_windows` must remain, and a best cut at that very edge says that the
   series is still settling, as White's rule does for cuts in the second half.
2. Mann's rank test looks for a trend in the rest (H. B. Mann, "Nonparametric Tests Against Trend", Econometrica 13(3),
   1945, pp. 245-259), with the slope of Theil and Sen as its size: ranks and medians do not follow single spikes, which
   a busy host adds on one side. A trend counts if it is both significant and larger than `change_max` over the rest.
3. Where a precision is promised, what is still to come is bounded as well. A decay with a time constant of up to 1.44
   (1 / ln 2) times the length of its tail has no more ahead of it than it fell by in that tail. So the fall over the
   tail, by its slope, may be at most `fall_max`: by the upper end of its one-sided interval (P. K. Sen, "Estimates of
   the Regression Coefficient Based on Kendall's Tau", JASA 63(324), 1968, pp. 1379-1389) while the tail is short, and
   by its estimate once it has `patience_windows`, since scatter would keep the gate shut for minutes.

Extrapolating the drift over the measurement instead of the tail is worse: a measurement of 6 s sees a fifth of what a
decay of 30 s has ahead of it, and the gate opened after 60 s in all series, with 3 to 4 % left. An interval that allows
for autocorrelation gained nothing: where it matters, the estimate decides.

Why not others: the coefficient of variation of Georges et al. (OOPSLA 2007) below 2 % is never reached on a busy host,
and on a quiet one only by luck; Geweke's diagnostic over the whole series never passes after a warm-up by a factor of
30; the segments of E. Barrett et al., "Virtual Machine Warmup Blows Hot and Cold" (OOPSLA 2017) need hundreds of
iterations.

Its behaviour, simulated for windows of 0.5 s, tails of 15 to 30 s, a cap of 88 s and a measurement of 6 s by a profile
that promises 5 %, so that `fall_max` is 1.25 %. Noise is normal, per window; "opens" gives the median and 90 % of the
series; "left" is the bias of the next measurement against the final level, median and 95 % of the series that opened:

    cost                     noise                  opens in          after (s)           left (%)
    level                    2 %                    100 %             23 (16 to 32)
    level                    4 %                    100 %             30 (16 to 36)
    level                    4 %, AR(1) 0.5         100 %             25 (16 to 43)
    1 + 8·exp(-t / 3 s)      1 %, 4 %               100 %, 100 %      43 (34 to 51), 48   0.00
    1 + 0.3·exp(-t / 5 s)    1 %, 4 %               100 %, 100 %      39 (32 to 48), 44   0.01, at most 0.03
    1 + 0.3·exp(-t / 30 s)   1 %, 2 %, 4 %          26, 22, 30 %      83, 85, 77          1.7, 1.6, 2.1 (2.4, 2.4, 3.7)
    1 + 0.3·exp(-t / 30 s)   4 %, AR(1) 0.5         64 %              69                  2.7 (8.6)
    1 + 0.3·exp(-t / 100 s)  1 %, 2 %, 4 %          8, 14, 36 %       84, 73, 63          13, 14, 16
    1 + 0.05·exp(-t / 60 s)  1 %, 2 %, 4 %          100 %             38, 35, 32          2.6, 2.7, 2.8 (3.7, 3.7, 3.7)

The first two tests alone open after 6.5 s for decays of 30 and 100 s, with 22 and 27 % left. For 90 s of measurement
and a promise of 2 % the level series open after 31 s, the fast decays after 48 to 50 s, those of 30 s at 4 % noise in
10 % of the series with 0.6 % left (0.5 % are allowed), those of 100 s in 20 %, with 9.7 %.

What it cannot do is keep the bias below `fall_max` for decays slower than its tail: with a time constant of 30 s it
opens late and leaves up to three times as much, and one of 100 s is taken for a level now and then. A decay that is
both slow and small, by 5 % with 60 s, always passes, with twice what is allowed still ahead: it falls by no more than
`fall_max` over a tail of 15 s. Half the `fall_max` would leave 1.7 to 2.4 % of it and open later; what it leaves
affects a ratio only as far as the arms differ in it. No rule that opens for a noisy level within half a minute tells
them apart: at 4 % noise, the fall of a cost over 30 s is known to ± 3 %. Noise in waves longer than a window passes for
a trend. And a late compilation is seen only after it has happened, so a gate must look at the JIT compiler as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.errors import MatrixError

CONFIDENCE = 0.95  # one-sided
_FEWEST_WINDOWS = 4
_NEARLY = 0.95  # of the performance of the steady level


@dataclass(frozen=True)
class DriftRules:
    """The share by which a cost may fall over its last windows. These are `patience_windows` at most; with that many,
    the estimate decides, whatever its scatter."""

    fall_max: float
    patience_windows: int

    def __post_init__(self) -> None:
        if not self.fall_max > 0 or self.patience_windows < _FEWEST_WINDOWS:
            raise MatrixError(
                f"steady: fall_max > 0 and patience_windows >= {_FEWEST_WINDOWS} are needed, found"
                f" {self.fall_max:g} and {self.patience_windows}"
            )


@dataclass(frozen=True)
class SteadyRules:
    """The rules of the tests. `drift`: None if nothing is promised of the series."""

    tail_windows: int = 12
    trend_alpha: float = 0.1  # two-sided
    change_max: float = 0.05  # over the rest, as a share
    drift: DriftRules | None = None

    def __post_init__(self) -> None:
        if self.tail_windows < _FEWEST_WINDOWS or not 0 < self.trend_alpha < 1 or not self.change_max > 0:
            raise MatrixError(
                f"steady: tail_windows >= {_FEWEST_WINDOWS}, 0 < trend_alpha < 1 and change_max > 0 are needed, found"
                f" {self.tail_windows}, {self.trend_alpha:g} and {self.change_max:g}"
            )


class SeriesState(Enum):
    TOO_SHORT = "too few windows"
    SETTLING = "the best cut leaves only the last windows"
    FALLING = "the rest still falls"
    UNCERTAIN = "the rest scatters too much to tell whether it still falls"
    RISING = "the rest rises"
    FLAT = "flat"


@dataclass(frozen=True)
class Drift:
    """The drift over the last `windows`, as shares; -0.1: fell by 10 %. `per_window`: their Theil-Sen slope; `least`
    and `most`: the ends of its one-sided intervals (CONFIDENCE), over all of them."""

    windows: int
    per_window: float
    least: float
    most: float

    @property
    def whole(self) -> float:
        """The drift over all windows, a share."""
        return (1 + self.per_window) ** self.windows - 1


@dataclass(frozen=True)
class Steadiness:
    """The result. `from_window`: index of the first window after the cut; `level`: geometric mean of the rest, in its
    unit.

    `change`: over the rest, by its Theil-Sen slope, as a share (-0.1: fell by 10 %). All three are None if the series
    is too short; so is `drift`, also if the rules have none.
    """

    finding: SeriesState
    from_window: int | None
    level: float | None
    change: float | None
    trend_p: float | None
    drift: Drift | None = None

    @property
    def warm(self) -> bool:
        """True if waiting makes a cost fall no further. A cost that rises says that the host got busier, or that the
        server leaks something: no reason to keep warming it up, but not flat either."""
        return self.finding in (SeriesState.FLAT, SeriesState.RISING)


def steadiness(values: Sequence[float], rules: SteadyRules | None = None) -> Steadiness:
    """Test the series so far, one value per window of equal length, in order of time.

    A gate asks after each window, for CPU per request and for latency, and opens when both are `warm` and the JIT
    compiler is calm. The first call imports scipy.stats, which takes about a second of CPU.

    Raises:
        MatrixError: a value is not finite and above 0.
    """
    rules = rules or SteadyRules()
    logs = _logs(values)
    if len(logs) <= rules.tail_windows:
        return Steadiness(SeriesState.TOO_SHORT, None, None, None, None)
    from scipy.stats import kendalltau, theilslopes  # noqa: PLC0415 - see the package

    cut = _mser(logs, rules.tail_windows)
    rest = logs[cut:]
    order = range(len(rest))
    slope = float(theilslopes(rest, order)[0])
    p_value = float(kendalltau(order, rest).pvalue) if len(set(rest)) > 1 else 1.0
    change = math.expm1(slope * (len(rest) - 1))
    trending = p_value < rules.trend_alpha and abs(change) > rules.change_max
    drift = _drift(rest, rules.drift) if rules.drift else None
    if cut == len(logs) - rules.tail_windows:
        finding = SeriesState.SETTLING
    elif trending:
        finding = SeriesState.RISING if change > 0 else SeriesState.FALLING
    else:
        finding = _of_drift(drift, rules.drift) if rules.drift and drift else SeriesState.FLAT
    return Steadiness(finding, cut, math.exp(sum(rest) / len(rest)), change, p_value, drift)


def _of_drift(drift: Drift, rules: DriftRules) -> SeriesState:
    patient = drift.windows == rules.patience_windows
    if -(drift.whole if patient else drift.least) <= rules.fall_max:
        return SeriesState.FLAT
    return SeriesState.FALLING if drift.most < 0 else SeriesState.UNCERTAIN


def _drift(rest: Sequence[float], rules: DriftRules) -> Drift:
    from scipy.stats import theilslopes  # noqa: PLC0415

    last = rest[-rules.patience_windows :]
    slope, _, low, high = map(float, theilslopes(last, range(len(last)), alpha=2 * CONFIDENCE - 1))
    return Drift(len(last), math.expm1(slope), *(math.expm1(end * len(last)) for end in (low, high)))


def time_to_steady_s(
    ends_s: Sequence[float], values: Sequence[float], rules: SteadyRules | None = None
) -> float | None:
    """Return when a cost (CPU per request, latency) first reaches, and then keeps, 95 % of the performance of its
    steady level: level / 0.95 or less.

    `ends_s` are the ends of the windows, in seconds since the start of the process, and the answer is one of them. From
    the cut of `steadiness` on, the series is at its level by definition. Before it, the monotonic curve that fits it
    best counts (least squares on the log scale, by pooling adjacent violators: R. E. Barlow, D. J. Bartholomew, J. M.
    Bremner, H. D. Brunk, "Statistical Inference under Order Restrictions", Wiley, 1972): on such a curve "first
    reaches" and "keeps" are the same moment, and a single lucky window is not mistaken for it.

    None if the series is too short, still settling, or still falls or may do so.

    Raises:
        MatrixError: as steadiness.
    """
    found = steadiness(values, rules)
    not_there = (SeriesState.SETTLING, SeriesState.UNCERTAIN, SeriesState.FALLING)
    if found.level is None or found.from_window is None or found.finding in not_there:
        return None
    from scipy.optimize import isotonic_regression  # noqa: PLC0415

    level = math.log(found.level)
    before = _logs(values)[: found.from_window]
    curve = isotonic_regression([*before, level], increasing=False).x[:-1]
    near = level - math.log(_NEARLY)
    reached = next((i for i, value in enumerate(curve) if value <= near), found.from_window)
    return ends_s[reached]


def _mser(logs: Sequence[float], tail: int) -> int:
    """Return how many values to cut off, for the smallest variance of the rest divided by its number."""
    import numpy as np  # noqa: PLC0415

    values = np.asarray(logs)
    errors = [float(values[cut:].var() / (len(values) - cut)) for cut in range(len(values) - tail + 1)]
    return int(np.argmin(errors))


def _logs(values: Sequence[float]) -> list[float]:
    if not all(math.isfinite(value) and value > 0 for value in values):
        raise MatrixError(f"a series of windows needs finite values above 0, found {list(values)}")
    return [math.log(value) for value in values]
