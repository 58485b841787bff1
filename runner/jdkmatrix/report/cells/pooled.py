"""The latencies of all forks of a cell as one distribution, and what is known of its percentiles. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.figures.fork_figures import Kind, bound_of, lower_bounds, percentile_bound, was_overstated
from jdkmatrix.loads.base import Bound, held
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency, SpectrumPoint
from jdkmatrix.stats.intervals import CONFIDENCE
from jdkmatrix.stats.percentiles import Percentile, are_bounds, merge_latencies, percentiles_over_forks, tail_checked

MAX_CURVE_POINTS = 80


@dataclass(frozen=True)
class Pooled:
    """All requests of a cell. `percentiles`: those with enough slower requests; without an interval where a fork's own
    is a bound (`bounded`: in how many it is, by name). `histogram`: of all requests, as the driver encodes it; None
    where it writes none, so that nothing here is exact. `fell_short`: the number of its `forks` in which the server did
    not do all that it was asked for, so that percentiles are at least these; `lower_bounds`: how many requests are in
    it with the time that they had waited for an answer, None where the driver leaves such requests out; `overstated`:
    in how many forks the driver was so late that a percentile, by name, is at most that."""

    kind: Kind
    count: int
    percentiles: Mapping[str, Percentile]
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None
    forks: int
    fell_short: int
    lower_bounds: int | None
    overstated: Mapping[str, int]
    bounded: Mapping[str, int]

    def bound(self, percent: str) -> Bound | None:
        """Return as `bound_of`."""
        too_low = self.fell_short > 0 or are_bounds(self.lower_bounds or 0, self.count, percent)
        return bound_of(too_low=too_low, too_high=self.overstated.get(percent, 0) > 0)


def pool(kind: Kind, found: Sequence[tuple[Fork, Latency]], confidence: float = CONFIDENCE) -> Pooled:
    """Pool forks. `found`: at least one, with its `fork_latency`; `confidence`: the nominal one of the intervals."""
    forks = [latency for _, latency in found]
    merged = merge_latencies(forks)
    bounds = [told for fork, _ in found if (told := lower_bounds(fork)) is not None]
    percentiles = percentiles_over_forks(forks, merged, confidence)
    bounded = {name: sum(_is_bound(fork, latency, name) for fork, latency in found) for name in percentiles}
    return Pooled(
        kind=kind,
        count=merged.count,
        percentiles={name: replace(one, forks=None) if bounded[name] else one for name, one in percentiles.items()},
        spectrum=_thin(merged.spectrum),
        histogram=merged.histogram,
        forks=len(forks),
        fell_short=sum(not held(fork) for fork, _ in found),
        lower_bounds=sum(map(sum, bounds)) if bounds else None,
        overstated={
            name: sum(was_overstated(fork, name, one.merged_us) for fork, _ in found)
            for name, one in percentiles.items()
        },
        bounded=bounded,
    )


def _is_bound(fork: Fork, latency: Latency, percent: str) -> bool:
    own_us = tail_checked(latency, percent)
    return own_us is not None and percentile_bound(fork, latency, percent, own_us) is not Bound.NONE


def _thin(points: Sequence[SpectrumPoint]) -> tuple[SpectrumPoint, ...]:
    """Return at most MAX_CURVE_POINTS, including the first and the last."""
    if len(points) <= MAX_CURVE_POINTS:
        return tuple(points)
    step = (len(points) - 1) / (MAX_CURVE_POINTS - 1)
    return tuple(points[round(i * step)] for i in range(MAX_CURVE_POINTS))
