"""The validity gates and identities decide on plain values."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.quantities import rate_words
from jdkmatrix.loads.base import Ask
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.method.gate import WindowContext
from jdkmatrix.method.gates import burn_off, measured_status, too_few_valid, window_reasons
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Warmup, Window
from jdkmatrix.run.identity import identity_of
from jdkmatrix.subjects.served.windows import Windows
from tests.support.builders import latency, load_result, pressure, reasons, remote_stats, sut_usage, window
from tests.support.shipped import MATRIX

LIMITS = MATRIX.thresholds


@pytest.mark.parametrize(
    ("changes", "host", "code"),
    [
        ({"driver_cpu_share": 0.95}, pressure(), "driver-saturated"),
        ({}, pressure(steal=0.05), "steal"),
        ({}, pressure(foreign=0.2), "foreign-cpu"),
    ],
)
def test_each_gate_names_what_it_found(changes: dict[str, object], host: object, code: str) -> None:
    reasons = window_reasons(load_result(**changes), sut_usage(), host, LIMITS)  # type: ignore[arg-type]
    assert [reason.code for reason in reasons] == [code]
    assert reasons[0].figures
    assert not window_reasons(load_result(), sut_usage(), pressure(), LIMITS)


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"non_2xx": 1}, ["errors"]),
        ({"errors": Errors(timeout=1)}, ["errors"]),
        ({"completed": 0, "throughput_rps": 0.0}, ["no-answers"]),
        ({"completed": 0, "load": RateLoad(rate_rps=100, connections=10)}, ["no-answers", "rate-missed"]),
    ],
)
def test_what_the_server_did_not_do_is_told_and_leaves_the_window_valid(
    changes: dict[str, object], codes: list[str]
) -> None:
    result = load_result(**changes)  # type: ignore[arg-type]
    shortfalls = window_shortfalls(result, LIMITS)
    assert [reason.code for reason in shortfalls] == codes
    assert all(reason.figures for reason in shortfalls)
    assert not window_reasons(result, sut_usage(), pressure(), LIMITS)
    told = window(1, result, shortfalls=shortfalls)
    assert told.valid
    assert measured_status([told], None, LIMITS) is Status.OK


def test_a_window_is_recorded_with_both() -> None:
    """A spoilt window says both; what decides whether it counts is the fault alone."""
    busy = load_result(RateLoad(rate_rps=1000, connections=10), due=1000, completed=10, driver_cpu_share=0.99)
    heard: list[str] = []
    bench = SimpleNamespace(
        observe=lambda load, duration_s, label: SimpleNamespace(
            t_s=1.0, load=busy, sut=sut_usage(), host=pressure(), remote=None, database=None, served=None, readings=()
        ),
        cpu_sets=SimpleNamespace(sut=(min(os.sched_getaffinity(0)),)),
    )
    windows = Windows(cast(Any, bench), "virtual", LIMITS, "../logs", cast(Any, SimpleNamespace(step=heard.append)))
    window = windows.measure(Ask(busy.load, 1.0, "window-1", "window 1/1"), index=1)
    assert [reason.code for reason in window.reasons] == ["driver-saturated"]
    assert [reason.code for reason in window.shortfalls] == ["rate-missed"]
    assert not window.valid
    assert heard[0].endswith("(invalid: driver-saturated; fell short: rate-missed)")


@pytest.mark.parametrize(
    ("late_us", "delay_s", "codes"),
    [
        (990, 0.0, []),
        (1010, 0.0, ["remote-late"]),
        (1990, 0.002, []),
        (2010, 0.002, ["remote-late"]),
        (2900, 0.02, []),
        (3100, 0.02, ["remote-late"]),
        (19_900, 1.0, []),
        (20_100, 1.0, ["remote-late"]),
    ],
)
def test_how_late_the_remote_system_may_be_follows_its_delay(late_us: float, delay_s: float, codes: list[str]) -> None:
    remote = remote_stats(late_us=late_us, cpu_share=0.5)
    seldom = latency(late_us).model_copy(update={"mean_us": 1.0})
    remote = remote.model_copy(update={"lateness": seldom})
    means = WindowContext(service_s=delay_s, remote_cpus=1)
    rate = load_result(RateLoad(rate_rps=1000, connections=10))
    reasons = window_reasons(rate, sut_usage(), pressure(), LIMITS, remote=remote, means=means)
    assert [reason.code for reason in reasons] == codes


@pytest.mark.parametrize(
    ("mean_us", "delay_s", "codes"),
    [(190, 0.002, []), (210, 0.002, ["remote-late"]), (900, 0.0, []), (1900, 0.02, []), (2100, 0.02, ["remote-late"])],
)
def test_a_remote_system_may_not_be_late_on_average(mean_us: float, delay_s: float, codes: list[str]) -> None:
    often = latency(950).model_copy(update={"mean_us": mean_us})
    remote = remote_stats(late_us=950, cpu_share=0.5).model_copy(update={"lateness": often})
    rate = load_result(RateLoad(rate_rps=1000, connections=10))
    means = WindowContext(service_s=delay_s, remote_cpus=1)
    reasons = list(window_reasons(rate, sut_usage(), pressure(), LIMITS, remote=remote, means=means))
    assert [reason.code for reason in reasons] == codes
    assert not reasons or f"on average its answers {mean_us / 1000:.2f} ms" in reasons[0].message


@pytest.mark.parametrize(("cpu_share", "codes"), [(0.5, ["remote-late"]), (0.95, [])])
def test_a_late_remote_system_holds_no_closed_loop_up_whose_server_has_no_idle_cpu(
    cpu_share: float, codes: list[str]
) -> None:
    usage = sut_usage(cpu_share=cpu_share)
    late, means = remote_stats(late_us=9000, cpu_share=0.5), WindowContext(service_s=0.002, remote_cpus=1)
    reasons = window_reasons(load_result(), usage, pressure(), LIMITS, remote=late, means=means)
    assert [reason.code for reason in reasons] == codes
    saturated = remote_stats(late_us=9000, cpu_share=0.95)
    reasons = window_reasons(load_result(), usage, pressure(), LIMITS, remote=saturated, means=means)
    assert "remote-saturated" in [reason.code for reason in reasons]


@pytest.mark.parametrize(("cpus", "codes"), [(1, ["database-saturated"]), (2, [])])
def test_a_database_without_idle_cpu_makes_a_window_invalid(cpus: int, codes: list[str]) -> None:
    used, means = DatabaseUse(cpu_s=9.5, span_s=10.0), WindowContext(remote_cpus=cpus)
    reasons = window_reasons(load_result(), sut_usage(), pressure(), LIMITS, database=used, means=means)
    assert [reason.code for reason in reasons] == codes


def test_a_remote_system_without_idle_cpu_makes_a_window_invalid() -> None:
    for cpus, codes in ((1, ["remote-saturated"]), (2, [])):
        means = WindowContext(service_s=0.002, remote_cpus=cpus)
        remote = remote_stats(late_us=100, cpu_share=0.95)
        reasons = window_reasons(load_result(), sut_usage(), pressure(), LIMITS, remote=remote, means=means)
        assert [reason.code for reason in reasons] == codes


@pytest.mark.parametrize(
    ("load", "completed", "overloaded"),
    [
        (StepsLoad(connections=10, rates_rps=(1000, 2000), step_s=1, warmup_rps=100), 500, True),
        (StepsLoad(connections=10, rates_rps=(1000, 2000), step_s=1, warmup_rps=100), 1000, False),
        (RateLoad(rate_rps=1000, connections=10), 500, False),
    ],
)
def test_a_server_that_was_to_be_overloaded_and_is_does_not_hang(
    load: StepsLoad | RateLoad, completed: int, overloaded: bool
) -> None:
    answered = load_result(load=RateLoad(rate_rps=1000, connections=10), completed=completed)
    last = window(1, answered, shortfalls=window_shortfalls(answered, LIMITS))
    assert kind_of(load).ended_overloaded([last]) is overloaded
    assert not kind_of(load).ended_overloaded([])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"throttled_share": 0.02}, "throttled"),
        ({"swapped_bytes_per_s": 1e6}, "swapping"),
        ({"clock_step_s": -3600.0}, "clock-stepped"),
        ({"clock_step_s": 0.5}, "clock-stepped"),
        ({"suspended_s": 2.0}, "suspended"),
    ],
)
def test_what_befell_the_host_makes_a_window_invalid(changes: dict[str, float], code: str) -> None:
    reasons = window_reasons(load_result(), sut_usage(), pressure().model_copy(update=changes), LIMITS)
    assert [reason.code for reason in reasons] == [code]
    assert next(iter(changes.values())) in reasons[0].figures.values()


def test_a_heap_that_is_still_being_sized_and_threads_elsewhere_make_a_window_invalid() -> None:
    grown = sut_usage(heap_committed_bytes=120, heap_growth_bytes=20)
    full = sut_usage(heap_committed_bytes=120, heap_growth_bytes=1, astray_threads=0)
    moved = sut_usage(astray_threads=3)
    for usage, codes in ((grown, ["heap-growing"]), (full, []), (moved, ["affinity-changed"])):
        assert [reason.code for reason in window_reasons(load_result(), usage, pressure(), LIMITS)] == codes


def test_a_missed_rate_is_told_and_a_kept_one_is_not() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    assert not window_shortfalls(load_result(load, due=1000, completed=995), LIMITS)
    assert not window_shortfalls(load_result(load, due=900, completed=900, throughput_rps=900.0), LIMITS)
    for due in (1000, None):
        missed = window_shortfalls(load_result(load, due=due, completed=980), LIMITS)
        assert [reason.code for reason in missed] == ["rate-missed"]


@pytest.mark.parametrize(
    ("best_us", "expected_us", "codes"),
    [(100.0, 100.0, []), (104.9, 100.0, []), (106.0, 100.0, ["burn-off"]), (94.0, 100.0, ["burn-off"]),
     (106.0, 105.0, []), (130.0, None, [])],
)  # fmt: skip
def test_work_is_checked_at_the_clock_of_its_moment(
    best_us: float, expected_us: float | None, codes: list[str]
) -> None:
    """A host whose clock is slower by 5 % now is no other JVM; without a clock nobody can tell."""
    found = burn_off(BurnCheck(rounds=1, asked_us=100, best_us=best_us, expected_us=expected_us), LIMITS)
    assert [reason.code for reason in (found,) if reason] == codes
    assert burn_off(None, LIMITS) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=5))
def test_an_identity_depends_on_values_and_not_on_their_order(inputs: dict[str, object]) -> None:
    reordered = dict(reversed(inputs.items()))
    assert identity_of(inputs).digest == identity_of(reordered).digest
    assert identity_of({**inputs, "one more": 1}).digest != identity_of(inputs).digest


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
