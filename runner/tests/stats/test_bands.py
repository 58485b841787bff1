"""The place of an estimate beside a band, how many blocks would decide, and one estimate from several runs."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2

from jdkmatrix.stats.bands import Band, Estimate, Place, blocks_to_decide, place, places
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE, student_t
from jdkmatrix.stats.pooling import pooled
from tests.support.simulations import Floats, estimate

NUMBERS = st.floats(0.01, 100)


@pytest.mark.parametrize(
    ("low", "high", "band", "found"),
    [
        (0.62, 0.88, Band(0.6, 0.9), Place.INSIDE), (0.6, 0.9, Band(0.6, 0.9), Place.INSIDE),
        (0.55, 0.88, Band(0.6, 0.9), Place.OPEN), (0.5, 0.95, Band(0.6, 0.9), Place.OPEN),
        (0.3, 0.59, Band(0.6, 0.9), Place.OUTSIDE), (0.91, 1.2, Band(0.6, 0.9), Place.OUTSIDE),
        (0.2, 0.9, Band(None, 1), Place.INSIDE), (0.9, 1.1, Band(None, 1), Place.OPEN),
        (1.1, 1.2, Band(None, 1), Place.OUTSIDE), (1800.0, math.inf, Band(1200, None), Place.INSIDE),
        (60.0, math.inf, Band(1200, None), Place.OPEN), (60.0, math.inf, Band(20, 30), Place.OUTSIDE),
    ],
)  # fmt: skip
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


def around(
    mean: float, deviation: float, blocks: int, confidence: float = CONFIDENCE, *, of_ratio: bool = False
) -> Estimate:
    """Return the estimate from `blocks` that scatter by `deviation`; for a ratio, both are of its logarithm."""
    back = math.exp if of_ratio else float
    half = student_t(confidence, blocks) * deviation / math.sqrt(blocks)
    return Estimate(back(mean), back(mean - half), back(mean + half), blocks, of_ratio=of_ratio, confidence=confidence)


@given(st.lists(NUMBERS, min_size=2, max_size=8), NUMBERS, st.booleans())
def test_so_many_blocks_would_decide_and_one_fewer_would_not(values: list[float], edge: float, of_ratio: bool) -> None:
    """The scatter is the one that the truth exceeds in one case of five, around the same mean."""
    scale = math.log if of_ratio else float
    logs = [scale(value) for value in values]
    mean, deviation = statistics.fmean(logs), statistics.stdev(logs)
    assume(deviation > 1e-3 and abs(mean - scale(edge)) > deviation / 20)
    band = Band(None, edge)
    seen = around(mean, deviation, len(values), of_ratio=of_ratio)
    assume(place(seen, band) is Place.OPEN)
    needed = blocks_to_decide(seen, band)
    assert needed is not None and needed > len(values)
    wider = deviation * math.sqrt((len(values) - 1) / chi2.ppf(0.2, len(values) - 1))
    assert place(around(mean, wider, needed + 1, of_ratio=of_ratio), band) is not Place.OPEN
    assert place(around(mean, wider, max(2, needed - 2), of_ratio=of_ratio), band) is Place.OPEN


def seen_in(logs: Floats, confidence: float) -> Estimate:
    return around(float(np.mean(logs)), float(np.std(logs, ddof=1)), logs.size, confidence)


def decided_when_said(distance: float, first: int, confidence: float, *, moves: bool) -> float:
    """Return the share of simulated estimates, open after the `first` blocks, that are decided by the number of blocks
    they name. `moves`: later blocks scatter around the truth, not around the mean of the first ones."""
    random = np.random.default_rng(first)
    band, decided, cases = Band(0.0, None), 0, 0
    while cases < 2000:
        logs = random.normal(distance, 1, first)
        if not moves:
            logs += distance - logs.mean()
        seen = seen_in(logs, confidence)
        number = blocks_to_decide(seen, band) if place(seen, band) is Place.OPEN else None
        if number is None:
            continue
        cases += 1
        more = random.normal(distance, 1, number - first)
        if not moves:
            more += distance - more.mean()
        decided += place(seen_in(np.append(logs, more), confidence), band) is not Place.OPEN
    return decided / cases


@pytest.mark.parametrize("confidence", [CONFIDENCE, SEQUENTIAL_CONFIDENCE])
@pytest.mark.parametrize(("first", "distance"), [(3, 0.3), (3, 0.5), (5, 0.3), (5, 0.5)])
def test_four_of_five_that_stay_are_decided_by_blocks_they_name(first: int, distance: float, confidence: float) -> None:
    """If the observed scatter were taken for the truth, 40 to 60 % would be decided."""
    assert 0.79 <= decided_when_said(distance, first, confidence, moves=False) <= 0.95


@pytest.mark.parametrize(
    ("first", "distance", "share"), [(3, 0.3, 0.65), (3, 0.5, 0.83), (5, 0.3, 0.69), (5, 0.7, 0.9)]
)
def test_an_estimate_that_moves_is_decided_later_near_the_edge(first: int, distance: float, share: float) -> None:
    assert decided_when_said(distance, first, CONFIDENCE, moves=True) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("one_is_enough", [False, True])
def test_one_that_decides_about_many_takes_more_blocks(one_is_enough: bool) -> None:
    """For twenty that lie outside, or if one inside is enough, it takes as many as their adjusted p-values ask for."""
    band = Band(None, 1.0) if one_is_enough else Band(1.0, None)
    seen, family = around(0.9, 0.1, 5), 20
    alone = blocks_to_decide(seen, band)
    among = blocks_to_decide(seen, band, family=family, one_is_enough=one_is_enough)
    assert alone is not None and among is not None and among > alone
    for number, decided in ((alone, False), (among, True)):
        found = places([around(0.9, 0.1, number)] * family, band, one_is_enough=one_is_enough)
        assert (Place.OPEN not in found) == decided
    assert blocks_to_decide(seen, band, family=family, one_is_enough=not one_is_enough) == alone


def test_an_estimate_at_an_edge_says_nothing_of_how_many_are_needed() -> None:
    assert blocks_to_decide(Estimate(1.0, 0.9, 1.1, 4), Band(None, 1.0)) is None
    assert blocks_to_decide(Estimate(1.0, 0.0, 1.1, 4, of_ratio=True), Band(None, 0.9)) is None


def test_figures_that_are_read_coarsely_need_blocks_that_outweigh_that() -> None:
    """More blocks reduce scatter, and not the step in which a figure is read; only Student's factor shrinks."""
    least = 1 / math.sqrt(12)
    margin = student_t(CONFIDENCE, 30) * least * 1.001
    seen = Estimate(1.0 + margin, 1.0, 1.0 + 2 * margin, 5, least_error=least)
    needed = blocks_to_decide(seen, Band(None, 1.0))
    assert needed is not None and student_t(CONFIDENCE, needed) * least <= margin
    assert needed >= 29


