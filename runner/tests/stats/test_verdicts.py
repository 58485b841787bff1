"""Many comparisons on one page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from jdkmatrix.errors import MatrixError
from jdkmatrix.report.cells.judgements import Family
from jdkmatrix.report.words.sentences import losses_words
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.stats.verdicts import (
    FAMILY_ERROR,
    ArmForks,
    Judged,
    Losses,
    Verdict,
    holm,
    judged,
    losses_among,
    verdict_by_interval,
)

P_VALUES = st.lists(st.floats(0, 1), max_size=30)


def judge(ratios: Mapping[Any, Ratio]) -> dict[Any, Judged]:
    """Judge them as one family, of arms that lost no fork, by a difference of 10 %."""
    found, _, _ = Family(0.1, {name: (ratio, Losses(0, 0, 0, 0), None) for name, ratio in ratios.items()}).judge()
    return found


def test_holm_worked_by_hand() -> None:
    """Sorted: 0.01 · 4, 0.02 · 3, 0.03 · 2 (raised to the one before it), 0.5 · 1."""
    assert holm([0.02, 0.5, 0.01, 0.03]) == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@given(P_VALUES)
def test_adjusted_values_lie_between_raw_and_bonferroni_and_keep_the_order(p_values: list[float]) -> None:
    """The order of the comparisons does not matter."""
    adjusted = holm(p_values)
    assert holm(p_values[::-1])[::-1] == pytest.approx(adjusted)
    for raw, found in zip(p_values, adjusted, strict=True):
        assert raw <= found <= min(1.0, raw * len(p_values))
    for i, one in enumerate(p_values):
        assert all(adjusted[i] <= adjusted[j] for j, other in enumerate(p_values) if one < other)


@pytest.mark.parametrize("p_value", [-0.1, 1.1, math.nan])
def test_no_p_value(p_value: float) -> None:
    with pytest.raises(MatrixError, match=r"a p-value is in 0\.\.1"):
        holm([0.5, p_value])


def test_a_ratio_alone_on_a_page_and_among_many() -> None:
    ratio = paired_ratio({1: 1.10, 2: 1.12, 3: 1.05}, dict.fromkeys((1, 2, 3), 1.0))
    assert ratio and ratio.p_value and 0.01 < ratio.p_value < 0.05
    assert judge({"x": ratio})["x"] == Judged(ratio, ratio.p_value, 1, Verdict.DIFFERENT)
    noise = Ratio(1.01, 0.95, 1.08, 3, p_value=0.8)
    among = judge({"x": ratio, **{f"noise {i}": noise for i in range(9)}})
    assert among["x"].p_adjusted == pytest.approx(10 * ratio.p_value)
    assert (among["x"].family, among["x"].verdict) == (10, Verdict.NO_EVIDENCE_YET), "its own interval leaves 1 out"
    assert {among[key].verdict for key in among if key != "x"} == {Verdict.NO_DIFFERENCE_SEEN}
    assert among["x"].ratio is ratio, "the effect and its interval stay as they are"


def test_single_blocks_are_shown_and_not_counted() -> None:
    clear = Ratio(1.2, 1.1, 1.3, 5, p_value=0.04)
    found = judge({"clear": clear, "hint": Ratio(1.5, None, None, 1)})
    assert found["clear"].verdict is Verdict.DIFFERENT, "a family of one"
    assert found["hint"] == Judged(Ratio(1.5, None, None, 1), None, 1, Verdict.ONE_BLOCK)


@given(st.integers(0, 5), st.integers(0, 5), st.floats(0, 0.01))
def test_arms_that_lost_different_numbers_of_forks_are_not_judged(one: int, other: int, p_value: float) -> None:
    """Arms that lost different numbers of forks are not judged, however clear the remaining blocks look."""
    found = judged(Ratio(1.5, 1.4, 1.6, 3, p_value=p_value), p_value, 1, Losses(one, 5, other, 5))
    assert found.verdict is (Verdict.DIFFERENT if one == other else Verdict.NOT_JUDGED)
    assert (found.p_adjusted is None) == (one != other)
    assert judged(Ratio(1.5, None, None, 1), None, 1, Losses(4, 5, 0, 5)).verdict is Verdict.NOT_JUDGED


def arm(blocks: int, compare: Iterable[int], own_doing: Mapping[int, str | None]) -> ArmForks:
    return ArmForks(blocks, [*compare], own_doing)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (arm(5, range(2, 6), {1: None}), arm(5, range(1, 5), {5: None}), False),
        (arm(5, range(2, 6), {}), arm(5, range(1, 5), {}), False),
        # One hung, the other's last fork was lost to the host.
        (arm(5, range(2, 6), {1: None}), arm(5, range(1, 5), {}), True),
        # Two held the highest rate that was tried, two of the other not even the lowest.
        (arm(8, range(3, 9), {1: "≥", 2: "≥"}), arm(8, range(3, 9), {1: "<", 2: "<"}), True),
        (arm(8, range(3, 9), {1: "≥", 2: "≥"}), arm(8, range(1, 7), {7: "≥", 8: "≥"}), False),
        # What an arm did beyond the other's blocks is no loss of the pair.
        (arm(5, range(1, 5), {5: None}), arm(4, range(1, 5), {}), False),
    ],
)
def test_arms_that_lost_as_many_forks_for_different_reasons_are_not_judged(
    one: ArmForks, other: ArmForks, *, differ: bool
) -> None:
    losses = losses_among(one, other)
    assert losses.numerator == losses.denominator
    assert losses.differ == losses_among(other, one).differ == differ
    assert losses_words(losses).endswith(", for different reasons") == differ


SCATTERED = st.lists(st.lists(st.floats(0.5, 2), min_size=2, max_size=12), min_size=1, max_size=8)


@given(SCATTERED, st.booleans())
def test_no_verdict_contradicts_the_interval_beside_it(pages: list[list[float]], sequential: bool) -> None:
    """Ratios are 0.5 to 2 per block; without a family, "different" is said exactly where the interval leaves 1 out."""
    ratios = {}
    for index, figures in enumerate(pages):
        ratio = paired_ratio(dict(enumerate(figures)), dict.fromkeys(range(len(figures)), 1.0), sequential=sequential)
        assert ratio is not None and ratio.p_value is not None
        if abs(ratio.p_value - 0.05) > 1e-9 and abs(math.log(ratio.value)) > 1e-9:
            ratios[index] = ratio
    for index, one in judge(ratios).items():
        ratio = one.ratio
        outside = not ratio.ci_low <= 1 <= ratio.ci_high
        assert (one.verdict is Verdict.DIFFERENT) == (one.p_adjusted < 0.05)
        assert (one.verdict in (Verdict.NO_DIFFERENCE_SEEN, Verdict.CANNOT_TELL)) == (not outside)
        within = ratio.ci_low >= 0.9 and ratio.ci_high <= 1.1
        assert (one.verdict is Verdict.NO_DIFFERENCE_SEEN) == (not outside and within)
        assert (judge({"alone": ratios[index]})["alone"].verdict is Verdict.DIFFERENT) == outside


@pytest.mark.parametrize(
    ("blocks", "comparisons", "found"), [(3, 1, 0.62), (3, 40, 0.02), (5, 10, 0.58), (5, 40, 0.26), (7, 40, 0.74)]
)
def test_few_blocks_seldom_find_a_small_difference_among_many(blocks: int, comparisons: int, found: float) -> None:
    """One ratio is 1.05 and the others are 1, each with a scatter of 2 % from block to block."""
    random = np.random.default_rng(blocks)
    logs = random.normal(0, 0.02, (2000, comparisons, blocks))
    logs[:, 0, :] += 0.05
    p_values = np.asarray(ttest_1samp(logs, 0, axis=2).pvalue)
    assert np.mean([holm(page.tolist())[0] < FAMILY_ERROR for page in p_values]) == pytest.approx(found, abs=0.03)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.97, 1.03, Verdict.NO_DIFFERENCE_SEEN), (0.97, 1.06, Verdict.CANNOT_TELL), (0.94, 1.0, Verdict.CANNOT_TELL),
        (1.01, 1.02, Verdict.DIFFERENT), (0.9, 0.99, Verdict.DIFFERENT), (1.01, None, Verdict.DIFFERENT),
        (0.97, None, Verdict.CANNOT_TELL),
    ],
)  # fmt: skip
def test_runs_together_have_the_verdict_of_their_interval(low: float, high: float | None, verdict: Verdict) -> None:
    assert verdict_by_interval(Ratio(1.0, low, high, 9), 0.05) is verdict
