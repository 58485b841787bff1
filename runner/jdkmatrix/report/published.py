"""What was published about the experiment that a run repeats, as the run recorded it. Pure; no verdicts."""

from __future__ import annotations

from jdkmatrix.claims.words import amount, of_whom
from jdkmatrix.records import ClaimRecord, ClaimSource, PublishedFigure, RunRecord
from jdkmatrix.report.numbers import MISSING
from jdkmatrix.report.views import ClaimFigure, ClaimView, SourceView


def published_views(run: RunRecord) -> tuple[SourceView, ...]:
    """Every source once, with its claims; both in the order of the record. Empty where a run recorded none."""
    by_source: dict[ClaimSource, list[ClaimRecord]] = {}
    for claim in run.scenario.claims if run.scenario else ():
        by_source.setdefault(claim.source, []).append(claim)
    return tuple(_source(source, claims) for source, claims in by_source.items())


def _source(source: ClaimSource, claims: list[ClaimRecord]) -> SourceView:
    return SourceView(
        title=source.title,
        about=", ".join(part for part in (source.by, source.date) if part) or None,
        href=web(source.url),
        conditions=source.conditions,
        claims=tuple(
            ClaimView(
                id=claim.id,
                condition=claim.condition,
                published=claim.published,
                note=claim.note,
                figures=tuple(_figure(figure) for figure in claim.figures),
            )
            for claim in claims
        ),
    )


def _figure(figure: PublishedFigure) -> ClaimFigure:
    return ClaimFigure(
        quantity=figure.quantity,
        condition=figure.condition,
        whom=of_whom(figure) or MISSING,
        amount=amount(figure),
        as_printed=figure.as_printed,
    )


def web(url: str | None) -> str | None:
    """Only http and https become links; a record may hold any text, "javascript:" too."""
    return url if url and url.startswith(("https://", "http://")) else None
