"""The latencies of all forks of a cell as one distribution, and what is known of its percentiles. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.figures.fork_figures import Kind, bound_of, lower_bounds, was_overstated
from jdkmatrix.loads.base import Bound, held
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency, SpectrumPoint
from jdkmatrix.stats.intervals import CONFIDENCE
from jdkmatrix.stats.percentiles import Percentile, are_bounds, merge_latencies, percentiles_over_forks

MAX_CURVE_POINTS = 80


@dataclass(frozen=True)
class Pooled:
    """All requests of a cell. `percentiles`: those with enough slower requests. `histogram`: of all requests, as the
    driver encodes it; None where it writes none, so that nothing here is exact. `fell_short`: the number of its `forks`
    in which the server did not do all that it was asked for, so that percentiles are at least these; `lower_bounds`:
    how many requests are in it with the time that they had waited for an answer, None where the driver leaves such
    requests out; `overstated`: in how many forks the driver was so late that a percentile, by name, is at most that."""

    kind: Kind
    count: int
    percentiles: Mapping[str, Percentile]
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None
    forks: int
    fell_short: int
    lower_bounds: int | None
    overstated: Mapping[str, int]

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
    return Pooled(
        kind=kind,
        count=merged.count,
        percentiles=percentiles,
        spectrum=_thin(merged.spectrum),
        histogram=merged.histogram,
        forks=len(forks),
        fell_short=sum(not held(fork) for fork, _ in found),
        lower_bounds=sum(map(sum, bounds)) if bounds else None,
        overstated={
            name: sum(was_overstated(fork, name, one.merged_us) for fork, _ in found)
            for name, one in percentiles.items()
        },
    )


def _thin(points: Sequence[SpectrumPoint]) -> tuple[SpectrumPoint, ...]:
    """Return at most MAX_CURVE_POINTS, including the first and the last."""
    if len(points) <= MAX_CURVE_POINTS:
        return tuple(points)
    step = (len(points) - 1) / (MAX_CURVE_POINTS - 1)
    return tuple(points[round(i * step)] for i in range(MAX_CURVE_POINTS))
