"""Test whether the starts of a server fall into two modes, a faster and a slower one. Pure.

Some starts end up slower than others for good: another layout of the heap, another order of compilation. A few of them
do not show it, and Student's interval then promises too much (see the table in intervals.py). From FEWEST forks on it
can be tested: of all ways to split the sorted figures in two, the one that leaves least scatter inside the parts is
taken, and the share of all scatter that lies between the two is compared with that of as many normal values (L.
Engelman, J. A. Hartigan, "Percentage Points of a Test for Clusters", JASA 64(328), 1969, pp. 1647-1648). Each part has
at least two forks, so that a single outlier is not a mode. The distribution is simulated, with a fixed seed.

With a p-value below 0.01, this many per cent of 4,000 data sets each are said to have two modes (measured again by the
tests). The first four have none: scatter of 2 %; bursts as in intervals.py, which are not modes but just as skewed; and
exponential values. The last three have a quarter of the forks 8 % slower, on top of the scatter that is named:

    of n forks               8     12     20
    normal                   1      1      1
    t, 3 degrees of freedom  1      1      1
    bursts                   2      3      8
    exponential              4      6     10
    two modes, 1 %          46     77     96
    two modes, 2 %           6     11     24
    two modes, 3 %           2      2      4

So two modes that lie far apart are found, and modes that the scatter blurs are not; these harm an interval less. Bursts
and long tails can pass for modes: a finding says that the forks are not of one normal kind, whatever the cause.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jdkmatrix.stats.verdicts import Key, adjust

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

FEWEST = 8
P_MAX = 0.01
_LEAST = 2  # forks of a mode
_SIMULATED = 20_000  # several times as many for so many tests that Holm's procedure would leave nothing below P_MAX
_AT_A_TIME = 1000  # of them, so that those of hundreds of forks fit into a CPU's cache


@dataclass(frozen=True)
class Modes:
    """The two parts of `lower` and `upper` forks, by the logarithms of their figures; `apart`: the distance of their
    means. `p_value`: of "the forks are of one normal kind"."""

    lower: int
    upper: int
    apart: float
    p_value: float


def two_modes(logs: Sequence[float], *, tests: int = 1, step: float = 0.0) -> Modes | None:
    """Return the best split in two, and how likely one as good is by chance; None for fewer than FEWEST forks, or if
    none differs from another. `tests`: the number of tests that its p-value will be adjusted for; `step`: in which the
    logs are read. Readings of one mode scatter over a few steps, so parts must lie further apart than two."""
    import numpy as np  # noqa: PLC0415 - see the package

    if len(logs) < FEWEST or max(logs) - min(logs) <= 1e-12:
        return None
    ordered = np.sort(np.asarray(logs, dtype=float))
    shares, at = _best(ordered[None, :])
    split = int(at[0])
    apart = float(ordered[split:].mean() - ordered[:split].mean())
    if apart <= 2 * step:
        return Modes(split, len(logs) - split, apart, 1.0)
    by_chance = _by_chance(len(logs), math.ceil(2 * tests / P_MAX / _SIMULATED))
    better = int((by_chance >= shares[0]).sum())
    return Modes(split, len(logs) - split, apart, (1 + better) / (1 + len(by_chance)))


def modes_of_family(
    figures: Mapping[Key, Iterable[float]], steps: Mapping[Key, float] | None = None
) -> dict[Key, tuple[Modes, float]]:
    """Return the split of each that has enough positive figures, by their logarithms, with its p-value adjusted (Holm)
    for all of these tests. `steps`: in which they are read, as shares of what is read."""
    read_in = steps or {}
    logs = {key: [math.log(value) for value in values if value > 0] for key, values in figures.items()}
    tests = sum(len(values) >= FEWEST for values in logs.values())
    split = {key: two_modes(values, tests=tests, step=read_in.get(key, 0.0)) for key, values in logs.items()}
    tested = {key: modes for key, modes in split.items() if modes is not None}
    adjusted = adjust({key: modes.p_value for key, modes in tested.items()})
    return {key: (modes, adjusted[key]) for key, modes in tested.items()}


def _best(ordered: Values) -> tuple[Values, npt.NDArray[np.int64]]:
    """Return the best split of each sorted row: the share of its squares that lies between the two parts, and the
    length of the lower."""
    import numpy as np  # noqa: PLC0415

    centred = ordered - ordered.mean(axis=1, keepdims=True)
    n = centred.shape[1]
    sizes = np.arange(_LEAST, n - _LEAST + 1)
    below = centred.cumsum(axis=1)[:, sizes - 1]
    between = below**2 * n / (sizes * (n - sizes))
    best = between.argmax(axis=1)
    return between.max(axis=1) / (centred**2).sum(axis=1), sizes[best]


@functools.lru_cache(maxsize=64)
def _by_chance(n: int, times: int) -> Values:
    import numpy as np  # noqa: PLC0415

    random = np.random.default_rng(n)
    drawn = (random.normal(size=(_AT_A_TIME, n)) for _ in range(times * _SIMULATED // _AT_A_TIME))
    return np.concatenate([_best(np.sort(some, axis=1))[0] for some in drawn])
