"""`matrix jdks` and `matrix jdks fetch`."""

from __future__ import annotations

import json

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jdkmatrix.project import find_project
from jdkmatrix.provision.jdks.catalogue import load_catalogue
from jdkmatrix.provision.jdks.outlook import Outlook, outlook
from jdkmatrix.provision.jdks.resolve import fetch

_STYLES = {"ready": "green", "fetchable": "cyan", "unavailable": "dim"}


def show(*, as_json: bool) -> None:
    """List the catalogue with what becomes of each entry on this host."""
    rows = outlook(load_catalogue(find_project().jdks))
    if as_json:
        print(json.dumps([_as_json(row) for row in rows], indent=2))
        return
    table = Table(title="JDK catalogue", caption="vendor, VM and hashes: --json", caption_justify="left")
    table.add_column("id", no_wrap=True)
    table.add_column("version")
    table.add_column("here", no_wrap=True)
    table.add_column("from where, or why not", overflow="fold")
    for row in rows:
        bugs = [f"known bugs: {', '.join(bug.id for bug in row.entry.known_bugs)}"] if row.entry.known_bugs else []
        where = [f"{row.source}: {row.detail}" if row.source else row.detail]
        style = _STYLES[row.status]
        table.add_row(
            escape(row.entry.id), escape(row.entry.version), f"[{style}]{row.status}", escape(" · ".join(where + bugs))
        )
    Console().print(table)


def fetch_one(jdk_id: str) -> None:
    """Fetch one entry and say what was got."""
    entry = load_catalogue(find_project().jdks).entry(jdk_id)
    got = fetch(entry, progress=print)
    print(f"{entry.id}: {got.version} from {got.source}: {got.home}")
    if got.notice:
        print(got.notice)


def _as_json(row: Outlook) -> dict[str, object]:
    here = {
        "status": row.status,
        "source": row.source,
        "detail": row.detail,
        "home": str(row.home) if row.home else None,
        "version": row.version,
        "notice": row.notice,
    }
    return {**row.entry.model_dump(mode="json"), "here": here}
