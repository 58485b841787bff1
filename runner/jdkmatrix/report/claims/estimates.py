"""What the cells of a run say of the figure that a check of a claim looks at. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from jdkmatrix.figures.metrics import BY_ID, Metric
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.records.claims import ClaimCheck
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.cells.experiment_cells import Experiments
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.intervals import mean_interval
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.terms.cell_key import CellKey


class Results:
    def __init__(self, run: RunRecord, cells: Cells, experiments: Experiments) -> None:
        self.run, self._cells, self._experiments = run, cells, experiments
        self.keys = (*cells.keys, *experiments.keys)
        self.kernels = tuple(dict.fromkeys(session.host.kernel for session in run.sessions))

    def unit(self, check: ClaimCheck, keys: Sequence[CellKey]) -> str:
        """As its figure is shown here, in the cells that it looks at; that of a reading is known by a cell that has
        it."""
        if check.metric in BY_ID and not any(map(self._experiments.get, keys)):
            return BY_ID[check.metric].unit
        spreads = (cell.spread(check.metric) for cell in self._experiments)
        return next((spread.unit for spread in spreads if spread), "")

    def estimate(self, check: ClaimCheck, key: CellKey) -> Estimate | str:
        """Or why there is none."""
        if check.versus_vendor is not None:
            return self._beside_vendor(check, key, check.versus_vendor)
        base_key = _base(check, key)
        return self._served(check, key, base_key) if key.has_server else self._experiment(check, key, base_key)

    def _served(self, check: ClaimCheck, key: CellKey, base_key: CellKey | None) -> Estimate | str:
        metric = BY_ID.get(check.metric)
        cell, base = self._cells.get(key), self._cells.get(base_key) if base_key else None
        if metric is None or cell is None or not cell.usable:
            return "no fork that can be used"
        if base_key is None:
            return _of_figures(cell.figures(metric), metric)
        if check.difference and base is not None and base.usable:
            return _difference(_shown(cell, metric), _shown(base, metric))
        compared = self._compared(metric, key, base_key)
        return compared if isinstance(compared, str) else _of_ratio(compared.ratio, "no block has both")

    def _compared(self, metric: Metric, key: CellKey, base_key: CellKey) -> Comparison | str:
        """Of two cells that can be compared."""
        for one in (key, base_key):
            cell = self._cells.get(one)
            if cell is None or not cell.usable:
                return f"no fork of {cell_words(one)} that can be used"
        compared = self._cells.over(metric, key, base_key)
        if compared is None or compared.losses.differ:
            return "the two lost different numbers of forks, so that they are not compared"
        return compared

    def _experiment(self, check: ClaimCheck, key: CellKey, base_key: CellKey | None) -> Estimate | str:
        mine = self._readings(check, key)
        if not mine:
            return "no fork that can be used has it"
        if base_key is None:
            return _mean(list(mine.values()))
        other = self._readings(check, base_key)
        if check.difference:
            return _difference(mine, other)
        ratio = paired_ratio(_above_zero(mine), _above_zero(other))
        return _of_ratio(ratio, f"no block has it and {base_key.executor}")

    def _beside_vendor(self, check: ClaimCheck, key: CellKey, vendor: str) -> Estimate | str:
        """The ratio of a cell over that of the same cell on the vendor's JDK."""
        mine, other = self._ratios(check, key), self._ratios(check, _of_vendor(key, vendor))
        if isinstance(mine, str):
            return mine
        if isinstance(other, str):
            return other
        return _of_ratio(paired_ratio(mine, other, sequential=self.run.stopping is not None), "no block has both JDKs")

    def _ratios(self, check: ClaimCheck, key: CellKey) -> dict[int, float] | str:
        """To `versus`, by block."""
        base_key = key.model_copy(update={"executor": check.versus})
        if not key.has_server:
            above, below = (_above_zero(self._readings(check, one)) for one in (key, base_key))
            return {block: above[block] / below[block] for block in above.keys() & below.keys()}
        compared = self._compared(BY_ID[check.metric], key, base_key) if check.metric in BY_ID else "no such figure"
        if isinstance(compared, str):
            return compared
        return {block: above / below for block, (above, below) in compared.pairs.items()}

    def _readings(self, check: ClaimCheck, key: CellKey) -> dict[int, float]:
        """By block."""
        cell = self._experiments.get(key)
        return {
            fork.fork: reading.value
            for fork in (cell.usable if cell else ())
            if fork.experiment.result is not None
            for reading in fork.experiment.result.readings
            if reading.name == check.metric
        }


def _base(check: ClaimCheck, key: CellKey) -> CellKey | None:
    """The cell that it is compared with."""
    if check.versus is not None:
        return key.model_copy(update={"executor": check.versus})
    return None if check.versus_load is None else key.model_copy(update={"load": check.versus_load})


def _above_zero(by_block: Mapping[int, float]) -> dict[int, float]:
    return {block: value for block, value in by_block.items() if value > 0}


def _of_vendor(key: CellKey, vendor: str) -> CellKey:
    """The same cell on that vendor's JDK of the same version: "semeru-21.0.1" and "temurin-21.0.1"."""
    return key.model_copy(update={"jdk": f"{vendor}-{key.jdk.partition('-')[2]}"})


def _shown(cell: CellStats, metric: Metric) -> dict[int, float]:
    """By block, in the unit of the page."""
    return {block: value * metric.scale for block, value in cell.by_block(metric).items()}


def _of_figures(figures: Mapping[int, ForkFigure], metric: Metric) -> Estimate | str:
    told = [figure for figure in figures.values() if figure.comparable]
    if not told:
        return metric.missing
    if all(figure.bound is Bound.AT_LEAST for figure in told):
        least = min(figure.value for figure in told) * metric.scale
        return Estimate(least, least, float("inf"), len(told))
    exact = [figure.value * metric.scale for figure in told if figure.bound is Bound.NONE]
    if len(exact) < len(told):
        return "some forks give a bound only"
    return _mean(exact)


def _mean(values: Sequence[float]) -> Estimate:
    low, high = mean_interval(values) or (None, None)
    return Estimate(fmean(values), low, high, len(values))


def _difference(above: Mapping[int, float], below: Mapping[int, float]) -> Estimate | str:
    both = sorted(above.keys() & below.keys())
    return _mean([above[block] - below[block] for block in both]) if both else "no block has both"


def _of_ratio(ratio: Ratio | None, why_none: str) -> Estimate | str:
    if ratio is None:
        return why_none
    return Estimate(ratio.value, ratio.ci_low, ratio.ci_high, ratio.blocks, of_ratio=True)
