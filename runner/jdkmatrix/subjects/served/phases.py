"""What is measured on a warm server: the windows that its load asks for, and what is found with them."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from jdkmatrix.fork.gates import beside_peers, is_missed
from jdkmatrix.records.windows import Capacity, Window
from jdkmatrix.subjects.served.search import search_capacity
from jdkmatrix.subjects.served.windows import Windows
from jdkmatrix.terms.loads import CapacityLoad, CellLoad, RampedLoad, RateLoad, SaturateLoad, StepsLoad


def measure_phases(
    load: CellLoad, windows: Windows, *, count: int, window_s: float, done: list[Window]
) -> Capacity | None:
    """Append every window to `done` as soon as it is measured, so that nothing is lost if the next one fails.

    `count` windows of `window_s` where the load has no length of its own. Returns what a search for the capacity found.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer.
    """
    if isinstance(load, StepsLoad):
        _measure_steps(load, windows, done)
        return None
    if isinstance(load, RampedLoad):
        ramp = load.ramp
        done.append(windows.measure(ramp, ramp.duration_s, index=1, label="ramp", title="ramp"))
        return None
    for index in range(1, count + 1):
        title = f"window {index}/{count}"
        done.append(windows.measure(load.in_windows, window_s, index=index, label=f"window-{index}", title=title))
    if isinstance(load.in_windows, SaturateLoad):
        done[:] = beside_peers(done, windows.thresholds)
    rates_rps = [window.load.succeeded_rps for window in done if window.valid]
    if isinstance(load, CapacityLoad) and any(rates_rps):
        return search_capacity(load, windows, ceiling_rps=fmean(rates_rps))
    return None


def _measure_steps(load: StepsLoad, windows: Windows, done: list[Window]) -> None:
    for index, rate_rps in enumerate(load.every_rate_rps, start=1):
        window = windows.measure(
            RateLoad(rate_rps=rate_rps, connections=load.connections),
            load.step_s,
            index=index,
            label=f"step-{index}",
            title=f"step {index}, {rate_rps:,.0f} req/s",
        )
        done.append(window)
        if _missed_in_a_row(done, windows) >= load.missed_max:
            return


def _missed_in_a_row(done: Iterable[Window], windows: Windows) -> int:
    run = 0
    for window in done:
        run = run + 1 if is_missed(window.load, windows.thresholds, service_s=windows.means.service_s) else 0
    return run
