"""One cell: figures per fork, over its forks, and compared with the same cell on another executor. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, Literal

from jdkmatrix.domain.applications import applications
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import references
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.experiments.base import Experiment, Seen, Spread
from jdkmatrix.experiments.kinds import table_of
from jdkmatrix.figures.fork_figures import (
    FigureOf,
    Kind,
    OverForks,
    comparable,
    distribution_of,
    fork_latency,
    lower_bounds,
    overall,
)
from jdkmatrix.figures.metrics import BY_ID, THROUGHPUT, Metric, metrics_in, metrics_of
from jdkmatrix.figures.paired import least_error_of, paired_figures
from jdkmatrix.loads.attainment import ForkOutcome, OutcomeCounts, attained, fate
from jdkmatrix.loads.base import ForkFigure, LoadKind, Question, held
from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency, SpectrumPoint
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.words.sentences import State
from jdkmatrix.stats.intervals import CONFIDENCE, nominal_confidence
from jdkmatrix.stats.percentiles import Percentile, are_bounds, merge_latencies, percentiles_over_forks
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.stats.verdicts import Losses, losses_among
from jdkmatrix.store.cells import CellRecord

MAX_CURVE_POINTS = 80


@dataclass(frozen=True)
class Pooled:
    """All requests of a cell. `percentiles`: those with enough slower requests. `histogram`: of all requests, as the
    driver encodes it; None where it writes none, and so nothing here is exact. `fell_short`: in so many of its `forks`
    the server did not do all that it was asked for, so that percentiles are at least these; `lower_bounds`: so many
    requests stand in it with the time that they had waited for an answer, None where the driver leaves such requests
    out."""

    kind: Kind
    count: int
    percentiles: Mapping[str, Percentile]
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None
    forks: int
    fell_short: int
    lower_bounds: int | None

    def is_bound(self, percent: str) -> bool:
        """Is that percentile at least what it says?"""
        return self.fell_short > 0 or are_bounds(self.lower_bounds or 0, self.count, percent)


def pool(kind: Kind, found: Sequence[tuple[Fork, Latency]], confidence: float = CONFIDENCE) -> Pooled:
    """`found`: what `fork_latency` gave for each, at least one; `confidence`: the nominal one of the intervals."""
    forks = [latency for _, latency in found]
    merged = merge_latencies(forks)
    bounds = [told for fork, _ in found if (told := lower_bounds(fork)) is not None]
    return Pooled(
        kind=kind,
        count=merged.count,
        percentiles=percentiles_over_forks(forks, merged, confidence),
        spectrum=_thin(merged.spectrum),
        histogram=merged.histogram,
        forks=len(forks),
        fell_short=sum(not held(fork) for fork, _ in found),
        lower_bounds=sum(map(sum, bounds)) if bounds else None,
    )


def _thin(points: Sequence[SpectrumPoint]) -> tuple[SpectrumPoint, ...]:
    """At most MAX_CURVE_POINTS, the first and the last among them."""
    if len(points) <= MAX_CURVE_POINTS:
        return tuple(points)
    step = (len(points) - 1) / (MAX_CURVE_POINTS - 1)
    return tuple(points[round(i * step)] for i in range(MAX_CURVE_POINTS))


def protocol_of(cells: Iterable[CellStats]) -> str:
    """How the usable forks were measured."""
    turned = {bool(fork.together) for cell in cells for fork in cell.usable}
    return "interleaved" if turned == {True} else "partly interleaved" if True in turned else "separate"


Figures = Mapping[int, ForkFigure]  # by block


@dataclass(frozen=True)
class CellStats:
    """A cell with at least its record. Figures come from usable forks only; per fork they are keyed by block.

    `planned`: forks that the run was to have; fewer than there are say nothing. `confidence`: the nominal one of
    its intervals.
    """

    record: CellRecord
    planned: int = 0
    confidence: float = CONFIDENCE

    @property
    def key(self) -> CellKey:
        return self.record.key

    @property
    def load(self) -> AnyLoad:
        return self.record.load

    @cached_property
    def usable(self) -> tuple[Fork, ...]:
        return tuple(fork for fork in self.record.forks if fork.usable)

    @property
    def not_steady(self) -> int:
        """So many of the usable forks."""
        return sum(fork.status is Status.NOT_STEADY for fork in self.usable)

    @cached_property
    def driver(self) -> str | None:
        """The driver of its load, the same for every fork that stands; None where none has a window."""
        return next((name for fork in self.record.forks if (name := fork.driver)), None)

    @property
    def forks(self) -> int:
        """Those that were planned, run or not."""
        return max(self.planned, len(self.record.forks))

    @cached_property
    def kind(self) -> LoadKind[Any]:
        """All that its load decides."""
        return kind_of(self.load)

    @property
    def is_program(self) -> bool:
        """Is it of an experiment without a server? Then its state is the best of its forks'."""
        return isinstance(self.load, TaskLoad)

    @property
    def does_nothing(self) -> bool:
        """Does its application answer at once, where no work and no waiting is asked for?"""
        application = applications().get(self.record.parameters.get("application", ""))
        return application is not None and application.does_nothing

    @property
    def question(self) -> Question:
        return self.kind.question

    @cached_property
    def attained(self) -> OutcomeCounts:
        """How many forks did what the load asks."""
        return attained(self.record.forks, self.load, planned=self.forks)

    @cached_property
    def _known(self) -> dict[FigureOf, Figures]:
        return {}

    def figures(self, metric: Metric) -> Figures:
        """By block, of the usable forks that have it."""
        if metric.of not in self._known:
            told = ((fork.fork, metric.of(fork, self.load)) for fork in self.usable)
            self._known[metric.of] = {block: figure for block, figure in told if figure is not None}
        return self._known[metric.of]

    def mean(self, metric: Metric) -> OverForks | None:
        """Over forks, in the figure's own unit; None where no usable fork has it."""
        return self._overall(metric, "mean")

    def over_forks(self, metric: Metric) -> OverForks | None:
        """What stands for several forks, in the unit that is shown; None where no usable fork has it."""
        over = self._overall(metric, metric.over_forks)
        return over.scaled(metric.scale) if over else None

    def _overall(self, metric: Metric, by: Literal["mean", "most", "median"]) -> OverForks | None:
        figures = self.figures(metric).values()
        least = least_error_of(metric, (self.load, [figure.value for figure in figures]))
        return overall(figures, by, self.confidence, least)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """All that it may have, the leading one first."""
        return metrics_in(self.record)

    def metric(self, metric_id: str) -> Metric | None:
        """None where its forks have no such figure."""
        if not self.is_program:
            return BY_ID.get(metric_id)
        return next((metric for metric in self.metrics if metric.id == metric_id), None)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """Metrics whose median over forks is shown, the leading one first."""
        medians = (metric for metric in self.metrics if metric.over_forks == "median")
        return tuple(found for metric in medians if (found := self._spread(metric)))

    def _spread(self, metric: Metric) -> Spread | None:
        """With what is expected; None where no usable fork has it."""
        over = self.over_forks(metric)
        if over is None:
            return None
        told = (one.expected for fork in self.usable for one in fork.readings if one.metric == metric.id)
        expected = [one for one in told if one is not None]
        return Spread(
            *(metric.id, metric.title, metric.unit, over.value, over.least.value, over.most.value, over.forks),
            expected=median(expected) if expected else None,
            sign=over.bound.value if over.bound else "",
        )

    def spread(self, metric_id: str) -> Spread | None:
        return next((one for one in self.spreads if one.name == metric_id), None)

    @cached_property
    def table(self) -> Experiment | None:
        """An experiment's table of matrix.toml; None where its file does not say, or it is none."""
        return table_of(self.record.parameters)

    @property
    def results(self) -> tuple[ProgramResult, ...]:
        """Its program's answers, fork by fork."""
        return tuple(fork.result for fork in self.record.forks if fork.result)

    @property
    def seen(self) -> list[Seen]:
        """By its program, in its usable forks."""
        return [fork.result.seen for fork in self.usable if fork.result and fork.result.seen is not None]

    @property
    def tasks(self) -> TaskLoad:
        """Those that its program was given. Raises: TypeError: it has none."""
        if isinstance(self.load, TaskLoad):
            return self.load
        raise TypeError(f"{self.key.cell_id} is loaded by a driver")

    def by_block(self, metric: Metric) -> dict[int, float]:
        """The forks' figures that may stand in a ratio."""
        return comparable(self.figures(metric))

    @property
    def failed_requests(self) -> int:
        """In the valid windows of usable forks."""
        return sum(window.load.failed for fork in self.usable for window in fork.valid_windows)

    @cached_property
    def latency(self) -> Pooled | None:
        """None when no usable fork has the distribution that the load asks for."""
        told = ((fork, fork_latency(fork)) for fork in self.usable) if self.kind.one_level else ()
        found = [(fork, latency) for fork, latency in told if latency is not None]
        return pool(distribution_of(self.usable[0].valid_windows[0]), found, self.confidence) if found else None

    @cached_property
    def state(self) -> State:
        statuses = {fork.status for fork in self.record.forks}
        best = (state for state in (State.OK, State.INVALID, State.FAILED) if state.value in statuses)
        if self.is_program or not statuses:
            return next(best, State.NOT_MEASURED)
        if not self.usable:
            measured = statuses & {Status.OK, Status.NOT_STEADY}
            return State.FELL_SHORT if measured else next(best, State.FAILED)
        if len(self.usable) < self.forks:
            return State.PARTLY
        if self.fell_short:
            return State.FELL_SHORT
        return State.NOT_STEADY if Status.NOT_STEADY in statuses else State.OK

    @cached_property
    def fell_short(self) -> bool:
        """Did the server not do what it was asked for, in any fork?"""
        return any(map(self.fork_fell_short, self.record.forks))

    def fork_fell_short(self, fork: Fork) -> bool:
        """Did one of its forks? Loads that go on until the server cannot are no trouble."""
        if self.is_program or self.question.is_sought or fork.status not in (Status.OK, Status.NOT_STEADY):
            return False
        return fate(fork, self.load) is ForkOutcome.NO or not (self.kind.overloads or held(fork))


