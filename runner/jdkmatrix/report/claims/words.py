"""Verdicts on published claims, in words: the same on pages, in the terminal and in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jdkmatrix.claims.words import between
from jdkmatrix.domain.quantities import digits, plural, with_unit
from jdkmatrix.report.claims.evidence import seen_words
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.words.numbers import Figure, missing, with_interval
from jdkmatrix.stats.bands import Estimate

VERDICT_CLASS = {
    ClaimVerdict.REPRODUCED: "ok",
    ClaimVerdict.CONTRADICTED: "failed",
    ClaimVerdict.INCONCLUSIVE: "not-steady",
    ClaimVerdict.NOT_SEEN: "partly",
    ClaimVerdict.CAUSE_ABSENT: "none",
    ClaimVerdict.NOT_MEASURED: "none",
    ClaimVerdict.NOT_TESTABLE_HERE: "none",
    ClaimVerdict.NOT_TESTABLE: "none",
}
_FEW = 2  # figures, as many as a sentence can name


def verdict_lines(judged: Iterable[JudgedClaim]) -> tuple[str, ...]:
    """A line for each claim: its verdict, and what it rests on."""
    return tuple(f"{one.claim.id}: {one.verdict.value}{_in_brackets(one)}" for one in judged)


def _in_brackets(one: JudgedClaim) -> str:
    rest = (one.why.rstrip("."),) if one.why else rests_on(one)
    return f" ({'; '.join(rest)})"


def rests_on(one: JudgedClaim) -> tuple[str, ...]:
    """A line for each check that came to the claim's verdict."""
    return tuple(dict.fromkeys(_line(check) for check in one.checks if check.verdict is one.verdict))


def _line(check: JudgedCheck) -> str:
    cells = [cell for cell in check.cells if cell.verdict is check.verdict]
    measured = [measured_figure(cell, check.unit) for cell in cells if cell.estimate]
    remarks = list(dict.fromkeys(words for cell in cells if (words := remark(cell, check.unit))))
    if not measured:
        return f"{check.check.says}: {check.why or next(iter(remarks), 'not measured')}"
    seen = seen_words([one for cell in cells for one in cell.seen])
    told = f"{check.check.says}: {_together(measured, len(check.cells))}"
    return "; ".join((told, f"{band_words(check)} would reproduce it ({check.origin})", *seen, *remarks[:1]))


def _together(measured: Sequence[Figure], of: int) -> str:
    """Up to two as they are, of more the ends; and in how many of the cells, where not in all."""
    ordered = sorted(measured, key=lambda one: one.sort or 0.0)
    few = len(ordered) <= _FEW
    text = " and ".join(one.text for one in ordered) if few else f"{ordered[0].text} to {ordered[-1].text}"
    if len(ordered) < of:
        return f"{text} in {len(ordered)} of {of} cells"
    return text if few else f"{text} in {of} cells"


def band_words(one: JudgedCheck) -> str:
    return with_unit(between(one.band.low, one.band.high), one.unit)


def remark(one: JudgedCell, unit: str) -> str:
    """Each run alone, why there is no verdict, how many blocks would decide; may be empty."""
    several = f"{len(one.alone)} runs: {', '.join(_value(run, unit) for run in one.alone)}" if one.alone else None
    to_decide = f"{plural(one.blocks, 'block')} would decide it" if one.blocks else None
    return "; ".join(filter(None, (several, one.why, to_decide)))


def _value(estimate: Estimate, unit: str) -> str:
    return with_unit(digits(estimate.value, 3), unit)


def measured_figure(one: JudgedCell, unit: str) -> Figure:
    """With its interval."""
    estimate = one.estimate
    if estimate is None:
        return missing(one.why or "not measured")
    low, high = estimate.low, estimate.high
    text = _value(estimate, unit)
    if estimate.one_sided:
        text = with_unit(
            f"at most {digits(high, 3)}" if high is not None else f"at least {digits(low or 0.0, 3)}", unit
        )
    elif low is not None and low == high:
        text = f"{text} in every block"
    elif low is not None and high is not None:
        value, *ends = with_interval(estimate.value, low, high)
        text = f"{with_unit(value, unit)} ({'–'.join(ends)})"
    return Figure(text, estimate.value)
