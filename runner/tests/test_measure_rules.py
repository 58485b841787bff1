"""The warm-up gate, the validity gates and identities decide on plain values."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.load import load_matrix
from jdkmatrix.fork.gates import (
    Means,
    burn_off,
    measured_status,
    too_few_valid,
    window_reasons,
    window_shortfalls,
)
from jdkmatrix.loads.base import Ask, Lengths
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Warmup, WarmupWindow, Window
from jdkmatrix.run.identity import identity_of
from jdkmatrix.subjects.served.warmup import (
    Gate,
    is_moderate_over,
    is_over,
    is_settled,
    is_steady,
    next_rate_rps,
    series_steadiness,
    time_to_steady,
    why_not_steady,
)
from jdkmatrix.subjects.served.windows import Windows
from jdkmatrix.terms.loads import CellLoad, RampedLoad, RateLoad, SaturateLoad, StepsLoad
from jdkmatrix.terms.quantities import rate_words
from tests.support.builders import latency, load_result, pressure, remote_stats, sut_usage, warmup_window

MATRIX = load_matrix(Path(__file__).parents[2] / "matrix.toml")
RULES = MATRIX.warmup.model_copy(
    update={
        "window_s": 1,
        "utilisation": 0.5,
        "first_request_us": 1000,
        "moderate_s": 3,
        "tail_windows": 4,
        "tail_s_min": 4,
        "tail_s_max": 6,
        "drift_of_precision_max": 0.25,
        "trend_alpha": 0.1,
        "change_max": 0.05,
        "jit_share_max": 0.05,
        "max_s": 20,
    }
)
GATE = Gate(RULES, ahead_s=4, precision=0.2)
LIMITS = MATRIX.thresholds


def series(costs: list[float], jit: float = 0.0) -> list[WarmupWindow]:
    return [warmup_window(5.0 + i, cost, jit) for i, cost in enumerate(costs)]


LEVEL = [100.0, 101, 99, 100, 102, 98, 100]


def test_the_gate_opens_when_neither_figure_gets_better_and_the_compiler_is_calm() -> None:
    assert is_steady(series(LEVEL), GATE)
    assert not is_steady(series(LEVEL[:4]), GATE)
    assert not is_steady(series([900, 400, *LEVEL[:3]]), GATE)
    assert is_steady(series([900, 400, *LEVEL]), GATE)
    assert not is_steady(series([160, 150, 140, 130, 120, 110, 100]), GATE)
    assert not is_steady(series(LEVEL, jit=0.2), GATE)


def test_latency_that_still_falls_keeps_the_gate_shut() -> None:
    falling = [window.model_copy(update={"p99_us": 9000.0 - 1000 * i}) for i, window in enumerate(series(LEVEL))]
    assert not is_steady(falling, GATE)
    cost, p99 = series_steadiness(falling, GATE)
    assert (cost.warm, p99.warm) == (True, False)


def test_a_window_without_answers_has_its_length_as_latency() -> None:
    silent = [window.model_copy(update={"p99_us": None}) for window in series(LEVEL)]
    _, p99 = series_steadiness(silent, GATE)
    assert p99.level == pytest.approx(RULES.window_s * 1e6)


def test_a_window_has_the_length_that_the_driver_made_it() -> None:
    """wrk2 makes no phase of half a second."""
    long = [window.model_copy(update={"duration_s": 2.0, "t_s": 2 * window.t_s}) for window in series([100.0] * 6)]
    _, p99 = series_steadiness(long, GATE)
    assert p99.level == pytest.approx(2e6)
    assert is_over(long * 2, RULES) is False
    assert is_over([*long, *(w.model_copy(update={"t_s": w.t_s + 12}) for w in long)], RULES)
    compiling = warmup_window(2, 1000, jit=0.5).model_copy(update={"rate_rps": 500.0, "duration_s": 2.0})
    # A second of compilation over 1,000 requests: 1,000 µs of each were the compiler's, of which 100 µs are left.
    assert next_rate_rps([compiling], RULES, cpus=1, burn_us=0) == pytest.approx(1000)


def test_a_slow_fall_keeps_the_gate_shut_though_no_trend_is_large() -> None:
    """By 3.8 % over its rest, which was let pass as long as it stayed below `change_max` = 5 %."""
    noise = [1.02, 0.985, 1.0, 1.015, 0.98, 1.01, 0.99, 1.02, 0.985, 1.0, 1.015, 0.98]
    falling = series([100 * 0.994**i * factor for i, factor in enumerate(noise)])
    strict = Gate(RULES, ahead_s=4, precision=0.05)
    assert not is_steady(falling, strict)
    assert is_steady(falling, GATE), "a profile that promises less waits less"
    cost, p99 = series_steadiness(falling, strict)
    assert cost.finding == "the rest scatters too much to tell whether it still falls"
    assert cost.change == pytest.approx(-0.038, rel=0.01)
    assert (cost.tail_s, cost.ahead_s, cost.fall_max) == (6, 4, 0.0125)
    assert cost.drift_per_s == pytest.approx(-0.0077, rel=0.01)
    assert cost.drift_ahead == pytest.approx((1 - 0.0077) ** 4 - 1, rel=0.01)
    assert cost.drift_tail_least is not None and cost.drift_tail_least < (1 - 0.0077) ** 6 - 1
    assert (p99.warm, p99.drift_per_s, p99.fall_max) == (True, None, None), "p99 is promised to nobody"


@pytest.mark.parametrize(("ahead", "windows"), [(1.0, 8), (4.0, 8), (5.5, 11), (6.0, 12), (600.0, 12)])
def test_the_tail_is_as_long_as_the_measurement_within_its_limits(ahead: float, windows: int) -> None:
    gate = Gate(RULES.model_copy(update={"window_s": 0.5}), ahead_s=ahead, precision=0.05)
    rules = gate.steady_rules("cpu_us_per_request")
    assert rules.drift is not None
    assert (rules.tail_windows, rules.drift.patience_windows) == (windows, 12)
    assert gate.steady_rules("p99_us").drift is None


@pytest.mark.parametrize(
    ("load", "expected_s"),
    [
        (SaturateLoad(connections=1), 6.0),
        (StepsLoad(connections=1, rates_rps=(1, 2), step_s=150, warmup_rps=1), 150.0),
        (RampedLoad(points=((0, 1), (100, 2)), connections=1, warmup_rps=1), 10.0),
        (RampedLoad(points=((0, 1), (3, 2)), connections=1, warmup_rps=1), 3.0),
    ],
)
def test_what_is_measured_first_at_one_level(load: CellLoad, expected_s: float) -> None:
    assert kind_of(load).ahead_s(Lengths(2, 3)) == expected_s


def test_a_server_has_settled_when_the_compiler_is_calm_in_the_last_window() -> None:
    busy, calm = warmup_window(1, 100, 0.2), warmup_window(2, 100, 0.01)
    assert not is_settled([], RULES)
    assert not is_settled([calm, busy], RULES)
    assert is_settled([busy, calm], RULES)


def test_only_windows_under_the_measured_load_open_the_gate() -> None:
    moderate = [window.model_copy(update={"stage": "moderate"}) for window in series([100] * 9)]
    assert not is_steady(moderate, GATE)
    assert not is_steady([*moderate, *series(LEVEL[:4])], GATE)
    assert is_steady([*moderate, *series(LEVEL)], GATE)


def test_one_busy_moment_of_the_compiler_is_forgiven_and_a_busy_stretch_is_not() -> None:
    calm = series(LEVEL)
    busy = [window.model_copy(update={"jit_share": 0.12}) for window in calm]
    assert is_steady([*calm[:-1], busy[-1]], GATE)
    assert not is_steady([*calm[:-3], *busy[-3:]], GATE)


def test_what_kept_the_gate_shut_is_told() -> None:
    windows = series([160, 150, 140, 130, 120, 110, 100], jit=0.2)
    steadiness = series_steadiness(windows, GATE)
    warmup = Warmup(windows=tuple(windows), series=steadiness, steady=False, jit_cpus=(), duration_s=20.0)
    told = why_not_steady(warmup, RULES)
    assert told.startswith("not steady after 20 s of warm-up: CPU per request: the best cut leaves only the last")
    assert "(-8.35% a second in the last 4 s, in all of which it may fall by 5.00%: -31.7% at worst; " in told
    assert "-29.5% over the 4 s that come next)" in told
    assert told.endswith("; the JIT compiler was at work")


def test_time_to_steady_counts_from_the_start_of_the_process() -> None:
    windows = series([900, 400, *LEVEL])
    assert time_to_steady(windows, GATE) == 7.0
    assert time_to_steady(windows[:4], GATE) is None


def test_stages_end_after_their_time() -> None:
    assert not is_moderate_over([], RULES, open_loop=False)
    assert not is_moderate_over(series([100] * 2), RULES, open_loop=False)
    assert is_moderate_over(series([100] * 3), RULES, open_loop=False)
    assert not is_over(series([100] * 19), RULES)
    assert is_over(series([100] * 20), RULES)


def test_an_open_loop_waits_for_the_compiler_or_for_half_of_the_time() -> None:
    def moderate(count: int, jit: float) -> list[WarmupWindow]:
        return [window.model_copy(update={"stage": "moderate"}) for window in series([100.0] * count, jit)]

    tail = RULES.tail_windows
    assert not is_moderate_over(moderate(tail, 0.5), RULES, open_loop=True)
    assert is_moderate_over(moderate(tail, 0.5), RULES, open_loop=False)
    assert is_moderate_over(moderate(tail, 0.01), RULES, open_loop=True)
    assert is_moderate_over(moderate(int(RULES.max_s / 2), 0.5), RULES, open_loop=True)
    loaded = [*moderate(tail, 0.01), *series([100.0] * tail, 0.5)]
    assert is_moderate_over(loaded, RULES, open_loop=True), "the second stage does not go back to the first"


def test_the_moderate_rate_follows_what_a_request_costs() -> None:
    assert next_rate_rps([], RULES, cpus=1, burn_us=0) == pytest.approx(500)
    assert next_rate_rps([], RULES, cpus=4, burn_us=1000) == pytest.approx(1000)
    slow = [warmup_window(1, 2000).model_copy(update={"rate_rps": 500.0})]
    assert next_rate_rps(slow, RULES, cpus=1, burn_us=0) == pytest.approx(250)
    fast = [warmup_window(1, 50).model_copy(update={"rate_rps": 500.0})]
    assert next_rate_rps(fast, RULES, cpus=1, burn_us=0) == pytest.approx(1000)


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
    window = Window(index=1, t_s=0.0, load=result, sut=sut_usage(), host=pressure(), shortfalls=shortfalls)
    assert window.valid
    assert measured_status([window], None, LIMITS) is Status.OK


def test_a_server_that_does_all_falls_short_of_nothing() -> None:
    assert not window_shortfalls(load_result(), LIMITS)


def test_a_window_is_recorded_with_both() -> None:
    """A spoilt window says both; what decides whether it counts is the fault alone."""
    busy = load_result(RateLoad(rate_rps=1000, connections=10), due=1000, completed=10, driver_cpu_share=0.99)
    heard: list[str] = []
    bench = SimpleNamespace(
        observe=lambda load, duration_s, label: SimpleNamespace(
            t_s=1.0, load=busy, sut=sut_usage(), host=pressure(), remote=None, served=None
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
    means = Means(service_s=delay_s, remote_cpus=1)
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
    means = Means(service_s=delay_s, remote_cpus=1)
    reasons = list(window_reasons(rate, sut_usage(), pressure(), LIMITS, remote=remote, means=means))
    assert [reason.code for reason in reasons] == codes
    assert not reasons or f"on average its answers {mean_us / 1000:.2f} ms" in reasons[0].message


@pytest.mark.parametrize(("cpu_share", "codes"), [(0.5, ["remote-late"]), (0.95, [])])
def test_a_late_remote_system_holds_no_closed_loop_up_whose_server_has_no_idle_cpu(
    cpu_share: float, codes: list[str]
) -> None:
    usage = sut_usage().model_copy(update={"cpu_share": cpu_share})
    late, means = remote_stats(late_us=9000, cpu_share=0.5), Means(service_s=0.002, remote_cpus=1)
    reasons = window_reasons(load_result(), usage, pressure(), LIMITS, remote=late, means=means)
    assert [reason.code for reason in reasons] == codes
    saturated = remote_stats(late_us=9000, cpu_share=0.95)
    reasons = window_reasons(load_result(), usage, pressure(), LIMITS, remote=saturated, means=means)
    assert "remote-saturated" in [reason.code for reason in reasons]


def test_a_remote_system_without_idle_cpu_makes_a_window_invalid() -> None:
    for cpus, codes in ((1, ["remote-saturated"]), (2, [])):
        means = Means(service_s=0.002, remote_cpus=cpus)
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
    short = window_shortfalls(answered, LIMITS)
    last = Window(index=1, t_s=0.0, load=answered, sut=sut_usage(), host=pressure(), shortfalls=short)
    assert kind_of(load).ended_overloaded([last]) is overloaded
    assert not kind_of(load).ended_overloaded([])


def test_a_window_in_which_code_was_compiled_is_invalid() -> None:
    reasons = window_reasons(load_result(), sut_usage(jit_share=0.3), pressure(), LIMITS)
    assert [reason.code for reason in reasons] == ["compiling"]


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
    grown = sut_usage().model_copy(update={"heap_committed_bytes": 120, "heap_growth_bytes": 20})
    assert [reason.code for reason in window_reasons(load_result(), grown, pressure(), LIMITS)] == ["heap-growing"]
    full = sut_usage().model_copy(update={"heap_committed_bytes": 120, "heap_growth_bytes": 1, "astray_threads": 0})
    assert not window_reasons(load_result(), full, pressure(), LIMITS)
    moved = sut_usage().model_copy(update={"astray_threads": 3})
    assert [reason.code for reason in window_reasons(load_result(), moved, pressure(), LIMITS)] == ["affinity-changed"]


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
    reason = Reason(code="steal", message="taken away")
    good = Window(index=1, t_s=0.0, load=load_result(), sut=sut_usage(), host=pressure())
    return [*[good] * valid, *[good.model_copy(update={"reasons": (reason,)})] * invalid]


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
