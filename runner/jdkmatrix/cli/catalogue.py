"""`matrix jdks`, `matrix jdks fetch` and `matrix jdks update`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.table import Table

from jdkmatrix.cli.console import console_here
from jdkmatrix.cli.stopping import stoppable
from jdkmatrix.cli.terminal import escape, say
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.errors import MatrixError, visible
from jdkmatrix.jdks import net
from jdkmatrix.jdks.availability import Outlook, outlook
from jdkmatrix.jdks.catalogue import JdkEntry, dump_catalogue, load_catalogue, parse_catalogue
from jdkmatrix.jdks.lookup import look_up, question
from jdkmatrix.jdks.pins import why_fixed
from jdkmatrix.jdks.resolve import fetch
from jdkmatrix.jdks.update import difference, judge, with_updates
from jdkmatrix.provision.project import find_project
from jdkmatrix.reading import read_text
from jdkmatrix.store.atomic import write_atomic

_STYLES = {"ready": "green", "fetchable": "cyan", "unavailable": "dim"}


def show(*, as_json: bool) -> None:
    """List the catalogue, with whether and from where each entry can be had on this host."""
    rows = outlook(load_catalogue(find_project().jdks))
    if as_json:
        print(json.dumps([_as_json(row) for row in rows], indent=2, default=str))
        return
    table = Table(
        box=box.SIMPLE_HEAD, caption="--json: the location, vendor, VM and hashes, too", caption_justify="left"
    )
    for heading in ("id", "version", "here", "from where"):
        table.add_column(heading, no_wrap=heading in ("id", "here"))
    why_not: dict[str, list[str]] = {}
    for row in rows:
        style = _STYLES[row.status]
        where = [*_where(row)] if row.status != "unavailable" else []
        table.add_row(
            escape(row.entry.id), escape(row.entry.version), f"[{style}]{row.status}", escape("; ".join(where))
        )
        if not where:
            why_not.setdefault(row.detail, []).append(row.entry.id)
    console = console_here()
    console.print(table)
    for why, ids in why_not.items():
        console.print(escape(f"unavailable: {', '.join(ids)}: {why}"), soft_wrap=True, highlight=False)


def _where(row: Outlook) -> Iterator[str]:
    yield (row.source or row.detail) if row.status == "ready" else f"{row.source}: {row.detail}"
    if row.entry.known_bugs:
        yield f"known bugs: {', '.join(bug.id for bug in row.entry.known_bugs)}"


def fetch_one(jdk_id: str) -> None:
    """Fetch one entry and say what was obtained."""
    catalogue = load_catalogue(find_project().jdks)
    entry = catalogue.entry(jdk_id)
    with stoppable():
        got = fetch(entry, progress=say, catalogue=catalogue)
    say(f"{entry.id}: {got.version} from {got.source}: {got.home}")
    if got.notice:
        say(got.notice)


def update(ids: Sequence[str], *, write: bool) -> None:
    """Look up newer builds, for `ids` or for every entry that follows its vendor, and show the change as a diff.

    jdks.json is written only with `write`.

    Raises:
        MatrixError: an id is unknown, no vendor answers, or jdks.json cannot be read or written.
    """
    path = find_project().jdks
    text = read_text(path)
    catalogue = parse_catalogue(path, text)
    chosen = [catalogue.entry(jdk_id) for jdk_id in dict.fromkeys(ids)] or list(catalogue.entries)
    followed = [entry for entry in chosen if why_fixed(entry) is None]
    _tell_fixed(entry for entry in chosen if entry not in followed)
    if followed:
        print(f"asking {', '.join(dict.fromkeys(entry.vendor for entry in followed))}", flush=True)
    answers = look_up(followed, net.get_text)
    verdicts = [judge(entry, answers[question(entry)], catalogue) for entry in followed]
    reasons = [verdict.unanswered for verdict in verdicts if verdict.unanswered is not None]
    if verdicts and len(reasons) == len(verdicts):
        raise MatrixError(f"could not look up newer JDKs: {'; '.join(dict.fromkeys(reasons))}")
    for verdict in verdicts:
        print(visible(f"{verdict.entry.id}: {verdict.text}"))
    moved = [verdict.entry.id for verdict in verdicts if verdict.moved is not None]
    if moved:
        new = dump_catalogue(with_updates(catalogue, verdicts))
        print(visible(f"\n{difference(text, new, path.name)}"))
        if write:
            write_atomic(path, new)
    count = "1 entry" if len(moved) == 1 else f"{len(moved)} entries"
    if write and moved:
        print(
            f"{count} changed in {path}, each with its -prev: `matrix jdks fetch {moved[0]}` verifies the new pin, "
            "unless that build is already here"
        )
    elif moved:
        print(f"{count} would change, each with its -prev; nothing was written (--write writes it)")
    else:
        print("0 entries would change")


def _tell_fixed(entries: Iterable[JdkEntry]) -> None:
    """Print which entries are not looked up, with one line for each reason."""
    for reason, names in grouped((why_fixed(entry) or "", entry.id) for entry in entries).items():
        print(f"not looked up, {reason}: {', '.join(names)}")


def _as_json(row: Outlook) -> dict[str, object]:
    here = {name: value for name, value in vars(row).items() if name != "entry"}
    return {**row.entry.model_dump(mode="json"), "here": here}
