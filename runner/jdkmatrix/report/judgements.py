"""What the page of one run compares, judged together. Pure.

The family is every ratio that the page puts into words or colours, each counted once however often it is shown: of
`virtual` over `liberty` every figure that its load asks for (cellstats.metrics_of), and of every other executor over
`liberty` the leading one, under every condition of the run (workload, JDK, CPUs, work per request, load). The page says
"better" or "worse" by p-values adjusted for all of these (stats/verdicts.py), so that a page without any true
difference names one with a chance of at most 5 %. A page of another run is another family. Ratios of a single block
have no p-value and are not counted.

A/A checks are a family of their own. They ask about the host and not about executors: one that fails is no finding
but discredits the page, whatever else is on it. Counted with the comparisons they would make each of these harder to
see, and would themselves fail the less easily the more the page compares. Among themselves they are adjusted too:
of sound hosts with twelve checks each, nearly every second would else fail one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.config.executors import BASELINE, is_again, reference
from jdkmatrix.records import CellKey
from jdkmatrix.report.cellstats import Cells, Metric, metrics_of
from jdkmatrix.stats import Judged, Ratio, judge

NUMERATOR, DENOMINATOR = "virtual", BASELINE

_Compared = tuple[str, CellKey]  # the metric's id, the numerator's cell


@dataclass(frozen=True)
class Judgements:
    """Effect, interval and verdict of everything that the page of a run compares.

    `comparisons` and `checks`: how many p-values the family of the comparisons and that of the A/A checks have.
    """

    comparisons: int
    checks: int
    judged: Mapping[_Compared, Judged]

    def of(self, metric: Metric, key: CellKey) -> Judged | None:
        """`key` over its reference; None where no block has both, or the page does not compare them."""
        return self.judged.get((metric.id, key))


def judge_run(cells: Cells) -> Judgements:
    """Both families of the run's page."""
    comparisons: dict[_Compared, Ratio] = {}
    checks: dict[_Compared, Ratio] = {}
    for key in cells.keys:
        if key.executor == DENOMINATOR:
            continue
        cell = cells.get(key)
        if cell is None:
            continue
        family = checks if is_again(key.executor) else comparisons
        metrics = metrics_of(cell.record.load)
        for metric in metrics if key.executor == NUMERATOR else metrics[:1]:
            ratio = cells.ratio(metric, key, reference(key.executor))
            if ratio is not None:
                family[metric.id, key] = ratio
    return Judgements(
        comparisons=_tested(comparisons), checks=_tested(checks), judged={**judge(comparisons), **judge(checks)}
    )


def _tested(family: Mapping[_Compared, Ratio]) -> int:
    return sum(ratio.p_value is not None for ratio in family.values())
