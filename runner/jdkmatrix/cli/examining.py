"""`matrix doctor`."""

from __future__ import annotations

import dataclasses
import json

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jdkmatrix.host.checks import examine, overall
from jdkmatrix.host.facts import read_facts
from jdkmatrix.host.topology import read_topology

EXIT = {"ready": 0, "noisy": 1, "unfit": 2}
_STYLES = {"ready": "green", "noisy": "yellow", "unfit": "red"}


def show(*, as_json: bool) -> int:
    """Print the checks of this host; returns the exit code of the overall verdict."""
    facts = read_facts(read_topology())
    checks = examine(facts)
    verdict = overall(checks)
    if as_json:
        report = {
            "verdict": verdict,
            "checks": [dataclasses.asdict(check) for check in checks],
            "facts": facts.model_dump(),
        }
        print(json.dumps(report, indent=2))
        return EXIT[verdict]
    table = Table("property", "found", "verdict", "what to do", title=f"{facts.cpu.model}, Linux {facts.kernel}")
    for check in checks:
        table.add_row(
            check.name, escape(check.found), f"[{_STYLES[check.verdict]}]{check.verdict}", escape(check.advice)
        )
    console = Console()
    console.print(table)
    console.print(f"This host is [{_STYLES[verdict]}]{verdict}[/].")
    return EXIT[verdict]
