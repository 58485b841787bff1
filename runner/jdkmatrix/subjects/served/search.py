"""Look for the highest rate that a warm server holds; which rate is next, stats/capacity.py decides."""

from __future__ import annotations

from jdkmatrix.records.windows import Capacity, CapacityStep
from jdkmatrix.stats.capacity import CapacityRules, Probe, next_rate, tried
from jdkmatrix.subjects.served.windows import Windows
from jdkmatrix.terms.loads import CapacityLoad, RateLoad


def search_capacity(load: CapacityLoad, windows: Windows, *, ceiling_rps: float) -> Capacity:
    """`ceiling_rps`: what the closed loop of the same fork reached. All rates are the nearest that the driver can make.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer, or is so slow that the driver's lowest rate is
            no lower than the ceiling.
    """

    def nearest_rps(rate_rps: float) -> float:
        return windows.nearest(RateLoad(rate_rps=rate_rps, connections=load.connections)).rate_rps

    rules = CapacityRules(
        floor_rps=nearest_rps(load.floor_share * ceiling_rps),
        ceiling_rps=nearest_rps(ceiling_rps),
        slo_us=load.p99_max_us,
        resolution=load.resolution,
        nearest_rps=nearest_rps,
    )
    steps: list[CapacityStep] = []
    while True:
        probe = next_rate([tried(step.window, step.rate_rps) for step in steps], rules)
        if not isinstance(probe, Probe):
            break
        index = len(steps) + 1
        window = windows.measure(
            RateLoad(rate_rps=probe.rate_rps, connections=load.connections),
            load.step_s,
            index=index,
            label=f"search-{index}",
            title=f"search, {probe.rate_rps:,.0f} req/s, {probe.purpose.value}",
        )
        seen = tried(window, probe.rate_rps)
        held = seen.held(rules.slo_us) if seen.valid else None
        steps.append(CapacityStep(rate_rps=probe.rate_rps, purpose=probe.purpose.value, held=held, window=window))
    return Capacity(
        outcome=probe.outcome.value,
        p99_max_us=rules.slo_us,
        floor_rps=rules.floor_rps,
        ceiling_rps=rules.ceiling_rps,
        held_rps=probe.held_rps,
        failed_rps=probe.failed_rps,
        not_monotonic_rps=probe.not_monotonic_rps,
        steps=tuple(steps),
    )
