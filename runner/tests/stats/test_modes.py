"""Two modes of a start: seen where they lie far apart, and seldom where there are none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.stats.modes import FEWEST, P_MAX, _best, _by_chance, modes_of_family, two_modes
from tests.support.simulations import Floats, normal, one_arm, slow_starts, student_3

SETS = 1500


def exponential(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.exponential(0.02, shape)


# The shares in the docstring of stats/modes.py.
SEEN: dict[Callable[[np.random.Generator, tuple[int, ...]], Floats], dict[int, int]] = {
    normal: {8: 1, 12: 1, 20: 1},
    student_3: {8: 1, 12: 1, 20: 1},
    one_arm: {8: 2, 12: 3, 20: 8},
    exponential: {8: 4, 12: 6, 20: 10},
    slow_starts: {8: 46, 12: 77, 20: 96},
    partial(slow_starts, scatter=0.02): {8: 6, 12: 11, 20: 24},
}


@pytest.mark.parametrize(
    ("kind", "forks", "per_cent"), [(kind, n, share) for kind, row in SEEN.items() for n, share in row.items()]
)
def test_two_modes_are_seen_as_often_as_the_docstring_says(
    kind: Callable[[np.random.Generator, tuple[int, ...]], Floats], forks: int, per_cent: int
) -> None:
    found = [two_modes(logs) for logs in kind(np.random.default_rng(forks), (SETS, forks)).tolist()]
    share = 100 * np.mean([one is not None and one.p_value < P_MAX for one in found])
    assert share == pytest.approx(per_cent, abs=3 if per_cent > 4 else 1.5)


def test_the_parts_are_those_that_lie_apart() -> None:
    fast, slow = [0.0, 0.01, -0.01, 0.005, -0.005, 0.0], [-0.1, -0.09, -0.11]
    found = two_modes([*fast, *slow])
    assert found is not None and (found.lower, found.upper) == (3, 6)
    assert found.apart == pytest.approx(0.1) and found.p_value < P_MAX


def test_two_modes_are_seen_among_many_cells_too() -> None:
    """No p-value counted in 20,000 draws alone would be left below the limit when adjusted for 300 tests."""
    apart = [1.0, 1.001, 0.999, 1.0005, 0.9, 0.901, 0.899, 0.9005]
    alike = np.random.default_rng(1).normal(1, 0.01, (300, 8)).tolist()
    found = modes_of_family({"apart": apart, **{str(i): one for i, one in enumerate(alike)}})
    assert [name for name, (_, p_adjusted) in found.items() if p_adjusted < P_MAX] == ["apart"]


def test_draws_do_not_depend_on_how_many_are_made_at_a_time() -> None:
    for n in (8, 200):
        at_once = np.sort(np.random.default_rng(n).normal(size=(20_000, n)), axis=1)
        assert _by_chance(n, 1).tolist() == _best(at_once)[0].tolist()


def test_a_single_outlier_is_no_mode() -> None:
    found = two_modes([0.0, 0.01, -0.01, 0.005, -0.005, 0.002, -0.012, 0.008, 0.013, -0.3])
    assert found is not None and found.p_value > P_MAX


@given(st.lists(st.floats(-1, 1), max_size=FEWEST - 1))
def test_few_forks_say_nothing(logs: list[float]) -> None:
    assert two_modes(logs) is None
    assert two_modes([0.5] * 20) is None


@given(st.lists(st.floats(-1, 1), min_size=FEWEST, max_size=20), st.floats(-3, 3), st.floats(0.1, 10))
def test_neither_unit_nor_direction_matters(logs: list[float], shift: float, factor: float) -> None:
    one, other = two_modes(logs), two_modes([-factor * log + shift for log in logs])
    if one is None or other is None or max(logs) - min(logs) < 1e-6:
        return
    assert other.p_value == pytest.approx(one.p_value, abs=0.002)
    assert other.apart == pytest.approx(factor * one.apart, rel=1e-3) or one.lower != other.upper


@pytest.mark.parametrize("scatter_s", [0.3, 0.5, 0.8])
def test_readings_in_whole_seconds_of_one_mode_are_not_two(scatter_s: float) -> None:
    random = np.random.default_rng(7)
    read_s = random.normal(random.uniform(12, 13, (300, 1)), scatter_s, (300, 12)).round()
    logs = np.log(read_s)
    found = [two_modes(list(one), step=1 / read) for one, read in zip(logs, read_s.mean(axis=1), strict=True)]
    assert sum(one is not None and one.p_value < P_MAX for one in found) <= 6
    far = modes_of_family({"a": [*[12.0] * 5, *[15.0] * 5]}, {"a": 1 / 13.5})
    assert far["a"][1] < P_MAX, "three steps apart"
