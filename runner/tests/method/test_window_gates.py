"""The validity gates decide on plain values."""

from __future__ import annotations

from typing import Any

import pytest

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import rate_words
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.method.gate import DEFAULT_CONTEXT, Observation, WindowContext
from jdkmatrix.method.gates import burn_off, measured_status, refusals, too_few_valid
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.load_results import Errors, Interval
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Warmup, Window
from tests.support.builders import latency, load_result, pressure, reasons, remote_stats, sut_usage, window
from tests.support.shipped import MATRIX

LIMITS = MATRIX.thresholds
RATE = RateLoad(rate_rps=1000, connections=10)
# Over ten seconds.
FULL = DatabaseUse(cpu_s=9.5, span_s=10.0)
BUSY = remote_stats(late_us=100, cpu_share=0.95)


def reasons_of(means: WindowContext = DEFAULT_CONTEXT, **told: Any) -> dict[str, Any]:
    """Return the figures, by reason code, of a window in which nothing else went wrong."""
    seen: dict[str, Any] = {"load": load_result(), "sut": sut_usage(), "host": pressure(), **told}
    return {reason.code: reason.figures for reason in refusals(Observation(**seen), LIMITS, means)}


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({}, None),
        ({"load": load_result(driver_cpu_share=0.95)}, "driver-saturated"),
        ({"load": load_result(driver_cpu_share=0.50, driver_loop_cpu_share=0.95)}, "driver-saturated"),
        ({"load": load_result(driver_cpu_share=0.50, driver_loop_cpu_share=0.85)}, None),
        ({"host": pressure(steal=0.05)}, "steal"),
        ({"host": pressure(foreign=0.2)}, "foreign-cpu"),
        ({"sut": sut_usage(heap_committed_bytes=120, heap_growth_bytes=20)}, "heap-growing"),
        ({"sut": sut_usage(heap_committed_bytes=120, heap_growth_bytes=1, astray_threads=0)}, None),
        ({"sut": sut_usage(astray_threads=3)}, "affinity-changed"),
        ({"database": FULL, "means": WindowContext(remote_cpus=1)}, "database-saturated"),
        ({"database": FULL, "means": WindowContext(remote_cpus=2)}, None),
        ({"remote": BUSY, "means": WindowContext(service_s=0.002, remote_cpus=1)}, "remote-saturated"),
        ({"remote": BUSY, "means": WindowContext(service_s=0.002, remote_cpus=2)}, None),
    ],
)
def test_each_gate_names_what_it_found(told: dict[str, Any], code: str | None) -> None:
    found = reasons_of(**told)
    assert [*found] == ([code] if code else [])
    assert all(found.values())


@pytest.mark.parametrize(
    ("of_all", "of_one", "message", "figures"),
    [
        (0.95, None, "the driver used 95% of its CPUs", {"driver_cpu_share": 0.95}),
        (0.96, 0.94, "the driver used 96% of its CPUs", {"driver_cpu_share": 0.96}),
        (0.91, 0.99, "the driver's busiest event loop used 99% of a CPU", {"driver_loop_cpu_share": 0.99}),
    ],
)
def test_a_driver_is_as_busy_as_its_busiest_event_loop(
    of_all: float, of_one: float | None, message: str, figures: dict[str, float]
) -> None:
    load = load_result(driver_cpu_share=of_all, driver_loop_cpu_share=of_one)
    (found,) = refusals(Observation(load, sut_usage(), pressure()), LIMITS)
    assert found.message == f"{message}: it measured itself"
    assert found.figures == {**figures, "max": LIMITS.driver_cpu_share_max}


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("throttled_share", 0.02, "throttled"),
        ("swapped_bytes_per_s", 1e6, "swapping"),
        ("clock_step_s", -3600.0, "clock-stepped"),
        ("clock_step_s", 0.5, "clock-stepped"),
        ("suspended_s", 2.0, "suspended"),
    ],
)
def test_what_befell_the_host_makes_a_window_invalid(name: str, value: float, code: str) -> None:
    found = reasons_of(host=pressure().model_copy(update={name: value}))
    assert [*found] == [code] and value in found[code].values()


