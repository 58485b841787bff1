"""Runs, as the front page and the pages of a server, a JDK, … list them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from jdkmatrix.domain.quantities import plural
from jdkmatrix.report.blocks.inline import joined, link, small
from jdkmatrix.report.blocks.kinds import Disclosure, PageBlock, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.run_page.facts import moment
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.report.words.numbers import Figure

_UNFOLDED_MAX = 20
_COLUMNS = columns("Run", "Measured", "What~", "Host~", "JDKs~", "Forks~", "A/A checks~")


def host_names(runs: Iterable[RunDigest]) -> dict[str, str]:
    """By host: its words, and a part of its hash where two hosts have the same."""
    words = {run.host_id: run.host for run in reversed(list(runs))}
    twice = {text for text, number in Counter(words.values()).items() if number > 1}
    return {host: f"{text} ({host[:6]})" if text in twice else text for host, text in words.items()}


def runs_section(runs: Sequence[RunDigest], hosts: Mapping[str, str], root: str) -> Section:
    """`runs`: newest first, of which the oldest are folded where there are many; `root` leads to the site's folder."""
    rows = [_row(run, hosts[run.host_id], root) for run in runs]
    blocks: list[PageBlock] = [DataTable("Table of runs", _COLUMNS, rows[:_UNFOLDED_MAX], "wrap", sortable=True)]
    if older := rows[_UNFOLDED_MAX:]:
        table = DataTable("Table of older runs", _COLUMNS, older, "wrap", sortable=True)
        blocks.append(Disclosure(f"{plural(len(older), 'older run')}", (table,)))
    return Section("runs", "Runs", blocks)


def _row(run: RunDigest, host: str, root: str) -> tuple[Cell, ...]:
    remarks = [] if run.status == "complete" else [f"{run.status}: cells may lack forks, or be missing"]
    if run.damaged:
        remarks.append(f"{plural(len(run.damaged), 'result file')} damaged or missing")
    forks = joined(run.forks.text, *([" ", small("; ".join(remarks), css="warned")] if remarks else []))
    return (
        link(run.run_id, f"{root}{run.folder}index.html"),
        moment(run.started_at),
        run.about,
        host,
        ", ".join(name for name, _ in run.jdks),
        Figure(forks, None, amber=run.forks.amber),
        run.aa or "none",
    )
