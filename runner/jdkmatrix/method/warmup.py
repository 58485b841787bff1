"""Decide when a server is warm. Pure.

The gate looks at what will be measured: CPU time per request and latency under the measured load. It opens when neither
improves any more (stats/steady.py) and the JIT compiler has calmed down. Elapsed time alone says nothing: on one CPU, a
server that is loaded flat out from the start starves its compiler and stays slow for minutes.

How much CPU time per request may still fall depends on what comes next: the profile promises ratios to some precision,
and drift during the measurement may use up a part of that (`drift_of_precision_max`). Nothing is promised for p99,
which scatters too much to be held to such a bound: it must only not show a falling trend.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from jdkmatrix.domain.tables import Seconds, Table
from jdkmatrix.method.gate import Positive
from jdkmatrix.records.windows import SeriesSteadiness, WarmupWindow
from jdkmatrix.stats.steady import DriftRules, SteadyRules, steadiness, time_to_steady_s

Figure = Literal["cpu_us_per_request", "p99_us"]
# Responses to requests that were sent together come back together: windows of two such waves showed 240 to 490
# requests/s for the same server.
_ANSWERS_IN_WINDOW = 5
# Where responses are slow, a pool needs many threads, and grows slowly: Open Liberty's took 150 s to reach a thousand.
_RESTS_TRIED = 4


class WarmupRules(Table):
    """Under full load from the start, request threads starve the JIT compiler of the CPU that it needs, and the
    measurement would compare half-compiled servers. So the warm-up begins at a moderate rate, which uses `utilisation`
    of the SUT's CPUs at what a request cost in the previous window (`first_request_us` plus its burn in the first); the
    load that will be measured follows."""

    window_s: Seconds = 0.5
    utilisation: Annotated[float, Field(gt=0, le=0.9)] = 0.5
    first_request_us: Positive = 1500.0
    moderate_s: Seconds = 2.0  # at least; before an open loop, until the JIT is calm or half of max_s has passed
    # An application that blocks on purpose does so for at most this long until it is warm.
    block_ms_max: Annotated[int, Field(ge=0, le=600_000)] = 2
    jit_on_driver_cpus: bool = True  # until it is warm, the JIT compiler's threads may use the driver's CPUs too
    # The gate looks at the rest after the best cut: at least tail_windows, and as long as the measurement that follows,
    # but no shorter than tail_s_min and no longer than tail_s_max.
    tail_windows: Annotated[int, Field(ge=4, le=1000)] = 12
    tail_s_min: Seconds = 15.0
    tail_s_max: Seconds = 30.0
    # CPU time per request may fall by this share of the promised precision over the last tail_s_max of that rest.
    drift_of_precision_max: Positive = 0.25
    # p99 must not fall by a trend that is significant at this level …
    trend_alpha: Annotated[float, Field(gt=0, lt=1)] = 0.1
    change_max: Positive = 0.05  # … and larger than this share
    jit_share_max: Positive = 0.05  # of a CPU, or of a smaller quota, on average over the last tail_windows
    # Under the measured load; a cell that needs longer is "not steady". Before an open loop, up to half as long may
    # have passed at the moderate rate.
    max_s: Seconds = 90.0
    # After the gate the JIT has only the SUT's CPUs, as in the measurement. Windows under the measured load are thrown
    # away until the JIT is below jit_share_max there, too.
    settle_s: Seconds = 3.0
    settle_windows_max: Annotated[int, Field(ge=1, le=100)] = 3

    def within(self, cpus: float) -> WarmupRules:
        """Return the rules for a server with so many CPUs: with less than one, the JIT may use proportionally less."""
        return self.model_copy(update={"jit_share_max": self.jit_share_max * min(1.0, cpus)})


@dataclass(frozen=True)
class WarmupGate:
    """The rules by which a server counts as warm. `ahead_s`: the length of the measurement after the warm-up;
    `precision`: the share that the profile promises; `service_s`: the least time that a request takes; `lead_s`: how
    long the measured load is on before a window of it, as in loads/base.py; `unbroken`: the measured load must not
    pause between windows."""

    rules: WarmupRules
    ahead_s: float
    precision: float
    service_s: float = 0.0
    lead_s: float = 0.0
    unbroken: bool = False

    @property
    def window_s(self) -> float:
        """The length of windows under the measured load: windows of less than a few responses say nothing."""
        return max(self.rules.window_s, _ANSWERS_IN_WINDOW * self.service_s)

    @property
    def windows_tried(self) -> int:
        """The least number of windows to try. Where slow responses make windows long, the time cap alone leaves too few
        to judge by: then it is several times the longest steady rest."""
        return _RESTS_TRIED * self.rest_windows(self.rules.tail_s_max) if self.window_s > self.rules.window_s else 0

    @property
    def windows_at_a_time(self) -> int:
        """The number of windows in one stretch of the measured load; 1 for a closed loop whose responses come soon.
        Where a window needs a lead, windows share one: a load that restarts for each of them would differ from the
        measured load, with all of its requests sent together, and given up together as it ends. A stretch then has a
        third more windows than the gate looks at, so that the gate may open after the first stretch. And a rate that
        pauses after each window is a lower rate: a pool would get fewer threads than it needs, and a backlog would
        never be seen. A stretch of it has as many windows as the gate looks at in the shortest measurement."""
        if self.lead_s:
            return math.ceil(self.steady_rules("p99_us").tail_windows * 4 / 3)
        return self.rest_windows(self.rules.tail_s_min) if self.unbroken else 1

    @property
    def cap_s(self) -> float:
        """The approximate time after which the warm-up ends."""
        return max(self.rules.max_s, math.ceil(self.windows_tried / self.windows_at_a_time) * self.stretch_s)

    @property
    def stretch_s(self) -> float:
        """The time from the start of one stretch of the measured load to the start of the next: its lead, its windows,
        and the wait for the last responses."""
        return self.lead_s + self.windows_at_a_time * self.window_s + self.service_s

    @property
    def settle_s(self) -> float:
        """The length of a window in which the server settles, after the same lead."""
        return max(self.rules.settle_s, self.window_s)

    @property
    def fall_max(self) -> float:
        """The share by which CPU time per request may fall over its steady rest."""
        return self.rules.drift_of_precision_max * self.precision

    def rest_windows(self, length_s: float) -> int:
        """Return the number of windows in a steady rest of that length."""
        return max(self.rules.tail_windows, math.ceil(length_s / self.window_s))

    def steady_rules(self, figure: Figure) -> SteadyRules:
        """Return rules for a steady rest at least as long as the measurement, within `tail_s_min` and `tail_s_max`."""
        rules = self.rules
        shortest, longest, asked = (
            self.rest_windows(length_s) for length_s in (rules.tail_s_min, rules.tail_s_max, self.ahead_s)
        )
        drift = DriftRules(self.fall_max, longest) if figure == "cpu_us_per_request" else None
        return SteadyRules(min(longest, max(shortest, asked)), rules.trend_alpha, rules.change_max, drift)


def load_statistics() -> None:
    """Import the libraries that the gate computes with: a second of CPU, spent before there is a server to disturb."""
    for module in ("scipy.stats", "scipy.optimize"):
        importlib.import_module(module)


def next_rate_rps(windows: Sequence[WarmupWindow], rules: WarmupRules, *, cpus: float, burn_us: int) -> float:
    """Return the rate that keeps `utilisation` of the CPUs busy at what a request cost in the last window without the
    compiler: counted with the requests, it would keep the rate low and in turn get little to compile.

    A cold server is slow; the rate follows as it warms up, at most doubling from one window to the next, since one
    cheap window may be luck.
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
    """Return whether the first stage has lasted long enough.

    A closed loop waits for a server that is still slow. An open loop does not: a rate that a cold server cannot handle
    floods it, and its compiler starves. So before an open loop the first stage goes on until the compiler is calm, or
    half of the total time has passed.
    """
    lasted_s = duration_s(windows, rules)
    if lasted_s < rules.moderate_s:
        return False
    if not open_loop or lasted_s >= rules.max_s / 2 or any(window.stage == "load" for window in windows):
        return True
    last = windows[-rules.tail_windows :]
    return len(last) == rules.tail_windows and fmean(window.jit_share for window in last) <= rules.jit_share_max


