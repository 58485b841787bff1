"""One cell: figures per fork, over its forks, and compared with the same cell on another executor. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    OverForks,
    arm_forks,
    comparable,
    distribution_of,
    fork_latency,
    overall,
)
from jdkmatrix.figures.metrics import BY_ID, THROUGHPUT, Metric, metrics_in, metrics_of
from jdkmatrix.figures.paired import least_error_of, paired_figures
from jdkmatrix.loads.attainment import ForkOutcome, OutcomeCounts, attained, fate
from jdkmatrix.loads.base import ForkFigure, LoadKind, Question, held
from jdkmatrix.loads.kinds import AnyLoad, kind_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.pooled import Pooled, pool
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.words.sentences import State
from jdkmatrix.stats.intervals import CONFIDENCE, nominal_confidence
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.stats.verdicts import ArmForks, Losses, losses_among
from jdkmatrix.store.cells import CellRecord


def protocol_of(cells: Iterable[CellStats]) -> str:
    """Say how the usable forks were measured."""
    turned = {bool(fork.together) for cell in cells for fork in cell.usable}
    return "interleaved" if turned == {True} else "partly interleaved" if True in turned else "separate"


Figures = Mapping[int, ForkFigure]  # by block


@dataclass(frozen=True)
class CellStats:
    """A cell with at least its record. Figures come from usable forks only; per fork they are keyed by block.

    `planned`: how many forks the run was to have; ignored where there are more. `confidence`: the nominal one of
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
        """The number of usable forks that were not steady."""
        return sum(fork.status is Status.NOT_STEADY for fork in self.usable)

    @cached_property
    def driver(self) -> str | None:
        """The driver of its load, the same for every fork in the record; None where none has a window."""
        return next((name for fork in self.record.forks if (name := fork.driver)), None)

    @property
    def forks(self) -> int:
        """The number of forks that were planned, run or not."""
        return max(self.planned, len(self.record.forks))

    @cached_property
    def kind(self) -> LoadKind[Any]:
        """Everything that its load decides."""
        return kind_of(self.load)

    @property
    def is_program(self) -> bool:
        """True if it is of an experiment without a server; its state is then the best of its forks'."""
        return isinstance(self.load, TaskLoad)

    @property
    def does_nothing(self) -> bool:
        """True if its application answers at once where no work and no waiting is asked for."""
        application = applications().get(self.record.parameters.get("application", ""))
        return application is not None and application.does_nothing

    @property
    def question(self) -> Question:
        return self.kind.question

    @cached_property
    def attained(self) -> OutcomeCounts:
        """The numbers of forks that did what the load asks, that did not, and that were lost."""
        return attained(self.record.forks, self.load, planned=self.forks)

    @cached_property
    def _known(self) -> dict[FigureOf, Figures]:
        return {}

    def figures(self, metric: Metric) -> Figures:
        """Return the figures of the usable forks that have one, by block."""
        if metric.of not in self._known:
            told = ((fork.fork, metric.of(fork, self.load)) for fork in self.usable)
            self._known[metric.of] = {block: figure for block, figure in told if figure is not None}
        return self._known[metric.of]

    def mean(self, metric: Metric) -> OverForks | None:
        """Return the mean over forks, in the figure's own unit; None where no usable fork has it."""
        return self._overall(metric, "mean")

    def over_forks(self, metric: Metric) -> OverForks | None:
        """Return the value that stands for several forks, in the unit shown; None where no usable fork has it."""
        over = self._overall(metric, metric.over_forks)
        return over.scaled(metric.scale) if over else None

    def _overall(self, metric: Metric, by: Literal["mean", "most", "median"]) -> OverForks | None:
        figures = self.figures(metric).values()
        least = least_error_of(metric, (self.load, [figure.value for figure in figures]))
        return overall(figures, by, self.confidence, least)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """All metrics that it may have, the leading one first."""
        return metrics_in(self.record)

    def metric(self, metric_id: str) -> Metric | None:
        """Return the metric with this id; None where its forks have no such figure."""
        if not self.is_program:
            return BY_ID.get(metric_id)
        return next((metric for metric in self.metrics if metric.id == metric_id), None)

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """Metrics whose median over forks is shown, the leading one first."""
        medians = (metric for metric in self.metrics if metric.over_forks == "median")
        return tuple(found for metric in medians if (found := self._spread(metric)))

    def _spread(self, metric: Metric) -> Spread | None:
        """Return the spread, with the expected value; None where no usable fork has the figure."""
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
        """The table of matrix.toml of an experiment; None where the file does not say, or it is no experiment."""
        return table_of(self.record.parameters)

    @property
    def results(self) -> tuple[ProgramResult, ...]:
        """Its program's answers, fork by fork."""
        return tuple(fork.result for fork in self.record.forks if fork.result)

    @property
    def seen(self) -> list[Seen]:
        """The observations of its program in its usable forks."""
        return [fork.result.seen for fork in self.usable if fork.result and fork.result.seen is not None]

    @property
    def tasks(self) -> TaskLoad:
        """The tasks that its program was given. Raises: TypeError: it has none."""
        if isinstance(self.load, TaskLoad):
            return self.load
        raise TypeError(f"{self.key.cell_id} is loaded by a driver")

    def by_block(self, metric: Metric) -> dict[int, float]:
        """Return the forks' figures that may enter a ratio, by block."""
        return comparable(self.figures(metric))

    def among(self, blocks: Collection[int]) -> CellStats:
        """Return the cell with its forks of these blocks alone; itself where it has none of them."""
        forks = tuple(fork for fork in self.record.forks if fork.fork in blocks)
        return replace(self, record=self.record.model_copy(update={"forks": forks})) if forks else self

    def arm_forks(self, metric: Metric) -> ArmForks:
        return arm_forks(self.forks, self.record.forks, self.load, self.figures(metric))

    @property
    def failed_requests(self) -> int:
        """The number of requests that failed in the valid windows of usable forks."""
        return sum(window.load.failed for fork in self.usable for window in fork.valid_windows)

    @cached_property
    def latency(self) -> Pooled | None:
        """The latencies pooled; None when no usable fork has the distribution that the load asks for."""
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
        """True if, in any fork, the server did not do what it was asked for."""
        return any(map(self.fork_fell_short, self.record.forks))

    def fork_fell_short(self, fork: Fork) -> bool:
        """Return whether one of its forks fell short; never under a load that goes on until the server cannot."""
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
    """Count the forks of either whose figure may not enter a ratio."""
    return losses_among(cell.arm_forks(metric), base.arm_forks(metric))


