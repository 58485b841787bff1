"""When a series is steady, by recorded warm-ups and by series made of one of them and of noise."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.stats.steady import DriftRules, SeriesState, SteadyRules, steadiness, time_to_steady_s
from tests.support.project import RECORDED

# Series as this program recorded them on a busy virtual machine: one second per window, under the load to be measured.
WARM_UPS: dict[str, dict[str, list[float]]] = json.loads((RECORDED / "warmups" / "recorded.json").read_text("utf-8"))
LONG = "temurin-25 liberty fork 1, run 20261121T144539Z-quick"
NOISY = "temurin-21.0.8 virtual fork 1, run 20261121T144539Z-quick"
FALLING = "temurin-25 liberty fork 2, run 20261121T144539Z-quick"
CUT_SHORT = "temurin-21.0.8 liberty fork 1, run 20261121T145957Z-quick"
TAIL = SteadyRules().tail_windows
# The fall of a recorded warm-up, as factors of its end.
WARM_UP = [value / 28 for value in WARM_UPS[LONG]["cpu_us_per_request"][:14]]
SERIES = 200


def cost(name: str) -> list[float]:
    return WARM_UPS[name]["cpu_us_per_request"]


def made(seed: int, shape: str, *, busy: bool, windows: int = 45) -> list[float]:
    """Return a recorded warm-up, then `windows` of a shape, in µs per request.

    Noise is 3 %; on a busy host, neighbours add to it in three windows of five: 35 % of an exponential.
    """
    random = np.random.default_rng(seed)
    k = np.arange(windows)
    level = {
        "flat": np.ones(windows),
        "falls": 0.99**k,
        "rises": 1.01**k,
        "step at the end": np.where(k < windows - 8, 1.3, 1.0),
        "step before": np.where(k < 15, 1.3, 1.0),
    }[shape]
    whole = 30 * np.concatenate([WARM_UP, level])
    noise = random.normal(0, 0.03, len(whole))
    if busy:
        noise = noise + 0.35 * random.exponential(size=len(whole)) * (random.random(len(whole)) < 0.6)
    return [float(value) for value in whole * np.exp(noise)]


def share_found(shape: str, *findings: SeriesState, busy: bool = False) -> float:
    return float(np.mean([steadiness(made(i, shape, busy=busy)).finding in findings for i in range(SERIES)]))


def test_flat_is_flat() -> None:
    assert share_found("flat", SeriesState.FLAT) > 0.95
    assert share_found("flat", SeriesState.FLAT, SeriesState.RISING, busy=True) > 0.8


def test_a_slow_drift_is_not() -> None:
    """The drift is one per cent per window."""
    assert share_found("falls", SeriesState.FALLING, SeriesState.SETTLING) > 0.95
    assert share_found("rises", SeriesState.RISING, SeriesState.SETTLING) > 0.95
    assert share_found("falls", SeriesState.FALLING, SeriesState.SETTLING, busy=True) > 0.7


def test_a_step_by_late_compilation_is_waited_for() -> None:
    assert share_found("step at the end", SeriesState.SETTLING, SeriesState.FALLING) > 0.9
    found = [steadiness(made(i, "step before", busy=False)) for i in range(SERIES)]
    cuts = [one.from_window for one in found if one.finding is SeriesState.FLAT and one.from_window is not None]
    assert len(cuts) > 0.95 * SERIES
    assert np.median(cuts) == len(WARM_UP) + 15, "the step is cut off"


def test_a_drift_is_not_taken_for_steady_on_the_way_either() -> None:
    """A gate looks after every window, and the first wrong answer opens it."""
    drifting = [made(i, "falls", busy=False) for i in range(60)]
    opened = [any(steadiness(one[:n]).warm for n in range(TAIL + 1, len(one) + 1)) for one in drifting]
    assert np.mean(opened) < 0.25


def test_a_flat_series_opens_the_gate_soon() -> None:
    waited = []
    for i in range(60):
        one = made(i, "flat", busy=i % 2 == 1)
        first = next(n for n in range(TAIL + 1, len(one) + 1) if steadiness(one[:n]).warm)
        waited.append(first - len(WARM_UP))
    assert np.median(waited) <= TAIL + 3
    assert max(waited) <= 2.5 * TAIL


# Windows of half a second; six seconds are measured, and ratios promised to 5 %, of which a fall may be a quarter.
HALF_SECOND = 0.5
FALL_MAX = 0.0125
GATE = SteadyRules(tail_windows=30, drift=DriftRules(fall_max=FALL_MAX, patience_windows=60))
MEASURED_S = 6.0


def decaying(seed: int, excess: float, time_constant_s: float, noise: float, windows: int) -> list[float]:
    """Return a cost that falls from 1 + `excess` to 1."""
    t_s = (np.arange(windows) + 0.5) * HALF_SECOND
    level = 1 + excess * np.exp(-t_s / time_constant_s)
    return [float(value) for value in level * np.exp(np.random.default_rng(seed).normal(0, noise, windows))]


def bias(opened_s: float, excess: float, time_constant_s: float) -> float:
    """Return the bias of the mean over what is measured next, against the level at the end of time."""
    share = time_constant_s / MEASURED_S * (1 - math.exp(-MEASURED_S / time_constant_s))
    return excess * math.exp(-opened_s / time_constant_s) * share


def opens_s(values: list[float], rules: SteadyRules = GATE, *, every: int = 1) -> float | None:
    looks = range(rules.tail_windows + 1, len(values) + 1, every)
    return next((n * HALF_SECOND for n in looks if steadiness(values[:n], rules).warm), None)


def test_a_slow_decay_that_looked_steady_keeps_the_gate_shut() -> None:
    """With a cost of 1 + 0.3·exp(-t / 30 s) and a short tail, the gate opened after 7 s with 24 % still to come."""
    curves = [decaying(seed, 0.3, 30, 0.01, 100) for seed in range(8)]
    early = [opens_s(curve[:40], SteadyRules(tail_windows=12)) for curve in curves]
    assert all(opened is not None and bias(opened, 0.3, 30) > 0.15 for opened in early)
    assert [opens_s(curve, every=3) for curve in curves] == [None] * len(curves), "50 s are too few"


@pytest.mark.parametrize("noise", [0.01, 0.04])
def test_what_a_fast_decay_leaves_is_within_the_promise(noise: float) -> None:
    curves = [decaying(seed, 0.3, 5, noise, 140) for seed in range(8)]
    opened = [opens_s(curve, every=3) for curve in curves]
    assert all(at is not None and bias(at, 0.3, 5) < FALL_MAX for at in opened)


@pytest.mark.parametrize("noise", [0.01, 0.04])
def test_a_decay_that_is_slow_and_small_passes_with_twice_what_is_allowed(noise: float) -> None:
    """The cost is 1 + 0.05·exp(-t / 60 s), the example in the module's docstring."""
    opened = [opens_s(decaying(seed, 0.05, 60, noise, 176), every=2) for seed in range(12)]
    left = [bias(at, 0.05, 60) for at in opened if at is not None]
    assert len(left) == len(opened) and 0.02 < np.median(left) < 0.03


