"""The verdicts of runs as a table in a Markdown file, between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jdkmatrix.cli import markdown
from jdkmatrix.errors import MatrixError
from jdkmatrix.report.claims.published import rests_on
from jdkmatrix.report.site.claims_page import newest_said
from jdkmatrix.report.site.digest import RunDigest, SpokenClaim
from jdkmatrix.report.site.home import host_names

VERDICTS = "verdicts"
_HEADINGS = ("Published claim", "Verdict", "What it rests on", "JDKs", "Run")


def verdict_table(runs: Sequence[RunDigest]) -> str:
    """Of every claim that a run speaks to what the newest one says, and below it the hosts. `runs`: newest first."""
    said = sorted(newest_said(runs).items())
    if not said:
        return "No run speaks to a published claim."
    rows = [(f"`{claim}`", f"**{one.verdict}**", _rest(one), *_where(run)) for claim, (run, one) in said]
    names = host_names(runs)
    hosts: dict[str, set[str]] = {}
    for _, (run, _) in said:
        hosts.setdefault(f"{names[run.host_id]}, Linux {run.kernel}", set()).add(run.run_id)
    listed = [f"{host}: {', '.join(sorted(ids))}" for host, ids in hosts.items()]
    return f"{markdown.table(_HEADINGS, rows)}\n\n{markdown.listing(listed, at_most=len(listed))}"


def _rest(said: SpokenClaim) -> str:
    return "<br>".join(map(markdown.escaped, rests_on(said.verdict, said.checks)))


def _where(run: RunDigest) -> tuple[str, ...]:
    jdks = ", ".join(name for name, _ in run.jdks)
    return tuple(map(markdown.escaped, (jdks, run.run_id)))


def put_between(file: Path, mark: str, text: str) -> None:
    """Replace what stands between "<!-- mark -->" and "<!-- /mark -->".

    Raises:
        MatrixError: the file cannot be read or written, or does not have both marks, once and in this order.
    """
    start, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    try:
        whole = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise MatrixError(f"{file}: cannot be read: {error}") from None
    before, found, rest = whole.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed or start in rest:
        raise MatrixError(f"{file}: needs a line {start.strip()} and below it a line {end}, each once")
    try:
        file.write_text(f"{before}{start}{text}\n{end}{after}", "utf-8")
    except OSError as error:
        raise MatrixError(f"{file}: cannot be written: {error.strerror}") from None
