"""The warm-up gate decides on plain values."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from jdkmatrix.figures.unsteady import why_not_steady
from jdkmatrix.method.warmup import (
    Figure,
    WarmupGate,
    is_calm,
    is_moderate_over,
    is_over,
    is_settled,
    is_steady,
    next_rate_rps,
    series_steadiness,
    time_to_steady,
)
from jdkmatrix.records.windows import SeriesSteadiness, Warmup, WarmupWindow
from tests.support.builders import warmup_window
from tests.support.shipped import MATRIX

RULES = MATRIX.warmup.model_copy(
    update={
        "window_s": 1, "utilisation": 0.5, "first_request_us": 1000, "moderate_s": 3, "tail_windows": 4,
        "tail_s_min": 4, "tail_s_max": 6, "drift_of_precision_max": 0.25, "trend_alpha": 0.1, "change_max": 0.05,
        "jit_share_max": 0.05, "max_s": 20,
    }
)  # fmt: skip
GATE = WarmupGate(RULES, ahead_s=4, precision=0.2)


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
    """wrk2 cannot run a phase of half a second."""
    long = [window.model_copy(update={"duration_s": 2.0, "t_s": 2 * window.t_s}) for window in series([100.0] * 6)]
    _, p99 = series_steadiness(long, GATE)
    assert p99.level == pytest.approx(2e6)
    assert is_over(long * 2, GATE) is False
    assert is_over([*long, *(w.model_copy(update={"t_s": w.t_s + 12}) for w in long)], GATE)
    compiling = warmup_window(2, 1000, jit=0.5).model_copy(update={"rate_rps": 500.0, "duration_s": 2.0})
    # A second of compilation over 1,000 requests: 1,000 µs of each were the compiler's, of which 100 µs are left.
    assert next_rate_rps([compiling], RULES, cpus=1, burn_us=0) == pytest.approx(1000)


def test_a_slow_fall_keeps_the_gate_shut_though_no_trend_is_large() -> None:
    """A fall by 3.8 % over the rest of the series used to pass because it stayed below `change_max` = 5 %."""
    noise = [1.02, 0.985, 1.0, 1.015, 0.98, 1.01, 0.99, 1.02, 0.985, 1.0, 1.015, 0.98]
    falling = series([100 * 0.994**i * factor for i, factor in enumerate(noise)])
    strict = WarmupGate(RULES, ahead_s=4, precision=0.05)
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
    gate = WarmupGate(RULES.model_copy(update={"window_s": 0.5}), ahead_s=ahead, precision=0.05)
    rules = gate.steady_rules("cpu_us_per_request")
    assert (rules.tail_windows, rules.drift.patience_windows) == (windows, 12)
    assert gate.steady_rules("p99_us").drift is None


def test_a_window_is_long_enough_for_answers() -> None:
    """Half a second says nothing about requests that take a whole one: no window had an answer. Two seconds had one
    wave of answers or two."""
    short = RULES.model_copy(update={"window_s": 0.5})
    slow = WarmupGate(short, ahead_s=6.0, precision=0.05, service_s=1.0)
    assert (slow.window_s, slow.steady_rules("p99_us").tail_windows) == (5.0, 4)
    assert WarmupGate(short, ahead_s=6.0, precision=0.05, service_s=0.1).window_s == 0.5


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


def test_with_less_than_a_cpu_the_compiler_may_use_proportionally_less() -> None:
    """The gate, and what is said of a fork that it kept shut, go by the same rules."""
    windows = series(LEVEL, jit=0.04)
    assert is_calm(windows, RULES.within(2.0)) and not is_calm(windows, RULES.within(0.5))
    assert RULES.within(1.0) == RULES


def test_what_kept_the_gate_shut_is_told() -> None:
    windows = series([160, 150, 140, 130, 120, 110, 100], jit=0.2)
    steadiness = series_steadiness(windows, GATE)
    warmup = Warmup(windows=tuple(windows), series=steadiness, steady=False, jit_cpus=(), duration_s=20.0)
    told = why_not_steady(warmup, compiling=not is_calm(windows, RULES))
    assert told.startswith("not steady after 20 s of warm-up: CPU per request had not settled; ")
    assert told.endswith("; the JIT compiler was at work")


@pytest.mark.parametrize(
    ("series", "told"),
    [
        # As recorded: the rest as a whole fell, but its last half minute did not.
        ({"finding": "the rest still falls", "change": -0.062, "drift_per_s": 0.0006, "drift_tail_least": -0.077},
         "CPU per request fell by 6.20 % overall, though no longer in the last 30 s"),
        ({"finding": "the rest still falls", "change": -0.2, "drift_per_s": -0.0124, "drift_tail_least": -0.299},
         "CPU per request was still falling, by up to 30 % in the last 30 s, where 1.25 % is allowed"),
        ({"finding": "the rest scatters too much to tell whether it still falls", "change": -0.01,
          "drift_per_s": -0.0006, "drift_tail_least": -0.037},
         "CPU per request scattered too much to tell whether it was still falling, by up to 3.70 % in the last 30 s, "
         "where 1.25 % is allowed"),
        ({"finding": "too few windows"}, "CPU per request had too few windows to tell"),
    ],
)  # fmt: skip
def test_what_fell_is_told_with_its_stretch_and_contradicts_nothing(series: dict[str, Any], told: str) -> None:
    stretch = {"tail_s": 30.0, "fall_max": 0.0125} if "drift_per_s" in series else {}
    empty = dict.fromkeys(("from_window", "level", "change", "trend_p"))
    one = SeriesSteadiness(**{"figure": "cpu_us_per_request", "warm": False, **empty, **stretch, **series})
    warmup = Warmup(windows=(), series=(one,), steady=False, jit_cpus=(), duration_s=90.0)
    assert why_not_steady(warmup, compiling=False) == f"not steady after 90 s of warm-up: {told}"


def test_time_to_steady_counts_from_the_start_of_the_process() -> None:
    windows = series([900, 400, *LEVEL])
    assert time_to_steady(windows, GATE) == 7.0
    assert time_to_steady(windows[:4], GATE) is None


def test_stages_end_after_their_time() -> None:
    assert not is_moderate_over([], RULES, open_loop=False)
    assert not is_moderate_over(series([100] * 2), RULES, open_loop=False)
    assert is_moderate_over(series([100] * 3), RULES, open_loop=False)
    assert not is_over(series([100] * 19), GATE)
    assert is_over(series([100] * 20), GATE)
    moderate = [one.model_copy(update={"stage": "moderate", "t_s": one.t_s - 10}) for one in series([100] * 10)]
    assert not is_over([*moderate, *series([100] * 19)], GATE), "half of the cap goes by before an open loop"
    assert is_over([*moderate, *series([100] * 20)], GATE)


def test_slow_answers_get_windows_enough_to_tell() -> None:
    """Answers that take 1 s make windows of 5 s: a cap of 90 s would leave a dozen of them under the load, while a pool
    still grows to a thousand threads."""
    rules = RULES.model_copy(update={"max_s": 90.0, "tail_s_max": 30.0, "window_s": 0.5})
    slow = WarmupGate(rules, ahead_s=60, precision=0.05, service_s=1.0)
    enough = 4 * slow.steady_rules("p99_us").tail_windows
    windows = [
        window.model_copy(update={"duration_s": 5.0, "t_s": 60 + 5.0 * i})
        for i, window in enumerate(series([100] * enough))
    ]
    first = windows[0].model_copy(update={"stage": "moderate", "t_s": 2.0})
    assert not is_over([first, *windows[:-1]], slow)
    assert is_over([first, *windows], slow)


def test_windows_that_need_a_lead_share_one_and_are_enough_to_open_the_gate() -> None:
    rules = MATRIX.warmup
    slow = WarmupGate(rules, ahead_s=60, precision=0.05, service_s=3.0, lead_s=30.0)
    assert (slow.window_s, slow.windows_at_a_time, slow.stretch_s) == (15.0, 16, 30 + 16 * 15 + 3)
    assert slow.cap_s == 3 * slow.stretch_s, "three stretches have the 48 windows that are tried"
    costs = [400.0, 200.0, 104.0, *[100.0, 101.0] * 7]
    level = [window.model_copy(update={"duration_s": 15.0}) for window in series(costs[: slow.windows_at_a_time])]
    assert is_steady(level, slow) and not is_steady(level[:12], slow)
    for ahead_s, service_s, lead_s in ((20, 0.2, 2), (60, 0.2, 2), (20, 0.05, 1)):
        gate = WarmupGate(rules, ahead_s, 0.05, service_s, lead_s)
        assert gate.windows_at_a_time > max(gate.steady_rules(one).tail_windows for one in get_args(Figure))
    for soon in (WarmupGate(rules, 60, 0.05), WarmupGate(rules, 60, 0.05, service_s=3.0)):
        assert soon.windows_at_a_time == 1, "under a rate each window is by itself"


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
