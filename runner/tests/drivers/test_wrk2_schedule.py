"""The schedule of wrk2: what it can send, when, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import Load, RampLoad, RateLoad, SaturateLoad
from jdkmatrix.drivers.base import Phase
from jdkmatrix.drivers.wrk2_figures import calibrated_s
from jdkmatrix.drivers.wrk2_schedule import asked_s, cannot_measure, cannot_send, due_requests, thread_count


def rate(rate_rps: float, connections: int = 50) -> RateLoad:
    return RateLoad(rate_rps=rate_rps, connections=connections)


@given(st.integers(1, 2000), st.integers(0, 64))
def test_threads_share_all_connections_and_have_a_cpu_each(connections: int, cpus: int) -> None:
    threads = thread_count(connections, cpus)
    assert 1 <= threads <= min(connections, max(cpus, 1))
    assert connections % threads == 0


def test_due_is_what_wrk2s_schedule_asks_for() -> None:
    """As in real runs that kept up: stall.txt recorded 9900 answers, 20s-calibration.txt 19,800 of 39,911."""
    assert due_requests(rate(1000), 1, 0, 10) == 9900
    assert due_requests(rate(2000, 20), 1, 0, 20) == 39_910
    assert due_requests(rate(2000, 20), 1, 10.1, 20) == 19_800
    assert due_requests(rate(1000, 1000), 1, 0, 1) == 200  # most are opened after the end
    assert due_requests(rate(1000, 4), 4, 0, 10) == 10_000  # all are opened at once


@pytest.mark.parametrize(
    ("load", "timeout_s", "reason"),
    [
        (SaturateLoad(connections=5), 10, "no closed loop"),
        (RampLoad(points=((0, 1), (9, 9)), connections=5), 10, "cannot change its rate"),
        (rate(1000.5), 10, "whole requests per second, not 1000.5"),
        (rate(0.5, 1), 10, "whole requests per second, not 0.5"),
        (rate(5), 10, "each send every 10 s; wrk2 would count such a pause as a timeout (10 s)"),
        (rate(50), 0.5, "each send every 1 s; wrk2 would count such a pause as a timeout (1 s)"),
        (rate(5000, 4001), 10, "opens its 4,001 connections 5 ms apart, which takes 20.005 s and may take 20 s"),
        (rate(50), 10, None),
        (rate(1, 1), 10, None),
        (rate(5000, 4000), 10, None),
    ],
)
def test_what_wrk2_cannot_send(load: Load, timeout_s: float, reason: str | None) -> None:
    found = cannot_send(load, cpus=1, timeout_s=timeout_s)
    assert found is None if reason is None else reason in str(found)


def test_more_cpus_open_more_connections() -> None:
    assert cannot_send(rate(5000, 4002), cpus=2, timeout_s=10) is None


@pytest.mark.parametrize(
    ("load", "window_s", "reason"),
    [
        (rate(2000), 3, "first 10.25 s: after that, its windows must be at least 10 s long, not 3 s"),
        (rate(2000), 9.9, "not 9.9 s"),
        (rate(8, 50), 10, "sends 100 requests in 10 s instead of 80, since each of its 50 connections sends so rarely"),
        (rate(2000), 10, None),
        (rate(5000, 3000), 10, None),
        (rate(2000), 600, None),
        (rate(2000.5), 30, "whole requests"),
        (
            rate(20),
            10,
            "in bursts, one every 2.5 s: in 10 s there may be up to 45% more or fewer answers",
        ),
        (rate(100), 10, "up to 5% more or fewer answers"),
        (rate(200), 10, None),
        (rate(20, 1), 10, None),
        (rate(10, 1), 10, "up to 2% more or fewer answers"),
        (rate(10, 1), 20, None),
    ],
)
def test_what_wrk2_cannot_measure(load: RateLoad, window_s: float, reason: str | None) -> None:
    found = cannot_measure(Phase(load, window_s, timeout_s=10, cpus=1))
    assert found is None if reason is None else reason in str(found)


@given(st.builds(rate, st.integers(1, 100_000), st.integers(1, 4000)), st.integers(1, 8), st.floats(10, 600))
def test_what_it_can_measure_has_the_rate_that_it_is_to_have(load: RateLoad, cpus: int, duration_s: float) -> None:
    assume(cannot_measure(Phase(load, duration_s, timeout_s=10, cpus=cpus)) is None)
    threads = thread_count(load.connections, cpus)
    lead, lasts_s = calibrated_s(load.connections, threads), asked_s(load, threads, duration_s)
    assert lead + duration_s <= lasts_s < lead + duration_s + 1
    assert lead == pytest.approx(10 + 0.005 * load.connections / threads), "all are open by then"
    assert 0.85 < due_requests(load, threads, lead, lasts_s) / (load.rate_rps * (lasts_s - lead)) < 1.15


@given(st.builds(rate, st.integers(1, 100_000), st.integers(1, 4000)), st.floats(10, 60), st.floats(0, 2))
def test_a_server_that_keeps_up_answers_what_is_due_however_long_it_takes(
    load: RateLoad, duration_s: float, answer_s: float
) -> None:
    assume(cannot_measure(Phase(load, duration_s, timeout_s=10, cpus=1)) is None)
    assume(answer_s * load.rate_rps <= load.connections)
    begins, ends = calibrated_s(load.connections, 1), asked_s(load, 1, duration_s)
    answered = due_requests(load, 1, begins - answer_s, ends - answer_s)
    assert answered == pytest.approx(due_requests(load, 1, begins, ends), rel=0.01, abs=1)
