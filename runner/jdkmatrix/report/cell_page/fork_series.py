"""A fork second by second, as small charts on one time axis. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.windows import Gauges, Sample, SeriesSteadiness, WarmupWindow
from jdkmatrix.report.blocks.kinds import Chart
from jdkmatrix.report.charts.lines import series
from jdkmatrix.report.run_page.charts import Points
from jdkmatrix.report.run_page.facts import numbered
from jdkmatrix.report.words.numbers import signed_share

Point = tuple[float, float | None]
_MIB = 1024 * 1024


class _Series(NamedTuple):
    id: str
    title: str
    points: Callable[[Fork], Points]


# Multiples of the usual time between two readings, beyond which nothing was read in between. Where servers take turns,
# what grew meanwhile grew in the turns of others, too.
_GAP_STEPS, _TURN_STEPS = 3, 1.5


def fork_charts(fork: Fork) -> tuple[tuple[Chart, ...], tuple[str, ...]]:
    """Draw small multiples from the start of the server process to the last thing that was seen, measured windows
    shaded; and say which figures stayed the same all the time."""
    bands = [(window.t_s, window.t_s + window.load.duration_s) for window in fork.windows]
    steps = _gap_steps(fork)
    broken = ((figure, _broken(figure.points(fork), steps)) for figure in _SERIES)
    told = [(figure, points, values) for figure, points in broken if (values := _values(points))]
    same = (f"{figure.title} {_range(values)}" for figure, _, values in told if len(set(values)) == 1)
    ends_s = [*(sample.t_s for sample in fork.samples[-1:]), *(end_s for _, end_s in bands)]
    ends_s += [window.t_s for window in fork.warmup.windows] if fork.warmup else []
    end_s = max(ends_s, default=1.0)
    charts = (_chart(fork, figure, points, bands, end_s) for figure, points, values in told if len(set(values)) > 1)
    return tuple(charts), tuple(same)


def warmup_charts(fork: Fork) -> tuple[Chart, ...]:
    """Draw the warm-up alone, shaded where it ran under the load that was then measured."""
    windows = fork.warmup.windows if fork.warmup else ()
    if not windows:
        return ()
    ends = {stage: [w.t_s for w in windows if w.stage == stage] for stage in ("moderate", "load")}
    end_s = windows[-1].t_s
    bands = [(max(ends["moderate"], default=0.0), end_s)] if ends["load"] else []
    told = ((figure, list(figure.points(fork))) for figure in _WARMUP)
    return tuple(_chart(fork, figure, points, bands, end_s) for figure, points in told if _values(points))


def warmup_note(fork: Fork) -> str:
    warmup = fork.warmup
    if warmup is None:
        return "The fork ended before its warm-up did."
    if not warmup.windows:
        return f"No window was recorded in {warmup.duration_s:.0f} s."
    last = warmup.windows[-1]
    loaded = sum(window.stage == "load" for window in warmup.windows)
    state = "steady" if warmup.steady else "not steady when the cap was reached"
    if warmup.steady and warmup.time_to_steady_s is not None:
        state += f"; 95 % of the steady performance {warmup.time_to_steady_s:.1f} s after the process's start"
    settling = plural(len(warmup.settling), "settling window")
    settled = f"Then the JIT had only the server’s CPUs, and {settling} went unmeasured"
    costs = " and then ".join(map(_cost, warmup.settling))
    return " ".join(
        (
            f"{plural(len(warmup.windows) - loaded, 'window')} at a moderate rate, then {loaded} under the load to be "
            f"measured (shaded); {warmup.duration_s:.0f} s, {state}. In the last one a request took {_cost(last)}. "
            f"Meanwhile the JIT ran on {numbered('CPU', warmup.jit_cpus)}.",
            *(_drift(series) for series in warmup.series if series.drift_per_s is not None),
            *([f"{settled}: a request took {costs}."] if warmup.settling else []),
        )
    )


def _drift(series: SeriesSteadiness) -> str:
    """Describe the drift that may have gone on after the warm-up."""
    tail_s, least, fall_max = series.tail_s or 0.0, series.drift_tail_least or 0.0, series.fall_max or 0.0
    per_s, ahead = map(signed_share, (series.drift_per_s, series.drift_ahead))
    words = (
        f"CPU per request drifted by {per_s} a second in the last {tail_s:g} s: {ahead} over the next "
        f"{series.ahead_s:g} s. Over all {tail_s:g} s that is "
    )
    whole, allowed = (series.drift_per_s or 0.0) * tail_s, f"where {signed_share(-fall_max, 3)} is allowed"
    if -least <= fall_max or not series.warm:
        return f"{words}{signed_share(least)} at worst, {allowed}."
    return (
        f"{words}{signed_share(whole)}, {allowed}; {signed_share(least)} cannot be excluded, since the cost scatters "
        "so much that after so long the slope alone decides."
    )


def _cost(window: WarmupWindow) -> str:
    return f"{digits(window.cpu_us_per_request, 3)} µs of CPU, and the JIT {window.jit_share * 100:.1f} % of one CPU"


def _chart(
    fork: Fork, figure: _Series, points: Sequence[Point], bands: Sequence[tuple[float, float]], end_s: float
) -> Chart:
    shown = f"{figure.title} over the seconds since the start of fork {fork.fork}"
    drawing = series(points, bands, end_s=end_s, title=figure.title, description=shown)
    return Chart(f"fork-{fork.fork}-{figure.id}", figure.title, _range(_values(points)), drawing)


def _values(points: Iterable[Point]) -> list[float]:
    return [value for _, value in points if value is not None]


def _gap_steps(fork: Fork) -> float:
    return _TURN_STEPS if fork.together else _GAP_STEPS


def _usual_s(times_s: Iterable[float]) -> float:
    """Return the usual time between two readings."""
    steps = [after - before for before, after in pairwise(times_s)]
    return statistics.median(steps) if steps else 0.0


def _broken(points: Points, gap_steps: float) -> list[Point]:
    """Break the line wherever nothing was read for long: it does not cross the time of another server's turn."""
    told = list(points)
    most_s = gap_steps * _usual_s(t_s for t_s, _ in told)
    found = told[:1]
    for (before_s, _), point in pairwise(told):
        if point[0] - before_s > most_s:
            found.append((before_s, None))
        found.append(point)
    return found


