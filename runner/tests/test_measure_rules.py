"""The warm-up gate, the validity gates and identities decide on plain values."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.config.load import load_matrix
from jdkmatrix.measure.gates import window_reasons
from jdkmatrix.measure.identity import identity_of
from jdkmatrix.measure.warmup import is_moderate_over, is_over, is_steady, next_rate_rps
from jdkmatrix.records import Errors, RateLoad, WarmupWindow
from tests.builders import load_result, pressure, sut_usage, warmup_window

MATRIX = load_matrix(Path(__file__).parents[2] / "matrix.toml")
RULES = MATRIX.warmup.model_copy(
    update={
        "window_s": 1,
        "utilisation": 0.5,
        "first_request_us": 1000,
        "moderate_s": 3,
        "flat_windows": 4,
        "improvement_max": 0.1,
        "jit_share_max": 0.05,
        "max_s": 20,
    }
)
LIMITS = MATRIX.thresholds


def series(costs: list[float], jit: float = 0.0) -> list[WarmupWindow]:
    return [warmup_window(5.0 + i, cost, jit) for i, cost in enumerate(costs)]


def test_the_gate_opens_when_requests_stop_getting_cheaper_and_the_compiler_is_calm() -> None:
    assert is_steady(series([100, 100, 101, 99, 100]), RULES)
    assert not is_steady(series([100, 100, 101, 99]), RULES)
    assert not is_steady(series([140, 130, 125, 120, 115]), RULES)
    assert not is_steady(series([100, 100, 100, 100, 80]), RULES)
    assert not is_steady(series([100] * 5, jit=0.2), RULES)
    assert is_steady(series([900, 400, 100, 100, 101, 99, 100]), RULES)


def test_a_noisy_host_does_not_keep_the_gate_shut() -> None:
    """CPU µs per request of virtual threads on Temurin 25, one CPU, no compilation after the 14th second."""
    costs = [138.0, 125, 74, 50, 92, 62, 84, 142]
    assert is_steady(series(costs), RULES)
    assert not is_steady(series(costs[:-1]), RULES)


def test_only_windows_under_the_measured_load_open_the_gate() -> None:
    moderate = [window.model_copy(update={"stage": "moderate"}) for window in series([100] * 5)]
    assert not is_steady(moderate, RULES)
    assert not is_steady([*moderate, *series([80] * 4)], RULES)
    assert is_steady([*moderate, *series([80] * 5)], RULES)


def test_one_busy_second_of_the_compiler_is_forgiven_and_a_busy_stretch_is_not() -> None:
    calm = series([100] * 5)
    busy = [window.model_copy(update={"jit_share": 0.12}) for window in calm]
    assert is_steady([*calm[:4], busy[4]], RULES)
    assert not is_steady([*calm[:3], *busy[3:]], RULES)


def test_stages_end_after_their_time() -> None:
    assert not is_moderate_over([], RULES)
    assert not is_moderate_over(series([100] * 2), RULES)
    assert is_moderate_over(series([100] * 3), RULES)
    assert not is_over(series([100] * 19), RULES)
    assert is_over(series([100] * 20), RULES)


@given(st.lists(st.floats(1, 1e4), min_size=5, max_size=12), st.floats(0.01, 100))
def test_the_gate_does_not_depend_on_the_unit_of_cost(costs: list[float], factor: float) -> None:
    improvement = 1 - min(costs[-4:]) / min(costs[:-4])
    if abs(improvement - RULES.improvement_max) > 0.01:
        scaled = [cost * factor for cost in costs]
        assert is_steady(series(costs), RULES) == is_steady(series(scaled), RULES)


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
