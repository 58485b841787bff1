"""One latency distribution out of many windows. Pure.

Percentiles are never averaged. Windows with an HdrHistogram are merged exactly; of windows with only a printed
spectrum (wrk2) the cumulative counts are added at every printed value, with straight lines between those.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jdkmatrix.histograms import latency_from_histogram, merge
from jdkmatrix.records import Fork, Latency, LoadResult, SpectrumPoint, Window
from jdkmatrix.stats.percentiles import has_tail

PERCENTILES = ("50", "90", "99", "99.9", "99.99")
MAX_CURVE_POINTS = 80

Kind = Literal["corrected", "uncorrected"]
KIND_WORDS: dict[Kind, str] = {
    "corrected": "response time from the intended send time (corrected for coordinated omission)",
    "uncorrected": "service time from the real send time (closed loop: nothing to correct)",
}


@dataclass(frozen=True)
class Pooled:
    """One distribution; `percentiles_us` has None where too few requests lie beyond. `exact`: from histograms."""

    kind: Kind
    count: int
    percentiles_us: dict[str, float | None]
    max_us: float
    spectrum: tuple[SpectrumPoint, ...]
    exact: bool


def kind_of(load: LoadResult) -> Kind | None:
    """Which of its distributions stands for this window: the corrected one wherever there is a schedule."""
    if load.load.kind == "rate":
        return "corrected" if load.corrected else None
    return "uncorrected" if load.uncorrected else None


def chosen(window: Window) -> Latency | None:
    kind = kind_of(window.load)
    if kind is None:
        return None
    return window.load.corrected if kind == "corrected" else window.load.uncorrected


def pool_windows(windows: Sequence[Window]) -> Pooled | None:
    """None when no window has the distribution that its load asks for, or nothing was answered."""
    found = [(kind_of(w.load), latency) for w in windows if (latency := chosen(w)) is not None and latency.count]
    if not found:
        return None
    kind = found[0][0]
    assert kind is not None  # chosen() gave a latency
    latencies = [latency for _, latency in found]
    merged, exact = _merged(latencies)
    return Pooled(
        kind=kind,
        count=merged.count,
        percentiles_us={p: _tail_checked(merged, p) for p in PERCENTILES},
        max_us=merged.max_us,
        spectrum=_thin(merged.spectrum),
        exact=exact,
    )


def pool_forks(forks: Sequence[Fork]) -> Pooled | None:
    return pool_windows([window for fork in forks for window in fork.valid_windows])


def _merged(latencies: Sequence[Latency]) -> tuple[Latency, bool]:
    encoded = [latency.histogram for latency in latencies if latency.histogram is not None]
    if len(encoded) == len(latencies):
        return latency_from_histogram(merge(encoded)), True
    return (latencies[0] if len(latencies) == 1 else pool_spectra(latencies)), False


def _tail_checked(latency: Latency, percentile: str) -> float | None:
    return latency.percentiles_us.get(percentile) if has_tail(latency, percentile) else None


def _thin(points: Sequence[SpectrumPoint]) -> tuple[SpectrumPoint, ...]:
    """At most MAX_CURVE_POINTS, the first and the last among them."""
    if len(points) <= MAX_CURVE_POINTS:
        return tuple(points)
    step = (len(points) - 1) / (MAX_CURVE_POINTS - 1)
    return tuple(points[round(i * step)] for i in range(MAX_CURVE_POINTS))


def pool_spectra(latencies: Sequence[Latency]) -> Latency:
    """Add the cumulative counts of several spectra; exact at printed values of one spectrum, interpolated elsewhere."""
    values = sorted({point.value_us for latency in latencies for point in latency.spectrum})
    total = sum(latency.count for latency in latencies)
    cumulative = [sum(_count_at(latency, value) for latency in latencies) for value in values]
    spectrum = tuple(
        SpectrumPoint(quantile=min(1.0, count / total), value_us=value, count=round(count))
        for value, count in zip(values, cumulative, strict=True)
    )

    def value_at(quantile: float) -> float:
        position = bisect.bisect_left(cumulative, quantile * total * (1 - 1e-12))
        return values[min(position, len(values) - 1)]

    return Latency(
        count=total,
        min_us=min(latency.min_us for latency in latencies),
        mean_us=sum(latency.mean_us * latency.count for latency in latencies) / total,
        max_us=max(latency.max_us for latency in latencies),
        percentiles_us={p: value_at(float(p) / 100) for p in PERCENTILES},
        spectrum=spectrum,
    )


def _count_at(latency: Latency, value_us: float) -> float:
    """How many of its requests took at most `value_us`."""
    points = latency.spectrum
    position = bisect.bisect_right([point.value_us for point in points], value_us)
    if position == 0:
        return 0.0
    below = points[position - 1]
    if position == len(points):
        return float(below.count)
    above = points[position]
    part = (value_us - below.value_us) / (above.value_us - below.value_us)
    return below.count + part * (above.count - below.count)
