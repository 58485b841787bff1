"""A server's use of resources over a window, from two readings of its process."""

from __future__ import annotations

import pytest

from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.probes.process import Glance, Reading, ThreadCounters
from jdkmatrix.probes.sampler import gauges_of, read_gauges
from jdkmatrix.probes.usage import beside_interrupts, rises, usage
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.windows import Gauges, SutUsage
from tests.support.builders import gauges, load_result, pressure, sut_usage


def reading(t_s: float, cpu_s: float, **threads_s: float) -> Reading:
    """Return a reading. `threads_s`: CPU time by the thread's name, with _ for a blank."""
    threads = {
        number: ThreadCounters(name.replace("_", " "), round(used_s * 1e9), 0, 0, 0)
        for number, (name, used_s) in enumerate(threads_s.items(), start=1)
    }
    at = Glance(round(t_s * 1e9), round(cpu_s * 1e9), rss_bytes=1, virt_bytes=1, thread_count=len(threads))
    return Reading(at=at, threads=threads)


def used(before: Reading, after: Reading, answers: int) -> SutUsage:
    return usage(
        before, after, gauges_before=None, gauges_after=None, samples=(), answers=answers, cpus=1, astray_threads=0
    )


def test_cpu_time_is_divided_by_all_answers_between_the_two_readings() -> None:
    """In a one-second window with 20 connections, the readings span the answers to requests outstanding at its end."""
    result = load_result(completed=80, sent=100, outstanding=20, answered_late=20)
    assert result.answers == 100
    assert used(reading(0, 5.0), reading(1.1, 5.5), result.answers).cpu_us_per_request == pytest.approx(5000)
    assert load_result(completed=80, answered_late=None).answers == 80, "a driver that does not tell, an older record"
    assert used(reading(0, 5.0), reading(1.1, 5.5), 0).cpu_us_per_request == 0


def test_a_late_refusal_is_no_good_answer() -> None:
    late = load_result(completed=80, non_2xx=5, answered_late=20, late_non_2xx=15)
    assert (late.answers, late.answers_2xx) == (100, 80)
    assert late.model_copy(update={"latency_from_s": 1.0}).answers_2xx == 75, "readings ended with the phase"
    assert late.model_copy(update={"late_non_2xx": None}).answers_2xx == 95, "an older record does not tell"


def test_answering_our_own_questions_is_told_apart() -> None:
    before = reading(0, 5.0, main=1.0, Attach_Listener=0.2, C2_CompilerThre=0.1)
    after = reading(10, 7.0, main=2.0, Attach_Listener=0.3, C2_CompilerThre=0.1)
    found = used(before, after, 1000)
    assert found.probe_cpu_s == pytest.approx(0.1)
    assert found.cpu_us_per_request == pytest.approx((2.0 - 0.1) * 1e6 / 1000)
    assert (found.cpu_s, found.cpu_share) == (pytest.approx(2.0), pytest.approx(0.2)), "all of it"
    first = used(reading(0, 5.0), after, 1000)
    assert first.probe_cpu_s == pytest.approx(0.3), "the thread starts with the first question"
    assert used(reading(0, 5.0), reading(1, 6.0, main=1.0), 10).probe_cpu_s == 0


def test_of_a_quota_of_cpu_time_the_share_is_of_the_quota() -> None:
    before, after = reading(0, 5.0, main=1.0), reading(10, 9.9, main=5.9)
    half = usage(
        before, after, gauges_before=None, gauges_after=None, samples=(), answers=1, cpus=0.5, astray_threads=0
    )
    assert half.cpu_share == pytest.approx(0.98)


@pytest.mark.parametrize(
    ("accounting", "cpus", "share"), [(True, 1.0, 1.0), (False, 1.0, 0.75), (None, 1.0, 0.75), (True, 0.5, 0.75)]
)
def test_a_server_that_uses_all_that_interrupts_leave_uses_its_cpus_in_full(
    accounting: bool | None, cpus: float, share: float
) -> None:
    """Its own clock leaves them out; a quota loses nothing to them."""
    seen = pressure()
    uses = tuple(one.model_copy(update={"interrupt_share": 0.25}) for one in seen.cpu_use)
    host = seen.model_copy(update={"cpu_use": uses, "irq_time_accounting": accounting})
    found = beside_interrupts(sut_usage().model_copy(update={"cpu_share": 0.75}), host, cpus)
    assert found.cpu_share == pytest.approx(share)


def test_totals_of_gauges_rise_in_a_window() -> None:
    """A JVM that does not count a total reports null."""

    def answer(**totals: int | None) -> Gauges:
        plain = gauges().model_dump(exclude={"totals", "since_reset"})
        return gauges_of({**plain, **{f"total_{name}": value for name, value in totals.items()}})

    before, after = answer(bytes=100, other=None), answer(bytes=350, other=7)
    assert Gauges.model_validate_json(before.model_dump_json()) == before
    assert rises(before, after) == (WindowReading(metric="bytes", value=250),)
    assert rises(None, after) == rises(before, None) == ()
    hooked, later = answer(bytes=100, hook_calls=9), answer(bytes=350, hook_calls=11)
    assert rises(hooked, later, more_than_window=True) == (WindowReading(metric="hook_calls", value=2),)


def test_figures_since_a_reset_are_readings_as_they_are() -> None:
    plain = gauges().model_dump(exclude={"totals", "since_reset"})
    after = gauges_of({**plain, "window_wait_us": 7, "window_unseen": None, "total_bytes": 3})
    assert rises(gauges_of({**plain, "total_bytes": 1}), after) == (
        WindowReading(metric="wait_us", value=7),
        WindowReading(metric="bytes", value=2),
    )


@pytest.mark.parametrize(
    ("body", "found"), [(b"[]", "not a JSON object"), (b"<p>", "not JSON"), (b"{}", "/gauges: .*wrong fields")]
)
def test_what_gauges_never_answers_is_said_in_a_line(body: bytes, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection("http://127.0.0.1:9", timeout_s=1)
    monkeypatch.setattr(connection, "get", lambda path: (200, body))
    with pytest.raises(HttpError, match=found):
        read_gauges(connection)
