"""The verdicts of runs as a table in a Markdown file, between two marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jdkmatrix.cli import markdown
from jdkmatrix.errors import MatrixError
from jdkmatrix.reading import read_text
from jdkmatrix.report.claims.verdicts import ClaimVerdict, rests_on
from jdkmatrix.report.site.claims_page import DECIDED, HostVerdict
from jdkmatrix.report.site.digest import host_names
from jdkmatrix.store.atomic import write_atomic

VERDICTS = "verdicts"
_HEADINGS = ("Published", "Verdict", "What it rests on", "Runs")


def verdict_table(claims: Mapping[str, Sequence[HostVerdict]]) -> str:
    """Build a table with a row for every claim that the first host could judge, and below it a list of the hosts."""
    judged = [told for told in claims.values() if told and told[0].judged.decided]
    if not judged:
        return "No run bears on a published claim."
    judged.sort(key=lambda told: _ORDER.index(told[0].judged.verdict))
    said = [told[0] for told in judged]
    names = host_names(run for one in said for run in one.runs)
    hosts: dict[str, set[str]] = {}
    for run in (run for one in said for run in one.runs):
        hosts.setdefault(f"{names[run.host_id]}, Linux {run.kernel}", set()).add(run.run_id)
    listed = [f"{host}: {', '.join(sorted(ids))}" for host, ids in hosts.items()]
    return f"{markdown.table(_HEADINGS, map(_row, judged))}\n\n{markdown.listing(listed, at_most=len(listed))}"


_ORDER = tuple(ClaimVerdict)
_SAID_BESIDE = (*DECIDED, ClaimVerdict.INCONCLUSIVE)


def _row(told: Sequence[HostVerdict]) -> tuple[str, ...]:
    one, *others = told
    claim, verdict = one.judged.claim, one.judged.verdict
    disagreeing = dict.fromkeys(other.judged.verdict for other in others if other.judged.verdict in _SAID_BESIDE)
    beside = ", ".join(other.value for other in disagreeing if other is not verdict)
    return (
        f"`{claim.id}`: {markdown.escaped(claim.published)}",
        f"**{verdict.value}**" + (f" (another host: {beside})" if beside else ""),
        "<br>".join(map(markdown.escaped, rests_on(one.judged))),
        "<br>".join(markdown.escaped(run.run_id) for run in one.runs),
    )


def put_between(file: Path, mark: str, text: str) -> None:
    """Replace the text between "<!-- mark -->" and "<!-- /mark -->".

    Raises:
        MatrixError: the file cannot be read or written, or does not have both marks, once and in this order.
    """
    start, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    whole = read_text(file)
    before, found, rest = whole.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed or start in rest:
        raise MatrixError(f"{file}: needs a line {start.strip()} and below it a line {end}, each once")
    write_atomic(file.resolve(), f"{before}{start}{text}\n{end}{after}")
