"""Where an estimate lies beside a band, and how many blocks would tell."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2

from jdkmatrix.stats.bands import Band, Estimate, Place, blocks_to_decide, place, places
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE, student_t
from tests.support.simulations import estimate

NUMBERS = st.floats(0.01, 100)


@pytest.mark.parametrize(
    ("low", "high", "band", "found"),
    [
        (0.62, 0.88, Band(0.6, 0.9), Place.INSIDE),
        (0.6, 0.9, Band(0.6, 0.9), Place.INSIDE),
        (0.55, 0.88, Band(0.6, 0.9), Place.OPEN),
        (0.5, 0.95, Band(0.6, 0.9), Place.OPEN),
        (0.3, 0.59, Band(0.6, 0.9), Place.OUTSIDE),
        (0.91, 1.2, Band(0.6, 0.9), Place.OUTSIDE),
        (0.2, 0.9, Band(None, 1), Place.INSIDE),
        (0.9, 1.1, Band(None, 1), Place.OPEN),
        (1.1, 1.2, Band(None, 1), Place.OUTSIDE),
        (1800.0, math.inf, Band(1200, None), Place.INSIDE),
        (60.0, math.inf, Band(1200, None), Place.OPEN),
        (60.0, math.inf, Band(20, 30), Place.OUTSIDE),
    ],
)
def test_an_interval_speaks_only_as_a_whole(low: float, high: float, band: Band, found: Place) -> None:
    assert place(Estimate(low, low, high, 5), band) is found


@given(NUMBERS, st.tuples(NUMBERS, NUMBERS).map(sorted))
def test_a_single_block_leaves_it_open(value: float, ends: list[float]) -> None:
    one = Estimate(value, None, None, 1)
    assert place(one, Band(*ends)) is Place.OPEN
    assert blocks_to_decide(one, Band(*ends)) is None


@given(st.lists(NUMBERS, min_size=2, max_size=8), st.tuples(NUMBERS, NUMBERS).map(sorted))
def test_a_wider_band_takes_nothing_back(values: list[float], ends: list[float]) -> None:
    one = estimate(values)
    wider = [place(one, Band(ends[0], None)), place(one, Band(None, ends[1]))]
    if place(one, Band(*ends)) is Place.INSIDE:
        assert wider == [Place.INSIDE] * 2
    if place(one, Band(*ends)) is Place.OUTSIDE:
        assert Place.OUTSIDE in wider


@given(st.lists(NUMBERS, min_size=2, max_size=8), NUMBERS, st.booleans())
def test_so_many_blocks_would_decide_and_one_fewer_would_not(values: list[float], edge: float, of_ratio: bool) -> None:
    """With the scatter that the truth exceeds in one case of five, around the same mean."""
    scale, back = (math.log, math.exp) if of_ratio else (float, float)
    logs = [scale(value) for value in values]
    mean, deviation = statistics.fmean(logs), statistics.stdev(logs)
    assume(deviation > 1e-3 and abs(mean - scale(edge)) > deviation / 20)
    band = Band(None, edge)

    def with_blocks(number: int, deviation: float) -> Estimate:
        half = student_t(CONFIDENCE, number) * deviation / math.sqrt(number)
        return Estimate(back(mean), back(mean - half), back(mean + half), number, of_ratio=of_ratio)

    seen = with_blocks(len(values), deviation)
    assume(place(seen, band) is Place.OPEN)
    needed = blocks_to_decide(seen, band)
    assert needed is not None and needed > len(values)
    wider = deviation * math.sqrt((len(values) - 1) / chi2.ppf(0.2, len(values) - 1))
    assert place(with_blocks(needed + 1, wider), band) is not Place.OPEN
    assert place(with_blocks(max(2, needed - 2), wider), band) is Place.OPEN


def estimated(logs: npt.NDArray[np.float64] | Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    mean, n = float(np.mean(logs)), np.size(logs)
    half = student_t(confidence, n) * float(np.std(logs, ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n, confidence=confidence)


def decided_when_said(distance: float, first: int, confidence: float, *, moves: bool) -> float:
    """The share of simulated estimates, open after the `first` blocks, that are decided by the blocks they name.
    `moves`: later blocks scatter around the truth, and not around what the first ones came to."""
    random = np.random.default_rng(first)
    band, decided, cases = Band(0.0, None), 0, 0
    while cases < 2000:
        logs = random.normal(distance, 1, first)
        if not moves:
            logs += distance - logs.mean()
        seen = estimated(logs, confidence)
        number = blocks_to_decide(seen, band) if place(seen, band) is Place.OPEN else None
        if number is None:
            continue
        cases += 1
        more = random.normal(distance, 1, number - first)
        if not moves:
            more += distance - more.mean()
        decided += place(estimated(np.append(logs, more), confidence), band) is not Place.OPEN
    return decided / cases


@pytest.mark.parametrize("confidence", [CONFIDENCE, SEQUENTIAL_CONFIDENCE])
@pytest.mark.parametrize(("first", "distance"), [(3, 0.3), (3, 0.5), (5, 0.3), (5, 0.5)])
def test_four_of_five_that_stay_where_they_are_are_decided_by_the_blocks_they_name(
    first: int, distance: float, confidence: float
) -> None:
    """With the scatter that was seen, taken for the truth, it were 40 to 60 %."""
    assert 0.79 <= decided_when_said(distance, first, confidence, moves=False) <= 0.95


@pytest.mark.parametrize(
    ("first", "distance", "share"), [(3, 0.3, 0.65), (3, 0.5, 0.83), (5, 0.3, 0.69), (5, 0.7, 0.9)]
)
def test_an_estimate_that_moves_is_decided_later_near_the_edge(first: int, distance: float, share: float) -> None:
    assert decided_when_said(distance, first, CONFIDENCE, moves=True) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("one_is_enough", [False, True])
def test_one_that_decides_about_many_takes_more_blocks(one_is_enough: bool) -> None:
    """Of twenty that lie outside, or where one inside is enough: as many as their adjusted p-values ask for."""
    band = Band(None, 1.0) if one_is_enough else Band(1.0, None)

    def with_blocks(number: int) -> Estimate:
        half = student_t(CONFIDENCE, number) * 0.1 / math.sqrt(number)
        return Estimate(0.9, 0.9 - half, 0.9 + half, number)

    seen, family = with_blocks(5), 20
    alone = blocks_to_decide(seen, band)
    among = blocks_to_decide(seen, band, family=family, one_is_enough=one_is_enough)
    assert alone is not None and among is not None and among > alone
    for number, decided in ((alone, False), (among, True)):
        found = places([with_blocks(number)] * family, band, one_is_enough=one_is_enough)
        assert (Place.OPEN not in found) == decided
    assert blocks_to_decide(seen, band, family=family, one_is_enough=not one_is_enough) == alone


def test_an_estimate_at_an_edge_says_nothing_of_how_many_are_needed() -> None:
    assert blocks_to_decide(Estimate(1.0, 0.9, 1.1, 4), Band(None, 1.0)) is None
    assert blocks_to_decide(Estimate(1.0, 0.0, 1.1, 4, of_ratio=True), Band(None, 0.9)) is None


@pytest.mark.parametrize("one_is_enough", [False, True])
def test_a_family_at_an_edge_is_decided_by_chance_in_a_twentieth_of_cases_at_most(one_is_enough: bool) -> None:
    """24 cells whose truth is the edge itself; each judged for itself, in 46 %."""
    draw, families = np.random.default_rng(3), 400
    band = Band(0, None)
    sought = Place.INSIDE if one_is_enough else Place.OUTSIDE
    alone = together = 0
    for _ in range(families):
        cells = [estimate(values) for values in draw.normal(0, 1, (24, 5)).tolist()]
        alone += any(place(one, band) is sought for one in cells)
        together += sought in places(cells, band, one_is_enough=one_is_enough)
    assert alone / families > 0.35
    assert together / families <= 0.05


@given(st.lists(NUMBERS, min_size=2, max_size=8), st.tuples(NUMBERS, NUMBERS).map(sorted), st.booleans(), st.booleans())
def test_a_family_of_one_is_judged_as_it_is(values: list[float], ends: list[float], ratio: bool, enough: bool) -> None:
    assume(max(values) > min(values) * 1.001)
    one = estimate([math.log(value) for value in values] if ratio else values, of_ratio=ratio)
    edges = [edge for edge in ends if all(abs(edge / end - 1) > 1e-6 for end in (one.low, one.high) if end)]
    assume(len(edges) == 2)
    assert places([one], Band(*ends), one_is_enough=enough) == [place(one, Band(*ends))]


def test_bounds_speak_to_their_side() -> None:
    least, most = Estimate(90.0, 90.0, None, 1, one_sided=True), Estimate(0.93, None, 0.95, 3, True, one_sided=True)
    assert place(least, Band(60, None)) is Place.INSIDE and place(least, Band(None, 80)) is Place.OUTSIDE
    assert place(least, Band(60, 100)) is Place.OPEN and place(least, Band(100, None)) is Place.OPEN
    assert place(most, Band(None, 0.95)) is Place.INSIDE and place(most, Band(1, None)) is Place.OUTSIDE
    assert place(most, Band(0.5, 0.95)) is Place.OPEN


def test_one_that_lies_far_outside_is_contradicted_among_many_and_named() -> None:
    band = Band(0.8, 1.2)
    inside, near = Estimate(1.0, 0.95, 1.05, 5), Estimate(1.3, 1.21, 1.39, 5)
    far, single = Estimate(2.0, 1.95, 2.05, 5), Estimate(9.0, None, None, 1)
    least = Estimate(90.0, 90.0, None, 1, one_sided=True)
    assert places([near], band) == [Place.OUTSIDE]
    found = places([inside, near, *([inside] * 8), single, far, least], band)
    assert [one for one in found if one is not Place.INSIDE] == [Place.OPEN, Place.OPEN, Place.OUTSIDE, Place.OUTSIDE]


@pytest.mark.parametrize("enough", [False, True])
def test_one_without_scatter_at_an_edge_is_inside_and_makes_no_other_one_surer(enough: bool) -> None:
    """Every thread went on in every block, where all are to; among two, p = 0.045 decides nothing."""
    band = Band(None, 100.0)
    at_edge, within = Estimate(100.0, 100.0, 100.0, 5), Estimate(50.0, 50.0, 50.0, 5)
    outside = Estimate(103.0, 100.1, 105.9, 5)
    assert places([outside], band) == [Place.OUTSIDE]
    assert places([at_edge, outside], band) == places([within, outside], band) == [Place.INSIDE, Place.OPEN]
    assert places([at_edge], band, one_is_enough=enough) == [Place.INSIDE]


def test_an_interval_of_a_sequential_run_is_wider_and_judged_by_its_own_confidence() -> None:
    one = estimate([1.0, 1.1, 1.2, 1.3], SEQUENTIAL_CONFIDENCE)
    for edge in (one.low * 0.999, one.low * 1.001):
        assert places([one], Band(None, edge)) == [place(one, Band(None, edge))]
