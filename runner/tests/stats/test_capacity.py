"""The search for the highest rate that holds, against made-up servers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.capacity import CapacityRules, Done, Probe, Purpose, SearchOutcome, TriedRate, next_rate, tried
from tests.support.builders import latency, load_result, reasons, window

SLO_US = 10_000.0
RULES = CapacityRules(floor_rps=1_000, ceiling_rps=40_000, slo_us=SLO_US)
# Halvings from a factor of 40 down to 1.05, the floor, and two more windows at either end of the bracket.
MOST_WINDOWS = math.ceil(math.log2(math.log(40) / math.log(1.05))) + 1 + 4

Server = Callable[[float], TriedRate]


def held(rate: float) -> TriedRate:
    return TriedRate(rate, valid=True, p99_us=SLO_US / 2, failed=0)


def missed(rate: float) -> TriedRate:
    return TriedRate(rate, valid=True, p99_us=SLO_US * 5, failed=0)


def spoilt(rate: float) -> TriedRate:
    return TriedRate(rate, valid=False, p99_us=SLO_US * 5, failed=3)


def sharp(capacity: float) -> Server:
    return lambda rate: held(rate) if rate <= capacity else missed(rate)


def search(server: Server, rules: CapacityRules = RULES) -> tuple[Done, list[TriedRate]]:
    history: list[TriedRate] = []
    while isinstance(step := next_rate(history, rules), Probe):
        assert len(history) < rules.windows_max
        assert rules.floor_rps <= step.rate_rps <= rules.ceiling_rps
        history.append(server(step.rate_rps))
    return step, history


@given(st.floats(1_000, 39_999))
def test_the_capacity_lies_in_a_narrow_bracket(capacity: float) -> None:
    done, history = search(sharp(capacity))
    assert done.outcome is SearchOutcome.FOUND
    assert done.held_rps <= capacity < done.failed_rps <= done.held_rps * 1.05
    assert done.not_monotonic_rps == ()
    assert len(history) <= MOST_WINDOWS
    for end in (done.held_rps, done.failed_rps):
        assert sum(window.rate_rps == end for window in history) == 2, "both ends are confirmed"


@given(st.floats(1_500, 38_000), st.integers(0, 10_000))
def test_a_noisy_server(capacity: float, seed: int) -> None:
    """Around its capacity, windows hold by chance; a tenth of all windows is invalid, and invalid ones say nothing."""
    source = random.Random(seed)

    def server(rate: float) -> TriedRate:
        if source.random() < 0.1:
            return spoilt(rate)
        chance = 1 / (1 + math.exp((rate / capacity - 1) / 0.01))
        return held(rate) if source.random() < chance else missed(rate)

    done, history = search(server)
    rates = sorted({window.rate_rps for window in history})
    assert all(above / below > 1 + RULES.resolution / 2.2 for below, above in pairwise(rates))
    assert len(history) < RULES.windows_max
    if done.outcome is SearchOutcome.FOUND:
        assert done.held_rps * 0.85 <= capacity <= done.failed_rps * 1.15
        assert done.held_rps < done.failed_rps <= done.held_rps * 1.05
    else:
        assert done.outcome is SearchOutcome.INVALID_WINDOWS


@given(st.floats(1_200, 39_000), st.integers(0, 30))
def test_one_odd_window_does_not_decide(capacity: float, odd: int) -> None:
    asked = 0

    def server(rate: float) -> TriedRate:
        nonlocal asked
        asked += 1
        right = sharp(capacity)(rate)
        if asked - 1 != odd:
            return right
        return missed(rate) if right.held(SLO_US) else held(rate)

    done, history = search(server)
    assert done.outcome is SearchOutcome.FOUND
    # An odd window on the way moves the search; the ends it comes back to were seen twice each.
    assert done.held_rps <= capacity < done.failed_rps <= done.held_rps * 1.05
    assert len(history) <= 2 * MOST_WINDOWS


def test_errors_and_silence_do_not_hold() -> None:
    assert not TriedRate(1.0, valid=True, p99_us=1.0, failed=1).held(SLO_US)
    assert not TriedRate(1.0, valid=True, p99_us=None, failed=0).held(SLO_US)
    assert not TriedRate(1.0, valid=True, p99_us=1.0, failed=0, kept_up=False).held(SLO_US)
    assert TriedRate(1.0, valid=True, p99_us=SLO_US, failed=0).held(SLO_US)


def test_the_floor_comes_first_and_both_ends_of_the_range_are_tried_twice() -> None:
    assert next_rate([], RULES) == Probe(1_000, Purpose.START)
    done, history = search(missed)
    assert done == Done(SearchOutcome.FLOOR_FAILED, None, 1_000, ())
    assert [window.rate_rps for window in history] == [1_000, 1_000]
    done, history = search(held)
    assert done == Done(SearchOutcome.CEILING_HELD, 40_000, None, ())
    assert sum(window.rate_rps == 40_000 for window in history) == 2


def test_invalid_windows_are_repeated_up_to_a_limit() -> None:
    history = [held(1_000), spoilt(6_000), spoilt(6_000)]
    assert next_rate(history, RULES) == Probe(6_000, Purpose.REPEAT)
    assert next_rate([*history, spoilt(6_000)], RULES) == Done(SearchOutcome.INVALID_WINDOWS, 1_000, None, ())
    again = next_rate([*history, held(6_000), spoilt(7_000)], RULES)
    assert again == Probe(7_000, Purpose.REPEAT), "counted from the last valid one"


def test_the_answer_is_the_same_with_and_without_repeated_windows() -> None:
    flip = False

    def server(rate: float) -> TriedRate:
        nonlocal flip
        flip = not flip
        return spoilt(rate) if flip else sharp(9_876)(rate)

    assert search(server)[0] == search(sharp(9_876))[0]


def test_more_than_one_crossing_is_reported() -> None:
    """It fails only between 5,000 and 8,000: the capacity is the lowest crossing found, and the result says so."""
    history = [held(1_000), held(1_000), held(20_000), held(20_000), missed(6_000), missed(6_000)]
    first = next_rate(history, RULES)
    assert isinstance(first, Probe) and 1_000 < first.rate_rps < 6_000
    while isinstance(step := next_rate(history, RULES), Probe):
        history.append(missed(step.rate_rps) if 5_000 < step.rate_rps < 8_000 else held(step.rate_rps))
    assert step.held_rps <= 5_000 < step.failed_rps
    assert 20_000 in step.not_monotonic_rps


@pytest.mark.parametrize("capacity_rps", [1, 3, 4, 9, 11])
def test_where_no_rate_lies_between_the_bracket_is_as_narrow_as_it_gets(capacity_rps: int) -> None:
    rules = CapacityRules(1, 12, SLO_US, resolution=0.01, nearest_rps=round)
    done, history = search(sharp(capacity_rps), rules)
    assert done.outcome is SearchOutcome.FOUND
    assert (done.held_rps, done.failed_rps) == (capacity_rps, capacity_rps + 1)
    assert all(window.rate_rps == round(window.rate_rps) for window in history)
    assert len(history) < 12


def test_windows_are_bounded() -> None:
    rules = CapacityRules(1_000, 40_000, SLO_US, resolution=1e-9, windows_max=20)
    done, history = search(sharp(12_345), rules)
    assert done.outcome is SearchOutcome.WINDOWS_USED_UP
    assert len(history) == 20
    assert done.held_rps <= 12_345 < done.failed_rps


def test_the_last_window_allowed_may_be_the_one_that_answers() -> None:
    found, history = search(sharp(12_345))
    least = replace(RULES, windows_max=len(history))
    assert search(sharp(12_345), least) == (found, history)
    done, _ = search(sharp(12_345), replace(least, windows_max=len(history) - 1))
    assert done.outcome is SearchOutcome.WINDOWS_USED_UP


@pytest.mark.parametrize(
    "rules", [(0, 10, 1), (10, 10, 1), (10, 5, 1), (1, math.inf, 1), (1, 2, 0), (1, 2, 1, 0), (1, 2, 1, 0.1, 0)]
)
def test_impossible_rules(rules: tuple[float, ...]) -> None:
    with pytest.raises(MatrixError, match="capacity search"):
        CapacityRules(*rules)  # type: ignore[arg-type]


def recorded(
    *codes: str, short: tuple[str, ...] = (), p99_us: float = 5_000, non_2xx: int = 0, unsent: int = 0
) -> TriedRate:
    rate = RateLoad(rate_rps=500, connections=10)
    load = load_result(rate, corrected=latency(p99_us), non_2xx=non_2xx, unsent=unsent)
    return tried(window(1, load, reasons=reasons(*codes), shortfalls=reasons(*short)), 500)


def test_overload_is_an_answer_and_other_trouble_is_not() -> None:
    assert recorded() == TriedRate(500, valid=True, p99_us=5_000, failed=0)
    missed_rate = recorded(short=("rate-missed",), unsent=3)
    assert missed_rate == TriedRate(500, valid=True, p99_us=5_000, failed=0, kept_up=False)
    assert recorded(unsent=3).held(SLO_US), "as a pause at the end of a window leaves them"
    assert not recorded(short=("rate-missed",)).held(SLO_US), "its few answers came in time"
    assert not recorded("driver-saturated", short=("rate-missed",)).valid
    assert not recorded("steal").valid
    assert recorded(non_2xx=2).failed == 2