def test_throttled_time_is_that_of_all_cpus_together() -> None:
    (found,) = refusals(Observation(host=pressure().model_copy(update={"throttled_share": 1.8})), LIMITS)
    assert found.message == "a CPU quota held its CPUs back for 1.800 s in each second, all together"


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"non_2xx": 1}, ["errors"]),
        ({"errors": Errors(timeout=1)}, ["errors"]),
        ({"completed": 0, "throughput_rps": 0.0}, ["no-answers"]),
        ({"completed": 0, "load": RateLoad(rate_rps=100, connections=10)}, ["no-answers", "rate-missed"]),
        # Some were refused at once, as too many.
        (
            {"load": RateLoad(rate_rps=100, connections=10), "due": 1000, "completed": 1000, "non_2xx": 400},
            ["rate-missed", "errors"],
        ),
    ],
)
def test_what_the_server_left_undone_is_told_in_a_valid_window(changes: dict[str, object], codes: list[str]) -> None:
    result = load_result(**changes)  # type: ignore[arg-type]
    shortfalls = window_shortfalls(result, LIMITS)
    assert [reason.code for reason in shortfalls] == codes
    assert all(reason.figures for reason in shortfalls)
    assert not refusals(Observation(result, sut_usage(), pressure()), LIMITS)
    told = window(1, result, shortfalls=shortfalls)
    assert told.valid
    assert measured_status([told], None, LIMITS) is Status.OK


@pytest.mark.parametrize(("latency_from_s", "codes"), [(0.0, []), (10.25, ["rate-missed"])])
def test_answers_that_come_after_the_end_are_missing_where_the_load_began_with_the_window(
    latency_from_s: float, codes: list[str]
) -> None:
    """If the load was on before, like wrk2's, others came in their place: 97.4 % is then a rate that was not held."""
    rate = RateLoad(rate_rps=1500, connections=300)
    seen = {"due": 16_125, "completed": 15_700, "duration_s": 10.75, "latency_from_s": latency_from_s}
    assert [one.code for one in window_shortfalls(load_result(rate, **seen), LIMITS, service_s=0.2)] == codes


@pytest.mark.parametrize(("completed", "codes"), [(57_848, ["rate-missed"]), (54_100, [])])
def test_a_backlog_that_is_worked_off_in_the_window_is_a_rate_that_was_not_held(
    completed: int, codes: list[str]
) -> None:
    """As in a real fork under wrk2, where half of the requests waited longer than 0.65 s."""
    rate = RateLoad(rate_rps=4998, connections=300)
    result = load_result(rate, due=53_729, completed=completed, duration_s=10.75, latency_from_s=10.25)
    found = window_shortfalls(result, LIMITS, service_s=0.002)
    assert [one.code for one in found] == codes
    assert all("behind when the window began" in one.message for one in found)


@pytest.mark.parametrize(
    ("p50s_ms", "completed", "codes"),
    [
        ((35, 35, 36), 5_930, []),  # 70 are on their way at its end, as at any time
        ((10, 30, 50), 5_880, ["rate-missed"]),  # 2 % wait for their turn at its end, more than in the second before
        ((None, None, None), 5_930, ["rate-missed"]),  # this driver does not say
    ],
)
def test_requests_on_their_way_at_the_end_are_no_backlog(
    p50s_ms: tuple[float | None, ...], completed: int, codes: list[str]
) -> None:
    seconds = tuple(
        Interval(t_s=t_s, completed=2_000, errors=0, p50_us=p50_ms and p50_ms * 1000, p99_us=None, max_us=None)
        for t_s, p50_ms in enumerate(p50s_ms, start=1)
    )
    seen = {"due": 6_000, "completed": completed, "duration_s": 3.0, "intervals": seconds}
    result = load_result(RateLoad(rate_rps=2000, connections=300), **seen)
    assert [one.code for one in window_shortfalls(result, LIMITS)] == codes


def test_an_attempt_to_connect_is_no_failed_request() -> None:
    result = load_result(errors=Errors(connect=240, read=20), non_2xx=3)
    assert (result.failed, result.errors.total) == (23, 260)
    (found,) = window_shortfalls(result, LIMITS)
    assert found.message == "20 failed requests, 3 answers other than 2xx, 240 failed attempts to connect"


def test_requests_that_are_refused_after_the_end_have_failed_too() -> None:
    result = load_result(completed=2, answered_late=448, late_non_2xx=448)
    (found,) = window_shortfalls(result, LIMITS)
    assert (found.code, found.figures["failed"]) == ("errors", 448)
    assert found.message == "0 failed requests, 0 answers other than 2xx and 448 after the end"


@pytest.mark.parametrize(
    ("late_us", "mean_us", "delay_s", "late"),
    [
        (990, 1, 0.0, False), (1010, 1, 0.0, True), (1990, 1, 0.002, False), (2010, 1, 0.002, True),
        (2900, 1, 0.02, False), (3100, 1, 0.02, True), (19_900, 1, 1.0, False), (20_100, 1, 1.0, True),
        # Late on average, too.
        (950, 900, 0.0, False), (950, 190, 0.002, False), (950, 210, 0.002, True), (950, 1900, 0.02, False),
        (950, 2100, 0.02, True),
    ],
)  # fmt: skip
def test_how_late_a_remote_may_be_follows_its_delay(late_us: float, mean_us: float, delay_s: float, late: bool) -> None:
    lateness = latency(late_us).model_copy(update={"mean_us": mean_us})
    remote = remote_stats(late_us=late_us, cpu_share=0.5).model_copy(update={"lateness": lateness})
    means = WindowContext(service_s=delay_s, remote_cpus=1)
    reasons = refusals(Observation(load_result(RATE), sut_usage(), pressure(), remote), LIMITS, means)
    assert [reason.code for reason in reasons] == ["remote-late"] * late
    assert not late or mean_us == 1 or f"its answers {mean_us / 1000:.2f} ms on average" in reasons[0].message


