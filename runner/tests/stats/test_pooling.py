"""One estimate out of several runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.stats.pooling import pooled


def estimate(values: list[float]) -> Estimate:
    low, high = mean_interval(values) or (None, None)
    return Estimate(sum(values) / len(values), low, high, len(values))


@pytest.mark.parametrize(
    ("runs", "apart", "least", "most"),
    [(1, 0.0, 93, 98), (1, 1.0, 64, 74), (2, 0.0, 93, 98), (2, 1.0, 81, 91), (3, 0.5, 86, 94), (5, 2.0, 89, 97)],
)
def test_the_interval_covers_as_often_as_its_table_says(runs: int, apart: float, least: int, most: int) -> None:
    """Runs of five blocks, `apart` times as far apart as these scatter."""
    draw, hits, tries = np.random.default_rng(runs), 0, 600
    for _ in range(tries):
        found = pooled([estimate(list(draw.normal(draw.normal(0, apart), 1, 5))) for _ in range(runs)])
        hits += found.low <= 0 <= found.high
    assert least <= 100 * hits / tries <= most


@given(st.lists(st.lists(st.floats(1, 2), min_size=2, max_size=6), min_size=1, max_size=4))
def test_it_lies_among_what_it_is_made_of(runs: list[list[float]]) -> None:
    told = [estimate(one) for one in runs]
    found = pooled(told)
    values = [one.value for one in told]
    assert min(values) - 1e-9 <= found.value <= max(values) + 1e-9
    assert pooled(told[:1]) == told[0]


def test_what_says_less_is_left_out() -> None:
    block, exact = Estimate(9.0, None, None, 1), Estimate(2.0, 1.9, 2.1, 4)
    bound = Estimate(5.0, 4.0, None, 3, one_sided=True)
    assert pooled([block, exact]) == exact == pooled([bound, exact])
    both = pooled([bound, bound])
    assert both.one_sided and both.high is None and both.low is not None and both.low > 4.0
    with pytest.raises(ValueError, match="nothing to pool"):
        pooled([])
