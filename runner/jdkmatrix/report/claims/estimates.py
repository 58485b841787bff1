"""Estimates of the figure that a check of a claim looks at, from the cells of a run. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from statistics import fmean

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import BY_ID, OF_EXPERIMENTS, P99, Metric
from jdkmatrix.figures.paired import least_error_of
from jdkmatrix.figures.refusals import one_sided_among
from jdkmatrix.loads.attainment import ForkOutcome, fate
from jdkmatrix.loads.base import Bound
from jdkmatrix.records.claims import ClaimCheck, Precondition
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.cells.judgements import Refusals, page_pairs
from jdkmatrix.report.words.sentences import cell_words, refusals_words
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.stats.ratios import Ratio, least_error, paired_ratio
from jdkmatrix.stats.verdicts import ArmForks, losses_among
from jdkmatrix.store.loaded import measuring_sessions

_LOST = "the two lost different numbers of forks, so they are not compared"


class _NoEstimateError(Exception):
    """There is no estimate; the message says why."""


class Results:
    """`refusals`: pairs of which gates refused one arm more often, and which are not compared."""

    def __init__(self, run: RunRecord, cells: Cells, experiments: Cells, refusals: Refusals) -> None:
        self.run, self._refusals = run, refusals
        self._cells = {True: cells, False: experiments}  # by whether they have a server
        self.keys = (*cells.keys, *experiments.keys)
        self._sequential = run.stopping is not None
        self._confidence = cells.confidence
        measuring = measuring_sessions(run, (one.record for one in (*cells, *experiments)))
        self.kernels = tuple(dict.fromkeys(one.host.kernel for one in measuring or run.sessions))
        self.builds = {jdk.id: jdk.version for jdk in run.jdks}
        self.releases = {server.id: server.version for server in run.servers}

    def cell(self, key: CellKey) -> CellStats | None:
        return self._cells[key.has_server].get(key)

    def unit(self, check: ClaimCheck, keys: Sequence[CellKey]) -> str:
        """Return the unit in which the figure of a check is shown, in the cells that it looks at."""
        cells = [cell for key in keys if (cell := self.cell(key))]
        found = (metric for cell in cells if (metric := cell.metric(check.metric)))
        metric = next(found, None if cells else self._never_measured(check))
        return metric.unit if metric else ""

    def _never_measured(self, check: ClaimCheck) -> Metric | None:
        """Return the figure of a check for whose cells this run has no record: some figures of experiments share their
        names with those of servers."""
        experiments = self.run.matrix.get("experiments") or {}
        of_programs = any(fnmatchcase(name, one) for one in check.where.workload or () for name in experiments)
        mine = (metric for metric in OF_EXPERIMENTS.values() if metric.id == check.metric)
        return next(mine, None) if of_programs else BY_ID.get(check.metric)

    def estimate(self, check: ClaimCheck, key: CellKey) -> Estimate | str:
        """Return the estimate, or why there is none."""
        try:
            if check.versus_vendor is not None:
                return self._beside_vendor(check, key, check.versus_vendor)
            return self._of_cell(check, key, _base(check, key))
        except _NoEstimateError as why:
            return str(why)

    def _of_cell(self, check: ClaimCheck, key: CellKey, base_key: CellKey | None) -> Estimate:
        if base_key is not None:
            self._demand_no_refusals(key, base_key)
        cell = self.cell(key)
        metric = cell.metric(check.metric) if cell else None
        if metric is None or cell is None or not cell.usable:
            raise _NoEstimateError(f"no usable fork{'' if metric or cell is None else ' has it'}")
        if base_key is None:
            return self._of_figures(cell, metric)
        base = self._usable(base_key)
        if _has_bounds(metric, cell, base):
            return self._bounded(cell, base, metric, difference=check.difference)
        if check.difference:
            arms = [(one, _comparable(one, metric)) for one in (cell, base)]
            if losses_among(*(_arm(one, metric, figures) for one, figures in arms)).differ:
                raise _NoEstimateError(_LOST)
            return self._difference(metric, *arms)
        return self._of_ratio(self._compared(metric, key, base_key).ratio)

    def _demand_no_refusals(self, key: CellKey, base_key: CellKey) -> None:
        """Raise where gates refused one of two cells more often, whichever of them the page has as the numerator; two
        that it does not compare are a family of their own."""
        cell, base = self.cell(key), self.cell(base_key)
        if cell is None or base is None:
            return
        refusals = self._refusals
        if frozenset((key, base_key)) not in self._on_page:
            refusals = one_sided_among([((key, base_key), cell.record, base.record)])
        for one, other in ((key, base_key), (base_key, key)):
            if found := refusals.get((one, other)):
                alike = one.executor == other.executor
                words = refusals_words(found, *(cell_words(arm) if alike else arm.executor for arm in (one, other)))
                raise _NoEstimateError(f"not compared, since {words}: they may be reacting to what is compared")

    @cached_property
    def _on_page(self) -> frozenset[frozenset[CellKey]]:
        """The pairs that the page compares."""
        pairs = page_pairs(self._cells[True], self._cells[False])
        return frozenset(frozenset((cell.key, base.key)) for cell, base in pairs)

    def _usable(self, key: CellKey) -> CellStats:
        cell = self.cell(key)
        if cell is None or not cell.usable:
            raise _NoEstimateError(f"no usable fork of {cell_words(key)}")
        return cell

    def seen(self, needed: Precondition, key: CellKey, checked: str) -> tuple[str, float | None, str, frozenset[Bound]]:
        """Return the name of the figure that is needed, the figure over the usable forks of a cell, its unit, and which
        bounds are in it; None where no fork has it. For a peak, it is that of the fork that decides. `checked`: the
        metric of the check; what is needed of bounds is looked for in the forks in which that is one."""
        name = name_of(needed.metric)
        cell = self.cell(key)
        if cell and needed.of_bounds and (judged := cell.metric(checked)):
            cell = cell.among([one for one, figure in cell.figures(judged).items() if figure.bound is not Bound.NONE])
        metric = cell.metric(needed.metric) if cell else None
        if cell is None or metric is None or (over := cell.over_forks(metric)) is None:
            return name, None, "", frozenset()
        value = over.value
        if metric is P99 and cell.latency is not None and (p99 := cell.latency.percentiles.get("99")) is not None:
            bound = cell.latency.bound("99")
            value = p99.merged_us * metric.scale
            return (name, None, "", frozenset()) if bound is None else (name, value, metric.unit, frozenset({bound}))
        if metric.over_forks == "most" and needed.low is not None:
            name, value = f"{name} (least of the forks)", over.least.value
        return name, value, metric.unit, frozenset(figure.bound for figure in cell.figures(metric).values())

    def _compared(self, metric: Metric, key: CellKey, base_key: CellKey) -> Comparison:
        for one in (key, base_key):
            self._usable(one)
        compared = self._cells[key.has_server].over(metric, key, base_key)
        if compared and any(0 in _comparable(cell, metric).values() for cell in (compared.cell, compared.base)):
            raise _NoEstimateError("the figure of a fork is 0, which has no ratio")
        if compared is None or compared.losses.differ:
            raise _NoEstimateError(_LOST)
        return compared

    def _beside_vendor(self, check: ClaimCheck, key: CellKey, vendor: str) -> Estimate:
        """Estimate the ratio of a cell over that of the same cell on the vendor's JDK."""
        both = [self._beside_versus(check, one) for one in (key, _of_vendor(key, vendor))]
        mine, other = ({block: above / below for block, (above, below) in one.pairs.items()} for one in both)
        least = math.hypot(*(one.ratio.least_error for one in both if one.ratio))
        return self._of_ratio(
            paired_ratio(mine, other, sequential=self._sequential, least=least), "no block has both JDKs"
        )

    def _beside_versus(self, check: ClaimCheck, key: CellKey) -> Comparison:
        cell, base_key = self.cell(key), key.model_copy(update={"executor": check.versus})
        metric = cell.metric(check.metric) if cell else BY_ID.get(check.metric)
        self._demand_no_refusals(key, base_key)
        if metric is None:
            raise _NoEstimateError("no such figure")
        if _has_bounds(metric, *filter(None, (cell, self.cell(base_key)))):
            raise _NoEstimateError("some forks have only a bound, and two ratios of bounds cannot be compared")
        return self._compared(metric, key, base_key)

    def _of_figures(self, cell: CellStats, metric: Metric) -> Estimate:
        """Estimate over all forks that are not lost to a fault: those that did well are no fair sample of them."""
        told = {block: figure for block, figure in cell.figures(metric).items() if figure.comparable}
        if not told:
            raise _NoEstimateError(metric.missing)
        forks = [fork.fork for fork in cell.record.forks if fork.usable or fate(fork, cell.load) is ForkOutcome.NO]
        if without := [fork for fork in forks if fork not in told]:
            raise _NoEstimateError(
                f"{len(without)} of {plural(len(forks), 'fork')} have no such figure, and not by a fault of the host "
                "or the measurement; the others are not a fair sample"
            )
        side, values = _side(figure.bound for figure in told.values()), [figure.value for figure in told.values()]
        least = _least(metric, (cell, values)) if side is Bound.NONE else 0.0  # a bound is not read in steps
        return _one_sided(self._mean([value * metric.scale for value in values], least), side)

    def _bounded(self, cell: CellStats, base: CellStats, metric: Metric, *, difference: bool) -> Estimate:
        """Estimate where some figures are bounds: what is made of two of a block is one too, and so over all blocks."""
        above, below = cell.figures(metric), base.figures(metric)
        # A bound is a figure here.
        if losses_among(*(_arm(one, metric, figures) for one, figures in ((cell, above), (base, below)))).differ:
            raise _NoEstimateError(_LOST)
        both = [
            block
            for block in sorted(above.keys() & below.keys())
            if all(one[block].comparable and one[block].value > 0 for one in (above, below))
        ]
        mine, other = (_side(one[block].bound for block in both) for one in (above, below))
        if mine is other and mine is not Bound.NONE:
            raise _NoEstimateError(f"both have only {_SIDES[mine]} bounds, which cannot be compared")
        side = _side((mine, _OTHER_WAY[other]))
        arms = [{block: one[block].value for block in both} for one in (above, below)]
        if difference:
            return _one_sided(self._difference(metric, *zip((cell, base), arms, strict=True)), side)
        least = least_error_of(metric, *((one.load, arm.values()) for one, arm in zip((cell, base), arms, strict=True)))
        ratio = paired_ratio(*arms, sequential=self._sequential, least=least)
        return _one_sided(self._of_ratio(ratio), side)

    def _difference(self, metric: Metric, *arms: tuple[CellStats, Mapping[int, float]]) -> Estimate:
        (_, above), (_, below) = arms
        both = sorted(above.keys() & below.keys())
        if not both:
            raise _NoEstimateError("no block has both")
        least = _least(metric, *((cell, [arm[block] for block in both]) for cell, arm in arms))
        return self._mean([(above[block] - below[block]) * metric.scale for block in both], least)

    def _mean(self, values: Sequence[float], least: float) -> Estimate:
        """Estimate the mean. `least`: as in mean_interval."""
        low, high = mean_interval(values, self._confidence, least) or (None, None)
        return Estimate(fmean(values), low, high, len(values), confidence=self._confidence, least_error=least)

    def _of_ratio(self, ratio: Ratio | None, why_none: str = "no block has both") -> Estimate:
        if ratio is None:
            raise _NoEstimateError(why_none)
        low, high = ratio.ci_low, ratio.ci_high
        if high is not None and math.isinf(high):  # beyond the range of a float: an interval that says nothing
            low = high = None
        found = Estimate(ratio.value, low, high, ratio.blocks, of_ratio=True, confidence=self._confidence)
        return replace(found, least_error=ratio.least_error)


