"""Published and measured: every claim of the registry beside each host's verdict, over all of its runs. Hosts are not
averaged. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import plural
from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.blocks.inline import cell_page, code, element, joined, link, paragraphs, say, small
from jdkmatrix.report.blocks.kinds import Disclosure, PageBlock, Prose, Section, WebPage
from jdkmatrix.report.blocks.tables import DataTable, columns
from jdkmatrix.report.claims.estimates import compared_cells
from jdkmatrix.report.claims.evidence import ClaimEvidence, together
from jdkmatrix.report.claims.published import CameTo, behind, check_blocks, published_blocks, verdict_badge
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedClaim, judge, rests_on
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import RunDigest, host_names
from jdkmatrix.report.words.sentences import cell_words


@dataclass(frozen=True)
class HostVerdict:
    """The verdict of one host. `runs`: those with cells of the claim, or all if none has any; newest first."""

    runs: tuple[RunDigest, ...]
    judged: JudgedClaim


def host_verdicts(claims: Iterable[ClaimRecord], runs: Sequence[RunDigest]) -> dict[str, tuple[HostVerdict, ...]]:
    """Judge each claim for each host and kernel with a run that says something about it. `runs`: newest first. So are
    the hosts, but those that decided a claim come first, then the inconclusive ones, then those without the cause."""
    return {claim.id: _of_hosts(claim, runs) for claim in claims}


def _of_hosts(claim: ClaimRecord, runs: Sequence[RunDigest]) -> tuple[HostVerdict, ...]:
    found = grouped((_place(run), (run, said)) for run in runs for said in run.claims if said.id == claim.id)
    hosts = [_together(claim, of_host) for of_host in found.values()]
    return tuple(sorted(hosts, key=lambda one: _RANKS.get(one.judged.verdict, len(_RANKS))))


def _together(claim: ClaimRecord, found: Sequence[tuple[RunDigest, ClaimEvidence]]) -> HostVerdict:
    telling = [(run, said) for run, said in found if any(check.cells for check in said.checks)] or found
    return HostVerdict(tuple(run for run, _ in telling), judge(claim, together([said for _, said in telling])))


def verdicts(claims: Iterable[ClaimRecord], hosts: Mapping[str, Sequence[HostVerdict]]) -> dict[str, ClaimVerdict]:
    """Return the first host's verdict on each claim. Where no run says anything: not measured if it has checks."""
    return {
        claim.id: next(
            (one.judged.verdict for one in hosts[claim.id]),
            ClaimVerdict.NOT_MEASURED if claim.checks else ClaimVerdict.NOT_TESTABLE,
        )
        for claim in claims
    }


DECIDED = (ClaimVerdict.REPRODUCED, ClaimVerdict.IN_PART, ClaimVerdict.CONTRADICTED, ClaimVerdict.NOT_SEEN)
OPEN = (ClaimVerdict.INCONCLUSIVE, ClaimVerdict.CAUSE_ABSENT, ClaimVerdict.NOT_MEASURED)
_RANKS = dict.fromkeys(DECIDED, 0) | {verdict: rank for rank, verdict in enumerate(OPEN, start=1)}
_OTHERS = tuple(one for one in ClaimVerdict if one not in (*DECIDED, *OPEN))
_ROOT = "../"  # from the page to the site's root


