"""What wrk2 can send, when, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jdkmatrix.drivers.base import Phase
from jdkmatrix.drivers.wrk2_schedule import asked_s, cannot_measure, cannot_send, due_requests, nearest, thread_count
from jdkmatrix.terms.loads import Load, RampLoad, RateLoad, SaturateLoad


def rate(rate_rps: float, connections: int = 50) -> RateLoad:
    return RateLoad(rate_rps=rate_rps, connections=connections)


@given(st.integers(1, 2000), st.integers(0, 64))
def test_threads_share_all_connections_and_have_a_cpu_each(connections: int, cpus: int) -> None:
    threads = thread_count(connections, cpus)
    assert 1 <= threads <= min(connections, max(cpus, 1))
    assert connections % threads == 0


def test_due_is_what_wrk2s_schedule_asks_for() -> None:
    """Against real runs that kept up: stall.txt recorded 9900 answers, 20s-calibration.txt counted 39911."""
    assert due_requests(rate(1000), 1, 10) == 9900
    assert due_requests(rate(2000, 20), 1, 20) == 39_910
    assert due_requests(rate(1000, 1000), 1, 1) == 200  # most are opened after the end
    assert due_requests(rate(1000, 4), 4, 10) == 10_000  # all are opened at once


@pytest.mark.parametrize(
    ("load", "timeout_s", "reason"),
    [
        (SaturateLoad(connections=5), 10, "no closed loop"),
        (RampLoad(points=((0, 1), (9, 9)), connections=5), 10, "cannot change its rate"),
        (rate(1000.5), 10, "whole requests per second, not 1000.5"),
        (rate(0.5, 1), 10, "whole requests per second, not 0.5"),
        (rate(float("inf")), 10, "whole requests per second, not inf"),
        (rate(5), 10, "send every 10 s each; wrk2 would count such a pause as a timeout (10 s)"),
        (rate(50), 0.5, "send every 1 s each; wrk2 would count such a pause as a timeout (1 s)"),
        (rate(49), 10, "50 connections at 49 requests/s send every 1.02 s each, but"),
        (rate(5000, 401), 10, "opens its 401 connections 5 ms apart, which takes 2.005 s and may take 2 s"),
        (rate(50), 10, None),
        (rate(1, 1), 10, None),
        (rate(5000, 400), 10, None),
    ],
)
def test_what_wrk2_cannot_send(load: Load, timeout_s: float, reason: str | None) -> None:
    found = cannot_send(load, cpus=1, timeout_s=timeout_s)
    assert found is None if reason is None else reason in str(found)


def test_more_cpus_open_more_connections() -> None:
    assert cannot_send(rate(5000, 402), cpus=2, timeout_s=10) is None


@pytest.mark.parametrize(
    ("load", "window_s", "reason"),
    [
        (rate(2000), 1, "sends 1,775 requests in 1 s and not 2,000"),
        (rate(5000, 200), 3, "sends 12,600 requests in 3 s and not 15,000"),
        (rate(2000), 2, None),
        (rate(2000), 8, None),
        (rate(2000), 8.5, "away if it is still running then: of a window of 9 s too few may be left"),
        (rate(2000), 10, "throws the latencies of its first 10.25 s away"),
        (rate(2000), 20, "use windows of at most 8 s or at least 21 s"),
        (rate(2000), 21, None),
        (rate(2000), 600, None),
        (rate(2000.5), 30, "whole requests"),
    ],
)
def test_what_wrk2_cannot_measure(load: RateLoad, window_s: float, reason: str | None) -> None:
    found = cannot_measure(Phase(load, window_s, timeout_s=10, cpus=1))
    assert found is None if reason is None else reason in str(found)


LOADS = st.builds(rate, st.floats(1e-3, 1e6), st.integers(1, 400))


@given(LOADS, st.integers(1, 8), st.floats(0.1, 600))
def test_the_nearest_load_can_be_sent(load: RateLoad, cpus: int, timeout_s: float) -> None:
    near = nearest(load, timeout_s)
    assert cannot_send(near, cpus=cpus, timeout_s=timeout_s) is None
    assert near.connections == load.connections
    assert nearest(near, timeout_s) == near
    rounded = rate(max(1.0, round(load.rate_rps)), load.connections)
    if cannot_send(rounded, cpus=cpus, timeout_s=timeout_s) is None:
        assert near == rounded
    else:
        assert near.rate_rps > load.rate_rps


@given(LOADS, st.integers(1, 8), st.floats(0.1, 6))
def test_every_phase_has_about_the_rate_that_it_is_to_have(load: RateLoad, cpus: int, duration_s: float) -> None:
    load = nearest(load, 10)
    assume(cannot_send(load, cpus=cpus, timeout_s=10) is None)
    threads = thread_count(load.connections, cpus)
    lasts_s = asked_s(load, threads, duration_s)
    assert max(duration_s, 1) <= lasts_s <= max(duration_s + 1, 4)
    assert 0.7 < due_requests(load, threads, lasts_s) / (load.rate_rps * lasts_s) < 1.3
