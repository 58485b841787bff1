"""Search for the highest rate that a server holds: choose the next rate to try from those tried. Pure.

A rate holds if p99 stays within the objective (SLO) and no request fails. The search bisects by ratio, between a rate
known to work and the saturation throughput, on valid windows only. Windows near the capacity fall on either side by
chance, so in the end no single window decides anything: once the bracket is as narrow as asked for, both its ends are
repeated until one outcome has been seen twice. An end that turns out otherwise reopens the bracket. Even so, more than
one crossing may show up (a server that fails at a rate and holds a higher one): the capacity then ends below the lowest
rate that failed, and the higher ones are reported.

The state is the history alone: ask again after each window. Rates are in requests per second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.windows import Capacity, Window

_CONFIRMATIONS = 2
INVALID_IN_A_ROW_MAX = 3


@dataclass(frozen=True)
class CapacityRules:
    """The rules. `floor_rps` is known to work; `ceiling_rps` is the saturation throughput; `resolution` is relative.
    `nearest_rps`: maps a rate to one that can be made, and such a one, as floor and ceiling are, to itself.

    Raises:
        MatrixError: not 0 < floor_rps < ceiling_rps, or another rule is not above 0.
    """

    floor_rps: float
    ceiling_rps: float
    slo_us: float
    resolution: float = 0.05
    windows_max: int = 60  # valid or not
    nearest_rps: Callable[[float], float] = float

    def __post_init__(self) -> None:
        if not 0 < self.floor_rps < self.ceiling_rps < math.inf:
            raise MatrixError(
                "a capacity search needs a rate that works below one that does not;"
                f" found {self.floor_rps:g} and {self.ceiling_rps:g} requests/s"
            )
        least = min(self.slo_us, self.resolution, self.windows_max)
        if not least > 0:
            raise MatrixError(f"the rules of a capacity search are numbers above 0, found {least:g} among them")


@dataclass(frozen=True)
class TriedRate:
    """One window. `p99_us` is corrected for coordinated omission; None: nothing was answered, so nothing held."""

    rate_rps: float
    valid: bool
    p99_us: float | None
    failed: int  # requests without an answer, and answers other than 2xx
    kept_up: bool = True  # the rate was achieved: a percentile over the few answers of a stuck server says nothing

    def held(self, slo_us: float) -> bool:
        return self.kept_up and self.failed == 0 and self.p99_us is not None and self.p99_us <= slo_us


class Purpose(Enum):
    START = "a rate known to work"
    BISECT = "the middle of the bracket"
    CONFIRM = "an end of the bracket, again"
    REPEAT = "the last window was invalid"


@dataclass(frozen=True)
class Probe:
    """Measure one window at this rate."""

    rate_rps: float
    purpose: Purpose


class SearchOutcome(Enum):
    FOUND = "found"
    FLOOR_FAILED = "the rate known to work did not hold"
    CEILING_HELD = "even the saturation throughput held"
    INVALID_WINDOWS = "too many invalid windows in a row"
    WINDOWS_USED_UP = "the most windows have been run"
    CUT_OFF = "a window could not be measured"


@dataclass(frozen=True)
class Done:
    """The result: the capacity lies in [held_rps, failed_rps]. `held_rps`: None if no rate below `failed_rps` was seen
    to hold; `failed_rps`: None if none was seen to fail. `not_monotonic_rps`: rates above `failed_rps` that held."""

    outcome: SearchOutcome
    held_rps: float | None
    failed_rps: float | None
    not_monotonic_rps: tuple[float, ...]


def is_known(capacity: Capacity) -> bool:
    """Return whether the search came to an answer; if every rate held, or not even the floor, it is a bound."""
    answers = (SearchOutcome.FOUND, SearchOutcome.CEILING_HELD, SearchOutcome.FLOOR_FAILED)
    return SearchOutcome(capacity.outcome) in answers


def tried(window: Window, rate_rps: float) -> TriedRate:
    """Return a recorded window as the search sees it.

    A server that cannot keep up is what the search looks for; a saturated driver, say, spoils the window here as
    anywhere else. Requests that were due but not sent when time was up are not failures: a GC pause at the end of the
    window is enough for some. They count in p99 with the time that they had waited.
    """
    latency = window.load.corrected
    return TriedRate(
        rate_rps=rate_rps,
        valid=window.valid,
        p99_us=latency.percentiles_us["99"] if latency else None,
        failed=window.load.failed,
        kept_up=not window.shortfalls,
    )


def next_rate(history: Sequence[TriedRate], rules: CapacityRules) -> Probe | Done:
    """Return what to do next: done after at most `windows_max`; rates are at least about half the resolution apart."""
    votes = _votes(history, rules)
    found = _next(history, votes, rules)
    used_up = isinstance(found, Probe) and len(history) >= rules.windows_max
    return _done(SearchOutcome.WINDOWS_USED_UP, votes) if used_up else found


def _next(history: Sequence[TriedRate], votes: Mapping[float, _Vote], rules: CapacityRules) -> Probe | Done:
    if history and not history[-1].valid:
        latest = history[-INVALID_IN_A_ROW_MAX:]
        if len(latest) == INVALID_IN_A_ROW_MAX and not any(window.valid for window in latest):
            return _done(SearchOutcome.INVALID_WINDOWS, votes)
        return Probe(history[-1].rate_rps, Purpose.REPEAT)
    for rate, vote in votes.items():
        if vote.tied:
            return Probe(rate, Purpose.CONFIRM)
    if rules.floor_rps not in votes:
        return Probe(rules.floor_rps, Purpose.START)
    return _within(votes, rules)


def cut_off(history: Sequence[TriedRate], rules: CapacityRules) -> Done:
    """Return the result of a search when no further window can be measured."""
    return _done(SearchOutcome.CUT_OFF, _votes(history, rules))


def _within(votes: Mapping[float, _Vote], rules: CapacityRules) -> Probe | Done:
    """Choose what to do next when every rate that was tried, the floor among them, has a majority."""
    held, failed = _bracket(votes)
    if held is None:
        assert failed is not None  # the floor has been tried
        # Nothing holds below the lowest rate that failed; only what may still change the floor's own answer is left.
        rate = rules.floor_rps
        if not votes[rate].confirmed:
            return Probe(rate, Purpose.CONFIRM)
        return _done(SearchOutcome.FLOOR_FAILED, votes)
    upper = rules.ceiling_rps if failed is None else failed
    middle = rules.nearest_rps(math.sqrt(held * upper))
    if upper > held * (1 + rules.resolution) and held < middle < upper:
        return Probe(middle, Purpose.BISECT)
    if failed is None and upper not in votes:
        return Probe(upper, Purpose.BISECT)
    for end in (failed, held):
        if end is not None and not votes[end].confirmed:
            return Probe(end, Purpose.CONFIRM)
    return _done(SearchOutcome.CEILING_HELD if failed is None else SearchOutcome.FOUND, votes)


@dataclass(frozen=True)
class _Vote:
    held: int
    failed: int

    @property
    def tied(self) -> bool:
        return self.held == self.failed

    @property
    def holds(self) -> bool:
        return self.held > self.failed

    @property
    def confirmed(self) -> bool:
        return max(self.held, self.failed) >= _CONFIRMATIONS


def _votes(history: Sequence[TriedRate], rules: CapacityRules) -> dict[float, _Vote]:
    votes: dict[float, _Vote] = {}
    for window in history:
        if window.valid:
            before = votes.get(window.rate_rps, _Vote(0, 0))
            held = window.held(rules.slo_us)
            votes[window.rate_rps] = _Vote(before.held + held, before.failed + (not held))
    return votes


def _bracket(votes: Mapping[float, _Vote]) -> tuple[float | None, float | None]:
    """Return the highest rate that held below the lowest that failed, and the latter. Ties count on neither side."""
    failed = min((rate for rate, vote in votes.items() if vote.failed > vote.held), default=None)
    held = max((rate for rate, vote in votes.items() if vote.holds and (failed is None or rate < failed)), default=None)
    return held, failed


def _done(outcome: SearchOutcome, votes: Mapping[float, _Vote]) -> Done:
    held, failed = _bracket(votes)
    above = sorted(rate for rate, vote in votes.items() if vote.holds and failed is not None and rate > failed)
    return Done(outcome, held, failed, tuple(above))
