"""Which forks did what their load asks for, and when two arms differ in this."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import CountLoad, RateLoad, SaturateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.faults import KINDS, LostUpdateError, ProgramError, code_of
from jdkmatrix.fork.watchdog import FloodError
from jdkmatrix.host.ending import OutOfMemoryError
from jdkmatrix.loads.attainment import SERVERS_OWN, ForkOutcome, OutcomeCounts, attained, contrast, fate
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.limits import LIMIT_CODES
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Capacity, Window
from jdkmatrix.servers.process import HungError, ServerError
from jdkmatrix.servers.proof import ProofError
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.stats.exact_test import fisher_exact, least_p_value
from tests.support.builders import fork, fork_with, load_result, reasons, window
from tests.support.outcome_runs import failing, hung, missed, silent, spoilt, without_driver
from tests.support.pinning_results import program_fork
from tests.support.ramped_runs import LEVEL, RISING, with_ramp
from tests.support.records import altered
from tests.support.served_runs import Shape, synthetic_run

CLOSED = SaturateLoad(connections=50)
RATE = RateLoad(rate_rps=2000, connections=50)
STEPS = StepsLoad(rates_rps=(1000, 2000, 3000), connections=50, step_s=2, warmup_rps=500)
SEARCH = CapacityLoad(connections=50, p99_max_us=1e4, floor_share=0.1, resolution=0.05, step_s=3)
COUNTS = st.integers(0, 12)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_p_value_is_fishers(yes: int, no: int, other_yes: int, other_no: int) -> None:
    expected = scipy.stats.fisher_exact(np.array([[yes, no], [other_yes, other_no]])).pvalue
    assert fisher_exact(yes, no, other_yes, other_no) == pytest.approx(float(expected), abs=1e-9)
    assert fisher_exact(other_yes, other_no, yes, no) == pytest.approx(fisher_exact(yes, no, other_yes, other_no))


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_no_outcome_has_less_than_the_least(yes: int, no: int, other_yes: int, other_no: int) -> None:
    first, other, every = yes + no, other_yes + other_no, yes + other_yes
    possible = range(max(0, every - other), min(first, every) + 1)
    p_values = [fisher_exact(here, first - here, every - here, other - every + here) for here in possible]
    assert least_p_value(yes, no, other_yes, other_no) == pytest.approx(min(p_values))


def test_no_count_is_below_0() -> None:
    with pytest.raises(MatrixError, match="counted from 0"):
        fisher_exact(-1, 5, 5, 0)


def test_where_nothing_could_be_told_there_is_no_test() -> None:
    def p_value(one: tuple[int, int], other: tuple[int, int]) -> float | None:
        arms = (OutcomeCounts(yes, no, 0) for yes, no in (one, other))
        return contrast(*arms, error=0.05).p_value

    assert p_value((0, 5), (5, 0)) == pytest.approx(2 / 252)
    assert p_value((2, 3), (3, 2)) == pytest.approx(1.0), "five of ten forks could differ clearly, and do not"
    assert p_value((5, 0), (5, 0)) is None, "every fork said yes"
    assert p_value((0, 2), (2, 0)) is None, "two forks each"
    assert p_value((4, 1), (5, 0)) is None, "a single no says nothing, wherever it falls"


def test_the_arm_with_the_larger_share_is_better() -> None:
    def found(one: OutcomeCounts, other: OutcomeCounts) -> tuple[bool, float]:
        seen = contrast(one, other, error=0.05)
        return seen.is_better, seen.gap

    assert found(OutcomeCounts(5, 0, 0), OutcomeCounts(0, 5, 0)) == (True, 1.0)
    assert found(OutcomeCounts(2, 0, 3), OutcomeCounts(4, 1, 0)) == (True, pytest.approx(0.2))
    assert found(OutcomeCounts(0, 5, 0), OutcomeCounts(5, 0, 0)) == (False, 1.0)
    assert found(OutcomeCounts(0, 0, 5), OutcomeCounts(5, 0, 0)) == (False, 0.0), "nothing is known of the first"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Fork:
    shape = Shape(jdks=("temurin-25",), executors=("liberty",), loads=("rate-2000",), blocks=1)
    return synthetic_run(tmp_path_factory.mktemp("one"), shape).cells[0].forks[0]


def test_what_the_host_spoilt_is_lost_and_what_the_server_did_not_do_is_no(measured: Fork) -> None:
    assert fate(measured, RATE) is ForkOutcome.YES
    for change in (missed, failing, silent, hung):
        assert fate(change(measured), RATE) is ForkOutcome.NO
    for change in (spoilt, without_driver):
        assert fate(change(measured), RATE) is ForkOutcome.LOST
    assert missed(measured).usable and failing(measured).usable
    assert not silent(measured).usable, "without an answer there is no figure"
    unsteady = measured.model_copy(update={"status": Status.NOT_STEADY})
    assert fate(unsteady, RATE) is ForkOutcome.YES


def test_one_short_window_is_enough_and_one_that_is_spoilt_says_nothing(measured: Fork) -> None:
    first, second = measured.windows
    short = missed(measured).windows[0]
    assert fate(altered(measured, {"windows": (short, second)}), RATE) is ForkOutcome.NO
    spoilt_too = short.model_copy(update={"reasons": reasons("steal")})
    assert fate(altered(measured, {"windows": (spoilt_too, second)}), RATE) is ForkOutcome.YES
    assert first.valid


OTHERS = ("driver", "remote", "pinning", "kernel", "measurement", "internal-error", "disk-full")


@pytest.mark.parametrize("code", [*sorted(SERVERS_OWN), *OTHERS])
def test_a_fork_that_the_server_let_fail_is_an_outcome_and_one_that_failed_otherwise_is_lost(code: str) -> None:
    broken = fork(1, Status.FAILED).model_copy(update={"reasons": reasons(code)})
    assert fate(broken, CLOSED) is (ForkOutcome.LOST if code in OTHERS else ForkOutcome.NO)
    killed_too = broken.model_copy(update={"reasons": reasons("killed", code)})
    assert fate(killed_too, CLOSED) is ForkOutcome.LOST


def test_what_is_never_measured_again_is_the_servers_own_doing() -> None:
    """This holds for all outcomes except those that windows report."""
    outcomes = {code for code, kind in KINDS.items() if kind == "outcome"}
    ends = (HungError, ServerError, OutOfMemoryError, FloodError, ProofError, LostUpdateError, ProgramError)
    assert outcomes - {"no-answers", "rate-missed", "errors"} == SERVERS_OWN
    assert {code_of(end("it ended so")) for end in ends} | LIMIT_CODES == SERVERS_OWN


def test_a_program_that_ended_without_a_figure_did_not_do_what_it_was_asked_for() -> None:
    ended = program_fork(1, None)
    assert not ended.usable
    assert fate(ended, CountLoad(count=10)) is ForkOutcome.NO
    assert fate(ended.model_copy(update={"status": Status.INVALID}), CountLoad(count=10)) is ForkOutcome.LOST


def test_a_closed_loop_asks_for_answers(measured: Fork) -> None:
    assert fate(failing(measured), CLOSED) is ForkOutcome.YES
    assert fate(silent(measured), CLOSED) is ForkOutcome.NO


def test_forks_that_were_planned_and_never_measured_are_lost(measured: Fork) -> None:
    assert attained([measured, missed(measured)], RATE, planned=5) == OutcomeCounts(yes=1, no=1, lost=3)
    assert attained([measured, spoilt(measured)], RATE) == OutcomeCounts(yes=1, no=0, lost=1)


def step(rate_rps: float, *, short: bool = False, spoilt_too: bool = False) -> Window:
    load = load_result(RateLoad(rate_rps=rate_rps, connections=50))
    told = {"reasons": reasons("driver-saturated") if spoilt_too else (), "shortfalls": reasons("rate-missed")[:short]}
    return window(1, load, **told)


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([step(1000), step(2000), step(3000)], ForkOutcome.YES),
        ([step(1000), step(2000, short=True), step(3000)], ForkOutcome.YES),  # the last rate was still answered
        ([step(1000), step(2000), step(3000, short=True)], ForkOutcome.NO),
        ([step(1000), step(2000, short=True)], ForkOutcome.NO),
        ([step(1000), step(2000), step(3000, short=True, spoilt_too=True)], ForkOutcome.LOST),  # driver saturated
        ([step(1000), step(2000, short=True), step(3000, spoilt_too=True)], ForkOutcome.LOST),  # by chance?
        ([step(1000, short=True), step(2000, short=True), step(3000, spoilt_too=True)], ForkOutcome.NO),
    ],
)
def test_steps_ask_for_the_last_rate(windows: Sequence[Window], expected: ForkOutcome) -> None:
    assert fate(fork_with(*windows), STEPS) is expected


@pytest.mark.parametrize(
    ("load", "capacity_rps", "expected"),
    [
        (LEVEL, 2500, ForkOutcome.YES),
        (LEVEL, 900, ForkOutcome.NO),
        (RISING, 1e6, ForkOutcome.YES),
        (RISING, 2000, ForkOutcome.NO),
    ],
)
def test_ramps_ask_for_their_peak_or_for_no_knee(
    measured: Fork, load: RampedLoad, capacity_rps: float, expected: ForkOutcome
) -> None:
    assert fate(with_ramp(measured, load, lag_s=1, capacity_rps=capacity_rps), load) is expected


def test_a_ramp_too_short_to_have_a_knee_says_nothing(measured: Fork) -> None:
    ramp = with_ramp(measured, RISING, lag_s=1, capacity_rps=1e6)
    window = ramp.windows[0]
    short = window.model_copy(update={"load": window.load.model_copy(update={"intervals": window.load.intervals[:4]})})
    assert fate(altered(ramp, {"windows": (short,)}), RISING) is ForkOutcome.LOST


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (SearchOutcome.FOUND, ForkOutcome.YES),
        (SearchOutcome.CEILING_HELD, ForkOutcome.YES),
        (SearchOutcome.FLOOR_FAILED, ForkOutcome.NO),
        (SearchOutcome.INVALID_WINDOWS, ForkOutcome.LOST),
        (SearchOutcome.WINDOWS_USED_UP, ForkOutcome.LOST),
    ],
)
def test_a_search_asks_for_a_rate_that_holds(measured: Fork, outcome: SearchOutcome, expected: ForkOutcome) -> None:
    capacity = Capacity(
        outcome=outcome.value, p99_max_us=1e4, floor_rps=1e3, ceiling_rps=1e4, held_rps=5e3, failed_rps=5.1e3,
        not_monotonic_rps=(), steps=(),
    )  # fmt: skip
    assert fate(altered(measured, {"capacity": capacity}), SEARCH) is expected
    assert fate(measured, SEARCH) is ForkOutcome.LOST, "nothing was searched for"
