"""Choose how many rounds a fork should have. Pure.

Forks that are measured in turns give one log ratio per round. Their mean over the rounds of a fork is one observation:
rounds of one fork share its JVMs and are not replicates. Its variance has two components, as in a one-way analysis of
variance: that between forks, and that between the rounds inside one, which more rounds average out. If a fork costs
`start_s` before its first round and `round_s` for each, the variance of a result falls fastest for its time with

    rounds = √(start_s / round_s · inside / between)

(T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013, pp. 63-74, section 5 with two levels).

A few forks show `between` badly: with five forks that differ as recorded ones did, it comes out as 0 in up to half of
the cases, which would ask for the longest forks there are. Too many rounds cost more than too few. So the variance of
forks' means is taken to be as large as the truth is in only one case of five (from the chi-square distribution of a
sample's variance): more rounds than the least are measured if they pay even then. Simulated campaigns to ± 2 % with 20
to 60 rounds, at 100 s of start and 2.6 s per round, in the time that a fixed 20 takes (measured again by the tests):

    scatter of forks, of rounds      the formula alone     as here
    0,     4.1 %                           1.32              1.00
    1.1 %, 4.8 %                           1.16              1.00
    2.8 %, 3.9 %                           1.01              1.00
    2.6 %, 4.7 %                           1.04              1.00
    1.1 %, 12.1 %                          1.00              0.98
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_ASSURANCE = 0.8  # the probability that forks differ by no more than assumed


@dataclass(frozen=True)
class Components:
    """Variances of log ratios: `between` forks, and of one round `inside` a fork. `forks`, `rounds`: how many they were
    estimated from, rounds in all."""

    between: float
    inside: float
    forks: int
    rounds: int


def components(forks: Sequence[Sequence[float]]) -> Components | None:
    """Estimate the components of variance from the log ratios of the rounds of every fork, ignoring forks without two
    rounds; None if fewer than two are left."""
    told = [logs for logs in forks if len(logs) >= 2]
    if len(told) < 2:
        return None
    squares = sum(statistics.variance(logs) * (len(logs) - 1) for logs in told)
    inside = squares / sum(len(logs) - 1 for logs in told)
    seen = statistics.variance([statistics.fmean(logs) for logs in told])
    # With unequal forks, each mean has inside / n of the scatter of its rounds.
    between = seen - inside * statistics.fmean(1 / len(logs) for logs in told)
    return Components(max(0.0, between), inside, len(told), sum(map(len, told)))


def best_rounds(found: Components, *, start_s: float, round_s: float, least: int, most: int) -> int:
    """Return the best number for a fork, within bounds; `between` is as large as above.

    `start_s`, `round_s`: of all arms of a block together.
    """
    from scipy.special import chdtri  # noqa: PLC0415 - see the package

    freedom, inside = found.forks - 1, found.inside * found.forks / found.rounds
    between = (found.between + inside) * freedom / float(chdtri(freedom, _ASSURANCE)) - inside
    if between <= 0:
        return most
    return min(most, max(least, round(math.sqrt(start_s / round_s * found.inside / between))))