def name_of(metric_id: str) -> str:
    """Name a figure inside a sentence; readings of experiments are called by their ids."""
    return BY_ID[metric_id].name if metric_id in BY_ID else metric_id


def compared_cells(check: ClaimCheck, key: CellKey) -> tuple[CellKey, ...]:
    """Return every cell that a check looks at for the figure of one of its cells, that one first."""
    base = _base(check, key)
    here = (key,) if base is None else (key, base)
    vendor = check.versus_vendor
    return here if vendor is None else (*here, *(_of_vendor(one, vendor) for one in here))


def _base(check: ClaimCheck, key: CellKey) -> CellKey | None:
    """Return the cell that it is compared with, if any."""
    there = {"executor": check.versus, "workload": check.versus_workload, "load": check.versus_load}
    told = {axis: value for axis, value in there.items() if value is not None}
    return key.model_copy(update=told) if told else None


def _of_vendor(key: CellKey, vendor: str) -> CellKey:
    """Return the same cell on that vendor's JDK of the same version: "semeru-21.0.1" and "temurin-21.0.1"."""
    return key.model_copy(update={"jdk": f"{vendor}-{key.jdk.partition('-')[2]}"})


def _arm(cell: CellStats, metric: Metric, figures: Mapping[int, object]) -> ArmForks:
    """Return an arm of which all these `figures`, by block, can be used."""
    own_doing = cell.arm_forks(metric).own_doing
    return ArmForks(cell.forks, figures, {block: kind for block, kind in own_doing.items() if block not in figures})