@dataclass(frozen=True)
class Comparison:
    """One figure of a cell over that of another. `ratio`: None where no block has both. `pairs`: both figures of every
    block that has both."""

    metric: Metric
    cell: CellStats
    base: CellStats
    ratio: Ratio | None
    pairs: Mapping[int, tuple[float, float]]
    losses: Losses

    @property
    def logs(self) -> list[float]:
        """The logarithms of the ratios that `ratio` summarises, in the order of their blocks."""
        return [math.log(above) - math.log(below) for above, below in self.pairs.values()]


def losses_of(metric: Metric, cell: CellStats, base: CellStats) -> Losses:
    """Forks of either whose figure may stand in no ratio."""
    return losses_among((cell.forks, cell.by_block(metric)), (base.forks, base.by_block(metric)))


def ordered_forks(run: RunRecord) -> Counter[str]:
    """By the id of the cell. Later attempts stand in the place of the first: "CELL_ID#2.2" in that of "CELL_ID#2"."""
    places = {label.rpartition("#")[::2] for label in run.order}
    return Counter(cell for cell, _ in {(cell, fork.partition(".")[0]) for cell, fork in places})


def planned_forks(run: RunRecord) -> Counter[str]:
    """By the id of the cell. Of a run that was cut off, the order has what might have run, and nothing is known."""
    return ordered_forks(run) if run.status == "complete" else Counter()


