"""The latency of a fork and of a cell, as the report shows it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.figures.latency import Kind
from jdkmatrix.loads.base import Bound
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency, SpectrumPoint
from jdkmatrix.report.words.numbers import Figure, milliseconds, missing
from jdkmatrix.stats.percentiles import MIN_BEYOND, Percentile, merge_latencies, percentiles_over_forks

MAX_CURVE_POINTS = 80

KIND_WORDS: dict[Kind, str] = {
    "corrected": "response time from the intended send time (corrected for coordinated omission)",
    "uncorrected": "service time in a closed loop: a slow answer delays the next request, so this says nothing about "
    "response times at a rate; mean ≈ connections / throughput",
}
# At the head of a column, and behind a single figure.
KIND_SHORT: dict[Kind, str] = {"corrected": "response time", "uncorrected": "service time"}


@dataclass(frozen=True)
class Pooled:
    """All requests of a cell. `percentiles`: those with enough slower requests. `histogram`: of all requests, as the
    driver encodes it; None where it writes none, and so nothing here is exact. `fell_short`: in so many of its `forks`
    the server did not do all that it was asked for, so that percentiles are at least these; `lower_bounds`: so many of
    their requests stand in it with the time that they had waited for an answer, None where the driver leaves such
    requests out."""

    kind: Kind
    count: int
    percentiles: Mapping[str, Percentile]
    max_us: float
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None
    forks: int
    fell_short: int
    lower_bounds: int | None


def pool(kind: Kind, forks: Sequence[Latency], short: Sequence[Fork] = ()) -> Pooled:
    """`forks`: what `fork_latency` gave for each, at least one; `short`: those of them that fell short."""
    merged = merge_latencies(forks)
    bounds = [window.load.lower_bounds for fork in short for window in fork.valid_windows]
    told = [number for number in bounds if number is not None]
    return Pooled(
        kind=kind,
        count=merged.count,
        percentiles=percentiles_over_forks(forks, merged),
        max_us=merged.max_us,
        spectrum=_thin(merged.spectrum),
        histogram=merged.histogram,
        forks=len(forks),
        fell_short=len(short),
        lower_bounds=sum(told) if len(told) == len(bounds) else None,
    )


def _thin(points: Sequence[SpectrumPoint]) -> tuple[SpectrumPoint, ...]:
    """At most MAX_CURVE_POINTS, the first and the last among them."""
    if len(points) <= MAX_CURVE_POINTS:
        return tuple(points)
    step = (len(points) - 1) / (MAX_CURVE_POINTS - 1)
    return tuple(points[round(i * step)] for i in range(MAX_CURVE_POINTS))


def percentile_figure(pooled: Pooled | None, percent: str, *, why: str) -> Figure:
    """In ms, of all requests; beneath it the interval over forks, and why there is none in the tooltip.

    `why`: the reason where there is no distribution at all.
    """
    if pooled is None:
        return missing(why)
    found = pooled.percentiles.get(percent)
    if found is None:
        return missing(f"fewer than {MIN_BEYOND} of {pooled.count:,} requests were slower: too few to say")
    figure = milliseconds(found.merged_us, why=why)
    forks = found.forks
    if pooled.fell_short:
        return replace(figure, text=f"{Bound.AT_LEAST.value} {figure.text}", title=_why_at_least(pooled))
    if forks is None:
        none = "a fork has too few slower requests" if pooled.histogram else "this driver writes no histograms"
        return replace(figure, title=f"no interval: {none}")
    if forks.ci_low is None or forks.ci_high is None:
        return replace(figure, title=f"{plural(forks.n, 'fork')}: no interval")
    # A wide interval carries fewer digits.
    low, high = (
        digits(end / 1000, 3 if forks.ci_high < 2 * forks.ci_low else 2) for end in (forks.ci_low, forks.ci_high)
    )
    return replace(
        figure,
        title=f"all requests together; beneath: the 95 % interval over {forks.n} forks, of the geometric mean of their "
        f"own p{percent} ({digits(forks.geomean / 1000, 3)} ms)",
        under=f"{low}–{high}",
    )


def _why_at_least(pooled: Pooled) -> str:
    if pooled.lower_bounds is None:
        without = "this driver leaves requests without an answer out"
    else:
        without = f"{pooled.lower_bounds:,} requests without an answer stand in it with the time that they had waited"
    return f"at least: {pooled.fell_short} of {plural(pooled.forks, 'fork')} fell short; {without}"
