"""Counterbalance the order of executors inside the blocks of a group. Pure.

Whatever runs later meets another state of the host: a warmer CPU, fuller disk caches, what the previous fork left
behind. An order drawn anew for every block leaves that to chance: with two executors and five blocks, one group in
sixteen has the same executor first in all of them. So orders are counterbalanced, by the designs of E. J. Williams,
"Experimental Designs Balanced for the Estimation of Residual Effects of Treatments", Australian Journal of Scientific
Research A 2(2), 1949, pp. 149-168. Over all rows of such a design every executor takes every position equally often,
and follows every other one equally often: k rows for an even number k of executors, 2k for an odd one.

Each row is followed by its reverse, so that after any even number of blocks every executor was in the middle of the
block on average: what changes steadily along a block then favours none, however few blocks there are. With two
executors that is AB, BA, AB, ….

What it cannot do: whatever recurs on the host with every other block always meets the same order; and what one block
leaves to the next is not balanced, since forks of other groups come between them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

Executor = TypeVar("Executor")
Row = tuple[int, ...]  # the executor, 0.., at each position


@cache
def williams_pairs(executors: int) -> tuple[tuple[Row, Row], ...]:
    """Return the rows of the design for so many executors (at least one), each with its reverse: executors / 2 pairs
    for an even number, as many pairs as executors for an odd one."""
    first = [(-1) ** (position + 1) * ((position + 1) // 2) % executors for position in range(executors)]
    # 0, 1, -1, 2, -2, …: for an even number the second half of the cyclic shifts are the reverses of the first half.
    shifts = executors if executors % 2 else executors // 2
    rows = [tuple((one + shift) % executors for one in first) for shift in range(shifts)]
    return tuple((row, row[::-1]) for row in rows)


def block_orders(executors: Sequence[Executor], rng: random.Random) -> Iterator[tuple[Executor, ...]]:
    """Yield the order of each block, endlessly. Which executor is which of the design, the order of its pairs and which
    row of a pair comes first are drawn once; then all rows repeat, so that any full set of consecutive blocks is
    balanced."""
    named = rng.sample(executors, len(executors))
    pairs = williams_pairs(len(executors))
    dealt = [pair if rng.random() < 0.5 else pair[::-1] for pair in rng.sample(pairs, len(pairs))]
    for row in itertools.cycle(itertools.chain.from_iterable(dealt)):
        yield tuple(named[one] for one in row)
