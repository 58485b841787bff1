"""The table of figures: how each is called, shown and read, and by which of them executors are compared.

Pages, summaries and the stopping rule read this table; a figure that is in it needs no other place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jdkmatrix.domain.loads import CellLoad
from jdkmatrix.figures.fork_figures import (
    FigureOf,
    capacity_rps,
    comparable,
    cpu_share,
    cpu_us_per_request,
    direct_buffers_share,
    gc_ms_per_s,
    knee_rps,
    of_forks,
    p99_us,
    rss_peak_bytes,
    switches_per_request,
    threads_peak,
    throughput_rps,
    time_to_peak,
    time_to_steady_s,
    was_steady,
)
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class Metric:
    """`of`: how it is read of a usable fork. `unit`: as it is shown, with so many `significant` digits (0: a whole
    number), which is `scale` times the figure itself. `over_forks`: what is shown of several; `missing`: why a usable
    fork may not have it; `on_cell_page`: among the figures at its top, beside those that executors are compared by;
    `of_window`: the same of one window, above 0 where it has one, for forks that took turns."""

    id: str
    title: str
    more_is_better: bool
    of: FigureOf
    unit: str
    significant: int
    scale: float = 1.0
    missing: str = "no fork has it"
    over_forks: Literal["mean", "most"] = "mean"
    on_cell_page: bool = False
    of_window: Callable[[Window], float] | None = None

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

CPU_SHARE = Metric("cpu-share", "CPU use", True, cpu_share, "%", 3, 100)
DIRECT_BUFFERS = Metric(
    *("direct-buffers", "Share of direct buffers", False, direct_buffers_share, "%", 2, 100),
    missing="/gauges did not answer",
)
GC_TIME = Metric(*("gc-time", "Time in collections", False, gc_ms_per_s, "ms/s", 3), missing="/gauges did not answer")
STEADY = Metric("steady", "Steady forks", True, was_steady, "%", 3, 100)

METRICS = (
    *(THROUGHPUT, CPU, P99, SATURATED, LOWEST_CPU, TIME_TO_PEAK, KNEE, CAPACITY),
    *(TIME_TO_STEADY, RSS_PEAK, THREADS_PEAK, SWITCHES),
)

# Executors are not compared by these: they say what was seen where a claim was judged.
OF_CLAIMS = (CPU_SHARE, DIRECT_BUFFERS, GC_TIME, STEADY)

BY_ID = {metric.id: metric for metric in (*METRICS, *OF_CLAIMS)}


def metrics_of(load: CellLoad) -> tuple[Metric, ...]:
    """What executors under this load are compared by, the leading figure first."""
    return tuple(BY_ID[name] for name in kind_of(load).metrics)


def leading_by_block(cell: CellRecord) -> dict[int, float]:
    """The leading figure of every fork whose figure may stand in a ratio."""
    leading = metrics_of(cell.served_load)[0]
    return comparable(of_forks(leading.of, cell.forks, cell.served_load))
