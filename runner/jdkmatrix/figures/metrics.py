"""The table of figures: how each is called, shown and read, and by which of them executors are compared.

Pages, summaries and the stopping rule read this table; a figure that is in it needs no other place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.experiments.base import Measurand, Spread
from jdkmatrix.experiments.kinds import EXPERIMENTS, measurands
from jdkmatrix.figures.fork_figures import (
    FigureOf,
    capacity_rps,
    comparable,
    connection_timeouts,
    connections_in_use,
    cpu_share,
    cpu_us_per_request,
    direct_buffers_share,
    gc_ms_per_s,
    knee_rps,
    mean_reading,
    most_of_reading,
    of_forks,
    open_transactions,
    overall,
    p99_us,
    per_answer,
    rss_peak_bytes,
    switches_per_request,
    threads_peak,
    throttled_ms,
    throttled_share,
    throughput_rps,
    time_to_peak,
    time_to_steady_s,
    was_steady,
)
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import DATABASE_CPU_US
from jdkmatrix.records.windows import ObservedWindow, Window
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class Metric:
    """`of`: how it is read of a usable fork. `unit`: as it is shown, with so many `significant` digits (0: a whole
    number), which is `scale` times the figure itself. `over_forks`: what stands for several; `missing`: why a usable
    fork may not have it; `on_cell_page`: among the figures at its top, beside those that executors are compared by;
    `where_seen`: so, too, but only where a fork has it; `of_window`: the same of one window, above 0 where it has one,
    for forks that took turns."""

    id: str
    title: str
    more_is_better: bool
    of: FigureOf
    unit: str
    significant: int
    scale: float = 1.0
    missing: str = "no fork has it"
    over_forks: Literal["mean", "most", "median"] = "mean"
    on_cell_page: bool = False
    where_seen: bool = False
    of_window: Callable[[Any], float] | None = None

    @property
    def name(self) -> str:
        """As it stands inside a sentence."""
        return self.title if self.title[:3] in ("CPU", "p99", "RSS") else self.title.lower()


def _succeeded_rps(window: Window) -> float:
    return window.load.succeeded_rps


def _cpu_us(window: Window) -> float:
    return window.cpu_us_per_answer


_RPS, _CPU_US, _S = "requests/s", "µs", "s"
_MIB = 1 / 2**20
THROUGHPUT = Metric("throughput", "Throughput", True, throughput_rps, _RPS, 4, of_window=_succeeded_rps)
CPU = Metric("cpu", "CPU per request", False, cpu_us_per_request, _CPU_US, 3, of_window=_cpu_us)
P99 = Metric("p99", "p99 latency", False, p99_us, "ms", 3, 1e-3, "the driver recorded no such latency")
SATURATED = Metric("saturated", "Throughput at saturation", True, throughput_rps, _RPS, 4)
LOWEST_CPU = Metric("lowest-cpu", "CPU per request at the lowest rate", False, cpu_us_per_request, _CPU_US, 3)
TIME_TO_PEAK = Metric("time-to-peak", "Time to peak throughput", False, time_to_peak, _S, 3)
KNEE = Metric("knee", "Rate at the knee of p99", True, knee_rps, _RPS, 4)
CAPACITY = Metric("capacity", "Rate held", True, capacity_rps, _RPS, 4, missing="nothing was searched for")
TIME_TO_STEADY = Metric(
    *("time-to-steady", "95 % of steady state after", False, time_to_steady_s, _S, 3),
    missing="no fork reached its steady state before the cap on the warm-up",
    on_cell_page=True,
)
RSS_PEAK = Metric("rss-peak", "RSS, peak", False, rss_peak_bytes, "MiB", 3, _MIB, over_forks="most", on_cell_page=True)
THREADS_PEAK = Metric("threads-peak", "Threads, peak", False, threads_peak, "", 0, over_forks="most", on_cell_page=True)
SWITCHES = Metric(
    *("switches", "Context switches per request", False, switches_per_request, "", 3),
    missing="threads ended whose switches the kernel did not keep",
    on_cell_page=True,
)
ALLOCATED = Metric(
    *("allocated", "Allocated per request", False, per_answer("allocated_bytes"), "KiB", 3, 1 / 1024),
    missing="not recorded: by wrk2, on a JVM that does not count it, of an application without our probes, or before "
    "this tool asked for it",
    on_cell_page=True,
)

# Of a server with a quota of CPU time.
THROTTLED = Metric("throttled", "Periods throttled", False, throttled_share, "%", 3, 100, where_seen=True)
THROTTLED_FOR = Metric("throttled-for", "Held back per throttled period", False, throttled_ms, "ms", 3, where_seen=True)

# Of an application on a database, whose connections are pooled. Percentiles are means of those of the windows.
_WAIT_US = "connection_wait_{}_us"
WAIT_P50, WAIT_P99 = (
    Metric(
        f"wait-{name}",
        f"Wait for a connection, {name}",
        False,
        mean_reading(_WAIT_US.format(name)),
        "ms",
        3,
        1e-3,
        where_seen=True,
    )
    for name in ("p50", "p99")
)
WAIT_MOST = Metric(
    *("wait-most", "Wait for a connection, most", False, most_of_reading(_WAIT_US.format("most")), "ms", 3, 1e-3),
    over_forks="most",
    where_seen=True,
)
IN_USE = Metric("in-use", "Connections in use, mean", False, connections_in_use, "", 3, where_seen=True)
IN_USE_PEAK = Metric(
    *("in-use-peak", "Connections in use, peak", False, most_of_reading("connections_in_use_peak"), "", 0),
    over_forks="most",
    where_seen=True,
)
TIMEOUTS = Metric(
    *("connection-timeouts", "Time-outs for a connection", False, connection_timeouts, "requests", 0),
    over_forks="most",
    where_seen=True,
)
OPEN_TRANSACTIONS = Metric(
    *("open-transactions", "Transactions left open", False, open_transactions, "", 0),
    over_forks="most",
    where_seen=True,
)
DATABASE_CPU = Metric(
    "database-cpu", "Database’s CPU per request", False, per_answer(DATABASE_CPU_US), _CPU_US, 3, where_seen=True
)
OF_DATABASES = (WAIT_P50, WAIT_P99, WAIT_MOST, IN_USE, IN_USE_PEAK, TIMEOUTS, OPEN_TRANSACTIONS, DATABASE_CPU)

CPU_SHARE = Metric("cpu-share", "CPU use", True, cpu_share, "%", 3, 100)
DIRECT_BUFFERS = Metric(
    *("direct-buffers", "Share of direct buffers", False, direct_buffers_share, "%", 2, 100),
    missing="/gauges did not answer, or there is none",
)
GC_TIME = Metric(*("gc-time", "Time in collections", False, gc_ms_per_s, "ms/s", 3), missing=DIRECT_BUFFERS.missing)
STEADY = Metric("steady", "Steady forks", True, was_steady, "%", 3, 100)

METRICS = (
    *(THROUGHPUT, CPU, P99, SATURATED, LOWEST_CPU, TIME_TO_PEAK, KNEE, CAPACITY),
    *(TIME_TO_STEADY, RSS_PEAK, THREADS_PEAK, SWITCHES, ALLOCATED, THROTTLED, THROTTLED_FOR),
    *OF_DATABASES,
)

# Executors are not compared by these: they say what was seen where a claim was judged.
OF_CLAIMS = (CPU_SHARE, DIRECT_BUFFERS, GC_TIME, STEADY)

BY_ID = {metric.id: metric for metric in (*METRICS, *OF_CLAIMS)}


def _of_readings(one: Measurand) -> Metric:
    def of_window(window: ObservedWindow) -> float:
        return next((reading.value for reading in window.readings if reading.metric == one.id), 0.0)

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        return next((ForkFigure(reading.value) for reading in fork.readings if reading.metric == one.id), None)

    return Metric(*(one.id, one.title, one.more_is_better, of, one.unit, 3), over_forks="median", of_window=of_window)


OF_EXPERIMENTS: Mapping[Measurand, Metric] = {
    one: _of_readings(one) for experiment in EXPERIMENTS for one in experiment.METRICS
}


def metrics_in(cell: CellRecord) -> tuple[Metric, ...]:
    """All that its forks may have; of an experiment those of its readings, in their order."""
    if not isinstance(cell.load, TaskLoad):
        return METRICS
    found: dict[Metric, None] = {}
    for fork in sorted(cell.forks, key=lambda fork: not fork.usable):
        known = measurands(fork.result)
        found.update((OF_EXPERIMENTS[known[one.metric]], None) for one in fork.readings if one.metric in known)
    return tuple(found)


def metric_in(cell: CellRecord, metric_id: str) -> Metric | None:
    """None where its forks have no such figure."""
    if not isinstance(cell.load, TaskLoad):
        return BY_ID.get(metric_id)
    return next((metric for metric in metrics_in(cell) if metric.id == metric_id), None)


def metrics_of(load: AnyLoad) -> tuple[Metric, ...]:
    """Executors under this load are compared by these, the leading figure first; arms without a server by none."""
    return tuple(BY_ID[name] for name in kind_of(load).metrics)


def leading_by_block(cell: CellRecord) -> dict[int, float]:
    """The leading figure of every fork whose figure may stand in a ratio."""
    leading = metrics_of(cell.load)[0]
    return comparable(of_forks(leading.of, cell.forks, cell.load))


@dataclass(frozen=True)
class OverForks:
    """A metric over forks, in its unit: the geometric mean with its 95 % interval, or the median or the most, which
    have none. `bound`: where forks give a bound only; None where these point both ways."""

    value: float
    low: float | None
    high: float | None
    least: float
    most: float
    bound: Bound | None
    bounded: int
    forks: int


def over_forks(metric: Metric, figures: Iterable[ForkFigure]) -> OverForks | None:
    """None where there is no figure."""
    found = list(figures)
    values = [figure.value * metric.scale for figure in found]
    if not values:
        return None
    if metric.over_forks != "mean":
        one = median(values) if metric.over_forks == "median" else max(values)
        return OverForks(one, None, None, min(values), max(values), Bound.NONE, 0, len(values))
    over = overall(found)
    assert over is not None
    low, high = (end if end is None else end * metric.scale for end in (over.summary.ci_low, over.summary.ci_high))
    mean = over.summary.geomean * metric.scale
    return OverForks(mean, low, high, min(values), max(values), over.bound, over.bounded, len(values))


def spread_of(metric: Metric, cell: CellRecord) -> Spread | None:
    """Over its usable forks, with what is expected; None where none has it."""
    readings = [one for fork in cell.forks if fork.usable for one in fork.readings if one.metric == metric.id]
    over = over_forks(metric, (ForkFigure(one.value) for one in readings))
    if over is None:
        return None
    expected = [one.expected for one in readings if one.expected is not None]
    return Spread(
        *(metric.id, metric.title, metric.unit, over.value, over.least, over.most, over.forks),
        expected=median(expected) if expected else None,
    )
