"""Published and measured: every claim of the registry, beside what was measured of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.blocks.inline import badge, code, element, joined, link, paragraphs, say, small
from jdkmatrix.report.blocks.kinds import Details, PageBlock, Prose, Published, Section
from jdkmatrix.report.blocks.page import WebPage
from jdkmatrix.report.blocks.tables import DataTable, columns
from jdkmatrix.report.claims.published import VERDICT_CLASS, by_source, check_view, rests_on
from jdkmatrix.report.claims.verdicts import ClaimVerdict
from jdkmatrix.report.claims.views import CheckView, RunLink, SpokenView
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.host_verdicts import HostVerdict
from jdkmatrix.report.site.runs_table import host_names

DECIDED = (ClaimVerdict.REPRODUCED, ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SEEN)
OPEN = (ClaimVerdict.INCONCLUSIVE, ClaimVerdict.CAUSE_ABSENT, ClaimVerdict.NOT_MEASURED)
_OTHERS = tuple(one for one in ClaimVerdict if one not in (*DECIDED, *OPEN))


def claims_page(
    claims: Sequence[ClaimRecord],
    hosts: Mapping[str, Sequence[HostVerdict]],
    verdicts: Mapping[str, ClaimVerdict],
    scenarios: Mapping[str, Sequence[str]],
    root: str,
) -> WebPage:
    """`hosts`, `verdicts`: as host_verdicts.py has them; `scenarios`: by claim those that repeat it; `root` leads from
    the page to that of the site."""
    names = host_names(run for told in hosts.values() for one in told for run in one.runs)
    spoken = {claim: tuple(_spoken(one, names, root) for one in told) for claim, told in hosts.items()}

    def table(label: str, kinds: Sequence[ClaimVerdict]) -> DataTable | None:
        """Of the claims with one of these verdicts, in their order."""
        some = [claim for kind in kinds for claim in claims if verdicts[claim.id] is kind]
        rows = [_row(one, verdicts[one.id], spoken[one.id], scenarios.get(one.id, ())) for one in some]
        heads = columns("Published=", "Measured=")
        return DataTable(label, heads, rows, "wrap stack") if rows else None

    return WebPage(
        title="Published and measured · jdk-matrix",
        heading="Published and measured",
        summary="What others published about virtual threads and pools, and what the runs of this site found when they "
        "did the same.",
        blocks=tuple(
            _blocks(
                table("Claims that were decided", DECIDED),
                table("Claims that are open", OPEN),
                table("Claims that no run here can judge", _OTHERS),
                Published(_sources(claims, verdicts, spoken), folded=True),
            )
        ),
        root=root,
        up=f"{root}index.html",
        menu=(("Decided", "#decided"), ("Open", "#open"), ("Claims", "#claims")),
        foot=link("Back to the answer", f"{root}index.html"),
        short=True,
    )


def _blocks(
    decided: DataTable | None, still_open: DataTable | None, others: DataTable | None, published: Published
) -> Iterator[PageBlock]:
    yield Section("decided", "Decided", (decided or Prose("No run here decides a claim.", css=""),), say("decided"))
    if still_open:
        words = "Another run may decide these; the command measures what the claim is about."
        yield Section("open", "Open", (still_open,), words)
    if others:
        yield Details(f"{len(others.rows)} claims that no run here can judge, and why", (others,), "block")
    yield Section("claims", "Claims", (published,), say("inference"))


def _row(
    claim: ClaimRecord, verdict: ClaimVerdict, spoken: Sequence[SpokenView], scenarios: Sequence[str]
) -> tuple[str, str]:
    anchor = link(claim.id, f"#claim-{claim.id}")
    published = joined(f"{claim.published} ", small(f"{claim.condition} ", anchor))
    measured = [part for one in spoken for part in (element("p", *_said(one)), paragraphs(one.rests_on, "sub"))]
    if not spoken:
        why = _why_not(claim)
        measured = [
            element("p", badge(verdict.value, VERDICT_CLASS[verdict])),
            *([element("p", why, css="sub")] if why else []),
        ]
    commands = [f"matrix run -s {name}" for name in scenarios] if verdict in OPEN else []
    return published, joined(*measured, *(element("p", code(line), css="sub") for line in commands))


def _said(one: SpokenView) -> Iterator[str]:
    yield from (badge(one.verdict, one.verdict_class), f" {one.host}: ")
    for number, run in enumerate(one.runs):
        yield from (", " if number else "", link(run.measured, run.page), f" ({run.about})")


def _why_not(claim: ClaimRecord) -> str | None:
    return claim.not_checked or claim.not_repeated


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

    def linked(href: str | None) -> str | None:
        return None if href is None else pages.get(href, f"{newest}{href}")

    return replace(check, cells=tuple(replace(cell, href=linked(cell.href)) for cell in check.cells))


def _sources(
    claims: Sequence[ClaimRecord], verdicts: Mapping[str, ClaimVerdict], spoken: Mapping[str, tuple[SpokenView, ...]]
) -> tuple[object, ...]:
    why_not = {claim.id: _why_not(claim) for claim in claims}
    return tuple(
        replace(
            source,
            claims=tuple(
                replace(
                    claim,
                    spoken=spoken[claim.id],
                    verdict=verdicts[claim.id].value,
                    verdict_class=VERDICT_CLASS[verdicts[claim.id]],
                    why_not=why_not[claim.id],
                )
                for claim in source.claims
            ),
        )
        for source in by_source(claims, {})
    )
