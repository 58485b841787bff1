"""The requests that a phase leaves behind in the server."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.drivers.base import DriverSession
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.http import Connection, NoAnswerError
from jdkmatrix.probes.sampler import Sampler
from jdkmatrix.records.load_results import Errors, LoadResult
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.windows import Gauges
from jdkmatrix.subjects.served import observe
from jdkmatrix.subjects.served.observe import Bench, backlog_s, queue_s
from tests.support.builders import gauges, load_result, remote_stats


@pytest.mark.parametrize(
    ("left", "expected_s"),
    [
        (load_result(), None),
        (load_result(lower_bounds=0), None),
        # 196 of 200 requests wait for four carriers that are pinned for a second each.
        (load_result(completed=76, throughput_rps=4.0, lower_bounds=196), 49.0),
        # Requests that timed out are still in the server.
        (load_result(throughput_rps=10.0, lower_bounds=5, errors=Errors(timeout=5)), 0.5),
        (load_result(completed=0, throughput_rps=0.0, lower_bounds=200), math.inf),
        (load_result(completed=0, throughput_rps=0.0, lower_bounds=0), None),
        (load_result(RateLoad(rate_rps=10, connections=5), lower_bounds=100), None),
    ],
)
def test_a_server_works_off_what_a_closed_loop_gave_up_at_its_rate(left: LoadResult, expected_s: float | None) -> None:
    assert backlog_s(left) == expected_s


@dataclass
class Draining:
    """A server and its remote system on a clock of their own, on which a question takes two seconds and a pause as long
    as asked. `in_flight`: the answer to each question, None for no answer; `answered`: the remote system's count at
    each look; `begun`: the count of requests that have begun, with each answer."""

    in_flight: Iterator[int | None]
    answered: Iterator[int] = field(default_factory=lambda: repeat(0))
    begun: Iterator[int] = field(default_factory=lambda: repeat(0))
    now_s: float = 100.0
    base_url: str = "http://127.0.0.1:1"
    is_alive: bool = True

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, pause_s: float) -> None:
        self.now_s += pause_s

    def gauges(self, _: Connection) -> Gauges | None:
        self.now_s += 2.0
        in_flight = next(self.in_flight)
        if in_flight is None:
            return None
        return gauges(in_flight=in_flight).model_copy(update={"served_on_servers": next(self.begun)})

    def stats(self) -> RemoteStats:
        return remote_stats(late_us=1, cpu_share=0.1).model_copy(update={"answered": next(self.answered)})

    def get(self, path: str) -> None:
        """Ask in place of a connection."""
        if self.gauges(cast(Connection, self)) is None:
            raise NoAnswerError(f"GET {path}: no answer within 10 s")


@pytest.fixture
def bench_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Draining], Bench]:
    def bench(draining: Draining) -> Bench:
        monkeypatch.setattr(observe, "time", draining)
        monkeypatch.setattr(observe, "read_gauges", draining.gauges)
        alike: Any = draining
        return Bench(alike, alike, cast(Sampler, None), alike, alike, 1, 10.0, 1.0, None, cast(RemoteProcess, alike))

    return bench


# Connections of a closed loop over a pool of a few threads, with requests of a second; half a second was looked at.
CROWD = load_result(SaturateLoad(connections=2139), completed=0, throughput_rps=0.0, lower_bounds=2139, answered_late=0)


def test_a_pool_that_works_2139_requests_off_is_not_hung(bench_of: Callable[[Draining], Bench]) -> None:
    """All threads of the pool are taken: it answers no question for 72 s, but the remote system is called on."""
    silent_for = 32
    draining = Draining(chain(repeat(None, silent_for), [60, 0, 0]), (60 * call for call in range(silent_for + 3)))
    bench_of(draining)._work_off(CROWD)
    assert draining.now_s > 100 + 72


def test_what_a_lead_has_given_up_may_begin_in_the_window_behind_it(bench_of: Callable[[Draining], Bench]) -> None:
    draining = Draining(iter([6, 0]))
    bench = bench_of(draining)
    sent = {"completed": 80, "outstanding": 20, "sent": 100, "answered_late": 14, "lower_bounds": 6}
    left = load_result(SaturateLoad(connections=20), **sent, errors=Errors(timeout=6))
    bench.session = cast(DriverSession, SimpleNamespace(warm=lambda *_, **__: left))
    bench.lead(left.load, 0.25)
    assert bench.left_over == 6 and list(draining.in_flight) == []


def test_a_server_whose_requests_get_fewer_is_not_hung(bench_of: Callable[[Draining], Bench]) -> None:
    draining = Draining(iter([*range(2139, 0, -100), 0, 0]))
    bench_of(draining)._work_off(CROWD)
    assert draining.now_s > 100 + 11, "longer than one request and our patience"


def test_requests_that_wait_for_a_thread_are_work_though_none_is_in_flight(
    bench_of: Callable[[Draining], Bench],
) -> None:
    """Two carriers that monitors pin in step are both free for a moment, in which a question is answered."""
    draining = Draining(iter([2, 0, 2, 0, 0]), begun=iter([30, 32, 36, 40, 40]))
    bench_of(draining)._work_off(CROWD)
    assert list(draining.in_flight) == []
    slow = Draining(chain(repeat(2, 30), [0, 0]), begun=chain(range(30), repeat(29)))
    bench_of(slow)._work_off(CROWD)
    assert slow.now_s > 100 + 60
    with pytest.raises(NoAnswerError, match="for 11 s"):
        bench_of(Draining(chain([0], repeat(None))))._work_off(CROWD)


def test_a_silent_server_is_hung_when_its_requests_should_be_over(bench_of: Callable[[Draining], Bench]) -> None:
    deaf = Draining(repeat(None), chain(range(0, 180, 60), repeat(180)))
    with pytest.raises(NoAnswerError, match="for 11 s, none of the requests left over from the load was answered"):
        bench_of(deaf)._work_off(CROWD)
    stuck = Draining(repeat(2139))
    with pytest.raises(NoAnswerError, match="for 11 s"):
        bench_of(stuck)._work_off(CROWD)
    known = load_result(completed=76, throughput_rps=4.0, lower_bounds=196)
    with pytest.raises(NoAnswerError, match="for 60 s"):
        bench_of(Draining(repeat(None)))._work_off(known)


def test_a_question_waits_behind_requests_that_get_on(bench_of: Callable[[Draining], Bench]) -> None:
    bench_of(Draining(chain([None, None], repeat(0)), iter(range(9)))).ask("/gauges")
    with pytest.raises(NoAnswerError, match="no answer within 10 s"):
        bench_of(Draining(repeat(None), repeat(7))).ask("/gauges")


TEN_OF_A_CROWD = load_result(RateLoad(rate_rps=10, connections=50), completed=10, throughput_rps=1.0)


@pytest.mark.parametrize(
    ("left", "expected_s"),
    [
        (TEN_OF_A_CROWD, 50.0),
        (TEN_OF_A_CROWD.model_copy(update={"errors": Errors(timeout=20, read=5)}), 70.0),
        (TEN_OF_A_CROWD.model_copy(update={"errors": Errors(timeout=20), "sent": None}), 50.0),  # from wrk2
        (TEN_OF_A_CROWD.model_copy(update={"completed": 0, "throughput_rps": 0.0}), 0.0),
    ],
)
def test_a_phase_leaves_a_request_of_each_connection_and_what_timed_out(left: LoadResult, expected_s: float) -> None:
    assert queue_s(left) == expected_s


def test_a_question_waits_behind_what_an_open_loop_has_left(bench_of: Callable[[Draining], Bench]) -> None:
    """The requests are tasks of a second on one thread, which call no remote system."""
    draining = Draining(chain(repeat(None, 30), repeat(0)))
    bench = bench_of(draining)
    bench._work_off(TEN_OF_A_CROWD)
    assert draining.now_s == 100, "it goes on at once"
    bench.ask("/gauges")
    assert draining.now_s > 160
    for under_load, patience_s in ((False, 100), (True, 2)):
        deaf = Draining(repeat(None))
        bench = bench_of(deaf)
        bench._work_off(TEN_OF_A_CROWD)
        with pytest.raises(NoAnswerError, match="no answer within 10 s"):
            bench.ask("/gauges", under_load=under_load)
        assert deaf.now_s == 100 + patience_s


def test_nobody_waits_for_ever_behind_one_answer_nor_what_was_worked_off(bench_of: Callable[[Draining], Bench]) -> None:
    once = TEN_OF_A_CROWD.model_copy(update={"completed": 1, "throughput_rps": 0.1})
    for left, in_flight, patience_s in ((once, repeat(None), 300), (CROWD, chain([0, 0], repeat(None)), 2)):
        deaf = Draining(in_flight)
        bench = bench_of(deaf)
        bench._work_off(left)
        since_s = deaf.now_s
        with pytest.raises(NoAnswerError, match="no answer within 10 s"):
            bench.ask("/gauges")
        assert deaf.now_s == since_s + patience_s


@pytest.mark.parametrize(("at_s", "under_load"), [(None, False), (100.0, True)])
def test_a_driver_that_has_begun_does_not_wait_for_the_question_before_it(at_s: float | None, under_load: bool) -> None:
    asked: list[bool] = []

    def ask(path: str, *, under_load: bool) -> None:
        asked.append(under_load)
        raise NoAnswerError(path)

    bench = SimpleNamespace(own_path=None, ask=ask, queued_s=0.0)
    with pytest.raises(NoAnswerError):
        observe._Span(cast(Bench, bench)).ahead(at_s)
    assert asked == [under_load]


@pytest.mark.parametrize(("takes_s", "read_at_s"), [(0.002, 99.948), (1.5, 98.45), (4.0, 98.0)])
def test_what_is_read_before_a_window_is_read_as_late_as_its_answer_may_be(
    takes_s: float, read_at_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read earlier, the server's counts would cover a longer time, but only for the arm that has a queue."""
    clock = SimpleNamespace(now_s=94.0)

    def pass_s(seconds: float) -> None:
        clock.now_s += seconds

    monkeypatch.setattr(time, "sleep", pass_s)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now_s)
    monkeypatch.setattr(time, "monotonic_ns", lambda: round(clock.now_s * 1e9))
    bench = SimpleNamespace(own_path=None, ask=lambda *_, **__: pass_s(takes_s), gauges=lambda: None, queued_s=0.0)
    span = observe._Span(cast(Bench, bench))
    span.ahead(100.0)
    assert span.gauges_ns / 1e9 == pytest.approx(read_at_s)
