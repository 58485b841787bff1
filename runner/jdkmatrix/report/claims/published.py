"""What was published about the experiment that a run repeats, as the run recorded it, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jdkmatrix.claims.address import web
from jdkmatrix.claims.words import amount, between, of_whom, without_figures
from jdkmatrix.domain.quantities import MISSING, digits, plural, with_unit
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.claims.seen import seen_words
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim
from jdkmatrix.report.claims.views import CheckedCellView, CheckView, ClaimFigure, ClaimView, SourceView
from jdkmatrix.report.html.names import cell_page
from jdkmatrix.report.words.numbers import Figure, missing, with_interval
from jdkmatrix.report.words.sentences import cell_words
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


def published_views(judged: Iterable[JudgedClaim], earlier: Mapping[str, ClaimVerdict]) -> tuple[SourceView, ...]:
    """Every source once, with its claims; both in their order. `earlier`: verdicts by the checks that the run recorded,
    where they are others."""
    found = {one.claim.id: one for one in judged}
    return tuple(
        replace(source, claims=tuple(_with_earlier(claim, earlier.get(claim.id)) for claim in source.claims))
        for source in by_source([one.claim for one in found.values()], found)
    )


def _with_earlier(claim: ClaimView, earlier: ClaimVerdict | None) -> ClaimView:
    return claim if earlier is None else replace(claim, earlier=earlier.value)


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
    remarks = list(dict.fromkeys(cell.remark for cell in cells if cell.remark))
    if not measured:
        return f"{check.says}: {check.why or next(iter(remarks), 'not measured')}"
    parts = [
        f"{check.says}: {_together(measured, len(check.cells))}",
        f"{check.band} would reproduce it ({check.origin})",
    ]
    return "; ".join((*parts, *seen_words([seen for cell in cells for seen in cell.seen]), *remarks[:1]))


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
        origin=one.origin,
        inference=one.check.inference,
        verdict=one.verdict.value,
        verdict_class=VERDICT_CLASS[one.verdict],
        why=one.why,
        cells=tuple(_cell(cell, one.unit) for cell in one.cells),
    )


def _cell(one: JudgedCell, unit: str) -> CheckedCellView:
    to_decide = f"{plural(one.blocks, 'block')} would decide it" if one.blocks else None
    several = f"{len(one.alone)} runs: {', '.join(_value(run, unit) for run in one.alone)}" if one.alone else None
    return CheckedCellView(
        label=cell_words(one.key),
        href=cell_page(one.key) if one.estimate else None,
        measured=_measured(one.estimate, unit) if one.estimate else missing(one.why or "not measured"),
        verdict=one.verdict.value,
        verdict_class=VERDICT_CLASS[one.verdict],
        remark="; ".join(filter(None, (several, one.why, to_decide))) or None,
        seen=one.seen,
    )


def _value(estimate: Estimate, unit: str) -> str:
    return with_unit(digits(estimate.value, 3), unit)


def _measured(estimate: Estimate, unit: str) -> Figure:
    alone, (low, high) = _value(estimate, unit), (estimate.low, estimate.high)
    if estimate.one_sided:
        end = f"at most {digits(high, 3)}" if high is not None else f"at least {digits(low or 0.0, 3)}"
        return Figure(with_unit(end, unit), estimate.value)
    if low is None or high is None:
        return Figure(alone, estimate.value)
    if low == high:
        return Figure(f"{alone} in every block", estimate.value)
    value, *ends = with_interval(estimate.value, low, high)
    return Figure(f"{with_unit(value, unit)} ({'–'.join(ends)})", estimate.value)


def _band_words(one: JudgedCheck) -> str:
    return with_unit(between(one.band.low, one.band.high), one.unit)
