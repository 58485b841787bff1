"""`matrix doctor`."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from jdkmatrix.cli import markdown
from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.terminal import escape
from jdkmatrix.doctor.base import NOT_SHOWN, Check, Host, HostVerdict, Verdict, overall
from jdkmatrix.doctor.catalogue import examine
from jdkmatrix.doctor.tuning import settings, steps
from jdkmatrix.domain.quantities import plural
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.cpusets import TooFewCpusError, assign
from jdkmatrix.host.facts import read_facts
from jdkmatrix.host.topology import Topology, read_topology
from jdkmatrix.project_files import working_directory
from jdkmatrix.provision.project import find_project

EXIT: dict[HostVerdict, int] = {"ready": 0, "noisy": 1, "unfit": 2}
_STYLES: dict[Verdict, str] = {"ready": "green", "noisy": "yellow", "unfit": "red", "not shown": "dim"}
_MEANINGS: dict[HostVerdict, str] = {
    "ready": "Nothing was found that would disturb a measurement.",
    "noisy": "Ratios within one run hold, with wider intervals; absolute figures do not carry over to other hosts.",
    "unfit": "Fix the unfit rows first: figures from this host would mean nothing.",
}


def show(*, as_json: bool = False, as_markdown: bool = False) -> int:
    """Print the checks of this host; return the exit code of the overall verdict."""
    facts = read_facts(read_topology())
    examined = this_host()
    checks = examine(examined)
    verdict = overall(checks.values())
    host = f"{facts.cpu.model}, Linux {facts.kernel}"
    if as_json:
        report = {
            "verdict": verdict,
            "checks": [{"name": name, **dataclasses.asdict(check)} for name, check in checks.items()],
            "facts": facts.model_dump(),
        }
        print(json.dumps(report, indent=2))
    elif as_markdown:
        print(_markdown(checks, verdict, host))
    else:
        console = console_here()
        console.print(_table(checks, host))
        console.print(f"This host is [{_STYLES[verdict]}]{verdict}[/] ({_counts(checks)}). {_MEANINGS[verdict]}")
        changes = steps(examined, (change for check in checks.values() for change in check.changes))
        if count := len(settings(changes)):
            console.print(f"`matrix doctor --tune` (root) can change {plural(count, 'setting')}; --restore undoes it.")
    return EXIT[verdict]


def this_host() -> Host:
    """Return this host. Results go to the project's folder, or without a project to the working directory. The server's
    CPUs are those of a cell with half of this host's."""
    try:
        results = find_project().results
    except MatrixError:
        results = working_directory()
    return Host(root=Path("/"), results=results, server_cpus=_server_cpus(read_topology()))


def _server_cpus(topology: Topology) -> tuple[int, ...]:
    half = max(1, len(topology.cpus) // 2)
    try:
        return assign(topology, sut_cpus=half, driver_cpus=1, overlap=True).sut
    except TooFewCpusError:  # a small CPU quota, which is reported in a row of its own
        return tuple(cpu.cpu for cpu in topology.cpus[-half:])


def _table(checks: Mapping[str, Check], title: str) -> Table:
    table = Table(title=escape(title), title_justify="left")
    table.add_column("property", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("found: effect → what to do", overflow="fold")
    for name, check in checks.items():
        style = _STYLES[check.verdict]
        advice = f"\n[bold]→[/] {escape(check.advice)}" if check.advice else ""
        table.add_row(name, f"[{style}]{check.verdict}[/]", f"{escape(_found(check))}{advice}")
    return table


def _found(check: Check) -> str:
    shown = check.verdict != "not shown" or check.found != NOT_SHOWN
    return ": ".join(filter(None, (check.found if shown else "", check.why)))


def _counts(checks: Mapping[str, Check]) -> str:
    counts = Counter(check.verdict for check in checks.values())
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict])


def _markdown(checks: Mapping[str, Check], verdict: HostVerdict, host: str) -> str:
    """Format for the job summary of a CI service: the verdict as a heading, then the rows, the worst first."""
    worst_first = ("unfit", "noisy", "not shown", "ready")
    rows = (
        (markdown.escaped(name), check.verdict, markdown.escaped(_found(check)), markdown.escaped(check.advice))
        for name, check in sorted(checks.items(), key=lambda item: worst_first.index(item[1].verdict))
    )
    return "\n\n".join(
        (
            f"### This host is {verdict} ({_counts(checks)})",
            markdown.escaped(f"{host}. {_MEANINGS[verdict]}"),
            markdown.table(("property", "verdict", "found: effect", "what to do"), rows),
        )
    )
