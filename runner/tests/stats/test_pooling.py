"""One estimate out of several runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.stats.bands import Band, Estimate, Place, places
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE
from jdkmatrix.stats.pooling import pooled
from tests.support.simulations import estimate


@pytest.mark.parametrize(
    ("runs", "apart", "least", "most"),
    [(1, 0.0, 93, 98), (1, 1.0, 64, 74), (2, 0.0, 93, 98), (2, 1.0, 81, 91), (3, 0.5, 86, 94), (5, 2.0, 89, 97)],
)
def test_the_interval_covers_as_often_as_its_table_says(runs: int, apart: float, least: int, most: int) -> None:
    """Runs of five blocks, `apart` times as far apart as these scatter."""
    draw, hits, tries = np.random.default_rng(runs), 0, 600
    for _ in range(tries):
        found = pooled([estimate(draw.normal(draw.normal(0, apart), 1, 5).tolist()) for _ in range(runs)])
        hits += found.low <= 0 <= found.high
    assert least <= 100 * hits / tries <= most


@given(st.lists(st.lists(st.floats(1, 2), min_size=2, max_size=6), min_size=1, max_size=4))
def test_it_lies_among_what_it_is_made_of(runs: list[list[float]]) -> None:
    told = [estimate(one) for one in runs]
    found = pooled(told)
    values = [one.value for one in told]
    assert min(values) - 1e-9 <= found.value <= max(values) + 1e-9
    assert pooled(told[:1]) == told[0]


def test_the_confidence_of_a_run_that_looked_at_its_interval_is_kept() -> None:
    blocks = [0.9, 1.0, 1.1, 1.05, 0.95]
    looked, fixed = estimate(blocks, SEQUENTIAL_CONFIDENCE), estimate(blocks)
    both, plain = pooled([looked, looked]), pooled([fixed, fixed])
    assert (both.confidence, plain.confidence) == (SEQUENTIAL_CONFIDENCE, CONFIDENCE)
    assert pooled([looked, fixed]).low == pytest.approx(both.low) and both.low < plain.low


def test_what_says_less_is_left_out() -> None:
    block, exact = Estimate(9.0, None, None, 1), Estimate(2.0, 1.9, 2.1, 4)
    bound, weak = Estimate(5.0, 4.0, None, 3, one_sided=True), Estimate(1.5, 1.4, None, 3, one_sided=True)
    assert pooled([block, exact]) == exact == pooled([weak, exact])
    both = pooled([bound, bound])
    assert both.one_sided and both.high is None and both.low is not None and both.low > 4.0
    with pytest.raises(ValueError, match="nothing to pool"):
        pooled([])


def test_a_figure_that_the_bound_of_another_run_excludes_is_a_bound() -> None:
    """A peak after 64 s, and none within 90 s."""
    seen, never = Estimate(64.0, 62.0, 66.0, 5), Estimate(90.0, 90.0, None, 1, one_sided=True)
    found = pooled([seen, never])
    assert found == Estimate(64.0, 62.0, None, 5, one_sided=True)
    assert places([found], Band(None, 70.0)) == [Place.OPEN] and places([found], Band(60.0, None)) == [Place.INSIDE]
    most = Estimate(40.0, None, 41.0, 3, one_sided=True)
    assert pooled([seen, most]) == Estimate(64.0, None, 66.0, 5, one_sided=True)
    assert pooled([never, most]) == replace(most, high=None), "they exclude each other"


def test_runs_that_disagree_are_few_values_however_many_blocks_they_have() -> None:
    """An edge 1.8 times as far away as the end of the interval is passed with p = 0.028 by two values, which among five
    cells says nothing, and with 0.003 by ten."""
    found = pooled([estimate([level - 0.01, level, level, level, level + 0.01]) for level in (1.0, 1.2)])
    assert found.high is not None and found.blocks == 10 and found.freedom == pytest.approx(1, abs=0.1)
    band = Band(found.value + 1.8 * (found.high - found.value), None)
    assert places([found], band) == [Place.OUTSIDE]
    assert places([found] * 5, band) == [Place.OPEN] * 5


def test_runs_whose_blocks_do_not_scatter_are_one_value_each() -> None:
    """The first of two with as many blocks would have spoken for both."""
    pinned, free = estimate([40.0] * 5), estimate([2000.0] * 5)
    found = pooled([pinned, free])
    assert (found.value, found.blocks, found.freedom) == (1020.0, 10, 1)
    for band in (Band(None, 200.0), Band(1800.0, None)):
        assert places([found], band) == [Place.OPEN]
    alike = pooled([pinned, pinned, pinned])
    assert (alike.low, alike.value, alike.high, alike.blocks) == (40.0, 40.0, 40.0, 15)
    near = pooled([pinned, estimate([39.0, 40.0, 41.0])])
    assert near.value == 40.0 and near.low == pytest.approx(38.76, abs=0.01) and near.freedom == pytest.approx(2)
    assert places([near], Band(None, 39.9)) == [Place.OPEN], "that they agree does not make the second known"
    block, bound = Estimate(9.0, None, None, 1), Estimate(5.0, 5.0, None, 3, one_sided=True)
    assert pooled([block, block]) == block and pooled([bound, bound]) == bound, "those have no interval"


def test_a_run_that_hardly_scatters_and_one_that_does_are_pooled() -> None:
    """Their weights are apart by a factor of 10 to the 19th."""
    found = pooled([estimate([40.0, 40.0 + 1e-10, 40.0 + 2e-10]), estimate([39.0, 40.0, 41.5])])
    assert found.low <= 40.0 + 1e-9 and found.high >= 40.0 - 1e-9