@pytest.mark.parametrize("one_is_enough", [False, True])
def test_a_family_at_an_edge_is_decided_by_chance_in_a_twentieth_of_cases_at_most(one_is_enough: bool) -> None:
    """The truth of 24 cells is the edge itself; if each is judged by itself, chance decides in 46 % of cases."""
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
    least, most = Estimate(90.0, 90.0, None, 2, one_sided=True), Estimate(0.93, None, 0.95, 3, True, one_sided=True)
    assert (
        place(replace(least, blocks=1), Band(60, None)) is place(replace(least, blocks=1), Band(None, 80)) is Place.OPEN
    )
    assert place(least, Band(60, None)) is Place.INSIDE and place(least, Band(None, 80)) is Place.OUTSIDE
    assert place(least, Band(60, 100)) is Place.OPEN and place(least, Band(100, None)) is Place.OPEN
    assert place(most, Band(None, 0.95)) is Place.INSIDE and place(most, Band(1, None)) is Place.OUTSIDE
    assert place(most, Band(0.5, 0.95)) is Place.OPEN


def test_one_that_lies_far_outside_is_contradicted_among_many_and_named() -> None:
    band = Band(0.8, 1.2)
    inside, near = Estimate(1.0, 0.95, 1.05, 5), Estimate(1.3, 1.21, 1.39, 5)
    far, single = Estimate(2.0, 1.95, 2.05, 5), Estimate(9.0, None, None, 1)
    least = Estimate(90.0, 90.0, None, 2, one_sided=True)
    assert places([near], band) == [Place.OUTSIDE]
    found = places([inside, near, *([inside] * 8), single, far, least], band)
    assert [one for one in found if one is not Place.INSIDE] == [Place.OPEN, Place.OPEN, Place.OUTSIDE, Place.OUTSIDE]


@pytest.mark.parametrize("enough", [False, True])
def test_single_blocks_are_none_of_the_family(enough: bool) -> None:
    """They have no p-value: beside them, p = 0.03 decides as it does alone."""
    band, outside, inside = Band(None, 100.0), Estimate(103.0, 100.3, 105.7, 5), Estimate(97.0, 94.3, 99.7, 5)
    one, bound = Estimate(100.0, None, None, 1), Estimate(90.0, 90.0, None, 1, one_sided=True)
    alone = place(inside if enough else outside, band)
    assert alone is not Place.OPEN
    found = places([one, inside if enough else outside, bound], band, one_is_enough=enough)
    assert found == [Place.OPEN, alone, Place.OPEN]


