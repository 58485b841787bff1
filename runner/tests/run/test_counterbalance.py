"""Orders of executors inside blocks: balanced by position and by what comes before."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.run.counterbalance import block_orders, williams_pairs

SEEDS = st.integers(0, 2**32)
SEVERAL = st.integers(2, 8)


def dealt(executors: int, blocks: int, seed: int) -> list[tuple[str, ...]]:
    return list(itertools.islice(block_orders("ABCDEFGH"[:executors], random.Random(seed)), blocks))


def rows_of(executors: int) -> int:
    return executors if executors % 2 == 0 else 2 * executors


@given(SEVERAL, SEEDS, st.integers(0, 20))
def test_any_full_set_of_blocks_is_balanced(executors: int, seed: int, start: int) -> None:
    rows = rows_of(executors)
    blocks = dealt(executors, start + rows, seed)[start:]
    for position in range(executors):
        assert set(Counter(order[position] for order in blocks).values()) == {rows // executors}
        assert len({order[position] for order in blocks}) == executors
    followed = Counter(pair for order in blocks for pair in itertools.pairwise(order))
    assert len(followed) == executors * (executors - 1)
    assert set(followed.values()) == {rows // executors}


@given(SEVERAL, SEEDS)
def test_no_order_comes_twice_before_all_rows_are_used_up(executors: int, seed: int) -> None:
    blocks = dealt(executors, rows_of(executors), seed)
    assert len(set(blocks)) == len(blocks)


@given(SEVERAL, SEEDS, st.integers(1, 20))
def test_after_any_even_number_of_blocks_every_executor_was_in_the_middle_on_average(
    executors: int, seed: int, pairs: int
) -> None:
    blocks = dealt(executors, 2 * pairs, seed)
    for name in "ABCDEFGH"[:executors]:
        assert sum(order.index(name) for order in blocks) == pairs * (executors - 1)


@given(st.sampled_from([2, 4, 6, 8]), SEEDS, st.integers(1, 30))
def test_an_even_number_of_executors_is_balanced_by_position_after_any_number_of_blocks(
    executors: int, seed: int, blocks: int
) -> None:
    orders = dealt(executors, blocks, seed)
    for position in range(executors):
        counts = Counter(order[position] for order in orders)
        assert max(counts.values()) - min(counts[name] for name in "ABCDEFGH"[:executors]) <= 1


@given(st.integers(1, 8), SEEDS, st.integers(1, 20), st.integers(0, 20))
def test_the_seed_decides_and_later_blocks_change_no_earlier_ones(
    executors: int, seed: int, blocks: int, more: int
) -> None:
    assert dealt(executors, blocks + more, seed)[:blocks] == dealt(executors, blocks, seed)


@pytest.mark.parametrize("executors", [2, 3, 5])
def test_the_start_is_random(executors: int) -> None:
    starts = Counter(dealt(executors, 1, seed)[0][0] for seed in range(200))
    assert min(starts[name] for name in "ABCDEFGH"[:executors]) > 200 / executors / 2


def test_the_design_for_four_is_williamss() -> None:
    rows = [row for pair in williams_pairs(4) for row in pair]
    assert sorted(rows) == [(0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1)]
