"""What a fork did second by second, as small charts on one time axis. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jdkmatrix.domain.quantities import MISSING, digits, plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Sample, SeriesSteadiness, WarmupWindow
from jdkmatrix.report.charts import specs as charts
from jdkmatrix.report.run_page.facts import ranges
from jdkmatrix.report.views import Chart

_MIB = 1024 * 1024
Points = list[tuple[float, float | None]]


@dataclass(frozen=True)
class _Series:
    id: str
    title: str
    unit: str
    points: Callable[[Fork], Points]
    zero: bool = True
    number_format: str = "~s"


Bands = list[tuple[float, float]]


def fork_series(fork: Fork) -> tuple[Chart, ...]:
    """Small multiples from the start of the server process to the last thing that was seen; measured windows shaded."""
    bands = [(window.t_s, window.t_s + window.load.duration_s) for window in fork.windows]
    return _charts(fork, _SERIES, bands, _end(fork))


def warmup_charts(fork: Fork) -> tuple[Chart, ...]:
    """The warm-up alone; shaded where it ran under the load that was then measured."""
    windows = fork.warmup.windows if fork.warmup else ()
    if not windows:
        return ()
    ends = {stage: [w.t_s for w in windows if w.stage == stage] for stage in ("moderate", "load")}
    end_s = windows[-1].t_s
    start_s = max(ends["moderate"], default=0.0)
    return _charts(fork, _WARMUP, [(start_s, end_s)] if ends["load"] else [], end_s)


def warmup_note(fork: Fork) -> str:
    warmup = fork.warmup
    if warmup is None:
        return "The fork ended before its warm-up did."
    if not warmup.windows:
        return f"No window was recorded in {warmup.duration_s:.0f} s."
    last = warmup.windows[-1]
    loaded = sum(window.stage == "load" for window in warmup.windows)
    state = "steady" if warmup.steady else "not steady when the cap was reached"
    if warmup.time_to_steady_s is not None:
        state += f"; 95 % of the steady performance {warmup.time_to_steady_s:.1f} s after the process's start"
    return " ".join(
        (
            f"{plural(len(warmup.windows) - loaded, 'window')} at a moderate rate, then {loaded} under the load to be "
            f"measured (shaded); {warmup.duration_s:.0f} s, {state}. In the last one a request took {_cost(last)}. "
            f"Meanwhile the JIT ran on CPUs {ranges(warmup.jit_cpus)}.",
            *(_drift(series) for series in warmup.series if series.drift_per_s is not None),
            *_settling(warmup.settling),
        )
    )


def _drift(series: SeriesSteadiness) -> str:
    """What may still have changed while it was measured."""
    per_s, ahead, least = map(_signed, (series.drift_per_s, series.drift_ahead, series.drift_tail_least))
    return (
        f"CPU per request drifted by {per_s} a second in the last {series.tail_s:g} s: {ahead} over the "
        f"{series.ahead_s:g} s that were measured next. Over all {series.tail_s:g} s that is {least} at worst, where "
        f"{_signed(-(series.fall_max or 0), 3)} is allowed."
    )


def _signed(value: float | None, significant: int = 2) -> str:
    """A change as per cent."""
    if value is None:
        return MISSING
    return f"{'+' if value > 0 else ''}{digits(value * 100, significant)} %"


def _settling(windows: Sequence[WarmupWindow]) -> Iterable[str]:
    if windows:
        costs = " and then ".join(_cost(window) for window in windows)
        yield (
            f"Then the JIT had the server’s CPUs alone, and {plural(len(windows), 'settling window')} went unmeasured: "
            f"a request took {costs}."
        )


def _cost(window: WarmupWindow) -> str:
    return f"{digits(window.cpu_us_per_request, 3)} µs of CPU, and the JIT {window.jit_share * 100:.1f} % of one CPU"


def _charts(fork: Fork, wanted: Iterable[_Series], bands: Bands, end_s: float) -> tuple[Chart, ...]:
    found = []
    for one in wanted:
        points = one.points(fork)
        values = [value for _, value in points if value is not None]
        if not values:
            continue
        name = f"{one.title} in {one.unit}" if one.unit else one.title
        found.append(
            Chart(
                id=f"fork-{fork.fork}-{one.id}",
                title=name,
                note=_range(values),
                drawing=charts.series(
                    points,
                    bands,
                    end_s=end_s,
                    title=name,
                    number_format=one.number_format,
                    zero=one.zero,
                    description=f"{name} over the seconds since the start of fork {fork.fork}",
                ),
            )
        )
    return tuple(found)


def _range(values: Sequence[float]) -> str:
    """Smallest, largest and median in words; whole numbers stay whole."""
    whole = all(float(value).is_integer() and abs(value) < 1000 for value in values)
    low, high, middle = (
        f"{value:g}" if whole else digits(value, 3) for value in (min(values), max(values), statistics.median(values))
    )
    return f"always {low}" if low == high else f"{low} to {high}, median {middle}"


def _end(fork: Fork) -> float:
    ends = [sample.t_s for sample in fork.samples[-1:]]
    ends += [window.t_s + window.load.duration_s for window in fork.windows]
    ends += [window.t_s for window in fork.warmup.windows] if fork.warmup else []
    return max(ends, default=1.0)


def _rate(samples: Sequence[Sample], counter: Callable[[Sample], float | None]) -> Points:
    """The growth of a counter per second, at the end of each step; None where an end is missing or it went back."""
    found: Points = []
    for before, after in pairwise(samples):
        old, new = counter(before), counter(after)
        step_s = after.t_s - before.t_s
        grown = None if old is None or new is None or step_s <= 0 or new < old else (new - old) / step_s
        found.append((after.t_s, grown))
    return found


def _gauge(samples: Sequence[Sample], figure: Callable[[Sample], float | None]) -> Points:
    return [(sample.t_s, figure(sample)) for sample in samples]


def _driver(fork: Fork, wanted: str, scale: float = 1) -> Points:
    """A figure of the driver's intervals, on the fork's clock; a break between windows."""
    found: Points = []
    for window in fork.windows:
        previous_s = 0.0
        for interval in window.load.intervals:
            length_s = interval.t_s - previous_s
            value: float | None = getattr(interval, wanted)
            if wanted == "completed":
                value = interval.completed / length_s if length_s > 0 else None
            found.append((window.t_s + interval.t_s, None if value is None else value * scale))
            previous_s = interval.t_s
        if window.load.intervals:
            found.append((window.t_s + previous_s, None))
    return found


def _warm(fork: Fork, figure: str, scale: float = 1) -> Points:
    windows = fork.warmup.windows if fork.warmup else ()
    found: Points = []
    for window in windows:
        value: float | None = getattr(window, figure)
        found.append((window.t_s, None if value is None else value * scale))
    return found


_WARMUP = (
    _Series("warm-cpu", "CPU per request", "µs", lambda f: _warm(f, "cpu_us_per_request")),
    _Series("warm-jit", "JIT, share of one CPU", "%", lambda f: _warm(f, "jit_share", 100)),
    _Series("warm-p99", "p99 latency", "ms", lambda f: _warm(f, "p99_us", 1e-3)),
)

_SERIES = (
    _Series("throughput", "Throughput", "requests/s", lambda f: _driver(f, "completed")),
    _Series("p99", "p99 latency", "ms", lambda f: _driver(f, "p99_us", 1e-3)),
    _Series("cpu", "Server’s CPU", "CPUs", lambda f: _rate(f.samples, lambda s: s.cpu_s)),
    _Series(
        "in-flight",
        "In flight",
        "requests",
        lambda f: _gauge(f.samples, lambda s: s.gauges.in_flight if s.gauges else None),
    ),
    _Series("rss", "RSS", "MiB", lambda f: _gauge(f.samples, lambda s: s.rss_bytes / _MIB)),
    _Series(
        "heap",
        "Heap used",
        "MiB",
        lambda f: _gauge(f.samples, lambda s: s.gauges.heap_used_bytes / _MIB if s.gauges else None),
    ),
    _Series("threads", "Threads", "", lambda f: _gauge(f.samples, lambda s: s.threads)),
    _Series(
        "pool",
        "Pool size",
        "threads",
        lambda f: _gauge(f.samples, lambda s: s.gauges.pool_size if s.gauges else None),
    ),
    _Series("jit", "JIT", "ms per s", lambda f: _rate(f.samples, lambda s: s.gauges.jit_ms if s.gauges else None)),
)
