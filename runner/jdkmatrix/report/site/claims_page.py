"""Published and measured: every claim of the registry, beside what each run says of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.claims.published import VERDICT_CLASS, by_source, rests_on
from jdkmatrix.report.claims.verdicts import ClaimVerdict
from jdkmatrix.report.claims.views import CheckView, ClaimView, SourceView, SpokenView
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import RunDigest, SpokenClaim
from jdkmatrix.report.site.home import host_names


@dataclass(frozen=True)
class ClaimRow:
    """`spoken`: by the newest run of each host that could judge it, or else that tried."""

    id: str
    published: str
    verdict: str
    verdict_class: str
    spoken: tuple[SpokenView, ...]


@dataclass(frozen=True)
class ClaimsView:
    rows: tuple[ClaimRow, ...]
    sources: tuple[SourceView, ...]


def view_claims(
    claims: Sequence[ClaimRecord], runs: Sequence[RunDigest], verdicts: Mapping[str, ClaimVerdict], root: str
) -> ClaimsView:
    """`runs`: newest first; `verdicts`: as verdicts_of; `root` leads from the page to that of the site."""
    spoken = _spoken(runs, root)
    unchecked = {claim.id: claim.not_checked for claim in claims}
    sources = tuple(
        replace(source, claims=tuple(_with_runs(claim, spoken, verdicts, unchecked) for claim in source.claims))
        for source in by_source(claims, {})
    )
    rows = tuple(
        ClaimRow(
            id=claim.id,
            published=claim.published,
            verdict=verdicts[claim.id].value,
            verdict_class=VERDICT_CLASS[verdicts[claim.id]],
            spoken=_newest_of_each_host(spoken.get(claim.id, ())),
        )
        for claim in claims
    )
    return ClaimsView(rows, sources)


def verdicts_of(claims: Iterable[ClaimRecord], runs: Sequence[RunDigest]) -> dict[str, ClaimVerdict]:
    """Of each claim what the newest run that could judge it says. Hosts are not averaged.

    Where none could: not testable here if every run that repeats its experiment says so, else not measured.
    """
    judged = newest_said(runs)
    tried: dict[str, set[ClaimVerdict]] = {}
    for said in (said for run in runs for said in run.claims):
        tried.setdefault(said.id, set()).add(ClaimVerdict(said.verdict))

    def verdict(claim: ClaimRecord) -> ClaimVerdict:
        if claim.id in judged:
            return ClaimVerdict(judged[claim.id][1].verdict)
        if tried.get(claim.id) == {ClaimVerdict.NOT_TESTABLE_HERE}:
            return ClaimVerdict.NOT_TESTABLE_HERE
        return ClaimVerdict.NOT_MEASURED if claim.checks else ClaimVerdict.NOT_TESTABLE

    return {claim.id: verdict(claim) for claim in claims}


def newest_said(runs: Sequence[RunDigest]) -> dict[str, tuple[RunDigest, SpokenClaim]]:
    """By claim, what the newest run that could judge it says. `runs`: newest first."""
    return {said.id: (run, said) for run in reversed(runs) for said in run.claims if _judged(said)}


def _spoken(runs: Sequence[RunDigest], root: str) -> dict[str, list[SpokenView]]:
    hosts = host_names(runs)
    found: dict[str, list[SpokenView]] = {}
    for run in runs:
        for said in run.claims:
            found.setdefault(said.id, []).append(
                SpokenView(
                    run_id=run.run_id,
                    page=f"{root}{run.folder}index.html",
                    host=hosts[run.host_id],
                    measured=moment(run.started_at),
                    about=run.about,
                    verdict=said.verdict,
                    verdict_class=VERDICT_CLASS[ClaimVerdict(said.verdict)],
                    rests_on=rests_on(said.verdict, said.checks),
                    checks=_from(said, f"{root}{run.folder}"),
                )
            )
    return found


def _from(said: SpokenClaim, folder: str) -> tuple[CheckView, ...]:
    """With links that lead from this page to the run's cells."""
    return tuple(
        replace(
            check,
            cells=tuple(replace(cell, href=f"{folder}{cell.href}" if cell.href else None) for cell in check.cells),
        )
        for check in said.checks
    )


def _with_runs(
    claim: ClaimView,
    spoken: Mapping[str, Sequence[SpokenView]],
    verdicts: Mapping[str, ClaimVerdict],
    unchecked: Mapping[str, str | None],
) -> ClaimView:
    """`unchecked`: why nothing checks it."""
    return replace(
        claim,
        spoken=tuple(spoken.get(claim.id, ())),
        verdict=verdicts[claim.id].value,
        verdict_class=VERDICT_CLASS[verdicts[claim.id]],
        why_not=unchecked[claim.id],
    )


def _newest_of_each_host(spoken: Iterable[SpokenView]) -> tuple[SpokenView, ...]:
    """Of runs that could judge it, where the host has one."""
    found: dict[str, SpokenView] = {}
    for one in sorted(spoken, key=_judged, reverse=True):
        found.setdefault(one.host, one)
    return tuple(found.values())


def _judged(said: SpokenClaim | SpokenView) -> bool:
    return ClaimVerdict(said.verdict) not in (ClaimVerdict.NOT_MEASURED, ClaimVerdict.NOT_TESTABLE_HERE)