class Cells:
    """All cells of a run that have a server, or all without one; those with a record are found by their key.
    `relevant`: the share from which on a difference matters, as precisely as the run promises to know ratios;
    `confidence`: the nominal one of its intervals."""

    def __init__(self, run: RunRecord, records: Iterable[CellRecord], *, served: bool = True) -> None:
        forks, self.run = planned_forks(run), run
        mine = (record for record in records if record.key.has_server == served)
        self._sequential = run.stopping is not None
        self.confidence = nominal_confidence(sequential=self._sequential)
        self._by_key = {record.key: CellStats(record, forks[record.key.cell_id], self.confidence) for record in mine}
        self.relevant = run.promised_precision
        planned = (key for key in run.testable if key.has_server == served)
        own = {key: key for key in self._by_key}  # these very objects, which are found without comparing their values
        self.keys = tuple(own.get(key, key) for key in dict.fromkeys((*planned, *own)))

    def get(self, key: CellKey) -> CellStats | None:
        return self._by_key.get(key)

    def some(self, keys: Iterable[CellKey]) -> tuple[CellStats, ...]:
        """Those of them that have a record."""
        return tuple(cell for key in keys if (cell := self._by_key.get(key)))

    def peers(self, key: CellKey) -> Sequence[CellKey]:
        """Those that differ from it in nothing but the executor, and itself."""
        return self._groups.get(key.group, ())

    def stands_for_virtual(self, key: CellKey) -> bool:
        """Is it the arm whose ratio to the pool answers for virtual threads? Those by the server's own switch, or
        `virtual` where they were not asked for beside it."""
        usual = virtual_of(key.server)
        return key.executor == (usual if any(peer.executor == usual for peer in self.peers(key)) else "virtual")

    @cached_property
    def _groups(self) -> Mapping[CellKey, Sequence[CellKey]]:
        return grouped((key.group, key) for key in self.keys)

    @cached_property
    def _references(self) -> Mapping[CellKey, Mapping[str, str]]:
        return {group: references((key.executor for key in keys), group.server) for group, keys in self._groups.items()}

    def reference(self, key: CellKey) -> str:
        """The executor that this cell is compared with; its own where others are compared with it."""
        return self._references[key.group][key.executor]

    def is_reference(self, key: CellKey) -> bool:
        """Are others compared with it?"""
        return any(peer != key and self.reference(peer) == key.executor for peer in self.peers(key))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The run’s executors, with and without a server: the place of one is its colour."""
        return executor_order(key.executor for key in (*self.run.cells, *self.keys))

    @property
    def references(self) -> str:
        """The executors that others are compared with: "liberty", "liberty or virtual"."""
        found = [(self.reference(key), own_pool(key.server)) for key in self.keys]
        pools = [pool for base, pool in found if base == pool]
        return " or ".join(dict.fromkeys((*pools, *(base for base, _ in found))))

    def __iter__(self) -> Iterator[CellStats]:
        return iter(self.some(self.keys))

    def compared(self) -> Iterator[tuple[CellStats, CellStats]]:
        """Every cell beside the one that its executor is compared with."""
        for cell in self:
            base = self.get(self._base(cell.key))
            if base is not None and base is not cell:
                yield cell, base

    def leading(self, key: CellKey) -> Metric:
        """The metric by which this cell is compared first."""
        cell = self.get(key)
        return metrics_of(cell.load)[0] if cell else THROUGHPUT

    def _base(self, key: CellKey) -> CellKey:
        return key.model_copy(update={"executor": self.reference(key)})

    def over(self, metric: Metric, key: CellKey, base_key: CellKey | None = None) -> Comparison | None:
        """`key` over another cell, by default the one that its executor is compared with, paired by block; None when
        one of them has no record."""
        cell, base = self.get(key), self.get(base_key or self._base(key))
        if cell is None or base is None:
            return None
        above, below = paired_figures(metric, cell.record, base.record)
        least = least_error_of(metric, (cell.load, above.values()), (base.load, below.values()))
        ratio = paired_ratio(above, below, sequential=self._sequential, least=least)
        pairs = {block: (above[block], below[block]) for block in sorted(above.keys() & below.keys())}
        return Comparison(metric, cell, base, ratio, pairs, losses_of(metric, cell, base))
