"""What one cell says: figures per fork, over its forks, and compared with the same cell on another executor. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from jdkmatrix import stats
from jdkmatrix.config.executors import reference
from jdkmatrix.records import (
    CapacityLoad,
    CellKey,
    CellLoad,
    CellRecord,
    Fork,
    Latency,
    RampLoad,
    RateLoad,
    Reason,
    RunRecord,
    Status,
    StepsLoad,
)
from jdkmatrix.report.latency import Pooled, fork_latency, kind_of, pool
from jdkmatrix.stats import Ratio, Summary
from jdkmatrix.stats.forks import fork_capacity_rps, fork_first_cpu_us, fork_peak_rps
from jdkmatrix.stats.percentiles import tail_checked
from jdkmatrix.stats.ramps import Steady, fork_knee_rps, fork_time_to_peak_s, steady_part
from jdkmatrix.stats.ratios import log_ratios


@dataclass(frozen=True)
class CellStats:
    """A cell with at least its record. Figures come from usable forks only; per fork they are keyed by block."""

    record: CellRecord

    @property
    def key(self) -> CellKey:
        return self.record.key

    @cached_property
    def usable(self) -> tuple[Fork, ...]:
        return tuple(fork for fork in self.record.forks if fork.usable)

    @cached_property
    def throughput_rps(self) -> dict[int, float]:
        """Of steps of rising rates, the highest; of a ramp that ends level, of its steady part."""
        steady = self._steady
        if steady:
            return {block: one.throughput_rps for block, one in steady.items()}
        figure = fork_peak_rps if self._has_steps else stats.fork_throughput
        return {fork.fork: figure(fork) for fork in self.usable}

    @cached_property
    def cpu_us_per_request(self) -> dict[int, float]:
        """Of steps of rising rates, at the lowest: how many steps there are differs from executor to executor. Of a
        ramp that ends level, of its steady part."""
        steady = self._steady
        if steady:
            found = {block: one.cpu_us_per_request for block, one in steady.items()}
            return {block: figure for block, figure in found.items() if figure is not None}
        figure = fork_first_cpu_us if self._has_steps else stats.fork_cpu_us_per_request
        return {fork.fork: figure(fork) for fork in self.usable}

    @cached_property
    def _steady(self) -> dict[int, Steady]:
        return {fork.fork: found for fork in self.usable if (found := steady_part(fork)) is not None}

    @property
    def _has_steps(self) -> bool:
        return isinstance(self.record.load, StepsLoad)

    @cached_property
    def capacity_rps(self) -> dict[int, float]:
        """The highest rate that held, of the forks whose search came to its end."""
        return {fork.fork: held for fork in self.usable if (held := fork_capacity_rps(fork)) is not None}

    @cached_property
    def time_to_steady_s(self) -> dict[int, float]:
        """From the start of the process to 95 % of the steady performance, of the forks that showed both."""
        times = {fork.fork: fork.warmup.time_to_steady_s for fork in self.usable if fork.warmup}
        return {block: time_s for block, time_s in times.items() if time_s is not None}

    @cached_property
    def time_to_peak_s(self) -> dict[int, float]:
        """Of the forks that reached the peak of a rising load."""
        return {fork.fork: found for fork in self.usable if (found := fork_time_to_peak_s(fork)) is not None}

    @cached_property
    def knee_rps(self) -> dict[int, float]:
        """Of the forks that a rising load brought to their knee."""
        return {fork.fork: found for fork in self.usable if (found := fork_knee_rps(fork)) is not None}

    @cached_property
    def _fork_latencies(self) -> dict[int, Latency]:
        if isinstance(self.record.load, StepsLoad | RampLoad):
            return {}  # latencies of several rates together are those of none
        return {fork.fork: latency for fork in self.usable if (latency := fork_latency(fork)) is not None}

    @cached_property
    def p99_us(self) -> dict[int, float]:
        figures = {block: tail_checked(latency, "99") for block, latency in self._fork_latencies.items()}
        return {block: figure for block, figure in figures.items() if figure is not None}

    @cached_property
    def latency(self) -> Pooled | None:
        """None when no usable fork has the distribution that the load asks for."""
        if not self._fork_latencies:
            return None
        return pool(kind_of(self.usable[0].valid_windows[0]), list(self._fork_latencies.values()))

    @cached_property
    def rss_peak_bytes(self) -> dict[int, float]:
        return self._peak(lambda fork: [w.sut.rss_peak_bytes for w in fork.valid_windows])

    @cached_property
    def threads_peak(self) -> dict[int, float]:
        return self._peak(lambda fork: [w.sut.threads_peak for w in fork.valid_windows])

    def _peak(self, figures: Callable[[Fork], list[int]]) -> dict[int, float]:
        return {fork.fork: float(max(figures(fork))) for fork in self.usable}

    @property
    def status(self) -> Status | None:
        """The word for the whole cell; None when no fork of it has run."""
        statuses = [fork.status for fork in self.record.forks]
        if not statuses:
            return None
        if self.usable:
            return Status.NOT_STEADY if Status.NOT_STEADY in statuses else Status.OK
        return Status.INVALID if Status.INVALID in statuses else Status.FAILED

    @property
    def reasons(self) -> tuple[tuple[Reason, tuple[int, ...]], ...]:
        """Every distinct reason of forks and windows, with the forks that have it."""
        found: dict[tuple[str, str], tuple[Reason, list[int]]] = {}
        for fork in self.record.forks:
            for reason in (*fork.reasons, *(r for window in fork.windows for r in window.reasons)):
                _, forks = found.setdefault((reason.code, reason.message), (reason, []))
                if fork.fork not in forks:
                    forks.append(fork.fork)
        return tuple((reason, tuple(forks)) for reason, forks in found.values())


def summary_of(by_block: Mapping[int, float]) -> Summary | None:
    return stats.summarise(list(by_block.values())) if by_block else None


@dataclass(frozen=True)
class Metric:
    """A figure that executors are compared by."""

    id: str
    title: str
    more_is_better: bool
    by_block: Callable[[CellStats], Mapping[int, float]]

    @property
    def name(self) -> str:
        """As it stands inside a sentence."""
        return self.title if self.title[:3] in ("CPU", "p99") else self.title.lower()


THROUGHPUT = Metric("throughput", "Throughput", True, lambda cell: cell.throughput_rps)
CPU = Metric("cpu", "CPU per request", False, lambda cell: cell.cpu_us_per_request)
P99 = Metric("p99", "p99 latency", False, lambda cell: cell.p99_us)
SATURATED = Metric("saturated", "Throughput at saturation", True, lambda cell: cell.throughput_rps)
LOWEST_CPU = Metric("lowest-cpu", "CPU per request at the lowest rate", False, lambda cell: cell.cpu_us_per_request)
TIME_TO_PEAK = Metric("time-to-peak", "Time to peak throughput", False, lambda cell: cell.time_to_peak_s)
KNEE = Metric("knee", "Rate at the knee of p99", True, lambda cell: cell.knee_rps)
CAPACITY = Metric("capacity", "Rate held", True, lambda cell: cell.capacity_rps)


def metrics_of(load: CellLoad) -> tuple[Metric, ...]:
    """What executors under this load are compared by, the leading figure first (as stats.leading_by_block has it).

    A constant rate fixes the throughput. Where a rate was searched for, the latency of the closed loop before it is no
    answer to anything.
    """
    if isinstance(load, CapacityLoad):
        return (CAPACITY, THROUGHPUT, CPU)
    if isinstance(load, StepsLoad):
        return (SATURATED, LOWEST_CPU)
    if isinstance(load, RampLoad):
        return (TIME_TO_PEAK, THROUGHPUT, CPU) if load.ends_level else (KNEE,)
    return (CPU, P99) if isinstance(load, RateLoad) else (THROUGHPUT, CPU, P99)


def _paired(metric: Metric, cell: CellStats, base: CellStats) -> tuple[dict[int, float], dict[int, float]]:
    """Figures of both by block, less those of 0: they have no ratio."""
    arms = [{block: figure for block, figure in metric.by_block(one).items() if figure > 0} for one in (cell, base)]
    return arms[0], arms[1]


def compare(metric: Metric, cell: CellStats, base: CellStats, *, sequential: bool = False) -> Ratio | None:
    """`cell` over `base`, paired by block; `sequential`: as in paired_ratio."""
    return stats.paired_ratio(*_paired(metric, cell, base), sequential=sequential)


def block_logs(metric: Metric, cell: CellStats, base: CellStats) -> list[float]:
    """The logarithms of the ratios that `compare` summarises, in the order of their blocks."""
    return log_ratios(*_paired(metric, cell, base))


class Cells:
    """All cells of a run that have a server, those with a record to be found by their key; what has none is in
    report/alone."""

    def __init__(self, run: RunRecord, records: Iterable[CellRecord]) -> None:
        self._by_key = {record.key: CellStats(record) for record in records}
        self._sequential = run.stopping is not None
        planned = dict.fromkeys(key for key in run.cells if key.has_server)
        self.keys = (*planned, *(key for key in self._by_key if key not in planned))

    def get(self, key: CellKey) -> CellStats | None:
        return self._by_key.get(key)

    def __iter__(self) -> Iterator[CellStats]:
        return iter(cell for key in self.keys if (cell := self._by_key.get(key)))

    def compared(self) -> Iterator[tuple[CellStats, CellStats]]:
        """Every cell beside the one that its executor is compared with."""
        for cell in self:
            base = self.get(cell.key.model_copy(update={"executor": reference(cell.key.executor)}))
            if base is not None and base is not cell:
                yield cell, base

    def leading(self, key: CellKey) -> Metric:
        """What this cell is compared by first."""
        cell = self.get(key)
        return metrics_of(cell.record.load)[0] if cell else THROUGHPUT

    def ratio(self, metric: Metric, key: CellKey, base_executor: str) -> Ratio | None:
        """`key` over the same cell on another executor; None when one of them has no usable fork."""
        cell = self.get(key)
        base = self.get(key.model_copy(update={"executor": base_executor}))
        return compare(metric, cell, base, sequential=self._sequential) if cell and base else None
