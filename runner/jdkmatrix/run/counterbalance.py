"""The order of executors inside the blocks of a group. Pure.

Whatever runs later meets another state of the host: a warmer CPU, fuller caches of the disk, what the fork before left
behind. An order that is drawn anew for every block leaves that to chance: of two executors over five blocks, the same
one is first in all of them in one group of sixteen. So orders are counterbalanced, by the designs of E. J. Williams,
"Experimental Designs Balanced for the Estimation of Residual Effects of Treatments", Australian Journal of Scientific
Research A 2(2), 1949, pp. 149-168. Over all rows of such a design every executor has every position equally often, and
follows every other one equally often: k rows for an even number k of executors, 2k for an odd one.

Each row is followed by its reverse, so that after any even number of blocks every executor stood in the middle of the
block on average: what changes evenly along a block then favours none, however few blocks there are. With two
executors that is AB, BA, AB, ….

What it cannot do: what comes back on the host with every other block always meets the same order; and what one block
leaves to the next is not balanced, since forks of other groups lie between them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

Executor = TypeVar("Executor")
Row = tuple[int, ...]  # which executor, 0.., stands at each position


@cache
def williams_pairs(executors: int) -> tuple[tuple[Row, Row], ...]:
    """The rows of the design for so many executors (from one on), each beside its reverse: executors / 2 pairs for an
    even number, as many pairs as executors for an odd one."""
    first = [(-1) ** (position + 1) * ((position + 1) // 2) % executors for position in range(executors)]
    # 0, 1, -1, 2, -2, …: for an even number the second half of the cyclic shifts are the reverses of the first half.
    shifts = executors if executors % 2 else executors // 2
    rows = [tuple((one + shift) % executors for one in first) for shift in range(shifts)]
    return tuple((row, row[::-1]) for row in rows)


def block_orders(executors: Sequence[Executor], rng: random.Random) -> Iterator[tuple[Executor, ...]]:
    """The order of each block, without an end. Which executor is which of the design, the order of its pairs and which
    row of a pair comes first are drawn once; after all rows they come again, so that any full set of blocks in a row is
    balanced."""
    named = rng.sample(executors, len(executors))
    pairs = williams_pairs(len(executors))
    dealt = [pair if rng.random() < 0.5 else pair[::-1] for pair in rng.sample(pairs, len(pairs))]
    for row in itertools.cycle(itertools.chain.from_iterable(dealt)):
        yield tuple(named[one] for one in row)
