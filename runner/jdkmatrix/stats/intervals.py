"""The 95 % interval of a mean of independent values, one per fork or per block. Pure.

The replicate is the fork, never the window: windows inside one JVM share its compilation, heap layout and thread
placement, so their scatter says nothing about the next start. A. Georges, D. Buytaert, L. Eeckhout, "Statistically
Rigorous Java Performance Evaluation", OOPSLA 2007, pp. 57-76, treat the mean of each VM invocation as one observation
and put Student's t interval on those; T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013,
pp. 63-74, show why repetition has to happen at the highest level that varies.

Below BOOTSTRAP_FROM values: Student's t, which assumes roughly normal values. From there on: the bias-corrected and
accelerated bootstrap (B. Efron, "Better Bootstrap Confidence Intervals", JASA 82(397), 1987, pp. 171-185), which
follows the skew of the values. Plain BCa covers the truth in 89 % (n = 8) to 93 % (n = 20) of normal samples only,
because the bootstrap works with the variance that divides by n and with normal quantiles. So its level is expanded as
T. C. Hesterberg, "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics
Curriculum", The American Statistician 69(4), 2015, pp. 371-386, proposes for the percentile bootstrap: each tail takes
Φ(-√(n/(n-1)) · t(1 - α/2, n-1)) instead of α/2. The coverage of both is measured in the tests.

Its limit: where the values are symmetric with heavy tails (paired arms on a host whose noise comes in bursts), a sample
of 8 to 20 looks skewed by chance, BCa follows that, and covers in 90 % to 92 % where Student's t covers in 95 % to
97 %. Where they are truly skewed (one arm alone on such a host), it is the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
# Where the number of blocks was decided by looking at them (stopping.py): looking favours samples that scatter less
# than the truth does, so that a nominal 95 % would cover 92 %.
SEQUENTIAL_CONFIDENCE = 0.97
BOOTSTRAP_FROM = 8
RESAMPLES = 9_999
_SEED = 20_261_121
_CONSTANT = 1e-12  # a scatter below this share of the values is rounding


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Low and high end for one sample; None for a single value. The same values give the same interval."""
    if len(values) < 2:
        return None
    import numpy as np  # noqa: PLC0415 - see the package

    low, high = mean_intervals(np.asarray([values], dtype=np.float64), confidence)
    return float(low[0]), float(high[0])


def mean_intervals(
    samples: Floats, confidence: float = CONFIDENCE, *, expanded: bool = True, resamples: int = RESAMPLES
) -> tuple[Floats, Floats]:
    """For many samples of one size at once.

    `samples` has the shape (samples, values), with at least two values; low and high have the shape (samples,).
    `expanded=False` leaves the small-sample correction of the bootstrap out, to show what it is for.
    """
    import numpy as np  # noqa: PLC0415

    n = samples.shape[1]
    mean = samples.mean(axis=1)
    spread = samples.std(axis=1, ddof=1)
    spread = np.where(spread <= _CONSTANT * (1 + np.abs(mean)), 0.0, spread)
    if n < BOOTSTRAP_FROM:
        half = student_t(confidence, n) * spread / math.sqrt(n)
        return mean - half, mean + half
    low, high = mean.copy(), mean.copy()
    varied = spread > 0
    if varied.any():
        centred = (samples[varied] - mean[varied, None]) / spread[varied, None]
        level = expanded_confidence(confidence, n) if expanded else confidence
        below, above = _bca(centred, level, resamples)
        low[varied] += spread[varied] * below
        high[varied] += spread[varied] * above
    return low, high


def student_t(confidence: float, n: int) -> float:
    """The two-sided quantile of Student's t for the mean of n values."""
    from scipy.special import stdtrit  # noqa: PLC0415 - a third of the time that scipy.stats takes

    return float(stdtrit(n - 1, (1 + confidence) / 2))


def expanded_confidence(confidence: float, n: int) -> float:
    """Hesterberg's level for a bootstrap interval of n values: 0.989 for 0.95 and n = 8."""
    from scipy.special import ndtr  # noqa: PLC0415

    return float(1 - 2 * ndtr(-math.sqrt(n / (n - 1)) * student_t(confidence, n)))


def _bca(centred: Floats, confidence: float, resamples: int) -> tuple[Floats, Floats]:
    """Of samples with mean 0 and standard deviation 1."""
    import numpy as np  # noqa: PLC0415
    from scipy.stats import bootstrap  # noqa: PLC0415

    def rounded_mean(values: Floats, axis: int) -> Floats:
        # BCa counts the resamples below the sample's own mean. Where values repeat, many resamples hit that mean
        # exactly; rounding in the last bit must not decide on which side they fall.
        rounded: Floats = np.round(values.mean(axis=axis), 10)
        return rounded

    parts = []
    at_once = max(1, 2_000_000 // resamples)  # bounds the memory
    for start in range(0, len(centred), at_once):
        interval = bootstrap(
            (centred[start : start + at_once],),
            rounded_mean,
            axis=-1,
            vectorized=True,
            confidence_level=confidence,
            n_resamples=resamples,
            batch=max(1, 20_000_000 // (at_once * centred.shape[1])),
            method="BCa",
            rng=np.random.default_rng(_SEED),
        ).confidence_interval
        parts.append((interval.low, interval.high))
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])
