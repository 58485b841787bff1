"""The verdict of all runs of a host together on a published claim. Hosts are not averaged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jdkmatrix.records.claims import ClaimRecord
from jdkmatrix.report.claims.evidence import ClaimEvidence, together
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedClaim, judge
from jdkmatrix.report.site.digest import RunDigest


@dataclass(frozen=True)
class HostVerdict:
    """`runs`: those that have cells of the claim, or tried to have some; newest first."""

    runs: tuple[RunDigest, ...]
    judged: JudgedClaim


def host_verdicts(claims: Iterable[ClaimRecord], runs: Sequence[RunDigest]) -> dict[str, tuple[HostVerdict, ...]]:
    """By claim, a verdict for each host with a run that says something of it. `runs`: newest first, as the hosts then
    are, those that could judge it before the others."""
    return {claim.id: _of_hosts(claim, runs) for claim in claims}


def _of_hosts(claim: ClaimRecord, runs: Sequence[RunDigest]) -> tuple[HostVerdict, ...]:
    found: dict[tuple[str, ...], list[tuple[RunDigest, ClaimEvidence]]] = {}
    for run in runs:
        for said in run.claims:
            if said.id == claim.id:
                found.setdefault((run.host_id, run.host, run.kernel_version), []).append((run, said))
    hosts = [_together(claim, of_host) for of_host in found.values()]
    return tuple(sorted(hosts, key=lambda one: not one.judged.decided))


def _together(claim: ClaimRecord, found: Sequence[tuple[RunDigest, ClaimEvidence]]) -> HostVerdict:
    telling = [(run, said) for run, said in found if said.has_cells] or found
    return HostVerdict(tuple(run for run, _ in telling), judge(claim, together([said for _, said in telling])))


def verdicts(claims: Iterable[ClaimRecord], hosts: Mapping[str, Sequence[HostVerdict]]) -> dict[str, ClaimVerdict]:
    """For each claim the verdict of the first host. Where no run says anything: not measured if it has checks."""
    return {
        claim.id: next(
            (one.judged.verdict for one in hosts[claim.id]),
            ClaimVerdict.NOT_MEASURED if claim.checks else ClaimVerdict.NOT_TESTABLE,
        )
        for claim in claims
    }