def series_steadiness(windows: Sequence[WarmupWindow], gate: WarmupGate) -> tuple[SeriesSteadiness, ...]:
    """Test the windows under the measured load for a steady state: CPU time per request, then latency. A window without
    any response counts its own length as latency, which is the least that its requests took."""
    loaded = _loaded(windows)
    figures: dict[Figure, list[float]] = {
        "cpu_us_per_request": [window.cpu_us_per_request for window in loaded],
        "p99_us": [
            _length_s(window, gate.rules) * 1e6 if window.p99_us is None else window.p99_us for window in loaded
        ],
    }
    return tuple(_series(name, values, gate) for name, values in figures.items())


def _series(figure: Figure, values: Sequence[float], gate: WarmupGate) -> SeriesSteadiness:
    found = steadiness(values, gate.steady_rules(figure))
    same = {name: getattr(found, name) for name in ("warm", "from_window", "level", "change", "trend_p")}
    drift: dict[str, float] = {}
    if found.drift:
        tail_s = found.drift.windows * gate.window_s
        ahead_s = min(gate.ahead_s, tail_s)
        per_s_log = math.log1p(found.drift.per_window) / gate.window_s
        drift = {
            "drift_per_s": math.expm1(per_s_log),
            "tail_s": tail_s,
            "drift_tail_least": found.drift.least,
            "fall_max": gate.fall_max,
            "ahead_s": ahead_s,
            "drift_ahead": math.expm1(per_s_log * ahead_s),
        }
    return SeriesSteadiness(figure=figure, finding=found.finding.value, **same, **drift)


