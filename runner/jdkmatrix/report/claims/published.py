"""What was published about the experiment that a run repeats, as the run recorded it, and what came of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from jdkmatrix.claims.address import web
from jdkmatrix.claims.words import amount, between, of_whom, without_figures
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.claims.views import CheckedCellView, CheckView, ClaimFigure, ClaimView, SourceView
from jdkmatrix.report.html.names import cell_page
from jdkmatrix.report.words.numbers import Figure, missing, with_interval
from jdkmatrix.report.words.sentences import cell_words
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.terms.quantities import MISSING, digits, plural

VERDICT_CLASS = {
    ClaimVerdict.REPRODUCED: "ok",
    ClaimVerdict.CONTRADICTED: "failed",
    ClaimVerdict.INCONCLUSIVE: "not-steady",
    ClaimVerdict.NOT_MEASURED: "none",
    ClaimVerdict.NOT_TESTABLE_HERE: "none",
    ClaimVerdict.NOT_TESTABLE: "none",
}
_FEW = 2  # figures, as many as a sentence can name


def published_views(judged: Iterable[JudgedClaim]) -> tuple[SourceView, ...]:
    """Every source once, with its claims; both in the order of the record. Empty where a run recorded none."""
    found = {one.claim.id: one for one in judged}
    return by_source([one.claim for one in found.values()], found)


def not_repeated_views(run: RunRecord) -> tuple[SourceView, ...]:
    """As published_views, of the claims that no scenario repeats."""
    return by_source(run.scenario.not_repeated if run.scenario else (), {})


def verdict_lines(judged: Iterable[JudgedClaim]) -> tuple[str, ...]:
    """A line for each claim: its verdict, and what it rests on."""
    return tuple(f"{one.claim.id}: {one.verdict.value}{_in_brackets(one)}" for one in judged)


def _in_brackets(one: JudgedClaim) -> str:
    rest = (one.why.rstrip("."),) if one.why else rests_on(one.verdict.value, map(check_view, one.checks))
    return f" ({'; '.join(rest)})"


def rests_on(verdict: str, checks: Iterable[CheckView]) -> tuple[str, ...]:
    """What a claim's verdict rests on: a line for each of its checks that came to it."""
    return tuple(dict.fromkeys(_line(check) for check in checks if check.verdict == verdict))


def _line(check: CheckView) -> str:
    cells = [cell for cell in check.cells if cell.verdict == check.verdict]
    measured = [cell.measured for cell in cells if cell.measured.sort is not None]
    if not measured:
        return check.why or next((cell.remark for cell in cells if cell.remark), check.says)
    return f"{check.says}: {_together(measured, len(check.cells))}; {check.band} would reproduce it"


def _together(measured: Sequence[Figure], of: int) -> str:
    """Up to two as they are, of more the ends; and in how many of the cells, where not in all."""
    ordered = sorted(measured, key=lambda one: one.sort or 0.0)
    few = len(ordered) <= _FEW
    text = " and ".join(one.text for one in ordered) if few else f"{ordered[0].text} to {ordered[-1].text}"
    if len(ordered) < of:
        return f"{text} in {len(ordered)} of {of} cells"
    return text if few else f"{text} in {of} cells"


def by_source(claims: Iterable[ClaimRecord], judged: Mapping[str, JudgedClaim]) -> tuple[SourceView, ...]:
    """Every source once, in the order of its first claim; `judged`: by the claim's id."""
    by_source: dict[ClaimSource, list[ClaimView]] = {}
    for claim in claims:
        by_source.setdefault(claim.source, []).append(_claim(claim, judged.get(claim.id)))
    return tuple(_source(source, of_it) for source, of_it in by_source.items())


def _source(source: ClaimSource, claims: Iterable[ClaimView]) -> SourceView:
    return SourceView(
        title=source.title,
        about=", ".join(part for part in (source.by, source.date) if part) or None,
        href=web(source.url),
        no_url=source.no_url,
        conditions=source.conditions,
        inference=source.inference,
        claims=tuple(claims),
    )


def _claim(claim: ClaimRecord, judged: JudgedClaim | None) -> ClaimView:
    return ClaimView(
        id=claim.id,
        verdict=judged.verdict.value if judged else None,
        verdict_class=VERDICT_CLASS[judged.verdict] if judged else "none",
        why_not=judged.why if judged else None,
        checks=tuple(map(check_view, judged.checks)) if judged else (),
        condition=claim.condition,
        published=claim.published,
        instead=without_figures(claim),
        note=claim.note,
        inference=claim.inference,
        not_repeated=claim.not_repeated,
        figures=tuple(_figure(figure) for figure in claim.figures),
    )


def _figure(figure: PublishedFigure) -> ClaimFigure:
    return ClaimFigure(
        quantity=figure.quantity,
        condition=figure.condition,
        whom=of_whom(figure) or MISSING,
        amount=amount(figure),
        as_printed=figure.as_printed,
        inference=figure.inference,
    )


def check_view(one: JudgedCheck) -> CheckView:
    return CheckView(
        says=one.check.says,
        band=_band_words(one),
        inference=one.check.inference,
        verdict=one.verdict.value,
        verdict_class=VERDICT_CLASS[one.verdict],
        why=one.why,
        cells=tuple(_cell(cell, one.unit) for cell in one.cells),
    )


def _cell(one: JudgedCell, unit: str) -> CheckedCellView:
    to_decide = f"{plural(one.blocks, 'block')} would decide it" if one.blocks else None
    return CheckedCellView(
        label=cell_words(one.key),
        href=cell_page(one.key) if one.verdict is not ClaimVerdict.NOT_MEASURED else None,
        measured=_measured(one.estimate, unit) if one.estimate else missing(one.why or "not measured"),
        verdict=one.verdict.value,
        verdict_class=VERDICT_CLASS[one.verdict],
        remark="; ".join(filter(None, (one.why, to_decide))) or None,
    )


def _measured(estimate: Estimate, unit: str) -> Figure:
    alone = f"{digits(estimate.value, 3)} {unit}".rstrip()
    if estimate.low is None or estimate.high is None:
        return Figure(alone, estimate.value)
    if math.isinf(estimate.high):
        return Figure(f"at least {alone}", estimate.value)
    value, low, high = with_interval(estimate.value, estimate.low, estimate.high)
    return Figure(f"{value} {unit}".rstrip() + f" ({low}–{high})", estimate.value)


def _band_words(one: JudgedCheck) -> str:
    return f"{between(one.band.low, one.band.high)} {one.unit}".rstrip()
