"""Measure forks in turns: start and warm one after another, then a short window of each, round after round.

What drifts on a host, the forks of a round meet within a second or two of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import NamedTuple, Protocol, Self

from jdkmatrix.records.forks import Fork


class Round(NamedTuple):
    """A window of `duration_s`, behind `lead_s` of the same load that nobody looks at. `number`: 1.."""

    number: int
    lead_s: float
    duration_s: float


class TurnTaker(Protocol):
    """A fork that is started and warmed on enter, and ended on exit if it was not closed. Once it has ended, for
    whatever reason, it takes its turns without doing anything, and the others go on."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *stopped: object) -> None: ...

    def rewarm(self, duration_s: float) -> None:
        """Load for so long, to be thrown away: others were started since it was warm."""

    def window(self, turn: Round) -> None: ...

    def close(self) -> Fork: ...


def in_turns(
    starting: Iterable[TurnTaker],
    orders: Iterable[Sequence[int]],
    *,
    rewarm_s: float,
    lead_s: float,
    round_s: float,
    when_warm: Sequence[Round] = (),
) -> tuple[Fork, ...]:
    """The records of the forks, in the order of `starting`, which is asked for each when the one before is warm.
    `orders`: of every round, which fork comes when, by their numbers from 0 on. `when_warm`: what each takes by itself
    before the next one starts.

    Whatever ends it, no fork is left open.
    """
    forks: list[TurnTaker] = []
    with ExitStack() as opened:
        for fork in starting:
            forks.append(opened.enter_context(fork))
            for turn in when_warm:
                fork.window(turn)
        for fork in forks:
            fork.rewarm(rewarm_s)
        for number, order in enumerate(orders, start=1):
            for place in order:
                forks[place].window(Round(number, lead_s, round_s))
        return tuple(fork.close() for fork in forks)
