"""The comparisons of one run’s page, judged together. Pure.

The family is every comparison that the page puts into words or colours, each counted once however often it is shown:
for `virtual` over `liberty`, every figure that its load asks for (figures/metrics.py); for every other executor over
`liberty`, the leading one, under every condition of the run (workload, JDK, CPUs, task duration, load); and for each of
these pairs, how many forks did what their load asks for (loads/attainment.py), where so many forks could tell. The
page says "better" or "worse" by p-values adjusted for all of these (stats/verdicts.py), so that a page without any true
difference names one with a chance of at most 5 %. The page of another run is another family. Ratios of a single block
have no p-value and are not counted; nor are those whose arms lost different numbers of forks, or those with an arm that
the gates refused more often, which are not judged.

A/A checks are a family of their own. They ask about the host and not about executors: one that fails is not a finding
but discredits the page, whatever else is on it. Counted with the comparisons, they would make each of these harder to
see, and would themselves fail less easily the more the page compares. Among themselves they are adjusted too: of sound
hosts with twelve checks each, nearly every second would otherwise fail one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Generic, TypeVar

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm, reference
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import Metric, metrics_of
from jdkmatrix.figures.refusals import one_sided_among
from jdkmatrix.loads.attainment import Contrast, OutcomeCounts, contrast
from jdkmatrix.loads.base import Question
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.words.numbers import p_value
from jdkmatrix.report.words.sentences import PairFinding, refusals_words
from jdkmatrix.stats.exact_test import fisher_exact
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import FAMILY_ERROR, ArmRefusals, Judged, Losses, adjust, holm, judged
from jdkmatrix.store.cells import CellRecord

Refusals = Mapping[tuple[CellKey, CellKey], ArmRefusals]  # by the keys of both arms


def page_refusals(cells: Cells, experiments: Iterable[CellStats] = ()) -> Refusals:
    """Return the one-sided refusals among all pairs that a page compares, which are one family."""
    return one_sided_among(((cell.key, base.key), cell, base) for cell, base in page_pairs(cells, experiments))


def page_pairs(cells: Cells, experiments: Iterable[CellStats]) -> Iterator[tuple[CellRecord, CellRecord]]:
    """Yield every cell of a server with the one that it is compared with, including A/A checks, and every two arms of
    an experiment under the same condition; the numerator first."""
    yield from ((cell.record, base.record) for cell, base in (*cells.compared(), *arm_pairs(experiments)))


def arm_pairs(experiments: Iterable[CellStats]) -> Iterator[tuple[CellStats, CellStats]]:
    """Yield every two arms of an experiment under the same condition, the later one first."""
    for arms in grouped((one.key.group, one) for one in experiments).values():
        yield from ((later, earlier) for earlier, later in combinations(arms, 2))


Name = TypeVar("Name", bound=Hashable)
_Compared = tuple[str, CellKey]  # the metric's id, the numerator's cell


@dataclass(frozen=True)
class JudgedOutcomes:
    """How many forks of two arms did what their load asks for. `p_adjusted`: None where there is no test.
    `forks_needed`: how many of each arm would tell, if as large a share of them did it; None where there is nothing to
    tell, or more would not tell."""

    question: Question
    contrast: Contrast
    p_adjusted: float | None
    forks_needed: int | None = None
    refusals: ArmRefusals | None = None  # where they are one-sided

    @property
    def differs(self) -> bool:
        return self.p_adjusted is not None and self.p_adjusted < FAMILY_ERROR

    @property
    def finding(self) -> PairFinding:
        one, other, p_alone = self.contrast.numerator, self.contrast.denominator, self.contrast.p_value
        if self.refusals is not None:
            return PairFinding.NOT_JUDGED
        if self.differs:
            return PairFinding.BETTER if self.contrast.is_better else PairFinding.WORSE
        if p_alone is not None:
            return PairFinding.NO_EVIDENCE_YET if p_alone < FAMILY_ERROR else PairFinding.TOO_FEW_FORKS
        alike = one.told and other.told and 0 in (one.yes + other.yes, one.no + other.no)
        return PairFinding.NO_DIFFERENCE_SEEN if alike else PairFinding.TOO_FEW_FORKS

    @property
    def worth_reporting(self) -> bool:
        """True if it is worth a sentence: not if every fork did what it was to do, nor if none did where the load goes
        on until it does not."""
        arms = (self.contrast.numerator, self.contrast.denominator)
        if self.question.is_sought and all(arm.yes == 0 for arm in arms):
            return False
        return any(arm.no for arm in arms)

    def sentence(self, numerator: str, denominator: str) -> str:
        """Say "virtual held the rate in 0 of 5 forks against 5 of 5 with liberty: worse (adjusted p 0.008)"."""
        return f"{numerator} {self.against} with {denominator}: {self.verdict_words}"

    @property
    def against(self) -> str:
        """The counts in words: "held the rate in 0 of 5 forks against 5 of 5"."""
        one, other = self.contrast.numerator, self.contrast.denominator
        return f"{self.question.did} in {of_forks(one)} against {counted(other)}"

    @property
    def verdict_words(self) -> str:
        """The finding with its reasons: the p-value, a word on the direction where it is not obvious, and forks that
        were lost."""
        words, basis = self.finding.value, []
        if self.finding is PairFinding.TOO_FEW_FORKS and self.forks_needed:
            words += f", {self.forks_needed} of each would do"
        if self.refusals is not None:
            basis.append(refusals_words(self.refusals))
        if self.p_adjusted is not None:
            basis.append(f"adjusted {p_value(self.p_adjusted)}")
        if self.question.better:
            basis.append(self.question.better)
        one, other = self.contrast.numerator.lost, self.contrast.denominator.lost
        if one or other:
            basis.append(f"{one} and {other} more forks were lost to faults of the host or of the measurement")
        return f"{words} ({'; '.join(basis)})" if basis else words


@dataclass(frozen=True)
class Judgements:
    """Effect, interval and verdict of everything that the page of a run compares.

    `cells`: those compared; `comparisons` and `checks`: how many p-values the family of the comparisons and that of
    the A/A checks have.
    """

    cells: Cells
    comparisons: int
    checks: int
    judged: Mapping[_Compared, Judged]
    compared: Mapping[_Compared, Comparison]
    outcomes_judged: Mapping[CellKey, JudgedOutcomes]

    def of(self, metric: Metric, key: CellKey) -> Judged | None:
        """Return the verdict on `key` over its reference; None where no block has both, or they are not compared."""
        return self.judged.get((metric.id, key))

    def comparison(self, metric: Metric, key: CellKey) -> Comparison | None:
        """Return the comparison that `of` judges, even where no block has both."""
        return self.compared.get((metric.id, key))

    def outcomes(self, key: CellKey) -> JudgedOutcomes | None:
        """Return the outcomes of `key` and its reference; None where one of them has no record."""
        return self.outcomes_judged.get(key)


@dataclass
class Family(Generic[Name]):
    """Everything that is judged together: ratios with the forks that their arms lost, and outcomes of forks; each with
    the refusals of its pair, where they are one-sided. `relevant`: the share from which a difference matters."""

    relevant: float
    ratios: dict[Name, tuple[Ratio, Losses, ArmRefusals | None]] = field(default_factory=dict)
    outcomes: dict[Name, tuple[Question, Contrast, ArmRefusals | None]] = field(default_factory=dict)

    def judge(self) -> tuple[dict[Name, Judged], dict[Name, JudgedOutcomes], int]:
        """Return verdicts on the ratios and on the outcomes, by name, and how many p-values they were adjusted for."""
        p_values = {
            name: ratio.p_value
            for name, (ratio, losses, refused) in self.ratios.items()
            if ratio.p_value is not None and not losses.differ and refused is None
        }
        for name, (_, told, refused) in self.outcomes.items():
            if told.p_value is not None and refused is None:
                p_values[name] = told.p_value
        adjusted, size = adjust(p_values), len(p_values)
        ratios = {
            name: judged(ratio, adjusted.get(name), size, losses, self.relevant, refused)
            for name, (ratio, losses, refused) in self.ratios.items()
        }
        outcomes = {}
        for name, (question, told, refused) in self.outcomes.items():
            needed = _forks_needed(told, [p_value for other, p_value in p_values.items() if other != name])
            outcomes[name] = JudgedOutcomes(question, told, adjusted.get(name), needed, refused)
        return ratios, outcomes, size


_FORKS_MAX = 50


def _forks_needed(found: Contrast, others: Sequence[float]) -> int | None:
    """Return the least number of forks that would tell beside these other p-values."""
    one, other = found.numerator, found.denominator
    if not found.gap:
        return None
    fewer, more = sorted(Fraction(arm.yes, arm.told) for arm in (one, other))
    for number in range(max(one.told, other.told), _FORKS_MAX + 1):
        # Rounded towards each other: else a number would do only because of how shares round there.
        many, few = math.floor(more * number), math.ceil(fewer * number)
        p_value = fisher_exact(many, number - many, few, number - few)
        if holm([*others, p_value])[-1] < FAMILY_ERROR:
            return number
    return None


def judge_run(cells: Cells, refusals: Refusals | None = None) -> Judgements:
    """Judge both families of the run's page. `refusals`: of the page; None where it has no pairs but these cells."""
    one_sided = page_refusals(cells) if refusals is None else refusals
    of_pairs = {cell: found for (cell, _), found in one_sided.items()}
    comparisons, checks = Family[_Compared](cells.relevant), Family[_Compared](cells.relevant)
    compared: dict[_Compared, Comparison] = {}
    for cell, base in cells.compared():
        key = cell.key
        family = checks if is_aa_arm(key.executor) else comparisons
        metrics = metrics_of(cell.load)
        leads = cells.stands_for_virtual(key) or base.key.executor != reference(key.executor, key.server)
        for metric in metrics if leads else metrics[:1]:
            if (one := cells.over(metric, key)) is None:
                continue
            compared[metric.id, key] = one
            if one.ratio is not None:
                family.ratios[metric.id, key] = one.ratio, one.losses, of_pairs.get(key)
        told = contrast(cell.attained, base.attained, error=FAMILY_ERROR)
        family.outcomes["", key] = cell.question, told, of_pairs.get(key)
    (ratios, outcomes, number), (aa_ratios, aa_outcomes, aa_number) = comparisons.judge(), checks.judge()
    return Judgements(
        cells=cells,
        comparisons=number,
        checks=aa_number,
        judged=ratios | aa_ratios,
        compared=compared,
        outcomes_judged={key: one for (_, key), one in (*outcomes.items(), *aa_outcomes.items())},
    )


def counted(arm: OutcomeCounts) -> str:
    """Format as "0 of 5", without lost forks."""
    return f"{arm.yes} of {arm.told}"


def of_forks(arm: OutcomeCounts) -> str:
    """Format as "0 of 5 forks"."""
    return f"{arm.yes} of {plural(arm.told, 'fork')}"