@pytest.mark.parametrize("enough", [False, True])
def test_one_without_scatter_at_an_edge_is_inside_and_makes_no_other_one_surer(enough: bool) -> None:
    """Every thread went on in every block, as all should; among two, p = 0.045 decides nothing."""
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


@pytest.mark.parametrize(
    ("runs", "apart", "least", "most"),
    [(1, 0.0, 93, 98), (1, 1.0, 64, 74), (2, 0.0, 93, 98), (2, 1.0, 81, 91), (3, 0.5, 86, 94), (5, 2.0, 89, 97)],
)
def test_pooled_intervals_cover_as_often_as_their_table_says(runs: int, apart: float, least: int, most: int) -> None:
    """Runs of five blocks lie `apart` times as far apart as their blocks scatter."""
    draw, hits, tries = np.random.default_rng(runs), 0, 600
    for _ in range(tries):
        found = pooled([estimate(draw.normal(draw.normal(0, apart), 1, 5).tolist()) for _ in range(runs)])
        hits += found.low <= 0 <= found.high
    assert least <= 100 * hits / tries <= most


@given(st.lists(st.lists(st.floats(1, 2), min_size=2, max_size=6), min_size=1, max_size=4))
def test_what_is_pooled_lies_among_what_it_is_made_of(runs: list[list[float]]) -> None:
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
    """One run has a peak after 64 s, the other none within 90 s."""
    seen, never = Estimate(64.0, 62.0, 66.0, 5), Estimate(90.0, 90.0, None, 1, one_sided=True)
    found = pooled([seen, never])
    assert found == Estimate(64.0, 62.0, None, 5, one_sided=True)
    assert places([found], Band(None, 70.0)) == [Place.OPEN] and places([found], Band(60.0, None)) == [Place.INSIDE]
    most = Estimate(40.0, None, 41.0, 3, one_sided=True)
    assert pooled([seen, most]) == Estimate(64.0, None, 66.0, 5, one_sided=True)
    assert pooled([never, most]) == replace(most, high=None), "they exclude each other"


def test_runs_that_disagree_are_few_values_however_many_blocks_they_have() -> None:
    """With two values, an edge 1.8 times as far away as the end of the interval is passed with p = 0.028, which says
    nothing among five cells; with ten values, with p = 0.003."""
    found = pooled([estimate([level - 0.01, level, level, level, level + 0.01]) for level in (1.0, 1.2)])
    assert found.high is not None and found.blocks == 10 and found.freedom == pytest.approx(1, abs=0.1)
    band = Band(found.value + 1.8 * (found.high - found.value), None)
    assert places([found], band) == [Place.OUTSIDE]
    assert places([found] * 5, band) == [Place.OPEN] * 5
    assert blocks_to_decide(found, Band(None, 1.5)) is None, "more runs would, and not more blocks"


def test_what_all_runs_read_in_the_same_steps_is_known_no_better_by_all_of_them() -> None:
    """More blocks of one run would not decide about an estimate that is nearer to an edge than this precision."""
    log, least = math.log(31 / 33), math.hypot(1 / 31, 1 / 33) / math.sqrt(12)
    half = student_t(CONFIDENCE, 5) * least
    run = Estimate(31 / 33, math.exp(log - half), math.exp(log + half), 5, of_ratio=True, least_error=least)
    whole = pooled([run] * 4)
    assert math.log(whole.high / whole.value) >= 1.9 * least and whole.least_error == least
    assert math.log(pooled([replace(run, least_error=0.0)] * 4).high / whole.value) < 1.2 * least
    band = Band(None, math.exp(log + 1.8 * least))
    assert blocks_to_decide(run, band) is None
    assert blocks_to_decide(replace(run, least_error=0.0), band) is not None


def test_runs_whose_blocks_do_not_scatter_are_one_value_each() -> None:
    """If they were more, the first of two runs with as many blocks would have spoken for both."""
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
    """Their weights differ by a factor of 10 to the 19th."""
    found = pooled([estimate([40.0, 40.0 + 1e-10, 40.0 + 2e-10]), estimate([39.0, 40.0, 41.5])])
    assert found.low <= 40.0 + 1e-9 and found.high >= 40.0 - 1e-9