@pytest.mark.parametrize(("noise", "median_s"), [(0.01, 20), (0.04, 31)])
def test_a_level_cost_opens_the_gate_though_it_scatters(noise: float, median_s: float) -> None:
    opened = [opens_s(decaying(seed, 0, 1, noise, 120), every=2) for seed in range(15)]
    assert all(at is not None for at in opened)
    assert np.median([at for at in opened if at is not None]) <= median_s


def test_scatter_keeps_a_short_tail_shut_and_not_a_long_one() -> None:
    cost = decaying(4, 0, 1, 0.04, 61)
    short, long = steadiness(cost[:35], GATE), steadiness(cost, GATE)
    assert short.finding is SeriesState.UNCERTAIN
    assert time_to_steady_s(ends(cost[:35]), cost[:35], rules=GATE) is None
    assert time_to_steady_s(ends(cost), cost, rules=GATE) is not None
    assert short.drift is not None and short.drift.whole > -FALL_MAX > short.drift.least
    assert long.finding is SeriesState.FLAT
    assert long.drift is not None and long.drift.windows == 60 and long.drift.least < -FALL_MAX


@given(st.floats(-0.01, 0.01))
def test_a_drift_without_scatter_is_found(per_window: float) -> None:
    drift = steadiness([(1 + per_window) ** i for i in range(40)], GATE).drift
    assert drift is not None and drift.windows in (30, 40)
    assert drift.per_window == pytest.approx(per_window, abs=1e-9)
    assert drift.least == pytest.approx(drift.whole, abs=1e-6)
    assert drift.most == pytest.approx(drift.whole, abs=1e-6)


