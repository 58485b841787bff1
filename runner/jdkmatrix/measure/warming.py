"""Warm a server: first at a moderate rate, then under the load that will be measured, until its gate opens."""

from __future__ import annotations

from typing import Literal

from jdkmatrix.config.model import WarmupRules
from jdkmatrix.measure.observe import Bench
from jdkmatrix.measure.warmup import (
    duration_s,
    is_moderate_over,
    is_over,
    is_steady,
    next_rate_rps,
    series_steadiness,
    time_to_steady,
)
from jdkmatrix.measure.windows import Listener
from jdkmatrix.records import CellKey, CellLoad, Load, RateLoad, Warmup, WarmupWindow


def warm(
    bench: Bench, key: CellKey, target: CellLoad, rules: WarmupRules, *, jit_cpus: tuple[int, ...], listener: Listener
) -> Warmup:
    """`jit_cpus`: where the compiler runs meanwhile, for the record.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer.
    """
    windows: list[WarmupWindow] = []
    while not is_steady(windows, rules) and not is_over(windows, rules):
        load: Load = target.in_windows
        moderate_over = is_moderate_over(windows, rules, open_loop=isinstance(load, RateLoad))
        stage: Literal["moderate", "load"] = "load" if moderate_over else "moderate"
        if stage == "moderate":
            rate_rps = next_rate_rps(windows, rules, cpus=key.cpus, burn_us=key.burn_us)
            load = bench.session.nearest(RateLoad(rate_rps=rate_rps, connections=target.connections))
        seen = bench.observe(load, rules.window_s, label=f"warmup-{len(windows) + 1}")
        latency = seen.load.corrected or seen.load.uncorrected
        windows.append(
            WarmupWindow(
                stage=stage,
                t_s=seen.t_s + seen.load.duration_s,
                rate_rps=load.rate_rps if isinstance(load, RateLoad) else seen.load.throughput_rps,
                completed=seen.load.completed,
                # Windows without an answer are expensive ones: a server that cold cannot do with a higher rate.
                cpu_us_per_request=seen.sut.cpu_us_per_request or seen.sut.cpu_s * 1e6,
                jit_share=seen.sut.jit_share,
                p99_us=latency.percentiles_us["99"] if latency else None,
                duration_s=seen.load.duration_s,
            )
        )
        last = windows[-1]
        listener.step(f"warming up: {last.cpu_us_per_request:.0f} µs CPU/request, JIT {last.jit_share:.0%} of a CPU")
    return Warmup(
        windows=tuple(windows),
        steady=is_steady(windows, rules),
        series=series_steadiness(windows, rules),
        time_to_steady_s=time_to_steady(windows, rules),
        jit_cpus=jit_cpus,
        duration_s=duration_s(windows, rules),
    )
