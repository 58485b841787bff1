"""Are the blocks behind the ratios of a page correlated, or do they drift? Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.cells.cellstats import Cells, block_logs
from jdkmatrix.report.words.numbers import Figure, missing, p_value
from jdkmatrix.report.words.sentences import ratio_name
from jdkmatrix.stats.dependence import (
    FEWEST_BLOCKS,
    Dependence,
    JudgedDependence,
    blocks_needed,
    dependence,
    judge_dependence,
)

_NAMED_AT_MOST = 3


@dataclass(frozen=True)
class BlockChecks:
    """The test of every leading ratio that has enough blocks, by its numerator's cell; A/A checks among them, which
    suffer from the same host. All tests of a page are one family."""

    judged: Mapping[CellKey, JudgedDependence]
    names: Mapping[CellKey, str]

    @property
    def tests(self) -> int:
        return 2 * len(self.judged)

    def of(self, key: CellKey) -> JudgedDependence | None:
        return self.judged.get(key)

    @property
    def words(self) -> str:
        """Says what was tested, for the head of a table."""
        if not self.tests:
            return f"Fewer than {FEWEST_BLOCKS} blocks cannot show whether they are correlated or drift."
        return (
            "Each ratio is tested for correlated blocks (lag 1: the correlation between the log ratios of "
            "neighbouring blocks; von Neumann’s ratio of ranks, after Bartels) and for a drift (trend: how the ratio "
            f"changed from the first block to the last; Mann’s test): {plural(self.tests, 'test')} on this page, "
            f"p-values adjusted for all of them (Holm). Among so many, fewer than {blocks_needed(self.tests)} blocks "
            "cannot show a correlation, and in few blocks only a strong one is seen."
        )

    @property
    def finding(self) -> str | None:
        """Which ratios have blocks that are not independent, in a sentence; None where none was seen."""
        found = {key: one for key, one in self.judged.items() if one.correlated or one.drifting}
        if not found:
            return None
        named = [f"{self.names[key]}: {_said(one)}" for key, one in found.items()][:_NAMED_AT_MOST]
        more = [f"{len(found) - len(named)} more"] if len(found) > len(named) else []
        return f"in {len(found)} of {plural(len(self.judged), 'ratio')} ({'; '.join([*named, *more])})"


def check_blocks(cells: Cells) -> BlockChecks:
    found: dict[CellKey, Dependence] = {}
    names: dict[CellKey, str] = {}
    for cell, base in cells.compared():
        compared = cells.compare(cells.leading(cell.key), cell.key, base.key.executor)
        one = dependence(block_logs(compared)) if compared else None
        if one is not None:
            found[cell.key] = one
            names[cell.key] = ratio_name(cell.key, base.key.executor)
    return BlockChecks(judge_dependence(found), names)


def dependence_notices(checks: BlockChecks) -> Iterable[Notice]:
    if checks.finding is None:
        return
    judged = checks.judged.values()
    text = f"Blocks are not independent of each other {checks.finding}. Intervals and p-values take them to be."
    if any(one.correlated and one.found.lag1 > 0 for one in judged):
        text += (
            " Where neighbours are alike, intervals are too narrow: with a lag-1 correlation of 0.3 chance alone is "
            "called a difference twice as often as it should be."
        )
    if any(one.correlated and one.found.lag1 <= 0 for one in judged):
        text += (
            " Where blocks alternate up and down, intervals are too wide: perhaps an executor’s place inside its "
            "block matters, which changing places evens out."
        )
    if any(one.drifting for one in judged):
        text += " Where a ratio drifts, it averages over a change, and more blocks would give another value."
    yield Notice("warn", "Correlated blocks", text)


def lag1_figure(judged: JudgedDependence | None, blocks: int) -> Figure:
    if judged is None:
        return _too_few(blocks)
    return Figure(
        text=digits(judged.found.lag1, 2),
        sort=judged.found.lag1,
        title=f"{p_value(judged.found.lag1_p)} on its own",
        under=f"adjusted {p_value(judged.lag1_p_adjusted)}",
    )


def trend_figure(judged: JudgedDependence | None, blocks: int) -> Figure:
    if judged is None:
        return _too_few(blocks)
    return Figure(
        text=_change(judged.found),
        sort=judged.found.change,
        title=f"{p_value(judged.found.trend_p)} on its own",
        under=f"adjusted {p_value(judged.trend_p_adjusted)}",
    )


def _too_few(blocks: int) -> Figure:
    return missing(f"{plural(blocks, 'block')}: nothing can be said of fewer than {FEWEST_BLOCKS}")


def _said(judged: JudgedDependence) -> str:
    found = judged.found
    parts = []
    if judged.correlated:
        parts.append(f"lag-1 correlation {digits(found.lag1, 2)}, adjusted {p_value(judged.lag1_p_adjusted)}")
    if judged.drifting:
        parts.append(f"{_change(found)} over {found.blocks} blocks, adjusted {p_value(judged.trend_p_adjusted)}")
    return ", ".join(parts)


def _change(found: Dependence) -> str:
    sign = "+" if found.change > 0 else ""
    return f"{sign}{digits(found.change * 100, 2)} %"
