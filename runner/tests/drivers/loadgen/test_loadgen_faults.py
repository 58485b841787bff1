"""Servers that misbehave: every request is accounted for, and the rate is kept where nothing else runs."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from jdkmatrix.domain.loads import RampLoad, RateLoad, SaturateLoad
from jdkmatrix.drivers.base import DriverError, Target
from jdkmatrix.drivers.loadgen import LoadgenDriver, LoadgenSession
from jdkmatrix.records.load_results import LoadResult
from tests.drivers.loadgen.conftest import Moody, MoodyServer, Open
from tests.support.project import compiled_once
from tests.support.waiting import wait_until

pytestmark = pytest.mark.real

LOAD = RateLoad(rate_rps=500, connections=20)
DURATION_S = 2.0
DUE = 1000
EVERY = 10


def assert_books_balance(result: LoadResult) -> None:
    failed = result.errors.read + result.errors.write + result.errors.timeout
    assert result.sent == result.completed + failed + result.outstanding
    assert sum(second.errors for second in result.intervals) == failed, "an attempt to connect is no request"
    if isinstance(result.load, RateLoad):
        assert result.due == result.sent + result.unsent
        # Failed requests have no latency; all others are in the histogram, including timeouts and what was outstanding
        # at the end, whether it failed afterwards or not.
        in_histogram = 0 if result.corrected is None else result.corrected.count
        assert in_histogram == result.due - result.errors.read - result.errors.write


@dataclass(frozen=True)
class Kept:
    """A server and a driver that several tests share, since both do the same in each."""

    server: MoodyServer
    session: LoadgenSession

    def run(self, mood: str, every: int = EVERY, *, reads_all: bool = True) -> tuple[LoadResult, int]:
        """Return the result and how many requests a busy host managed to send. `reads_all`: the server reads them."""
        self.server.so_far(mood=mood, mood_every=every)
        result = self.session.run(LOAD, DURATION_S, label=mood)
        assert_books_balance(result)
        assert result.due == DUE
        assert result.sent is not None and result.sent > LOAD.connections
        if reads_all:
            wait_until(lambda: len(self.server.so_far().requests) >= (result.sent or 0), "some were never read")
            assert len(self.server.so_far().requests) == result.sent
        return result, result.sent


@pytest.fixture(scope="module")
def kept(
    driver: LoadgenDriver, java: Path, moody_classes: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    cpu = max(os.sched_getaffinity(0))
    server = MoodyServer(java, moody_classes)
    try:
        with compiled_once(), driver.open(Target(server.url, (cpu,), tmp_path_factory.mktemp("kept"))) as session:
            session.wait_ready()
            yield Kept(server, session)
    finally:
        server.kill()


UNHARMED = ("chunked", "interim", "empty", "long-head")
CLOSES = ("say-close", "until-close")
LOST = ("reset", "fin", "truncated", "garbage")


@pytest.mark.parametrize("mood", UNHARMED)
def test_kinds_of_answers(mood: str, kept: Kept) -> None:
    result, sent = kept.run(mood, every=1)
    assert sent == result.completed + (result.outstanding or 0)
    assert (result.non_2xx, result.errors.total, result.reconnects) == (0, 0, 0)


def test_503(kept: Kept) -> None:
    result, sent = kept.run("status-503")
    assert result.non_2xx == pytest.approx(sent / EVERY, abs=LOAD.connections)
    assert sum(interval.non_2xx or 0 for interval in result.intervals) == result.non_2xx
    assert (result.errors.total, result.reconnects) == (0, 0)


@pytest.mark.parametrize(("mood", "every"), [(CLOSES[0], 1), (CLOSES[1], 1), (CLOSES[0], EVERY)])
def test_announced_close_is_no_error(mood: str, every: int, kept: Kept) -> None:
    result, sent = kept.run(mood, every)
    assert (result.errors.total, result.non_2xx) == (0, 0)
    assert result.reconnects == pytest.approx(sent / every, abs=2 * LOAD.connections)


def test_unannounced_close_between_requests(kept: Kept) -> None:
    """Only a request that is on its way when the other end closes is lost."""
    result, sent = kept.run("hang-up", reads_all=False)
    assert result.reconnects == pytest.approx(sent / EVERY, abs=2 * LOAD.connections)
    assert result.completed >= 0.8 * sent - LOAD.connections


@pytest.mark.parametrize("mood", LOST)
def test_lost_answers(mood: str, kept: Kept) -> None:
    """Each is one read error, and a new connection is opened at once."""
    result, sent = kept.run(mood)
    assert result.errors.read == pytest.approx(sent / EVERY, abs=LOAD.connections)
    assert (result.errors.write, result.errors.timeout, result.errors.connect) == (0, 0, 0)
    assert result.reconnects == pytest.approx(sent / EVERY, abs=2 * LOAD.connections)


@pytest.mark.alone
def test_the_rate_is_kept_whatever_the_server_does(moody: Moody, open_session: Open) -> None:
    every_mood = ",".join((*UNHARMED, "status-503", *CLOSES, "hang-up", *LOST))
    result = open_session(moody(mood=every_mood, mood_every=EVERY).url).run(LOAD, DURATION_S, label="moods")
    assert_books_balance(result)
    assert result.due == DUE
    assert result.sent is not None and result.sent > 0.9 * DUE


def test_timeouts(moody: Moody, open_session: Open) -> None:
    server = moody(mood="silence", mood_every=EVERY)
    # Enough connections that those waiting in vain are not missed.
    load = RateLoad(rate_rps=500, connections=100)
    result = open_session(server.url, timeout_s=0.2).run(load, DURATION_S, label="timeouts")
    assert_books_balance(result)
    # A request that still waits at the end is no timeout yet; on a busy host others time out, too.
    assert result.errors.timeout >= 0.7 * result.sent / EVERY - LOAD.connections
    assert result.errors.timeout > 0
    assert (result.errors.read, result.errors.write, result.errors.connect) == (0, 0, 0)
    assert result.lower_bounds >= result.errors.timeout
    # A tenth has waited 0.2 s in vain, and with it those behind it on the same connection.
    assert result.corrected.percentiles_us["99"] >= 200_000


@pytest.mark.parametrize("load", [LOAD, SaturateLoad(connections=20)], ids=["rate", "saturate"])
def test_who_resets_everything_is_not_stormed(load: RateLoad | SaturateLoad, moody: Moody, open_session: Open) -> None:
    """Connections that bring no answer are reopened after pauses that double: 5 ms, 10, ... 640."""
    server = moody(mood="reset")
    result = open_session(server.url).run(load, DURATION_S, label="resets")
    report = server.report()
    assert_books_balance(result)
    assert result.completed == 0
    assert result.errors.read > 0
    # 5 + 10 + ... ms: 9 pauses fill 2 s.
    assert report.connections <= 20 * 10
    assert result.sent == len(report.requests) <= 20 * 10


def test_what_fails_after_the_end_stays_in_the_books(moody: Moody, open_session: Open) -> None:
    """Every connection still waits when time is up, and is reset before the driver gives up on it."""
    server = moody(mood="reset", delay_us=700_000)
    session = open_session(server.url)
    result = session.run(RateLoad(rate_rps=100, connections=10), 0.5, label="late-resets")
    assert_books_balance(result)
    assert (result.sent, result.outstanding, result.errors.total, result.lower_bounds) == (10, 10, 0, 50)
    closed = session.run(SaturateLoad(connections=10), 0.5, label="late-resets-closed")
    assert (closed.sent, closed.outstanding, closed.lower_bounds) == (10, 10, 10)
    assert closed.uncorrected is not None and closed.uncorrected.count == 10


def test_a_late_refusal_is_no_good_answer(moody: Moody, open_session: Open) -> None:
    server = moody(mood="status-503", delay_us=700_000)
    result = open_session(server.url).run(RateLoad(rate_rps=100, connections=10), 0.5, label="late-503")
    assert_books_balance(result)
    assert (result.completed, result.non_2xx, result.answers_2xx) == (0, 0, 0)
    assert result.answered_late == result.late_non_2xx == 10


def test_refused_then_there(moody: Moody, open_session: Open) -> None:
    """If nobody listens, a phase fails long before its end; the session can be used again once the server is there."""
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
    assert result.unsent > 0
    # Refused attempts back off: at most 5 + 10 + ... ms apart on each connection.
    assert 0 < result.errors.connect <= LOAD.connections * 12


def test_a_server_that_never_answers(moody: Moody, open_session: Open) -> None:
    server = moody(mood="silence")
    session = open_session(server.url)
    result = session.run(RateLoad(rate_rps=100, connections=10), 2, label="silent")
    assert (result.due, result.sent, result.unsent) == (200, 10, 190)
    assert (result.completed, result.outstanding, result.lower_bounds) == (0, 10, 200)
    assert result.corrected.count == 200
    assert result.corrected.percentiles_us["50"] >= 1_000_000
    assert result.throughput_rps == 0

    closed = session.run(SaturateLoad(connections=10), 1, label="silent-closed")
    assert (closed.due, closed.unsent, closed.corrected, closed.send_lateness) == (None, None, None, None)
    assert (closed.sent, closed.completed, closed.outstanding, closed.lower_bounds) == (10, 0, 10, 10)
    assert closed.answered_late == 0
    assert closed.uncorrected.min_us >= 999_000, "to the three digits of a histogram"


def test_a_server_that_talks_unasked_is_not_called_again_at_once(open_session: Open) -> None:
    """It breaks each connection before a request is due; an answer to nothing is not taken for one."""
    greeted: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server, ExitStack() as accepted:

        def greet() -> None:
            with suppress(OSError):  # in the end it is closed
                while True:
                    greeted.append(accepted.enter_context(server.accept()[0]))
                    greeted[-1].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        greeting = threading.Thread(target=greet)
        greeting.start()
        session = open_session(f"http://127.0.0.1:{server.getsockname()[1]}/")
        later = RampLoad(points=((0, 0), (1, 0), (1, 10), (1.1, 10)), connections=1)
        session.run(later, later.duration_s, label="unasked")
        server.shutdown(socket.SHUT_RDWR)
        greeting.join()
    # One before the load, and then after pauses of 0, 5, 10, … 640 ms.
    assert 2 <= len(greeted) <= 10
