"""Latencies compared with a server whose behaviour is known, and with its own record of every answer."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest

from jdkmatrix.domain.loads import JoinLoad, RateLoad, SaturateLoad
from jdkmatrix.records.load_results import Latency, LoadResult
from tests.drivers.loadgen.conftest import Moody, Open, Report

pytestmark = [pytest.mark.real, pytest.mark.alone]

RATE_RPS = 1000
CONNECTIONS = 50
LOAD = RateLoad(rate_rps=RATE_RPS, connections=CONNECTIONS)


def true_latencies_us(report: Report, result: LoadResult) -> list[float]:
    """Return the times from the intended send time to the server's answer, in rising order.

    The n-th request of connection c is slot c + n * CONNECTIONS of the schedule: connections are opened, and so
    accepted, in the order of their slots.
    """
    rounds: dict[int, int] = defaultdict(int)
    latencies = []
    for seen in report.requests:
        slot = seen.connection + rounds[seen.connection] * CONNECTIONS
        rounds[seen.connection] += 1
        intended_ns = result.started_monotonic_ns + slot * 1e9 / RATE_RPS
        assert seen.arrived_ns >= intended_ns, f"slot {slot} was sent before it was due"
        latencies.append((seen.answered_ns - intended_ns) / 1e3)
    return sorted(latencies)


def at(values: list[float], percent: float) -> float:
    return values[max(1, math.ceil(percent / 100 * len(values))) - 1]


def value_at(latency: Latency, percent: float) -> float:
    """Return the value of the first point in the spectrum with at least that share of all values."""
    return next(p.value_us for p in latency.spectrum if p.count >= percent / 100 * latency.count)


def test_frozen_server(moody: Moody, open_session: Open) -> None:
    """Answers take 1 ms, and once in 5 s everybody waits 0.5 s: a driver that leaves out what it did not send while it
    waited sees none of this at p99."""
    server = moody(delay_us=1000, freeze_at_ms=2000, freeze_ms=500)
    result = open_session(server.url).run(LOAD, 5, label="frozen")
    truth = true_latencies_us(server.report(), result)

    assert (result.due, result.sent) == (5_000, len(truth))
    assert len(truth) >= 4_900
    assert result.corrected is not None
    assert result.corrected.count == 5_000
    # The wire and the driver add fractions of a millisecond on an idle host, some milliseconds on a busy one.
    # (Not p90: there the freeze begins, and one rank more or less makes a world of difference.)
    for percent in (50, 75, 95, 99, 99.9, 100):
        assert value_at(result.corrected, percent) == pytest.approx(at(truth, percent), rel=0.05, abs=5_000)
    # The textbook figures of this server are a floor: on a busy host it takes longer to catch up after the freeze, and
    # its own record says so.
    assert value_at(result.corrected, 95) > 0.95 * 262_500
    assert value_at(result.corrected, 99) > 0.95 * 453_000
    assert result.corrected.max_us > 0.95 * 501_000
    # The real send time hides the freeze from 99 % of the requests.
    assert result.uncorrected.percentiles_us["99"] < 0.5 * result.corrected.percentiles_us["99"]


def test_the_schedule_is_kept(moody: Moody, open_session: Open) -> None:
    """Every slot is sent, none early, and each connection has its own equal share."""
    server = moody()
    result = open_session(server.url).run(LOAD, 2, label="steady")
    report = server.report()
    truth = true_latencies_us(report, result)
    assert result.due == 2000
    assert result.sent == len(truth) > 0.9 * 2000
    assert report.connections == CONNECTIONS
    assert result.throughput_rps == pytest.approx(RATE_RPS, rel=0.1)
    assert result.send_lateness.count <= result.corrected.count == 2000
    assert result.send_lateness.max_us <= result.corrected.max_us
    assert [interval.t_s for interval in result.intervals] == [1.0, 2.0]
    assert sum(interval.completed for interval in result.intervals) == result.completed


def test_over_capacity(moody: Moody, open_session: Open) -> None:
    """200 requests/s can be answered, 1000 are due: unanswered requests must not make the latency look better."""
    server = moody(serial_us=5000)
    session = open_session(server.url)
    result = session.run(RateLoad(rate_rps=1000, connections=20), 3, label="over")
    assert result.due == 3000
    assert result.unsent == 3000 - result.sent > 1500
    assert result.completed <= result.sent < 1000
    assert result.outstanding == result.sent - result.completed
    assert result.corrected.count == 3000
    assert result.unsent <= result.lower_bounds <= 3000 - result.completed
    # At most 600 of 3000 are answered in time: half of what was due waits for more than 1 s.
    assert result.corrected.percentiles_us["50"] > 1_000_000
    assert result.corrected.max_us > 2_000_000
    assert result.uncorrected.count == result.sent

    # A new phase owes nothing of the old one.
    after = session.run(RateLoad(rate_rps=20, connections=20), 2, label="after")
    assert after.due == 40
    assert after.unsent <= 4
    assert after.corrected.max_us < 0.5 * result.corrected.percentiles_us["50"]


def test_closed_loop(moody: Moody, open_session: Open) -> None:
    """Each connection has at most one request outstanding, and sends the next one at once."""
    server = moody(delay_us=2000)
    result = open_session(server.url).run(SaturateLoad(connections=8), 2, label="closed")
    report = server.report()
    assert (result.due, result.unsent, result.corrected, result.send_lateness) == (None, None, None, None)
    assert result.sent == len(report.requests) == result.completed + (result.outstanding or 0)
    assert result.answered_late == result.outstanding == 8
    assert result.answers == result.sent
    assert result.uncorrected.count == result.sent
    assert result.uncorrected.min_us >= 2000
    # Little's law over the phase: 8 connections, each always waiting for an answer.
    in_flight = result.throughput_rps * result.uncorrected.mean_us / 1e6
    assert in_flight == pytest.approx(8, rel=0.05)


def test_connections_that_join(moody: Moody, open_session: Open) -> None:
    """They join one after another, none before its time; each goes on as soon as it has its answer."""
    server = moody(delay_us=100_000)
    load = JoinLoad(connections=20, join_s=1)
    result = open_session(server.url).run(load, 2, label="join")
    first_s: dict[int, float] = {}
    for seen in server.report().requests:
        first_s.setdefault(seen.connection, (seen.arrived_ns - result.started_monotonic_ns) / 1e9)
    assert (result.due, result.unsent, result.corrected) == (None, None, None)
    assert len(first_s) == 20
    for joined, time_s in enumerate(sorted(first_s.values()), start=1):
        assert load.joined_at(time_s) >= joined
    assert max(first_s.values()) >= 0.95
    assert result.sent is not None and 20 < result.sent <= sum(10 * (2 - place / 20) + 1 for place in range(20))