@pytest.mark.parametrize(("cpu_share", "codes"), [(0.5, ["remote-late"]), (0.95, [])])
def test_a_late_remote_system_holds_up_no_closed_loop_of_a_busy_server(cpu_share: float, codes: list[str]) -> None:
    usage, means = sut_usage(cpu_share=cpu_share), WindowContext(service_s=0.002, remote_cpus=1)
    assert [*reasons_of(sut=usage, remote=remote_stats(late_us=9000, cpu_share=0.5), means=means)] == codes
    saturated = remote_stats(late_us=9000, cpu_share=0.95)
    assert "remote-saturated" in reasons_of(sut=usage, remote=saturated, means=means)


@pytest.mark.parametrize(
    ("load", "completed", "overloaded"),
    [
        (StepsLoad(connections=10, rates_rps=(1000, 2000), step_s=1, warmup_rps=100), 500, True),
        (StepsLoad(connections=10, rates_rps=(1000, 2000), step_s=1, warmup_rps=100), 1000, False),
        (RATE, 500, False),
    ],
)
def test_a_server_overloaded_as_asked_is_not_hung(load: StepsLoad | RateLoad, completed: int, overloaded: bool) -> None:
    answered = load_result(load=RATE, completed=completed)
    last = window(1, answered, shortfalls=window_shortfalls(answered, LIMITS))
    assert kind_of(load).ended_overloaded([last]) is overloaded
    assert not kind_of(load).ended_overloaded([])


def test_a_missed_rate_is_told_and_a_kept_one_is_not() -> None:
    assert not window_shortfalls(load_result(RATE, due=1000, completed=995), LIMITS)
    assert not window_shortfalls(load_result(RATE, due=900, completed=900, throughput_rps=900.0), LIMITS)
    for due in (1000, None):
        missed = window_shortfalls(load_result(RATE, due=due, completed=980), LIMITS)
        assert [reason.code for reason in missed] == ["rate-missed"]


@pytest.mark.parametrize(
    ("best_us", "expected_us", "codes"),
    [(100.0, 100.0, []), (104.9, 100.0, []), (106.0, 100.0, ["burn-off"]), (94.0, 100.0, ["burn-off"]),
     (106.0, 105.0, []), (130.0, None, [])],
)  # fmt: skip
def test_work_is_checked_at_its_moments_clock(best_us: float, expected_us: float | None, codes: list[str]) -> None:
    """A host whose clock is now 5 % slower is no other JVM; without a clock reading, nobody can tell."""
    found = burn_off(BurnCheck(rounds=1, asked_us=100, best_us=best_us, expected_us=expected_us), LIMITS)
    assert [reason.code for reason in (found,) if reason] == codes
    assert burn_off(None, LIMITS) is None


def windows(valid: int, invalid: int) -> list[Window]:
    return [*[window()] * valid, *[window(reasons=reasons("steal"))] * invalid]


@pytest.mark.parametrize(
    ("valid", "invalid", "status"),
    [(3, 0, Status.OK), (2, 2, Status.OK), (1, 2, Status.INVALID), (0, 1, Status.INVALID), (0, 0, Status.INVALID)],
)
def test_a_fork_needs_half_of_its_windows(valid: int, invalid: int, status: Status) -> None:
    assert measured_status(windows(valid, invalid), None, LIMITS) is status


def test_a_fork_that_never_became_steady_says_so_only_when_it_can_be_used() -> None:
    warmup = Warmup(windows=(), steady=False, jit_cpus=(), duration_s=60.0)
    assert measured_status(windows(2, 0), warmup, LIMITS) is Status.NOT_STEADY
    assert measured_status(windows(0, 2), warmup, LIMITS) is Status.INVALID


def test_an_invalid_fork_says_how_many_and_why() -> None:
    assert too_few_valid(windows(1, 2)).message == "only 1 of 3 windows are valid: steal"
    assert too_few_valid(windows(0, 2)).message == "every window is invalid: steal"


@pytest.mark.parametrize(("per_s", "expected"), [(36_292.4, "36,292"), (100.4, "100"), (57.0, "57"), (3.8, "3.8")])
def test_a_small_rate_is_not_rounded_to_another_one(per_s: float, expected: str) -> None:
    assert rate_words(per_s) == expected
