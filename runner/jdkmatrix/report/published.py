"""What was published about the experiment that a run repeats, as the run recorded it. Pure; no verdicts."""

from __future__ import annotations

from collections.abc import Iterable

from jdkmatrix.claims.address import is_web_address
from jdkmatrix.claims.words import amount, of_whom, without_figures
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.views import ClaimFigure, ClaimView, SourceView
from jdkmatrix.terms.quantities import MISSING


def published_views(run: RunRecord) -> tuple[SourceView, ...]:
    """Every source once, with its claims; both in the order of the record. Empty where a run recorded none."""
    return _by_source(run.scenario.claims if run.scenario else ())


def not_repeated_views(run: RunRecord) -> tuple[SourceView, ...]:
    """As published_views, of the claims that no scenario repeats."""
    return _by_source(run.scenario.not_repeated if run.scenario else ())


def _by_source(claims: Iterable[ClaimRecord]) -> tuple[SourceView, ...]:
    by_source: dict[ClaimSource, list[ClaimRecord]] = {}
    for claim in claims:
        by_source.setdefault(claim.source, []).append(claim)
    return tuple(_source(source, of_it) for source, of_it in by_source.items())


def _source(source: ClaimSource, claims: list[ClaimRecord]) -> SourceView:
    return SourceView(
        title=source.title,
        about=", ".join(part for part in (source.by, source.date) if part) or None,
        href=web(source.url),
        no_url=source.no_url,
        conditions=source.conditions,
        inference=source.inference,
        claims=tuple(_claim(claim) for claim in claims),
    )


def _claim(claim: ClaimRecord) -> ClaimView:
    return ClaimView(
        id=claim.id,
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


def web(url: str | None) -> str | None:
    """Only http and https become links; a record may hold any text, "javascript:" too."""
    return url if url and is_web_address(url) else None