def _comparable(cell: CellStats, metric: Metric) -> dict[int, float]:
    """Return the comparable figures by block."""
    return {block: one.value for block, one in cell.figures(metric).items() if one.comparable}


def _has_bounds(metric: Metric, *cells: CellStats) -> bool:
    return any(figure.bound is not Bound.NONE for one in cells for figure in one.figures(metric).values())


def _least(metric: Metric, *arms: tuple[CellStats, Sequence[float]]) -> float:
    """Return the least standard error of their mean, or of the difference of two, in the unit of the page. `arms`: the
    cell and the figures of each."""
    return metric.scale * least_error(*(metric.step(cell.load, fmean(figures)) for cell, figures in arms))


_SIDES = {Bound.AT_LEAST: "lower", Bound.BELOW: "upper"}
_OTHER_WAY = {Bound.NONE: Bound.NONE, Bound.AT_LEAST: Bound.BELOW, Bound.BELOW: Bound.AT_LEAST}


def _side(bounds: Iterable[Bound]) -> Bound:
    """Return the bound that figures of these kinds give together."""
    kinds = set(bounds) - {Bound.NONE}
    if len(kinds) > 1:
        raise _NoEstimateError("some forks give a lower bound, others an upper one")
    return next(iter(kinds), Bound.NONE)


def _one_sided(estimate: Estimate, side: Bound) -> Estimate:
    """Drop the end that bounds say nothing about. A single block has the bound itself for an end."""
    if side is Bound.NONE:
        return estimate
    low, high = (estimate.value, estimate.value) if estimate.low is None else (estimate.low, estimate.high)
    at_least = side is Bound.AT_LEAST
    return replace(estimate, low=low if at_least else None, high=None if at_least else high, one_sided=True)
