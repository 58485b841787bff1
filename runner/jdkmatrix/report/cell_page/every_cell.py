"""The page of a cell as far as it is the same whatever was measured in it. Pure; logs were read before."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import amount
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import badge, element, file_stem, joined, say
from jdkmatrix.report.blocks.kinds import (
    Command,
    Disclosure,
    Fact,
    FactList,
    Log,
    PageBlock,
    Pre,
    Prose,
    Section,
    Tile,
    Tiles,
    WebPage,
)
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, TableRow, columns
from jdkmatrix.report.cells.shown import named
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.jdks import jdk_details, jdk_facts
from jdkmatrix.report.words.sentences import STATUS_CLASS, STATUS_WORDS, capitalised, confined_words
from jdkmatrix.store.cells import CellRecord

_UNITS = {
    "threads": "threads",
    "memory": "bytes of memory",
    "open files": "open files",
    "CPU quota": "thousandths of a CPU",
}


@dataclass(frozen=True)
class CellLinks:
    """Seen from the cell's page: `record`: where its record is, or, `elsewhere`, all files of its run; `hgrm`: its
    latencies."""

    record: str
    elsewhere: bool = False
    hgrm: str | None = None


def cell_page(
    record: CellRecord,
    run: RunRecord,
    logs: Logs,
    links: CellLinks,
    *,
    title: str,
    state: str,
    condition: str,
    load_words: str,
    cells: tuple[str, str],
    work: str,
    lede: Sequence[PageBlock],
    peers: Sequence[PageBlock],
    forks: Sequence[Section],
    root: str,
) -> WebPage:
    """`cells`: title and place of the table of cells on the run's page; `work`: what takes the time on the CPU;
    `peers`: what stands above the forks; `root` leads to the site's folder."""
    attempts = attempts_section(record, run, logs)
    return WebPage(
        title=f"{title} · {condition}",
        heading=joined(title, " ", state),
        summary=f"{condition}. {capitalised(load_words)}.",
        lede=lede,
        blocks=(*peers, *forks, *attempts, _parts(record, run, work, links)),
        root=root,
        up="../index.html",
        run_id=run.run_id,
        menu=(
            (cells[0], f"../index.html{cells[1]}"),
            *((f"Fork {fork.fork}", f"#fork-{fork.fork}") for fork in record.forks),
            *((one.title, f"#{one.id}") for one in attempts),
            ("Parts", "#parts"),
        ),
    )


def lede_of(tiles: Sequence[Tile], note: str | None) -> tuple[PageBlock, ...]:
    return (*([Tiles(tiles)] if tiles else []), *([Prose(note)] if note else []))


def peers_section(
    key: CellKey, heads: tuple[Column, ...], rows: Mapping[CellKey, tuple[bool, Sequence[Cell]]], order: Sequence[str]
) -> Iterator[Section]:
    """All cells that differ from this one in the executor only, in `rows` whether each has a page, and its cells behind
    its name; nothing where there is no other."""
    if len(rows) < 2:
        return
    shown = []
    for peer, (has_page, cells) in rows.items():
        current = peer == key
        href = f"{file_stem(peer.cell_id)}.html" if has_page and not current else None
        name = named(peer.executor, order.index(peer.executor), href, current=current)
        shown.append(TableRow((name, *cells), "current" if current else ""))
    table = DataTable(f"{heads[0].title}s under the same conditions", heads, shown, sortable=True)
    yield Section("", "Under the same conditions", (table,))


def fork_section(
    fork: Fork, status: str, css: str, blocks: Sequence[PageBlock], commands: Sequence[PageBlock], logs: Sequence[Log]
) -> Section:
    """The first log of a fork that failed is open."""
    shown: list[PageBlock] = [replace(log, open=number == 0 and css == "failed") for number, log in enumerate(logs)]
    return Section(
        f"fork-{fork.fork}",
        joined(f"Fork {fork.fork} ", badge(status, css)),
        (*blocks, *commands, *((Prose(heading="Logs"), *shown) if shown else ())),
        reasons=reason_words(fork.reasons),
    )


