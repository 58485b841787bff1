"""The table of figures: how each is named, shown and read, and which of them executors are compared by.

Cell pages, exports and the stopping rule read this table. The table of cells on the page of a run has columns of its
own (report/cells/shown.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.experiments.base import Measurand
from jdkmatrix.experiments.kinds import EXPERIMENTS, measurands
from jdkmatrix.figures import fork_figures as read
from jdkmatrix.figures.fork_figures import FigureOf
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import DATABASE_CPU_US, QUOTA_PERIODS, THROTTLED_PERIODS, THROTTLED_US
from jdkmatrix.records.windows import ObservedWindow
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class Metric:
    """`of`: how it is read from a usable fork. `unit`: as it is shown, with this many `significant` digits (0: a whole
    number), which is `scale` times the figure itself. `over_forks`: what represents several; `missing`: why a usable
    fork may not have it; `on_cell_page`: among the figures at its top, beside those that executors are compared by;
    `where_seen`: likewise, but only if a fork has it; `of_window`: the same for one window, above 0 if it has one, for
    forks that took turns; `step`: the least distance between two readings, around a value under a load."""

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
    step: Callable[[AnyLoad, float], float] = read.no_step

    @property
    def name(self) -> str:
        """The title as it stands inside a sentence."""
        return self.title if self.title[:3] in ("CPU", "p99", "RSS") else self.title.lower()


_RPS, _CPU_US, _S = "requests/s", "µs", "s"
NO_LATENCY = "the driver recorded no such latency"
_NO_SEARCH = "there was no search, or it ended without a result"
THROUGHPUT = Metric(
    *("throughput", "Throughput", True, read.throughput_rps, _RPS, 4),
    of_window=lambda window: window.load.succeeded_rps,
)
CPU = Metric(
    *("cpu", "CPU per request", False, read.cpu_us_per_request, _CPU_US, 3),
    of_window=lambda window: window.cpu_us_per_answer,
)
P99 = Metric("p99", "p99 latency", False, read.p99_us, "ms", 3, 1e-3, f"{NO_LATENCY}, or too few requests were slower")
SATURATED = Metric("saturated", "Throughput at saturation", True, read.throughput_rps, _RPS, 4)
LOWEST_CPU = Metric("lowest-cpu", "CPU per request at the lowest rate", False, read.cpu_us_per_request, _CPU_US, 3)
TIME_TO_PEAK = Metric("time-to-peak", "Time to peak throughput", False, read.time_to_peak, _S, 3, step=read.one_second)
KNEE = Metric("knee", "Rate at the knee of p99", True, read.knee_rps, _RPS, 4, step=read.knee_step)
CAPACITY = Metric(
    *("capacity", "Rate held", True, read.capacity_rps, _RPS, 4), missing=_NO_SEARCH, step=read.capacity_step
)
TIME_TO_STEADY = Metric(
    *("time-to-steady", "Time to steady", False, read.time_to_steady_s, _S, 3),
    missing="no fork reached its steady state before the cap on the warm-up",
    on_cell_page=True,
)
_peak = partial(Metric, over_forks="most", on_cell_page=True)
_rss_peak = read.most(lambda window: [window.sut.rss_peak_bytes])
RSS_PEAK = _peak("rss-peak", "RSS, peak", False, _rss_peak, "MiB", 3, 1 / 2**20)
_threads_peak = read.most(lambda window: [window.sut.threads_peak])
THREADS_PEAK = _peak("threads-peak", "Threads, peak", False, _threads_peak, "", 0)
SWITCHES = Metric(
    *("switches", "Context switches per request", False, read.switches_per_request, "", 3),
    missing="threads ended, and the kernel did not keep their switches",
    on_cell_page=True,
)
_allocated = read.summed("allocated_bytes", over=lambda window: window.gauged_requests)
ALLOCATED = Metric(
    *("allocated", "Allocated per request", False, _allocated, "KiB", 3, 1 / 1024),
    missing="not recorded: by wrk2, on a JVM that does not count it, for an application without our probes, or before "
    "this tool asked for it",
    on_cell_page=True,
)

# For a server with a quota of CPU time. The second: the time beyond the quota, on average and over all CPUs.
_seen, _most_seen = partial(Metric, where_seen=True), partial(Metric, over_forks="most", where_seen=True)
_throttled_share = read.summed(THROTTLED_PERIODS, over=QUOTA_PERIODS)
_throttled_ms = read.summed(THROTTLED_US, over=THROTTLED_PERIODS, scale=1e3)
OF_QUOTAS = (
    _seen("throttled", "Periods throttled", False, _throttled_share, "%", 3, 100),
    _seen("throttled-for", "Held back per throttled period", False, _throttled_ms, "ms", 3),
)

# For an application on a database with pooled connections. Percentiles are means of the windows' percentiles; a
# connection is in use while it is out of the pool; transactions are those open when nothing was in flight any more.
_WAIT, _WAIT_US = "Wait for a connection", "connection_wait_{}_us"
_waits = {name: read.summed(_WAIT_US.format(name), over=lambda _: 1) for name in ("p50", "p99")}
WAIT_P50, WAIT_P99 = (
    _seen(f"wait-{name}", f"{_WAIT}, {name}", False, of, "ms", 3, 1e-3) for name, of in _waits.items()
)
_wait_most = read.most_of_reading(_WAIT_US.format("most"))
_in_use = read.summed("connections_busy_us", over="connections_clock_us")
_in_use_peak = read.most_of_reading("connections_in_use_peak")
_timeouts, _cpu_of_database = read.summed("connection_timeouts"), read.per_answer(DATABASE_CPU_US)
IN_USE = _seen("in-use", "Connections in use, mean", False, _in_use, "", 3)
IN_USE_PEAK = _most_seen("in-use-peak", "Connections in use, peak", False, _in_use_peak, "", 0)
_TIMEOUTS = "Connection time-outs, most in a fork"
TIMEOUTS = _most_seen("connection-timeouts", _TIMEOUTS, False, _timeouts, "requests", 0)
OF_DATABASES = (
    *(WAIT_P50, WAIT_P99, _most_seen("wait-most", f"{_WAIT}, most", False, _wait_most, "ms", 3, 1e-3)),
    *(IN_USE, IN_USE_PEAK, TIMEOUTS),
    _most_seen("open-transactions", "Transactions left open", False, read.open_transactions, "", 0),
    _seen("database-cpu", "Database’s CPU per request", False, _cpu_of_database, _CPU_US, 3),
)

METRICS = (
    *(THROUGHPUT, CPU, P99, SATURATED, LOWEST_CPU, TIME_TO_PEAK, KNEE, CAPACITY),
    *(TIME_TO_STEADY, RSS_PEAK, THREADS_PEAK, SWITCHES, ALLOCATED),
    *(*OF_QUOTAS, *OF_DATABASES),
)

# Executors are not compared by these: they say what was seen where a claim was judged.
_NO_GAUGES = "/gauges did not answer, or does not exist"
_buffers, _longest = read.most(read.direct_buffers), read.most(read.longest_us)
CPU_USE = Metric("cpu-share", "CPU use", True, read.cpu_share, "%", 3, 100)
OF_CLAIMS = (
    CPU_USE,
    Metric("direct-buffers", "Share of direct buffers", False, _buffers, "%", 2, 100, _NO_GAUGES),
    Metric("gc-time", "Time in collections", False, read.gc_ms_per_s, "ms/s", 3, missing=_NO_GAUGES),
    Metric("longest", "Longest answer", False, _longest, "ms", 3, 1e-3, NO_LATENCY, "most"),
    Metric("steady", "Steady forks", True, read.was_steady, "%", 3, 100),
)

BY_ID = {metric.id: metric for metric in (*METRICS, *OF_CLAIMS)}


def _of_readings(one: Measurand) -> Metric:
    def of_window(window: ObservedWindow) -> float:
        return next((reading.value for reading in window.readings if reading.metric == one.id), 0.0)

    def of(fork: Fork, _: AnyLoad) -> ForkFigure | None:
        value = next((reading.value for reading in fork.readings if reading.metric == one.id), None)
        if value is None or (fork.result and one.is_tail_of_few(fork.result)):
            return None
        return ForkFigure(value, Bound.AT_LEAST if fork.result and one.is_bound(fork.result) else Bound.NONE)

    return Metric(*(one.id, one.title, one.more_is_better, of, one.unit, 3), over_forks="median", of_window=of_window)


OF_EXPERIMENTS: Mapping[Measurand, Metric] = {
    one: _of_readings(one) for experiment in EXPERIMENTS for one in experiment.METRICS
}


def metrics_in(cell: CellRecord) -> tuple[Metric, ...]:
    """Return all that its forks may have; in an experiment its readings, in the order of the fork that has the most."""
    if not isinstance(cell.load, TaskLoad):
        return METRICS
    found: dict[Metric, None] = {}
    for fork in sorted(cell.forks, key=lambda fork: (not fork.usable, -len(fork.readings))):
        known = measurands(fork.result)
        found.update((OF_EXPERIMENTS[known[one.metric]], None) for one in fork.readings if one.metric in known)
    return tuple(found)


def metrics_of(load: AnyLoad) -> tuple[Metric, ...]:
    """Return what executors under this load are compared by, the leading figure first; without a server, nothing."""
    return tuple(BY_ID[name] for name in kind_of(load).metrics)


def leading_figures(cell: CellRecord) -> dict[int, ForkFigure]:
    """Return the leading figure of every usable fork that has it, by block."""
    leading = metrics_of(cell.load)[0]
    figures = ((fork.fork, leading.of(fork, cell.load)) for fork in cell.forks if fork.usable)
    return {block: figure for block, figure in figures if figure is not None}