def _range(values: Sequence[float]) -> str:
    """Give smallest, largest and median in words; whole numbers stay whole."""
    whole = all(float(value).is_integer() and abs(value) < 1000 for value in values)
    told = min(values), max(values), statistics.median(values)
    low, high, middle = (f"{value:g}" if whole else digits(value, 3) for value in told)
    return f"always {low}" if low == high else f"{low} to {high}, median {middle}"


def _per_second(counter: Callable[[Sample], float | None]) -> Callable[[Fork], Points]:
    """Return the growth of a counter per second, at the end of each step; None where an end is missing, it went back,
    or nothing was read for long."""

    def points(fork: Fork) -> Points:
        most_s = _gap_steps(fork) * _usual_s(sample.t_s for sample in fork.samples)
        for before, after in pairwise(fork.samples):
            old, new = counter(before), counter(after)
            step_s = after.t_s - before.t_s
            if old is None or new is None or not 0 < step_s <= most_s or new < old:
                yield after.t_s, None
            else:
                yield after.t_s, (new - old) / step_s

    return points


def _driver(of: Callable[[Interval, float], float | None]) -> Callable[[Fork], Points]:
    """Return a figure of the driver's intervals and their lengths in s, on the fork's clock, broken between windows."""

    def points(fork: Fork) -> Points:
        for window in fork.windows:
            previous_s = 0.0
            for interval in window.load.intervals:
                yield window.t_s + interval.t_s, of(interval, interval.t_s - previous_s)
                previous_s = interval.t_s
            if window.load.intervals:
                yield window.t_s + previous_s, None

    return points


def _warm(of: Callable[[WarmupWindow], float | None]) -> Callable[[Fork], Points]:
    return lambda fork: ((window.t_s, of(window)) for window in (fork.warmup.windows if fork.warmup else ()))


def _of_samples(of: Callable[[Sample], float | None]) -> Callable[[Fork], Points]:
    return lambda fork: ((sample.t_s, of(sample)) for sample in fork.samples)


def _of_gauges(of: Callable[[Gauges], float | None]) -> Callable[[Fork], Points]:
    return _of_samples(lambda sample: of(sample.gauges) if sample.gauges else None)


_WARMUP = (
    _Series("warm-cpu", "CPU per request in µs", _warm(lambda w: w.cpu_us_per_request)),
    _Series("warm-jit", "JIT, share of one CPU in %", _warm(lambda w: w.jit_share * 100)),
    _Series("warm-p99", "p99 latency in ms", _warm(lambda w: None if w.p99_us is None else w.p99_us * 1e-3)),
)

_SERIES = (
    _Series("throughput", "Throughput in requests/s", _driver(lambda i, s: i.succeeded / s if s > 0 else None)),
    _Series("p99", "p99 latency in ms", _driver(lambda i, _: None if i.p99_us is None else i.p99_us * 1e-3)),
    _Series("cpu", "Server’s CPU in CPUs", _per_second(lambda s: s.cpu_s)),
    _Series("in-flight", "In flight in requests", _of_gauges(lambda g: g.in_flight)),
    _Series("rss", "RSS in MiB", _of_samples(lambda s: s.rss_bytes / _MIB)),
    _Series("heap", "Heap used in MiB", _of_gauges(lambda g: g.heap_used_bytes / _MIB)),
    _Series("threads", "Threads", _of_samples(lambda s: s.threads)),
    _Series("pool", "Pool size in threads", _of_gauges(lambda g: g.pool_size)),
    _Series("jit", "JIT in ms per s", _per_second(lambda s: s.gauges.jit_ms if s.gauges else None)),
)
