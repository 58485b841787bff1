"""Compare the cost of the stopping rule with that of forks of a fixed length. Pure.

A fixed protocol gives every point a ramp of 10 s and 180 s of measurement. Long forks average out what varies inside a
JVM, but not what differs from one start to the next. How much there is of each is read from recorded forks (one-way
analysis of variance on the log scale): the scatter of the windows inside forks gives the inner variance per second, and
what the blocks' ratios scatter beyond that lies between forks. Both together say how many blocks a protocol needs, in
the way that T. Kalibera, R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013, pp. 63-74, choose repetition
counts. Windows of one fork are taken as independent here; if they are correlated, long forks gain less than stated.
Whether 10 s of ramp make the server warm is another question, which its precision does not answer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE, student_t
from jdkmatrix.stats.ratios import log_ratios
from jdkmatrix.stats.rounds import Components

FIXED_RAMP_S = 10.0
FIXED_MEASURE_S = 180.0
_FIXED_BLOCKS_MIN = 2  # fewer have no interval


@dataclass(frozen=True)
class MeasuredWindow:
    """One window. `figure`: for example requests per second.

    Raises:
        MatrixError: duration or figure is not finite and above 0.
    """

    duration_s: float
    figure: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) and value > 0 for value in (self.duration_s, self.figure)):
            raise MatrixError(
                f"a measured window needs a duration and a figure above 0, found {self.duration_s} s and {self.figure}"
            )


@dataclass(frozen=True)
class MeasuredFork:
    """One fork. `started_s`: from the start of the process to its first answer; `warm_s`: until its first window may
    begin, None if its record does not tell; `spent_s`: on its windows and between them, other forks' turns left out."""

    started_s: float
    warm_s: float | None
    spent_s: float
    windows: tuple[MeasuredWindow, ...]

    @property
    def measured_s(self) -> float:
        return sum(window.duration_s for window in self.windows)

    @property
    def figure(self) -> float:
        return sum(window.figure * window.duration_s for window in self.windows) / self.measured_s


@dataclass(frozen=True)
class Cost:
    """The cost of knowing one ratio to the precision asked for, both arms together."""

    blocks: int
    block_s: float

    @property
    def total_s(self) -> float:
        return self.blocks * self.block_s


@dataclass(frozen=True)
class Protocols:
    """The cost of the stopping rule with forks as they were recorded, and with forks of a fixed length; None if it is
    not known for these.

    Standard deviations of the log ratio of one block: between forks, and of the windows inside.
    """

    adaptive: Cost
    between_forks_log: float
    inside_forks_log: float
    fixed: Cost | None = None


def measured_fork(fork: Fork) -> MeasuredFork:
    """Return a usable fork's durations and the throughput of its valid windows.

    Raises:
        MatrixError: it has no valid window, never gave a first answer, or none in one of its windows.
    """
    if not fork.valid_windows or fork.first_response_s is None:
        raise MatrixError(f"fork {fork.fork} has no valid window, so it has no figures")
    first, last = fork.windows[0], fork.windows[-1]
    spent_s = last.t_s + last.load.duration_s - first.t_s
    return MeasuredFork(
        started_s=fork.first_response_s,
        warm_s=_warm_s(fork) if fork.together else first.t_s,
        spent_s=spent_s / len(fork.together) if fork.together else spent_s,
        windows=tuple(MeasuredWindow(w.load.duration_s, w.load.succeeded_rps) for w in fork.valid_windows),
    )


def _warm_s(fork: Fork) -> float | None:
    """Return the time in s at which the fork itself was warm: in turns, its first window waits for the others."""
    if fork.warmup is None or not fork.warmup.windows:
        return None
    return fork.warmup.windows[-1].t_s + sum(window.duration_s or 0.0 for window in fork.warmup.settling)


