"""When is a server warm? Pure.

The gate looks at what the measurement will be: CPU time per request under the measured load. It is open when that has
stopped falling and the JIT compiler has calmed down. Seconds alone say nothing: on one CPU, a server that is loaded
flat out from the start starves its compiler and stays slow for minutes.

The best windows are compared, not all of them. What else happens on a host can only make a request dearer, so the
minimum tells how good the code is, and the spread how quiet the host: a gate that asked for a small spread would wait
for a lucky moment on a busy host. Code that got worse is not missed, since the JIT is seen at work replacing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from jdkmatrix.config.model import WarmupRules
from jdkmatrix.records import WarmupWindow


def next_rate_rps(windows: Sequence[WarmupWindow], rules: WarmupRules, *, cpus: int, burn_us: int) -> float:
    """The rate that keeps `utilisation` of the CPUs busy, at what a request cost in the last window.

    A cold server answers slowly; the rate follows it up as it warms, at most twofold from one window to the next,
    since one cheap window may be luck.
    """
    cost_us = windows[-1].cpu_us_per_request if windows else rules.first_request_us + burn_us
    rate_rps = rules.utilisation * cpus * 1e6 / max(cost_us, 1.0)
    return min(rate_rps, 2 * windows[-1].rate_rps) if windows else rate_rps


def is_moderate_over(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Has the first stage lasted long enough?"""
    return duration_s(windows, rules) >= rules.moderate_s


def is_steady(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Have the last `flat_windows` windows under the measured load brought nothing better, and little compilation?"""
    loaded = [window for window in windows if window.stage == "load"]
    before, last = loaded[: -rules.flat_windows], loaded[-rules.flat_windows :]
    if not before:
        return False
    improvement = 1 - _best(last) / _best(before)
    calm = fmean(window.jit_share for window in last) <= rules.jit_share_max
    return improvement <= rules.improvement_max and calm


def _best(windows: Sequence[WarmupWindow]) -> float:
    return min(window.cpu_us_per_request for window in windows)


def is_over(windows: Sequence[WarmupWindow], rules: WarmupRules) -> bool:
    """Has the whole warm-up reached its cap?"""
    return duration_s(windows, rules) >= rules.max_s


def duration_s(windows: Sequence[WarmupWindow], rules: WarmupRules) -> float:
    """From the start of the first window to the end of the last."""
    return windows[-1].t_s - windows[0].t_s + rules.window_s if windows else 0.0