def is_steady(windows: Sequence[WarmupWindow], gate: WarmupGate) -> bool:
    """Return whether waiting brings no further gain, under the measured load and with little recent compilation."""
    return is_calm(windows, gate.rules) and all(series.warm for series in series_steadiness(windows, gate))


def is_settled(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Return whether the compiler was calm in the last of the windows after the gate."""
    return bool(windows) and windows[-1].jit_share <= rules.jit_share_max


def is_calm(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Return whether there was little compilation in the last windows under the measured load."""
    last = _loaded(windows)[-rules.tail_windows :]
    return bool(last) and fmean(window.jit_share for window in last) <= rules.jit_share_max


def time_to_steady(windows: Sequence[WarmupWindow], gate: WarmupGate) -> float | None:
    """Return the seconds from the start of the process to 95 % of the steady performance, by CPU time per request under
    the measured load; None if the steady state was not seen."""
    loaded = _loaded(windows)
    return time_to_steady_s(
        [window.t_s for window in loaded],
        [window.cpu_us_per_request for window in loaded],
        rules=gate.steady_rules("cpu_us_per_request"),
    )


def _loaded(windows: Sequence[WarmupWindow]) -> list[WarmupWindow]:
    return [window for window in windows if window.stage == "load"]


def is_over(windows: Sequence[WarmupWindow], gate: WarmupGate) -> bool:
    """Return whether the warm-up has reached its cap."""
    loaded = _loaded(windows)
    return duration_s(loaded, gate.rules) >= gate.rules.max_s and len(loaded) >= gate.windows_tried


def duration_s(windows: Sequence[WarmupWindow], rules: WarmupRules) -> float:
    """Return the seconds from the start of the first window to the end of the last."""
    return windows[-1].t_s - windows[0].t_s + _length_s(windows[0], rules) if windows else 0.0


def _length_s(window: WarmupWindow, rules: WarmupRules) -> float:
    return rules.window_s if window.duration_s is None else window.duration_s