def claims_page(
    claims: Sequence[ClaimRecord],
    hosts: Mapping[str, Sequence[HostVerdict]],
    scenarios: Mapping[str, Sequence[str]],
) -> WebPage:
    """Build the page. `hosts`: as from `host_verdicts`; `scenarios`: by claim, those that repeat it."""
    came_out = verdicts(claims, hosts)
    runs = {run.run_id: run for told in hosts.values() for one in told for run in one.runs}
    names = _named(runs.values())

    def table(label: str, kinds: Sequence[ClaimVerdict]) -> DataTable | None:
        """List the claims with one of these verdicts, in the order of the verdicts."""
        some = [claim for kind in kinds for claim in claims if came_out[claim.id] is kind]
        rows = [(_published(one), measured(one)) for one in some]
        return DataTable(label, columns("Published=", "Measured="), rows, "wrap stack") if rows else None

    def tables() -> Iterator[PageBlock]:
        decided = table("Claims that were decided", DECIDED) or Prose("No run here decides a claim.", css="")
        yield Section("decided", "Decided", (decided,), say("decided"))
        if still_open := table("Claims that are open", OPEN):
            words = "Another run may decide these; the command measures what the claim is about."
            yield Section("open", "Open", (still_open,), words)
        if others := table("Claims that no run here can judge", _OTHERS):
            number = plural(len(others.rows), "claim")
            yield Disclosure(f"{number} that no run here can judge, and why", (others,), "block")

    def measured(claim: ClaimRecord) -> Markup:
        verdict, told = came_out[claim.id], hosts[claim.id]
        parts: list[Markup] = []
        for one in told:
            rest = (one.judged.why,) if one.judged.why else rests_on(one.judged)
            parts += [element("p", _said(one, names)), paragraphs(rest, "sub")]
        if not told:
            why = claim.not_checked or claim.not_repeated
            parts = [element("p", verdict_badge(verdict)), *([element("p", why, css="sub")] if why else [])]
        commands = scenarios.get(claim.id, ()) if verdict in OPEN else ()
        return joined(*parts, *(element("p", code(f".venv/bin/matrix run -s {name}"), css="sub") for name in commands))

    def came_to(claim: ClaimRecord) -> CameTo:
        spoken = (block for one in hosts[claim.id] for block in _host_blocks(one, names))
        return verdict_badge(came_out[claim.id]), (*behind("Not checked.", claim.not_checked), *spoken)

    every = Section("claims", "Claims", tuple(published_blocks(claims, came_to, folded=True)), say("inference"))
    opened = [("Open", "#open")] if any(verdict in OPEN for verdict in came_out.values()) else []
    return WebPage(
        heading="Published and measured",
        summary="What others published about virtual threads and pools, and what the runs of this site found when they "
        "did the same.",
        blocks=(*tables(), every),
        root=_ROOT,
        menu=(("Decided", "#decided"), *opened, ("Claims", "#claims")),
        foot=link("Back to the answer", f"{_ROOT}index.html"),
    )


def _published(claim: ClaimRecord) -> Markup:
    return joined(f"{claim.published} ", small(f"{claim.condition} ", link(claim.id, f"#claim-{claim.id}")))


_Place = tuple[str, str]  # a host and the version of its kernel


def _place(run: RunDigest) -> _Place:
    return run.host_id, run.kernel_version


def _named(runs: Iterable[RunDigest]) -> dict[_Place, str]:
    """Name each place in words, with the kernel where a host has had several."""
    told = list(runs)
    hosts, places = host_names(told), {_place(run) for run in told}
    kernels = Counter(host for host, _ in places)
    return {place: hosts[place[0]] + (f", Linux {place[1]}" if kernels[place[0]] > 1 else "") for place in places}


_NAMED_MAX = 5  # runs named with a verdict; a host may have hundreds


def _said(one: HostVerdict, names: Mapping[_Place, str]) -> Markup:
    """Show the verdict of a host and its runs, only the newest of them by name."""
    parts = [verdict_badge(one.judged.verdict), f" {names[_place(one.runs[0])]}: "]
    for number, run in enumerate(one.runs[:_NAMED_MAX]):
        page = link(moment(run.started_at), f"{_ROOT}{run.folder}index.html")
        parts += [", " if number else "", page, f" ({run.about})"]
    older = len(one.runs) - _NAMED_MAX
    return joined(*parts, f" and {plural(older, 'older run')}" if older > 0 else "")


def _host_blocks(one: HostVerdict, names: Mapping[_Place, str]) -> Iterator[PageBlock]:
    """Yield a host's verdict and checks. Links lead to the newest run whose forks an estimate rests on."""
    host = names[_place(one.runs[0])]

    def page(cell: JudgedCell) -> str | None:
        there = {forks.run_id for forks in cell.behind if forks.cell_id == cell.key.cell_id}
        newest = next((run for run in one.runs if run.run_id in there), None)
        return f"{_ROOT}{newest.folder}{cell_page(cell.key)}" if newest else None

    yield Prose(_said(one, names), css="")
    keys = {key for check in one.judged.asked for cell in check.cells for key in compared_cells(check.check, cell.key)}
    if told := dict.fromkeys(cell_words(key) for run in one.runs for key in run.two_modes if key in keys):
        words = "in the leading figure, forks of one run fall into two groups, so that intervals may be too narrow"
        yield Prose(f"Read with care: {words} ({'; '.join(told)}).", css="warned")
    for check in one.judged.asked:
        yield from check_blocks(check, f"{one.judged.claim.id} on {host}", page)