def command_lines(*programs: tuple[str, Sequence[str]]) -> tuple[PageBlock, ...]:
    """Each program that was started, with its command line."""
    found: list[PageBlock] = []
    for title, command in programs:
        if command:
            line = Command(shlex.join(command), f"{title}’s command line")
            found += [Prose(heading=title, level=4), line]
    return (Prose(heading="Command lines"), *found) if found else ()


def reason_words(reasons: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(map(_reason, reasons))


def _reason(reason: Reason) -> str:
    figures = ", ".join(f"{name} {amount(value, '')}" for name, value in reason.figures.items())
    return f"{reason.message} ({figures})" if figures else reason.message


def place_facts(fork: Fork, run: RunRecord, cpus: str) -> tuple[Fact, ...]:
    """When and where it ran."""
    confined = confined_words(fork.confinement.method, fork.confinement.why_not_cgroup)
    when = (Fact("Order", order_words(fork, run)), facts.started(fork))
    return (*when, Fact("CPUs", cpus), Fact("CPU confinement", confined))


def limited(fork: Fork) -> Iterator[Fact]:
    """Its limits, if it had any."""
    if fork.limits:
        yield Fact("Limits", "; ".join(f"{one.maximum:,} {_UNITS[one.limit]} by {one.by}" for one in fork.limits))


def _parts(record: CellRecord, run: RunRecord, work: str, links: CellLinks) -> Section:
    """All that decides a cell's figures besides its condition."""
    key, flags = record.key, tuple(sorted(record.jvm_flags.items()))
    jdk = next((jdk for jdk in run.jdks if jdk.id == key.jdk), None)
    done = f"{record.burn_rounds:,} rounds, meant to take {key.burn_us:,} µs" if key.burn_us else "none"
    digest = Fact("Identity", element("span", record.identity.digest, css="digest"))
    blocks: list[PageBlock] = [FactList((*(jdk_facts(jdk) if jdk else ()), Fact(work, done), digest))]
    blocks += jdk_details(jdk) if jdk else ()
    if flags:
        table = DataTable("Final flags", columns("Flag", "Value"), flags)
        blocks.append(Disclosure(f"Final flags of the JVM that are not at their default ({len(flags)})", (table,)))
    blocks += [
        Disclosure("Host", (FactList(facts.host_facts(run.latest_session.host)),)),
        Disclosure(
            "Everything that decides the result (the inputs of the identity)",
            (Pre(facts.pretty_json(record.identity.inputs)),),
        ),
        Prose(say("record", links=links)),
    ]
    return Section("parts", "What it ran with", blocks)


Logs = Mapping[tuple[int, int], Sequence[Log]]  # by number and attempt of a fork


def attempts_section(cell: CellRecord, run: RunRecord, logs: Logs) -> tuple[Section, ...]:
    """In the order of measurement; none where every fork stands at its first attempt."""
    if not cell.attempts:
        return ()
    blocks = tuple(block for fork in cell.attempts for block in _attempt(fork, run, logs))
    return (Section("attempts", "Earlier attempts", blocks, say("attempts")),)


def _attempt(fork: Fork, run: RunRecord, logs: Logs) -> Iterator[PageBlock]:
    status = badge(STATUS_WORDS[fork.status], STATUS_CLASS[fork.status])
    yield Prose(heading=joined(f"Fork {fork.fork}, attempt {fork.attempt} ", status))
    yield from (Prose(reason, css="reason") for reason in _reasons(fork))
    yield FactList((Fact("Order", order_words(fork, run)), facts.started(fork)))
    yield from logs.get((fork.fork, fork.attempt), ())


def order_words(fork: Fork, run: RunRecord) -> str:
    """Where it stood in block and run; which attempt and session it is, where there are several."""
    attempt = f", attempt {fork.attempt}" if fork.attempt > 1 else ""
    session = f", session {fork.session}" if len(run.sessions) > 1 else ""
    return f"{fork.position} in block {fork.fork}, {fork.sequence} in the run{attempt}{session}"


def _reasons(fork: Fork) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason.message for reason in (*fork.reasons, *fork.window_reasons)))
