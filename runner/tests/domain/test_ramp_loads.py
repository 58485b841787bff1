"""Ramps: the rate, what is due, and what is no ramp."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from jdkmatrix.domain.loads import Load, RampLoad
from jdkmatrix.loads.kinds.ramps import RampedLoad

STEPS = RampLoad(points=((0, 100), (2, 100), (2, 300), (4, 300), (4, 0), (6, 0), (6, 50), (8, 50)), connections=10)


@st.composite
def ramps(draw: st.DrawFn) -> RampLoad:
    """Draw ramps with times and rates in thousandths, with jumps and stretches without requests."""
    rates = st.one_of(st.just(0.0), st.integers(0, 10_000_000).map(lambda rate: rate / 1000))
    times = draw(st.lists(st.integers(1, 86_400_000), min_size=1, max_size=8, unique=True).map(sorted))
    points = [(0.0, draw(rates))]
    for t in times:
        points.append((t / 1000, draw(rates)))
        if draw(st.booleans()):
            points.append((t / 1000, draw(rates)))
    points[0] = (0.0, points[0][1] or 1.0)
    return RampLoad(points=tuple(points), connections=1)


def test_a_linear_ramp() -> None:
    ramp = RampLoad(points=((0, 0), (30, 6000)), connections=6000)
    assert ramp.duration_s == 30
    assert [ramp.rate_at(t) for t in (-1, 0, 15, 30, 31)] == [0, 0, 3000, 6000, 0]
    assert [ramp.due_until(t) for t in (-1, 0, 10, 15, 30, 99)] == [0, 0, 10_000, 22_500, 90_000, 90_000]
    assert not ramp.ends_level


def test_steps_and_a_stretch_without_requests() -> None:
    assert [STEPS.rate_at(t) for t in (1.999, 2, 4, 5, 6, 8)] == [100, 300, 0, 0, 50, 50]
    assert [STEPS.due_until(t) for t in (2, 3, 4, 5, 6, 8)] == [200, 500, 800, 800, 800, 900]


def test_a_ramp_ends_level_when_its_last_rate_is_held() -> None:
    assert STEPS.ends_level
    assert RampLoad(points=((0, 0), (30, 600), (60, 600)), connections=1).ends_level
    assert not RampLoad(points=((0, 600), (30, 600), (30, 700)), connections=1).ends_level


def test_what_is_due_is_exact_in_what_was_written() -> None:
    ramp = RampLoad(points=tuple((i / 10, 0.1) for i in range(31)), connections=1)
    assert ramp.due_until(3) == Fraction(3, 10)


@given(ramps(), st.floats(0, 1), st.floats(0, 1))
def test_due_is_the_integral_of_the_rate(ramp: RampLoad, a: float, b: float) -> None:
    start_s, end_s = sorted((a * ramp.duration_s, b * ramp.duration_s))
    due = ramp.due_until(end_s) - ramp.due_until(start_s)
    # The rate is linear between these, so that the trapezium is its integral; just before a jump it is a limit.
    marks = [start_s, *(t for t, _ in ramp.points if start_s < t < end_s), end_s]
    area = sum((t1 - t0) * ramp.rate_at((t0 + t1) / 2) for t0, t1 in pairwise(marks))
    assert float(due) == pytest.approx(area, rel=1e-6, abs=1e-6)
    assert due >= 0


@given(ramps())
def test_all_is_due_at_the_end(ramp: RampLoad) -> None:
    assert ramp.due_until(ramp.duration_s) == ramp.due_until(math.nextafter(ramp.duration_s, math.inf)) > 0
    assert all(ramp.rate_at(t) == rate for (t, rate), after in pairwise(ramp.points) if after[0] > t)


@given(ramps())
def test_a_record_keeps_it(ramp: RampLoad) -> None:
    driven = TypeAdapter[Load](Load)
    assert driven.validate_json(driven.dump_json(ramp)) == ramp
    assert RampedLoad(points=ramp.points, connections=ramp.connections, warmup_rps=1).ramp == ramp


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[0, 5]], "at least 2"),
        ([[1, 5], [2, 5]], "the first point must be at 0 s, not at 1 s"),
        ([[0, 5], [2, 5], [1, 5]], "after 2 s comes 1 s: times must rise"),
        ([[0, 5], [1, 5], [1, 6], [1, 7]], "three points at 1 s: a jump has two"),
        ([[0, 5], [0, 6]], "the rate is never above 0 for any length of time"),
        ([[0, 0], [1, 0], [1, 5]], "the rate is never above 0 for any length of time"),
        ([[0, -1], [1, 1]], "greater than or equal to 0"),
        ([[0, 1], [1, 1e8]], "less than or equal to 10000000"),
        ([[0, 1], [1e5, 1]], "less than or equal to 86400"),
        ([[0, 1], [1, math.nan]], "number"),
        ([[0, 1], [1]], "Field required"),
    ],
)
def test_what_is_no_ramp(points: list[list[float]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RampLoad.model_validate({"points": points, "connections": 1})
