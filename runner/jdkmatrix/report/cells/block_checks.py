"""Checks that the blocks of each ratio are independent of each other, as intervals and p-values assume. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.words.numbers import p_value, signed_share
from jdkmatrix.report.words.sentences import ratio_name
from jdkmatrix.stats.dependence import FEWEST_BLOCKS, JudgedDependence, blocks_needed, dependence, judge_dependence

_NAMED_AT_MOST = 3


def some_of(named: Sequence[str]) -> list[str]:
    """Return the first of them, and how many more there are."""
    more = len(named) - _NAMED_AT_MOST
    return [*named[:_NAMED_AT_MOST], *([f"{more} more"] if more > 0 else [])]


@dataclass(frozen=True)
class BlockChecks:
    """The tests of every leading ratio with enough blocks, by its numerator's cell, including A/A checks, which suffer
    from the same host. All tests of a page are one family. `names`: of all ratios."""

    judged: Mapping[CellKey, JudgedDependence]
    names: Mapping[CellKey, str]

    @property
    def words(self) -> str:
        """The description of what was tested, for the head of a table."""
        tests = 2 * len(self.judged)
        if not tests:
            return f"Fewer than {FEWEST_BLOCKS} blocks cannot show whether they are correlated or drift."
        return (
            "Each ratio is tested for correlated blocks (lag 1: the correlation between the log ratios of "
            "neighbouring blocks; von Neumann’s ratio of ranks, after Bartels) and for a drift (trend: how the ratio "
            f"changed from the first block to the last; Mann’s test): {plural(tests, 'test')} on this page, "
            f"p-values adjusted for all of them (Holm). Among so many, fewer than {blocks_needed(tests)} blocks "
            "cannot show a correlation, and in few blocks only a strong one is seen."
        )

    def dependent(self, key: CellKey) -> bool:
        """Return whether the blocks of this ratio were seen not to be independent."""
        one = self.judged.get(key)
        return one is not None and (one.correlated or one.drifting)

    @property
    def finding(self) -> str | None:
        """The ratios whose blocks are not independent, in a sentence; None where none was seen."""
        named = []
        for key, one in self.judged.items():
            found, parts = one.found, []
            if one.correlated:
                parts.append(f"lag-1 correlation {digits(found.lag1, 2)}, adjusted {p_value(one.lag1_p_adjusted)}")
            if one.drifting:
                over = f"{signed_share(one.found.change)} over {found.blocks} blocks"
                parts.append(f"{over}, adjusted {p_value(one.trend_p_adjusted)}")
            named += [f"{self.names[key]}: {', '.join(parts)}"] if parts else []
        if not named:
            return None
        return f"in {len(named)} of {plural(len(self.judged), 'ratio')} ({'; '.join(some_of(named))})"


def block_checks(judgements: Judgements) -> BlockChecks:
    cells = judgements.cells
    names = {cell.key: ratio_name(cell.key, base.key.executor) for cell, base in cells.compared()}
    ratios = {key: judgements.comparison(cells.leading(key), key) for key in names}
    found = {key: one for key, ratio in ratios.items() if ratio and (one := dependence(ratio.logs))}
    return BlockChecks(judge_dependence(found), names)
