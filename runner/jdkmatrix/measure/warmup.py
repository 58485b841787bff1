"""When is a server warm? Pure.

The gate looks at what the measurement will be: CPU time per request and latency under the measured load. It is open
when neither gets better any more (stats/steady.py) and the JIT compiler has calmed down. Seconds alone say nothing: on
one CPU, a server that is loaded flat out from the start starves its compiler and stays slow for minutes.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from jdkmatrix.config.model import WarmupRules
from jdkmatrix.records import SeriesSteadiness, Warmup, WarmupWindow
from jdkmatrix.stats.steady import SteadyRules, steadiness, time_to_steady_s

Figure = Literal["cpu_us_per_request", "p99_us"]
_NAMES: dict[Figure, str] = {"cpu_us_per_request": "CPU per request", "p99_us": "p99"}


def load_statistics() -> None:
    """Import what the gate computes with: a second of CPU, to be spent before there is a server to disturb."""
    for module in ("scipy.stats", "scipy.optimize"):
        importlib.import_module(module)


def next_rate_rps(windows: Sequence[WarmupWindow], rules: WarmupRules, *, cpus: int, burn_us: int) -> float:
    """The rate that keeps `utilisation` of the CPUs busy, at what a request cost in the last window, the compiler left
    out: counted with the requests it would keep the rate low, and would in turn get little to compile.

    A cold server answers slowly; the rate follows it up as it warms, at most twofold from one window to the next,
    since one cheap window may be luck.
    """
    cost_us = _without_jit_us(windows[-1], rules) if windows else rules.first_request_us + burn_us
    rate_rps = rules.utilisation * cpus * 1e6 / max(cost_us, 1.0)
    return min(rate_rps, 2 * windows[-1].rate_rps) if windows else rate_rps


def _without_jit_us(window: WarmupWindow, rules: WarmupRules) -> float:
    if window.completed == 0:
        return window.cpu_us_per_request
    jit_us = window.jit_share * _length_s(window, rules) * 1e6 / window.completed
    return max(window.cpu_us_per_request - jit_us, 0.1 * window.cpu_us_per_request)


def is_moderate_over(windows: Sequence[WarmupWindow], rules: WarmupRules, *, open_loop: bool) -> bool:
    """Has the first stage lasted long enough?

    A closed loop waits for a server that is still slow. An open loop does not: a rate that a cold server cannot do
    floods it, and its compiler starves. So the first stage then goes on until the compiler is calm, or half of the
    whole time is over.
    """
    lasted_s = duration_s(windows, rules)
    if lasted_s < rules.moderate_s:
        return False
    if not open_loop or lasted_s >= rules.max_s / 2 or any(window.stage == "load" for window in windows):
        return True
    last = windows[-rules.tail_windows :]
    return len(last) == rules.tail_windows and fmean(window.jit_share for window in last) <= rules.jit_share_max


def series_steadiness(windows: Sequence[WarmupWindow], rules: WarmupRules) -> tuple[SeriesSteadiness, ...]:
    """What the windows under the measured load say: CPU time per request, then latency. A window without any answer
    counts with its own length as latency, which is the least that its requests took."""
    loaded = _loaded(windows)
    figures: dict[Figure, list[float]] = {
        "cpu_us_per_request": [window.cpu_us_per_request for window in loaded],
        "p99_us": [_length_s(window, rules) * 1e6 if window.p99_us is None else window.p99_us for window in loaded],
    }
    found = {name: steadiness(values, _steady_rules(rules)) for name, values in figures.items()}
    return tuple(
        SeriesSteadiness(
            figure=name,
            finding=one.finding.value,
            warm=one.warm,
            from_window=one.from_window,
            level=one.level,
            change=one.change,
            trend_p=one.trend_p,
        )
        for name, one in found.items()
    )


def is_steady(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Does waiting bring nothing more, under the measured load and with little compilation in the last windows?"""
    return _is_calm(windows, rules) and all(series.warm for series in series_steadiness(windows, rules))


def why_not_steady(warmup: Warmup, rules: WarmupRules) -> str:
    """What kept the gate shut until the cap."""
    found = [f"{_NAMES[series.figure]}: {series.finding}" for series in warmup.series if not series.warm]
    if not _is_calm(warmup.windows, rules):
        found.append("the JIT compiler was at work")
    return f"not steady after {warmup.duration_s:.0f} s of warm-up: {'; '.join(found)}"


def time_to_steady(windows: Sequence[WarmupWindow], rules: WarmupRules) -> float | None:
    """Seconds from the start of the process until 95 % of the steady performance, by CPU time per request under the
    measured load; None where the steady state was not seen."""
    loaded = _loaded(windows)
    return time_to_steady_s(
        [window.t_s for window in loaded],
        [window.cpu_us_per_request for window in loaded],
        rules=_steady_rules(rules),
    )


def _is_calm(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    last = _loaded(windows)[-rules.tail_windows :]
    return bool(last) and fmean(window.jit_share for window in last) <= rules.jit_share_max


def _loaded(windows: Sequence[WarmupWindow]) -> list[WarmupWindow]:
    return [window for window in windows if window.stage == "load"]


def _steady_rules(rules: WarmupRules) -> SteadyRules:
    return SteadyRules(rules.tail_windows, rules.trend_alpha, rules.change_max)


def is_over(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Has the whole warm-up reached its cap?"""
    return duration_s(windows, rules) >= rules.max_s


def duration_s(windows: Sequence[WarmupWindow], rules: WarmupRules) -> float:
    """From the start of the first window to the end of the last."""
    return windows[-1].t_s - windows[0].t_s + _length_s(windows[0], rules) if windows else 0.0


def _length_s(window: WarmupWindow, rules: WarmupRules) -> float:
    return rules.window_s if window.duration_s is None else window.duration_s
