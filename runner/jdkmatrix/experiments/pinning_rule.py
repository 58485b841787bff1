"""Judge whether threads that block kept their carriers, by how often they blocked per second. Pure.

D is how long a thread blocks each time. Threads that leave their carrier all block at once: threads / D. Of threads
that keep it, only as many can block at a time as there are carriers: min(threads, carriers) / D. If the JDK adds
carriers in place of blocked ones, threads keep theirs and are still not held up. Beside threads that wait for a
contended monitor and keep all carriers, they do not block at all: 0. These bounds are what the experiment's own
expectations say (`expected` in its records; JEP 444 and JEP 491).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

TOLERANCE = 0.15  # how far a throughput may be from a bound: the first and last operations of a window are cut off


class Holding(StrEnum):
    """The verdicts, in the words of the page."""

    FREE = "free"
    MORE_CARRIERS = "free, by more carriers"
    KEEPS = "keeps its carrier"
    BETWEEN = "between"
    SLOWER = "slower than its carriers"
    NO_CARRIER = "finds no carrier"
    TOO_FAST = "faster than it can be"
    CANNOT_TELL = "cannot tell"
    ALL_AT_ONCE = "all at once"  # of platform threads, which have no carrier
    NOT_ALL_AT_ONCE = "not all at once"


@dataclass(frozen=True)
class Held:
    """`share`: that of threads / D; `more`: carriers beyond the usual number that explain the throughput, else 0."""

    holding: Holding
    share: float
    more: int

    @property
    def words(self) -> str:
        carriers = "carrier" if self.more == 1 else "carriers"
        match self.holding:
            case Holding.MORE_CARRIERS:
                return f"free, by {self.more:,} more {carriers}"
            case Holding.BETWEEN if self.more:
                return f"between, by {self.more:,} more {carriers}"
        return self.holding.value


@dataclass(frozen=True)
class CarrierCount:
    """`usual`: the scheduler's parallelism; `most`: the most seen at once."""

    usual: int
    most: int


def held(throughput_per_s: float, *, threads: int, block_s: float, carriers: CarrierCount | None) -> Held:
    """Judge a throughput. `carriers`: None for platform threads. All figures but the throughput are above 0.

    "free" from 85 % of threads / D on; by more carriers if there were so many that every blocked thread can have
    kept its own. "keeps its carrier" within 15 % of carriers / D. If there are about as many carriers as threads,
    both hold and nothing can be told.
    """
    share = throughput_per_s / (threads / block_s)
    free = share >= 1 - TOLERANCE
    if share > 1 + TOLERANCE:
        return Held(Holding.TOO_FAST, share, 0)
    if throughput_per_s == 0 and carriers is not None:
        return Held(Holding.NO_CARRIER, 0.0, 0)
    if carriers is None:
        return Held(Holding.ALL_AT_ONCE if free else Holding.NOT_ALL_AT_ONCE, share, 0)
    kept = throughput_per_s / (min(threads, carriers.usual) / block_s)
    if kept <= 1 + TOLERANCE:
        if kept < 1 - TOLERANCE:
            return Held(Holding.SLOWER, share, 0)
        return Held(Holding.CANNOT_TELL if free else Holding.KEEPS, share, 0)
    enough = carriers.most / block_s >= (1 - TOLERANCE) * throughput_per_s
    more = max(carriers.most - carriers.usual, 0) if enough else 0
    freed = Holding.MORE_CARRIERS if more else Holding.FREE
    return Held(freed if free else Holding.BETWEEN, share, more)


def held_words(found: Sequence[Held]) -> str:
    """Return the one verdict, or those between which forks differ."""
    by_holding: dict[str, Held] = {}
    for one in found:
        key = one.holding.value if not one.more else f"{one.holding.value} by more"
        if key not in by_holding or one.more > by_holding[key].more:
            by_holding[key] = one
    words = [one.words for one in by_holding.values()]
    return words[0] if len(words) == 1 else f"forks differ: {'; '.join(words)}"
