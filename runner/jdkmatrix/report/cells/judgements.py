"""The comparisons of one run’s page, judged together. Pure.

The family is every comparison that the page puts into words or colours, each counted once however often it is shown:
of `virtual` over `liberty` every figure that its load asks for (cellstats.metrics_of), and of every other executor over
`liberty` the leading one, under every condition of the run (workload, JDK, CPUs, task duration, load); and of each
of these pairs how many forks did what their load asks for (stats/attainment.py), where so many forks could tell. The
page says "better" or "worse" by p-values adjusted for all of these (stats/verdicts.py), so that a page without any true
difference names one with a chance of at most 5 %. A page of another run is another family. Ratios of a single block
have no p-value and are not counted; nor are those whose arms lost different numbers of forks, and pairs one of whose
arms the gates refused more often, which are not judged.

A/A checks are a family of their own. They ask about the host and not about executors: one that fails is no finding
but discredits the page, whatever else is on it. Counted with the comparisons they would make each of these harder to
see, and would themselves fail the less easily the more the page compares. Among themselves they are adjusted too:
of sound hosts with twelve checks each, nearly every second would else fail one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm, reference
from jdkmatrix.domain.servers import virtual_of
from jdkmatrix.figures.metrics import Metric, metrics_of
from jdkmatrix.loads.attainment import Contrast, contrast
from jdkmatrix.loads.base import Question
from jdkmatrix.report.cells.cellstats import Cells, Comparison
from jdkmatrix.report.cells.refusals import Refusals, page_refusals
from jdkmatrix.stats.exact_test import fisher_exact
from jdkmatrix.stats.verdicts import FAMILY_ERROR, ArmRefusals, Judged, adjust, holm, judged

_Compared = tuple[str, CellKey]  # the metric's id, the numerator's cell


@dataclass(frozen=True)
class JudgedOutcomes:
    """How many forks of two arms did what their load asks for. `p_adjusted`: over a family of so many p-values; None
    where there is no test. `forks_needed`: so many of each arm would tell, if as large a share of them did it; None
    where nothing is to be told, or more would not tell."""

    question: Question
    contrast: Contrast
    p_adjusted: float | None
    family: int
    forks_needed: int | None = None
    refusals: ArmRefusals | None = None  # where they are one-sided

    @property
    def differs(self) -> bool:
        return self.p_adjusted is not None and self.p_adjusted < FAMILY_ERROR


@dataclass(frozen=True)
class Judgements:
    """Effect, interval and verdict of everything that the page of a run compares.

    `comparisons` and `checks`: how many p-values the family of the comparisons and that of the A/A checks have.
    """

    comparisons: int
    checks: int
    judged: Mapping[_Compared, Judged]
    compared: Mapping[_Compared, Comparison]
    outcomes_judged: Mapping[CellKey, JudgedOutcomes]

    def of(self, metric: Metric, key: CellKey) -> Judged | None:
        """`key` over its reference; None where no block has both, or the page does not compare them."""
        return self.judged.get((metric.id, key))

    def comparison(self, metric: Metric, key: CellKey) -> Comparison | None:
        """The comparison that `of` judges; there also where no block has both."""
        return self.compared.get((metric.id, key))

    def outcomes(self, key: CellKey) -> JudgedOutcomes | None:
        """The outcomes of `key` and its reference; None where one of them has no record."""
        return self.outcomes_judged.get(key)


@dataclass
class _PageFamily:
    refusals: Mapping[CellKey, ArmRefusals]
    compared: dict[_Compared, Comparison] = field(default_factory=dict)
    contrasts: dict[CellKey, tuple[Question, Contrast]] = field(default_factory=dict)

    def p_values(self) -> dict[_Compared | CellKey, float]:
        found: dict[_Compared | CellKey, float] = {}
        for name, one in self.compared.items():
            told = not one.losses.differ and one.cell.key not in self.refusals
            if told and one.ratio is not None and one.ratio.p_value is not None:
                found[name] = one.ratio.p_value
        for key, (_, contrasted) in self.contrasts.items():
            if contrasted.p_value is not None and key not in self.refusals:
                found[key] = contrasted.p_value
        return found


_FORKS_MAX = 50


def _forks_needed(found: Contrast, key: CellKey, p_values: Mapping[_Compared | CellKey, float]) -> int | None:
    """The least number beside these p-values, less its own."""
    one, other = found.numerator, found.denominator
    if not found.gap:
        return None
    others = [p_value for name, p_value in p_values.items() if name != key]
    for number in range(max(one.told, other.told), _FORKS_MAX + 1):
        yes, same = (round(arm.yes / arm.told * number) for arm in (one, other))
        p_value = fisher_exact(yes, number - yes, same, number - same)
        if holm([*others, p_value])[-1] < FAMILY_ERROR:
            return number
    return None


def judge_run(cells: Cells, refusals: Refusals | None = None) -> Judgements:
    """Both families of the run's page. `refusals`: of the page; None where it has no other pairs than these cells."""
    one_sided = page_refusals(cells) if refusals is None else refusals
    of_pairs = {cell: found for (cell, _), found in one_sided.items()}
    comparisons, checks = _PageFamily(of_pairs), _PageFamily(of_pairs)
    for key in cells.keys:
        base_key = key.model_copy(update={"executor": cells.reference(key)})
        cell, base = cells.get(key), cells.get(base_key)
        if key == base_key or cell is None or base is None:
            continue
        family = checks if is_aa_arm(key.executor) else comparisons
        metrics = metrics_of(cell.load)
        leads = key.executor == virtual_of(key.server) or base.key.executor != reference(key.executor, key.server)
        for metric in metrics if leads else metrics[:1]:
            compared = cells.compare(metric, key, base.key.executor)
            if compared is not None:
                family.compared[metric.id, key] = compared
        family.contrasts[key] = cell.question, contrast(cell.attained, base.attained, error=FAMILY_ERROR)
    judged_ratios: dict[_Compared, Judged] = {}
    outcomes: dict[CellKey, JudgedOutcomes] = {}
    counts = []
    for family in (comparisons, checks):
        p_values = family.p_values()
        adjusted = adjust(p_values)
        counts.append(len(adjusted))
        for name, one in family.compared.items():
            if one.ratio is not None:
                judged_ratios[name] = judged(
                    one.ratio, adjusted.get(name), len(adjusted), one.losses, cells.relevant, of_pairs.get(one.cell.key)
                )
        for key, (question, contrasted) in family.contrasts.items():
            needed = _forks_needed(contrasted, key, p_values)
            outcomes[key] = JudgedOutcomes(
                question, contrasted, adjusted.get(key), len(adjusted), needed, of_pairs.get(key)
            )
    return Judgements(
        comparisons=counts[0],
        checks=counts[1],
        judged=judged_ratios,
        compared={**comparisons.compared, **checks.compared},
        outcomes_judged=outcomes,
    )
