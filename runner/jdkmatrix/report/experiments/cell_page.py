"""The page of one cell without a server. Pure; logs were read before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import amount, digits, plural
from jdkmatrix.experiments.base import Details, FactRow, Measurand, Seen, Spread
from jdkmatrix.experiments.kinds import BY_NAME, details_of, measurands
from jdkmatrix.experiments.pinning import pinned_words
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.readings import WindowReading
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import joined, small
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, FactList, PageBlock, Pre, Prose, Section, Tile, WebPage
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable
from jdkmatrix.report.cell_page.every_cell import (
    CellLinks,
    Logs,
    cell_page,
    command_lines,
    fork_section,
    lede_of,
    peers_section,
)
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.slices import experiment_of
from jdkmatrix.report.experiments.fork_facts import (
    expectation_of,
    how_it_ran,
    pinned_stacks,
    pressure,
    remote_facts,
    vm_facts,
)
from jdkmatrix.report.experiments.words import ended, endings, given, spread_figure, state_badge, titled
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.words.numbers import Figure, count, milliseconds, missing
from jdkmatrix.report.words.sentences import STATUS_CLASS, STATUS_WORDS, program_condition

_PERCENTILES = ("50", "90", "99", "99.9")


def experiment_page(cell: CellStats, judged: JudgedRun, logs: Logs, links: CellLinks, root: str) -> WebPage:
    """`cell`: of a record with all details."""
    key, record, run = cell.key, cell.record, judged.run
    kind = experiment_of(record.parameters)
    note = "Medians over the usable forks; beneath them the minimum and the maximum." if cell.spreads else None
    return cell_page(
        record,
        run,
        logs,
        links,
        title=f"{key.workload}, {key.executor} on {key.jdk}",
        state=state_badge(cell),
        condition=f"Without a server, {program_condition(key)}",
        load_words=given(cell).words(),
        cells=("All experiments", "#experiments"),
        work="Work per task",
        lede=(*_endings(record.forks), *lede_of(tuple(map(_tile, cell.spreads)), note)),
        peers=(
            Section("asked", "What was asked", (_asked(cell),), BY_NAME[kind].PAGE.introduction if kind else ""),
            *_arms(cell, judged.experiments, judged.order),
        ),
        forks=[
            fork_section(
                fork,
                STATUS_WORDS[fork.status],
                STATUS_CLASS[fork.status],
                tuple(fork_blocks(fork, run)),
                command_lines(("Program", fork.command), ("Remote system", fork.remote_command)),
                logs.get((fork.fork, fork.attempt), ()),
            )
            for fork in record.forks
        ],
        root=root,
    )


def _endings(forks: tuple[Fork, ...]) -> Iterator[Prose]:
    return (Prose(one.words, css="outcome") for one in endings(forks))


def _unit(spread: Spread) -> str:
    return "per second" if spread.unit == "1/s" else spread.unit


def _tile(spread: Spread) -> Tile:
    """It says beneath what it rests on."""
    figure = spread_figure(spread)
    under = ", ".join(filter(None, (figure.under, plural(spread.forks, "fork"))))
    return Tile(spread.title, replace(figure, under=under), _unit(spread))


def _asked(cell: CellStats) -> FactList:
    """Its table of matrix.toml, less what is not set."""
    values = ((name, value) for name, value in cell.record.parameters.items() if value is not None)
    return FactList(
        [
            Fact(name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in values
        ]
    )


def _arms(cell: CellStats, experiments: Cells, order: tuple[str, ...]) -> Iterator[Section]:
    """Every arm under the same conditions, beside the leading figure of this one or, where it has none, of another."""
    peers = {key: experiments.get(key) for key in experiments.peers(cell.key)}
    first = next((peer.spreads[0] for peer in (cell, *filter(None, peers.values())) if peer.spreads), None)
    rows: dict[CellKey, tuple[bool, Sequence[Cell]]] = {}
    for key, peer in peers.items():
        leading = spread_figure(peer.spreads[0]) if peer and peer.spreads else missing("no fork can be used")
        rows[key] = peer is not None, (leading, joined(*(ended(peer.record.forks) if peer else ())))
    name = ", ".join(filter(None, (first.name, _unit(first)))) if first else "figure"
    heads = (Column("Arm", head=True), Column(name, "num"), Column("Outcome", "ends"))
    return peers_section(cell.key, heads, rows, order)


def fork_blocks(fork: Fork, run: RunRecord) -> Iterator[PageBlock]:
    program, result = fork.program, fork.result
    told, known = details_of(result) if result else Details(), measurands(result)
    yield from _endings((fork,))
    if figures := [_figure(one, known[one.metric]) for one in fork.readings if one.metric in known]:
        heads = ("Measured", "Expected", joined("Measured ", small("/ expected")))
        yield Prose(heading="Figures")
        yield _table(f"Figures of fork {fork.fork}", "Figure", heads, figures)
    if expected := expectation_of(fork):
        yield FactList((expected,), "expected")
    if told.facts:
        yield _list(told.facts)
    if told.distributions:
        titles = ("count", "least", *(f"p{name}" for name in _PERCENTILES), "most")
        rows: list[tuple[Cell, ...]] = [(name, *_distribution(one)) for name, one in told.distributions]
        yield Prose(heading="Distributions")
        yield _table(f"Distributions of fork {fork.fork}", "In ms", titles, rows)
    for title, section in told.sections:
        yield from (Prose(heading=title), _list(section))
    if note := pinned_words(result) if result else None:
        yield Prose(note, "Pinned threads")
        yield from pinned_stacks((fork,))[1]
    if program and program.remote:
        yield from (Prose(heading="Remote system"), FactList(remote_facts(program.remote)))
    yield from (Prose(heading="How it ran"), FactList(how_it_ran(fork, run)))
    if program and program.host:
        yield Disclosure("The host during the fork", (FactList(tuple(pressure(program, program.host))),))
    if result:
        yield Disclosure("The JVM", (FactList(vm_facts(result.vm)),))
        yield Disclosure("The request as the program reports it", (Pre(facts.pretty_json(result.asked)),))


def _table(label: str, head: str, heads: Iterable[str], rows: list[tuple[Cell, ...]]) -> DataTable:
    return DataTable(label, (Column(head, head=True), *(Column(one, "num") for one in heads)), rows, "wrap")


def _list(rows: Iterable[FactRow]) -> FactList:
    return FactList([Fact(*row) for row in rows])


def _figure(one: WindowReading, metric: Measurand) -> tuple[Cell, ...]:
    """Its value, what is expected, and the ratio."""
    expected = ratio = missing("nothing is expected of this figure")
    if one.expected is not None:
        expected, ratio = Figure(amount(one.expected, metric.unit), one.expected), missing("0 is expected")
        if one.expected != 0:
            ratio = Figure(digits(one.value / one.expected, 3), one.value / one.expected)
    return titled(metric.title, metric.unit), Figure(amount(one.value, metric.unit), one.value), expected, ratio


def _distribution(one: Seen) -> tuple[Figure, ...]:
    found = (one["min_us"], *(one["percentiles_us"].get(name) for name in _PERCENTILES), one["max_us"])
    return count(one["count"]), *(milliseconds(value, why="the program does not say") for value in found)
