"""How many forks did what their load asks for, in words. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import plural
from jdkmatrix.loads.attainment import OutcomeCounts
from jdkmatrix.report.cells.judgements import JudgedOutcomes
from jdkmatrix.report.words.numbers import p_value
from jdkmatrix.report.words.sentences import PairFinding, refusals_words
from jdkmatrix.stats.verdicts import FAMILY_ERROR


def finding_of(judged: JudgedOutcomes) -> PairFinding:
    contrast = judged.contrast
    if judged.refusals is not None:
        return PairFinding.NOT_JUDGED
    if judged.differs:
        return PairFinding.BETTER if contrast.is_better else PairFinding.WORSE
    if contrast.p_value is None:
        one, other = contrast.numerator, contrast.denominator
        even = one.told and other.told and one.yes * other.told == other.yes * one.told
        return PairFinding.NO_DIFFERENCE_SEEN if even else PairFinding.TOO_FEW_FORKS
    return PairFinding.NO_EVIDENCE_YET if contrast.p_value < FAMILY_ERROR else PairFinding.TOO_FEW_FORKS


def worth_reporting(judged: JudgedOutcomes) -> bool:
    """Is it worth a sentence? Not that every fork did what it was to do, nor that none did where the load goes on until
    it does not."""
    arms = (judged.contrast.numerator, judged.contrast.denominator)
    if judged.question.is_sought and all(arm.yes == 0 for arm in arms):
        return False
    return any(arm.no for arm in arms)


def counted(arm: OutcomeCounts) -> str:
    """ "0 of 5"; without those that were lost."""
    return f"{arm.yes} of {arm.told}"


def sentence(judged: JudgedOutcomes, numerator: str, denominator: str) -> str:
    """ "virtual held the rate in 0 of 5 forks against 5 of 5 with liberty: worse (adjusted p 0.008)" """
    return f"{numerator} {against(judged)} with {denominator}: {verdict(judged)}"


def against(judged: JudgedOutcomes) -> str:
    """ "held the rate in 0 of 5 forks against 5 of 5"."""
    one, other = judged.contrast.numerator, judged.contrast.denominator
    did = judged.question.did
    return f"{did} in {one.yes} of {plural(one.told, 'fork')} against {counted(other)}"


def verdict(judged: JudgedOutcomes) -> str:
    """The finding with its reasons: the p-value, a word on the direction where it is not plain, and forks that were
    lost."""
    found, words = finding_of(judged), finding_of(judged).value
    if found is PairFinding.TOO_FEW_FORKS and judged.forks_needed:
        words += f", {judged.forks_needed} of each would do"
    basis = []
    if judged.refusals is not None:
        basis.append(refusals_words(judged.refusals))
    if judged.p_adjusted is not None:
        basis.append(f"adjusted {p_value(judged.p_adjusted)}")
    if judged.question.better:
        basis.append(judged.question.better)
    one, other = judged.contrast.numerator.lost, judged.contrast.denominator.lost
    if one or other:
        basis.append(f"{one} and {other} more forks were lost to faults of the host or of the measurement")
    return f"{words} ({'; '.join(basis)})" if basis else words
