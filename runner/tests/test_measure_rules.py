"""The warm-up gate, the validity gates and identities decide on plain values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.load import load_matrix
from jdkmatrix.measure.gates import Means, ended_overloaded, measured_status, too_few_valid, window_reasons
from jdkmatrix.measure.identity import identity_of
from jdkmatrix.measure.warmup import (
    is_moderate_over,
    is_over,
    is_steady,
    next_rate_rps,
    series_steadiness,
    time_to_steady,
    why_not_steady,
)
from jdkmatrix.measure.windows import rate_words
from jdkmatrix.records import Errors, RateLoad, Reason, Status, StepsLoad, Warmup, WarmupWindow, Window
from tests.builders import load_result, pressure, remote_stats, sut_usage, warmup_window

MATRIX = load_matrix(Path(__file__).parents[2] / "matrix.toml")
RULES = MATRIX.warmup.model_copy(
    update={
        "window_s": 1,
        "utilisation": 0.5,
        "first_request_us": 1000,
        "moderate_s": 3,
        "tail_windows": 4,
        "trend_alpha": 0.1,
        "change_max": 0.05,
        "jit_share_max": 0.05,
        "max_s": 20,
    }
)
LIMITS = MATRIX.thresholds


def series(costs: list[float], jit: float = 0.0) -> list[WarmupWindow]:
    return [warmup_window(5.0 + i, cost, jit) for i, cost in enumerate(costs)]


LEVEL = [100.0, 101, 99, 100, 102, 98, 100]


def test_the_gate_opens_when_neither_figure_gets_better_and_the_compiler_is_calm() -> None:
    assert is_steady(series(LEVEL), RULES)
    assert not is_steady(series(LEVEL[:4]), RULES)
    assert not is_steady(series([900, 400, *LEVEL[:3]]), RULES)
    assert is_steady(series([900, 400, *LEVEL]), RULES)
    assert not is_steady(series([160, 150, 140, 130, 120, 110, 100]), RULES)
    assert not is_steady(series(LEVEL, jit=0.2), RULES)


def test_latency_that_still_falls_keeps_the_gate_shut() -> None:
    falling = [window.model_copy(update={"p99_us": 9000.0 - 1000 * i}) for i, window in enumerate(series(LEVEL))]
    assert not is_steady(falling, RULES)
    cost, p99 = series_steadiness(falling, RULES)
    assert (cost.warm, p99.warm) == (True, False)


def test_a_window_without_answers_has_its_length_as_latency() -> None:
    silent = [window.model_copy(update={"p99_us": None}) for window in series(LEVEL)]
    _, p99 = series_steadiness(silent, RULES)
    assert p99.level == pytest.approx(RULES.window_s * 1e6)


def test_a_window_has_the_length_that_the_driver_made_it() -> None:
    """wrk2 makes no phase of half a second."""
    long = [window.model_copy(update={"duration_s": 2.0, "t_s": 2 * window.t_s}) for window in series([100.0] * 6)]
    _, p99 = series_steadiness(long, RULES)
    assert p99.level == pytest.approx(2e6)
    assert is_over(long * 2, RULES) is False
    assert is_over([*long, *(w.model_copy(update={"t_s": w.t_s + 12}) for w in long)], RULES)
    compiling = warmup_window(2, 1000, jit=0.5).model_copy(update={"rate_rps": 500.0, "duration_s": 2.0})
    # A second of compilation over 1,000 requests: 1,000 µs of each were the compiler's, of which 100 µs are left.
    assert next_rate_rps([compiling], RULES, cpus=1, burn_us=0) == pytest.approx(1000)


def test_only_windows_under_the_measured_load_open_the_gate() -> None:
    moderate = [window.model_copy(update={"stage": "moderate"}) for window in series([100] * 9)]
    assert not is_steady(moderate, RULES)
    assert not is_steady([*moderate, *series(LEVEL[:4])], RULES)
    assert is_steady([*moderate, *series(LEVEL)], RULES)


def test_one_busy_moment_of_the_compiler_is_forgiven_and_a_busy_stretch_is_not() -> None:
    calm = series(LEVEL)
    busy = [window.model_copy(update={"jit_share": 0.12}) for window in calm]
    assert is_steady([*calm[:-1], busy[-1]], RULES)
    assert not is_steady([*calm[:-3], *busy[-3:]], RULES)


def test_what_kept_the_gate_shut_is_told() -> None:
    windows = series([160, 150, 140, 130, 120, 110, 100], jit=0.2)
    steadiness = series_steadiness(windows, RULES)
    warmup = Warmup(windows=tuple(windows), series=steadiness, steady=False, jit_cpus=(), duration_s=20.0)
    told = why_not_steady(warmup, RULES)
    assert told.startswith("not steady after 20 s of warm-up: CPU per request: the best cut leaves only the last")
    assert told.endswith("; the JIT compiler was at work")


def test_time_to_steady_counts_from_the_start_of_the_process() -> None:
    windows = series([900, 400, *LEVEL])
    assert time_to_steady(windows, RULES) == 7.0
    assert time_to_steady(windows[:4], RULES) is None


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
        ({"non_2xx": 1}, pressure(), "errors"),
        ({"errors": Errors(timeout=1)}, pressure(), "errors"),
        ({"completed": 0, "throughput_rps": 0.0}, pressure(), "no-answers"),
        ({}, pressure(steal=0.05), "steal"),
        ({}, pressure(foreign=0.2), "foreign-cpu"),
    ],
)
def test_each_gate_names_what_it_found(changes: dict[str, object], host: object, code: str) -> None:
    reasons = window_reasons(load_result(**changes), sut_usage(), host, LIMITS)  # type: ignore[arg-type]
    assert [reason.code for reason in reasons] == [code]
    assert reasons[0].figures
    assert not window_reasons(load_result(), sut_usage(), pressure(), LIMITS)


def test_a_window_without_a_single_answer_is_invalid_even_where_the_limit_of_the_server_is_sought() -> None:
    silent = load_result(completed=0, throughput_rps=0.0, load=RateLoad(rate_rps=100, connections=10))
    reasons = window_reasons(silent, sut_usage(), pressure(), LIMITS, means=Means(overload=True))
    assert [reason.code for reason in reasons] == ["no-answers"]


@pytest.mark.parametrize(
    ("late_us", "delay_s", "codes"),
    [(490, 0.002, []), (510, 0.002, ["remote-late"]), (99_000, 1.0, []), (101_000, 1.0, ["remote-late"])],
)
def test_how_late_the_remote_system_may_be_follows_its_delay(late_us: float, delay_s: float, codes: list[str]) -> None:
    remote = remote_stats(late_us=late_us, cpu_share=0.5)
    means = Means(service_s=delay_s, remote_cpus=1)
    reasons = window_reasons(load_result(), sut_usage(), pressure(), LIMITS, remote=remote, means=means)
    assert [reason.code for reason in reasons] == codes


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
    last = Window(index=1, t_s=0.0, load=answered, sut=sut_usage(), host=pressure())
    assert ended_overloaded(load, [last], LIMITS, service_s=0.0) is overloaded
    assert not ended_overloaded(load, [], LIMITS, service_s=0.0)


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


def test_a_missed_rate_is_invalid_and_a_kept_one_is_not() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    assert not window_reasons(load_result(load, due=1000, completed=995), sut_usage(), pressure(), LIMITS)
    assert not window_reasons(
        load_result(load, due=900, completed=900, throughput_rps=900.0), sut_usage(), pressure(), LIMITS
    )
    for due in (1000, None):
        missed = window_reasons(load_result(load, due=due, completed=980), sut_usage(), pressure(), LIMITS)
        assert [reason.code for reason in missed] == ["rate-missed"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text(), json_values))
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
