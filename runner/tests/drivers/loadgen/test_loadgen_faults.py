"""Servers that misbehave: every request is accounted for, and, alone on the host, the rate is kept."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.drivers.base import DriverError
from jdkmatrix.records.load_results import LoadResult
from tests.drivers.loadgen.conftest import Moody, Open

pytestmark = pytest.mark.real

LOAD = RateLoad(rate_rps=500, connections=20)
DURATION_S = 2.0
DUE = 1000
EVERY = 10


def assert_books_balance(result: LoadResult) -> None:
    failed = result.errors.read + result.errors.write + result.errors.timeout
    assert result.sent is not None
    assert result.outstanding is not None
    assert result.sent == result.completed + failed + result.outstanding
    if isinstance(result.load, RateLoad):
        assert result.due is not None
        assert result.unsent is not None
        assert result.due == result.sent + result.unsent
        # Failed requests have no latency; all others stand in the histogram, timeouts among them.
        in_histogram = 0 if result.corrected is None else result.corrected.count
        missing = result.due - in_histogram - result.errors.read - result.errors.write
        assert 0 <= missing <= result.outstanding  # what was outstanding at the end may have failed after it


@dataclass(frozen=True)
class Ran:
    """`seen`: how many requests the server read. `sent`: how many of those due a busy host came to send."""

    result: LoadResult
    sent: int
    seen: int


def run_in_mood(moody: Moody, open_session: Open, mood: str, every: int = EVERY, *, keeps_rate: bool) -> Ran:
    """`keeps_rate`: all but the last few of what is due are sent, as on a host where nothing runs beside."""
    server = moody(mood=mood, mood_every=every)
    result = open_session(server.url).run(LOAD, DURATION_S, label=mood)
    report = server.report()
    assert_books_balance(result)
    assert result.due == DUE
    assert result.sent is not None and result.sent > (0.9 * DUE if keeps_rate else LOAD.connections)
    return Ran(result, result.sent, len(report.requests))


@pytest.mark.parametrize("mood", ["chunked", "interim", pytest.param("empty", marks=pytest.mark.alone)])
def test_kinds_of_answers(mood: str, moody: Moody, open_session: Open) -> None:
    ran = run_in_mood(moody, open_session, mood, every=1, keeps_rate=mood == "empty")
    result = ran.result
    assert ran.sent == ran.seen == result.completed + (result.outstanding or 0)
    assert (result.non_2xx, result.errors.total, result.reconnects) == (0, 0, 0)


@pytest.mark.alone
def test_503(moody: Moody, open_session: Open) -> None:
    ran = run_in_mood(moody, open_session, "status-503", keeps_rate=True)
    result = ran.result
    assert result.non_2xx == pytest.approx(ran.sent / EVERY, abs=LOAD.connections)
    assert (result.errors.total, result.reconnects) == (0, 0)


@pytest.mark.parametrize("mood", ["say-close", "until-close"])
@pytest.mark.parametrize("every", [1, pytest.param(EVERY, marks=pytest.mark.alone)])
def test_announced_close_is_no_error(mood: str, every: int, moody: Moody, open_session: Open) -> None:
    ran = run_in_mood(moody, open_session, mood, every, keeps_rate=every == EVERY)
    result = ran.result
    assert ran.sent == ran.seen
    assert (result.errors.total, result.non_2xx) == (0, 0)
    assert result.reconnects == pytest.approx(ran.sent / every, abs=2 * LOAD.connections)


@pytest.mark.alone
def test_unannounced_close_between_requests(moody: Moody, open_session: Open) -> None:
    """Only a request that is on its way when the other end closes is lost."""
    ran = run_in_mood(moody, open_session, "hang-up", keeps_rate=True)
    assert ran.result.reconnects == pytest.approx(ran.sent / EVERY, abs=2 * LOAD.connections)
    assert ran.result.completed >= 0.8 * ran.sent - LOAD.connections


ALONE = ("reset", "fin")


@pytest.mark.parametrize(
    "mood", [*(pytest.param(mood, marks=pytest.mark.alone) for mood in ALONE), "truncated", "garbage"]
)
def test_lost_answers(mood: str, moody: Moody, open_session: Open) -> None:
    """One read error each, and a new connection at once."""
    ran = run_in_mood(moody, open_session, mood, keeps_rate=mood in ALONE)
    result = ran.result
    assert ran.sent == ran.seen
    assert result.errors.read == pytest.approx(ran.sent / EVERY, abs=LOAD.connections)
    assert (result.errors.write, result.errors.timeout, result.errors.connect) == (0, 0, 0)
    assert result.reconnects == pytest.approx(ran.sent / EVERY, abs=2 * LOAD.connections)


def test_timeouts(moody: Moody, open_session: Open) -> None:
    server = moody(mood="silence", mood_every=EVERY)
    # Enough connections that those which wait in vain are not missed.
    load = RateLoad(rate_rps=500, connections=100)
    result = open_session(server.url, timeout_s=0.2).run(load, DURATION_S, label="timeouts")
    assert_books_balance(result)
    assert result.sent is not None
    # What waits at the end is no timeout yet; on a busy host others time out, too.
    assert result.errors.timeout >= 0.7 * result.sent / EVERY - LOAD.connections
    assert result.errors.timeout > 0
    assert (result.errors.read, result.errors.write, result.errors.connect) == (0, 0, 0)
    assert result.lower_bounds is not None
    assert result.lower_bounds >= result.errors.timeout
    # A tenth has waited 0.2 s in vain, and those behind it on the same connection with it.
    assert result.corrected is not None
    assert result.corrected.percentiles_us["99"] >= 200_000


@pytest.mark.parametrize("load", [LOAD, SaturateLoad(connections=20)], ids=["rate", "saturate"])
def test_a_server_that_resets_everything_is_not_stormed(
    load: RateLoad | SaturateLoad, moody: Moody, open_session: Open
) -> None:
    """Connections that bring no answer are opened again after pauses that double: 5 ms, 10, ... 640."""
    server = moody(mood="reset")
    result = open_session(server.url).run(load, DURATION_S, label="resets")
    report = server.report()
    assert_books_balance(result)
    assert result.completed == 0
    assert result.errors.read > 0
    # 5 + 10 + ... ms: 9 pauses fill 2 s.
    assert report.connections <= 20 * 10
    assert result.sent == len(report.requests) <= 20 * 10


def test_refused_then_there(moody: Moody, open_session: Open) -> None:
    """Nobody listens: an error long before the phase is over; the session is of use again when the server is there."""
    server = moody()
    port = server.port
    session = open_session(server.url)
    server.kill()
    started = time.monotonic()
    with pytest.raises(DriverError, match="refused"):
        session.run(LOAD, 600.0, label="refused")
    assert time.monotonic() - started < 200
    again = moody(port=port)
    result = session.run(LOAD, 1.0, label="there")
    assert result.due == 500
    assert result.completed > 0
    assert again.report().connections == LOAD.connections


def test_server_dies_in_the_middle(moody: Moody, open_session: Open) -> None:
    server = moody(freeze_at_ms=300, freeze_ms=60_000)
    session = open_session(server.url)
    timer = threading.Timer(1.5, server.process.kill)
    timer.start()
    result = session.run(LOAD, 3.0, label="dies")
    timer.join()
    assert_books_balance(result)
    # Each connection had one request outstanding in the freeze. Some are opened once more before the port is gone.
    assert LOAD.connections <= result.errors.read <= 3 * LOAD.connections
    assert result.unsent is not None
    assert result.unsent > 0
    # Refused attempts back off: at most 5 + 10 + ... ms apart on each connection.
    assert 0 < result.errors.connect <= LOAD.connections * 12


def test_a_server_that_never_answers(moody: Moody, open_session: Open) -> None:
    server = moody(mood="silence")
    session = open_session(server.url)
    result = session.run(RateLoad(rate_rps=100, connections=10), 2, label="silent")
    assert (result.due, result.sent, result.unsent) == (200, 10, 190)
    assert (result.completed, result.outstanding, result.lower_bounds) == (0, 10, 200)
    assert result.corrected is not None
    assert result.corrected.count == 200
    assert result.corrected.percentiles_us["50"] >= 1_000_000
    assert result.throughput_rps == 0

    closed = session.run(SaturateLoad(connections=10), 1, label="silent-closed")
    assert (closed.due, closed.unsent, closed.corrected, closed.send_lateness) == (None, None, None, None)
    assert (closed.sent, closed.completed, closed.outstanding, closed.lower_bounds) == (10, 0, 10, 10)
    assert closed.answered_late == 0
    assert closed.uncorrected is not None
    assert closed.uncorrected.min_us >= 999_000, "to the three digits of a histogram"
