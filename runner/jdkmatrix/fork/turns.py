"""Measure forks in turns: start and warm one after another, then a short window of each, round after round.

What drifts on a host, the forks of a round meet within a second or two of each other. A fork that ends early, for
whatever reason, leaves the others to go on without it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import NamedTuple

from jdkmatrix.records.forks import Fork


class Rewarm(NamedTuple):
    """Load for so long, to be thrown away: others were started since the server was warm."""

    duration_s: float


class Round(NamedTuple):
    """A window of `duration_s`, behind `lead_s` of the same load that nobody looks at. `number`: 1.."""

    number: int
    lead_s: float
    duration_s: float


Turn = Rewarm | Round
# Up to its first yield it starts and warms; then it takes a turn for each that is sent; None ends it.
TurnTaker = Generator[None, Turn | None, Fork]


def alone(lane: TurnTaker) -> Fork:
    """To its end, without a turn."""
    try:
        next(lane)
        lane.send(None)
    except StopIteration as end:
        fork: Fork = end.value
        return fork
    finally:
        lane.close()
    raise TypeError("a fork that is measured alone takes no turns")


def in_turns(
    lanes: Sequence[TurnTaker],
    orders: Iterable[Sequence[int]],
    *,
    rewarm_s: float,
    lead_s: float,
    round_s: float,
    when_warm: Sequence[Turn] = (),
) -> tuple[Fork, ...]:
    """The forks, as `lanes` stand. `orders`: of every round, which lane comes when, by their numbers from 0 on.
    `when_warm`: what each takes by itself before the next one starts.

    Whatever ends it, no lane is left open.
    """
    forks: dict[int, Fork] = {}

    def give(number: int, turn: Turn | None) -> None:
        if number in forks:
            return
        try:
            lanes[number].send(turn)
        except StopIteration as end:
            forks[number] = end.value

    everyone = range(len(lanes))
    try:
        for number in everyone:
            give(number, None)
            for turn in when_warm:
                give(number, turn)
        for number in everyone:
            give(number, Rewarm(rewarm_s))
        for round_, order in enumerate(orders, start=1):
            for number in order:
                give(number, Round(round_, lead_s, round_s))
        for number in everyone:
            give(number, None)
    finally:
        for lane in lanes:
            lane.close()
    return tuple(forks[number] for number in everyone)
