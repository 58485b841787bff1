"""Published and measured: every claim of the registry, beside what was measured of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.claims.published import VERDICT_CLASS, by_source, check_view, rests_on
from jdkmatrix.report.claims.verdicts import ClaimVerdict
from jdkmatrix.report.claims.views import CheckView, ClaimView, RunLink, SourceView, SpokenView
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.home import host_names
from jdkmatrix.report.site.host_verdicts import HostVerdict

_DECIDED = (ClaimVerdict.REPRODUCED, ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SEEN)
_OPEN = (ClaimVerdict.INCONCLUSIVE, ClaimVerdict.CAUSE_ABSENT, ClaimVerdict.NOT_MEASURED)


@dataclass(frozen=True)
class ClaimRow:
    """`why`: where nothing was measured; `commands`: what measures it."""

    id: str
    condition: str
    published: str
    verdict: str
    verdict_class: str
    why: str | None
    spoken: tuple[SpokenView, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True)
class ClaimsView:
    """`decided`: by what was measured; `open`: what another run may decide; `others`: what no run here can."""

    decided: tuple[ClaimRow, ...]
    open: tuple[ClaimRow, ...]
    others: tuple[ClaimRow, ...]
    sources: tuple[SourceView, ...]


def view_claims(
    claims: Sequence[ClaimRecord],
    hosts: Mapping[str, Sequence[HostVerdict]],
    verdicts: Mapping[str, ClaimVerdict],
    scenarios: Mapping[str, Sequence[str]],
    root: str,
) -> ClaimsView:
    """`hosts`, `verdicts`: as host_verdicts.py has them; `scenarios`: by claim those that repeat it; `root` leads from
    the page to that of the site."""
    names = host_names(run for told in hosts.values() for one in told for run in one.runs)
    spoken = {claim: tuple(_spoken(one, names, root) for one in told) for claim, told in hosts.items()}
    rows = {
        claim.id: _row(claim, verdicts[claim.id], spoken[claim.id], scenarios.get(claim.id, ())) for claim in claims
    }

    def of(*kinds: ClaimVerdict) -> tuple[ClaimRow, ...]:
        return tuple(row for kind in kinds for claim, row in rows.items() if verdicts[claim] is kind)

    others = tuple(kind for kind in ClaimVerdict if kind not in (*_DECIDED, *_OPEN))
    sources = tuple(
        replace(source, claims=tuple(_with_runs(claim, rows[claim.id]) for claim in source.claims))
        for source in by_source(claims, {})
    )
    return ClaimsView(of(*_DECIDED), of(*_OPEN), of(*others), sources)


def _row(
    claim: ClaimRecord, verdict: ClaimVerdict, spoken: tuple[SpokenView, ...], scenarios: Sequence[str]
) -> ClaimRow:
    return ClaimRow(
        id=claim.id,
        condition=claim.condition,
        published=claim.published,
        verdict=verdict.value,
        verdict_class=VERDICT_CLASS[verdict],
        why=claim.not_checked or claim.not_repeated,
        spoken=spoken,
        commands=tuple(f"matrix run -s {name}" for name in scenarios) if verdict in _OPEN else (),
    )


def _spoken(one: HostVerdict, names: Mapping[str, str], root: str) -> SpokenView:
    checks = tuple(map(check_view, one.judged.checks))
    newest = one.runs[0]
    return SpokenView(
        host=names[newest.host_id],
        runs=tuple(
            RunLink(run.run_id, f"{root}{run.folder}index.html", moment(run.started_at), run.about) for run in one.runs
        ),
        verdict=one.judged.verdict.value,
        verdict_class=VERDICT_CLASS[one.judged.verdict],
        rests_on=rests_on(one.judged.verdict.value, checks),
        checks=tuple(_linked(check, one, root) for check in checks),
    )


def _linked(check: CheckView, one: HostVerdict, root: str) -> CheckView:
    """With links that lead from this page to the cells of the newest run that has each."""
    pages = {cell.page: f"{root}{run.folder}{cell.page}" for run in reversed(one.runs) for cell in run.cells}
    newest = f"{root}{one.runs[0].folder}"

    def link(href: str | None) -> str | None:
        return None if href is None else pages.get(href, f"{newest}{href}")

    return replace(check, cells=tuple(replace(cell, href=link(cell.href)) for cell in check.cells))


def _with_runs(claim: ClaimView, row: ClaimRow) -> ClaimView:
    return replace(claim, spoken=row.spoken, verdict=row.verdict, verdict_class=row.verdict_class, why_not=row.why)