@pytest.mark.parametrize("name", [LONG, NOISY])
@pytest.mark.parametrize("figure", ["cpu_us_per_request", "p99_us"])
def test_recorded_series_become_warm_where_their_fall_ends(name: str, figure: str) -> None:
    values = WARM_UPS[name][figure]
    found = steadiness(values)
    assert found.warm and found.level is not None and found.from_window is not None
    assert 12 <= found.from_window <= 22, "the recorded fall takes some sixteen windows"
    assert found.level == pytest.approx(float(np.exp(np.mean(np.log(values[found.from_window :])))))
    assert not any(steadiness(values[:n]).warm for n in range(1, 18))


def test_recorded_warm_ups_that_drift_or_were_cut_short_are_not_steady() -> None:
    """One falls from 35 to 24 µs over its last twenty windows; one ends seven windows after its fall, too early."""
    assert steadiness(cost(FALLING)).finding is SeriesState.FALLING
    assert steadiness(cost(CUT_SHORT)).finding in {SeriesState.SETTLING, SeriesState.FALLING}


@given(st.lists(st.floats(1, 1e6), max_size=TAIL))
def test_too_short(values: list[float]) -> None:
    assert steadiness(values).finding is SeriesState.TOO_SHORT
    assert time_to_steady_s([float(i) for i in range(len(values))], values) is None


@given(st.integers(0, 1000), st.sampled_from(["flat", "falls", "step before"]), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(seed: int, shape: str, factor: float) -> None:
    values = made(seed, shape, busy=True)
    plain, scaled = steadiness(values), steadiness([value * factor for value in values])
    assert (plain.finding, plain.from_window) == (scaled.finding, scaled.from_window)
    assert plain.level is not None and scaled.level == pytest.approx(plain.level * factor)


def test_a_constant_series_is_flat() -> None:
    found = steadiness([5.0] * 20)
    assert (found.finding, found.from_window, found.trend_p) == (SeriesState.FLAT, 0, 1.0)
    assert found.level == pytest.approx(5.0)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_impossible_values(value: float) -> None:
    with pytest.raises(MatrixError, match="finite values above 0"):
        steadiness([1.0] * 20 + [value])


@pytest.mark.parametrize("rules", [(0.0, 60), (-1.0, 60), (0.01, 3)])
def test_impossible_rules_of_drift(rules: tuple[float, int]) -> None:
    with pytest.raises(MatrixError, match="fall_max > 0 and patience_windows >= 4"):
        DriftRules(*rules)


@pytest.mark.parametrize("rules", [(3, 0.1, 0.1), (12, 0.0, 0.1), (12, 1.0, 0.1), (12, 0.1, 0.0)])
def test_impossible_rules(rules: tuple[int, float, float]) -> None:
    with pytest.raises(MatrixError, match="tail_windows >= 4"):
        SteadyRules(*rules)


def ends(values: list[float]) -> list[float]:
    return [10.0 + i for i in range(len(values))]


def test_time_to_steady_worked_by_hand() -> None:
    """The level is 100; 95 % of its throughput is a cost of 105.26: the sixth window has 105, the fifth 106."""
    values = [900.0, 400.0, 200.0, 120.0, 106.0, 105.0, *[100.0] * 20]
    assert time_to_steady_s(ends(values), values) == 15.0
    lucky = [900.0, 100.0, 900.0, 800.0, 700.0, *[100.0] * 20]
    assert time_to_steady_s(ends(lucky), lucky) == 15.0, "one lucky window is not it"


def test_a_series_that_still_improves_has_no_such_time() -> None:
    values = made(1, "falls", busy=False)
    assert time_to_steady_s(ends(values), values) is None


def test_recorded_time_to_steady() -> None:
    times = WARM_UPS[NOISY]["t_s"]
    found = time_to_steady_s(times, cost(NOISY))
    assert found is not None
    index = times.index(found)
    assert all(value > cost(NOISY)[index] for value in cost(NOISY)[: index - 1]), "the fall is over there"