def ordered_forks(run: RunRecord) -> Counter[str]:
    """Count the forks by cell id. Later attempts take the place of the first: "CELL_ID#2.2" that of "CELL_ID#2"."""
    places = {label.rpartition("#")[::2] for label in run.order}
    return Counter(cell for cell, _ in {(cell, fork.partition(".")[0]) for cell, fork in places})


def planned_forks(run: RunRecord) -> Counter[str]:
    """Count the planned forks by cell id; none of an incomplete run, whose order has what might have run."""
    return ordered_forks(run) if run.status == "complete" else Counter()


class Cells:
    """All cells of a run that have a server, or all without one; those with a record are found by their key.
    `relevant`: the share from which a difference matters, which is the precision that the run promises for ratios;
    `confidence`: the nominal one of its intervals."""

    def __init__(self, run: RunRecord, records: Iterable[CellRecord], *, served: bool = True) -> None:
        forks, self.run = planned_forks(run), run
        mine = (record for record in records if record.key.has_server == served)
        self._sequential = run.stopping is not None
        self.confidence = nominal_confidence(sequential=self._sequential)
        self._by_key = {record.key: CellStats(record, forks[record.key.cell_id], self.confidence) for record in mine}
        self.relevant = run.promised_precision
        planned = (key for key in run.testable if key.has_server == served)
        own = {key: key for key in self._by_key}  # the same objects, which are found without comparing their values
        self.keys = tuple(own.get(key, key) for key in dict.fromkeys((*planned, *own)))

    def get(self, key: CellKey) -> CellStats | None:
        return self._by_key.get(key)

    def some(self, keys: Iterable[CellKey]) -> tuple[CellStats, ...]:
        """Return the cells among them that have a record."""
        return tuple(cell for key in keys if (cell := self._by_key.get(key)))

    def peers(self, key: CellKey) -> Sequence[CellKey]:
        """Return the keys that differ from it only in the executor, and itself."""
        return self._groups.get(key.group, ())

    def stands_for_virtual(self, key: CellKey) -> bool:
        """Return whether its ratio to the pool answers for virtual threads: the arm with the server's own switch, or
        `virtual` where that one was not asked for beside it."""
        usual = virtual_of(key.server)
        return key.executor == (usual if any(peer.executor == usual for peer in self.peers(key)) else "virtual")

    @cached_property
    def _groups(self) -> Mapping[CellKey, Sequence[CellKey]]:
        return grouped((key.group, key) for key in self.keys)

    @cached_property
    def _references(self) -> Mapping[CellKey, Mapping[str, str]]:
        return {group: references((key.executor for key in keys), group.server) for group, keys in self._groups.items()}

    def reference(self, key: CellKey) -> str:
        """Return the executor that this cell is compared with; its own where others are compared with it."""
        return self._references[key.group][key.executor]

    def is_reference(self, key: CellKey) -> bool:
        """Return whether others are compared with it."""
        return any(peer != key and self.reference(peer) == key.executor for peer in self.peers(key))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The run’s executors, with and without a server: the place of each gives its colour."""
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
        """Yield every cell together with the one that its executor is compared with."""
        for cell in self:
            base = self.get(self._base(cell.key))
            if base is not None and base is not cell:
                yield cell, base

    def leading(self, key: CellKey) -> Metric:
        """Return the metric by which this cell is compared first."""
        cell = self.get(key)
        return metrics_of(cell.load)[0] if cell else THROUGHPUT

    def _base(self, key: CellKey) -> CellKey:
        return key.model_copy(update={"executor": self.reference(key)})

    def over(self, metric: Metric, key: CellKey, base_key: CellKey | None = None) -> Comparison | None:
        """Compare `key` with another cell, by default the one that its executor is compared with, paired by block; None
        when one of them has no record."""
        cell, base = self.get(key), self.get(base_key or self._base(key))
        if cell is None or base is None:
            return None
        above, below = paired_figures(metric, cell.record, base.record)
        least = least_error_of(metric, (cell.load, above.values()), (base.load, below.values()))
        ratio = paired_ratio(above, below, sequential=self._sequential, least=least)
        pairs = {block: (above[block], below[block]) for block in sorted(above.keys() & below.keys())}
        return Comparison(metric, cell, base, ratio, pairs, losses_of(metric, cell, base))