def compare_protocols(
    numerators: Mapping[int, MeasuredFork],
    denominators: Mapping[int, MeasuredFork],
    half_width_log: float,
    min_blocks: int,
) -> Protocols:
    """Return the expected cost of either protocol until the interval of the log ratio has at most this half width, from
    recorded blocks of two arms, keyed by block.

    Raises:
        MatrixError: fewer than two blocks have both arms, a fork has no two windows, or a figure is not above 0.
    """
    blocks = sorted(numerators.keys() & denominators.keys())
    arms = [[arm[block] for block in blocks] for arm in (numerators, denominators)]
    if len(blocks) < 2 or any(len(fork.windows) < 2 for arm in arms for fork in arm):
        raise MatrixError(
            "to compare protocols, two blocks with both arms and two windows in each of their forks are needed;"
            f" found {len(blocks)} blocks and"
            f" {min((len(fork.windows) for arm in arms for fork in arm), default=0)} windows in the shortest fork"
        )
    observed = statistics.variance(
        log_ratios(*({block: arm[block].figure for block in blocks} for arm in (numerators, denominators)))
    )
    per_second = [_inner_variance_per_s(arm) for arm in arms]
    inside = sum(
        variance / statistics.fmean(fork.measured_s for fork in arm)
        for variance, arm in zip(per_second, arms, strict=True)
    )
    between = max(0.0, observed - inside)
    return Protocols(
        adaptive=_adaptive(arms, between + inside, half_width_log, min_blocks),
        fixed=Cost(
            blocks_needed(between + sum(per_second) / FIXED_MEASURE_S, half_width_log, CONFIDENCE, _FIXED_BLOCKS_MIN),
            sum(statistics.fmean(fork.started_s for fork in arm) + FIXED_RAMP_S + FIXED_MEASURE_S for arm in arms),
        ),
        between_forks_log=math.sqrt(between),
        inside_forks_log=math.sqrt(inside),
    )


def cost_in_turns(
    numerators: Sequence[MeasuredFork],
    denominators: Sequence[MeasuredFork],
    found: Components,
    half_width_log: float,
    min_blocks: int,
) -> Protocols:
    """Return what `compare_protocols` does, for forks that took turns; `found`: from the log ratios of their rounds.
    They say nothing of a fixed length: forks of one block that are minutes apart meet different states of the host, a
    difference that cancels in every round.

    Raises:
        MatrixError: an arm has no fork, or none that tells when it was warm.
    """
    arms = (numerators, denominators)
    if not all(arms):
        raise MatrixError("to work out what a ratio costs, each executor needs a usable fork")
    inside = found.inside / statistics.fmean(len(fork.windows) for arm in arms for fork in arm)
    return Protocols(
        adaptive=_adaptive(arms, found.between + inside, half_width_log, min_blocks),
        between_forks_log=math.sqrt(found.between),
        inside_forks_log=math.sqrt(inside),
    )


def _adaptive(arms: Sequence[Sequence[MeasuredFork]], variance: float, half_width_log: float, min_blocks: int) -> Cost:
    """Return the cost of the stopping rule. `variance`: of the log ratio of one block."""
    blocks = blocks_needed(variance, half_width_log, SEQUENTIAL_CONFIDENCE, min_blocks)
    return Cost(blocks, sum(_fork_s(arm) for arm in arms))


def _fork_s(arm: Sequence[MeasuredFork]) -> float:
    warm_s = [fork.warm_s for fork in arm if fork.warm_s is not None]
    if not warm_s:
        raise MatrixError("no record of this executor's forks tells when they were warm")
    return statistics.fmean(warm_s) + statistics.fmean(fork.spent_s for fork in arm)


def _inner_variance_per_s(forks: Sequence[MeasuredFork]) -> float:
    """Return the pooled variance of the log figure of a second inside a fork; a window of d seconds has 1 / d of it."""
    squares = 0.0
    for fork in forks:
        logs = [math.log(window.figure) for window in fork.windows]
        mean = sum(log * w.duration_s for log, w in zip(logs, fork.windows, strict=True)) / fork.measured_s
        squares += sum(w.duration_s * (log - mean) ** 2 for log, w in zip(logs, fork.windows, strict=True))
    return squares / sum(len(fork.windows) - 1 for fork in forks)


def blocks_needed(
    variance: float, half_width: float, confidence: float, least: int, *, least_error: float = 0.0
) -> int:
    """Return the smallest n from `least` on with t(n) · max(√(variance / n), least_error) ≤ half_width. Many blocks
    must suffice for `least_error`."""
    normal = student_t(confidence, 10**9)
    # Student's t never needs fewer than the normal distribution does, so nothing is skipped.
    blocks = max(least, math.floor(variance * (normal / half_width) ** 2))
    while student_t(confidence, blocks) * max(math.sqrt(variance / blocks), least_error) > half_width:
        blocks += 1
    return blocks
