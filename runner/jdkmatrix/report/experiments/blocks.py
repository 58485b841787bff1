"""The experiments of a run and their cells as blocks of pages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import badge, code, element, joined, say, small
from jdkmatrix.report.blocks.kinds import (
    AnswerBoxes,
    Charts,
    ColourScale,
    Details,
    Fact,
    FactList,
    HeatCell,
    HeatMap,
    PageBlock,
    Pre,
    Prose,
    Section,
    Tile,
)
from jdkmatrix.report.blocks.page import WebPage
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, Sorted, TableRow, columns
from jdkmatrix.report.cell_page.every_cell import CellLinks, cell_page, fork_section, lede_of
from jdkmatrix.report.cells.shown import named
from jdkmatrix.report.experiments.views import (
    Expectation,
    ExperimentCellView,
    ExperimentForkView,
    ExperimentKindView,
    ExperimentsView,
    ExperimentTable,
    OutcomeView,
    PinnedView,
    PinTable,
)
from jdkmatrix.report.html.names import cell_page as page_of
from jdkmatrix.report.run_page.attempts import Logs
from jdkmatrix.store.cells import CellRecord

_CHARTS_MAX = 12  # that stand unfolded


def experiment_sections(view: ExperimentsView) -> tuple[Section, ...]:
    """One for each kind, as the page of the run shows it."""
    return tuple(
        Section(
            id=one.id,
            title=joined(f"{one.title} ", element("span", "without a server", css="under")),
            blocks=tuple(_blocks(one, view)),
            words=f"{one.words}{f' In every cell: {one.constant}.' if one.constant else ''}",
        )
        for one in view.blocks
    )


def _blocks(one: ExperimentKindView, view: ExperimentsView) -> Iterator[PageBlock]:
    yield AnswerBoxes(one.answers)
    if one.expectations:
        yield Prose(heading="What is expected")
        yield FactList(tuple(map(_expected, one.expectations)), "expected")
        yield Prose(f"The program writes each down before it measures. {one.glossary}")
    if one.heat:
        yield Prose(view.heat_rule, "Who keeps its carrier")
        for table in one.heat:
            yield Prose(heading=table.title, level=4)
            yield _pins(table)
        yield ColourScale(view.heat_legend, "share of threads / D", css="wide")
    if one.pinned:
        events, cells = sum(pinned.events for pinned in one.pinned), len(one.pinned)
        yield Details(
            f"Stacks that pin: {events} jdk.VirtualThreadPinned events in {cells} {'cell' if cells == 1 else 'cells'}",
            tuple(block for pinned in one.pinned for block in (Prose(heading=pinned.title, level=4), *_stacks(pinned))),
        )
    for group in one.groups:
        ticks = ", upright lines what is expected" if group.ticks else ""
        starred = " A star (*): not every fork was complete." if group.starred else ""
        yield Charts(
            group.title,
            f"{group.words} Bars are medians over forks, dots the forks{ticks}.{starred}",
            group.charts,
            css=f"by-{group.columns}",
            repeats=True,
            unfolded_max=_CHARTS_MAX,
        )
    if one.overhead:
        yield Prose(say("cost_of_recording"), "Cost of recording")
        heads = columns("Condition", "Throughput|ratio#", "CPU time|ratio#")
        yield DataTable("Cost of recording", heads, tuple((row.what, row.throughput, row.cpu) for row in one.overhead))
    yield Prose(heading="All figures")
    yield _table(one.title, one.table)
    yield Prose(say("medians"))


def _expected(one: Expectation) -> Fact:
    name = "No figure is expected" if one.formula is None else joined(f"{one.figure} = ", code(one.formula))
    return Fact(name, joined(one.source, *([small(one.about)] if one.about else [])))


def _pins(table: PinTable) -> HeatMap:
    rows = tuple(
        (
            head,
            tuple(
                HeatCell(
                    one.value, one.verdict, one.basis, one.tone, True, one.title, page_of(one.key) if one.key else None
                )
                for one in cells
            ),
        )
        for head, cells in table.rows
    )
    return HeatMap(f"Heat map, {table.title}", "Blocks in", table.columns, rows, css="pins")


def _stacks(pinned: PinnedView) -> Iterator[PageBlock]:
    for stack in pinned.stacks:
        yield Prose(f"{stack.count:,} of {pinned.events:,} events{f': {stack.reason}' if stack.reason else ''}")
        yield Pre(stack.frames)
    if pinned.left_out:
        yield Prose(f"{pinned.left_out:,} events have other stacks.")


def _table(title: str, table: ExperimentTable) -> DataTable:
    """`expected` and the ratio to it stand before the other figures."""
    return DataTable(
        label=f"Table of {title}",
        columns=(
            Column("Arm", head=True),
            *(Column(name, "num" if is_number else "") for name, is_number in table.axes),
            Column("Outcome", "ends"),
            Column("Expected", "num"),
            Column(joined("Measured ", small("/ expected")), "num"),
            *(Column(_head(name, unit), "num") for name, unit in table.figures),
            Column(joined("Forks ", small("usable/ran"))),
        ),
        rows=[
            TableRow(
                (
                    named(row.executor, row.slot, row.href),
                    *row.axes,
                    joined(*map(_outcome, row.outcomes), *(element("p", text, css="reason") for text in row.reasons)),
                    row.expected,
                    row.ratio,
                    *row.figures,
                    Sorted(
                        joined(badge(row.status, row.status_class, row.status_title), " ", small(row.forks)),
                        f"{row.status} {row.forks}",
                    ),
                )
            )
            for row in table.rows
        ],
        css="figures",
        sortable=True,
        tall=True,
    )


def _head(name: str, unit: str) -> str:
    return joined(element("span", name, css="name"), *([" ", small(unit)] if unit else []))


def _outcome(one: OutcomeView) -> str:
    return element("p", _outcome_words(one), css="outcome")


def _outcome_words(one: OutcomeView) -> str:
    """How forks ended."""
    told = f" {one.where}" if one.where else ""
    if one.message:
        told += f"{':' if one.where else ''} {one.message}."
    advice = [" ", small(one.advice)] if one.advice else []
    return joined(badge(one.word, one.css), told, *advice)


def experiment_page(
    view: ExperimentCellView, record: CellRecord, run: RunRecord, logs: Logs, links: CellLinks, root: str
) -> WebPage:
    """Of one cell."""
    tiles = [Tile(name, figure, unit) for name, unit, figure in view.tiles]
    asked = Section("asked", "What was asked", (FactList(view.asked),), view.kind_words)
    forks = zip(record.forks, view.forks, strict=True)
    return cell_page(
        record,
        run,
        logs,
        links,
        title=view.title,
        state=badge(view.status, view.status_class, view.status_title),
        condition=view.condition,
        load_words=view.load_words,
        cells=("All experiments", "#experiments"),
        work="Work per task",
        lede=(*_outcomes(view.outcomes), *lede_of(tiles, view.tiles_note)),
        peers=(asked, *_arms(view)),
        forks=[
            fork_section(fork, one.status, one.status_class, tuple(_fork(one)), one.commands, one.logs)
            for fork, one in forks
        ],
        root=root,
    )


def _outcomes(outcomes: Sequence[OutcomeView]) -> Iterator[PageBlock]:
    return (Prose(_outcome_words(one), css="outcome") for one in outcomes)


def _arms(view: ExperimentCellView) -> Iterator[Section]:
    if len(view.arms) < 2:
        return
    rows = [
        TableRow(
            (
                named(one.executor, one.slot, one.href, current=one.current),
                one.leading,
                joined(*map(_outcome, one.outcomes)),
            ),
            "current" if one.current else "",
        )
        for one in view.arms
    ]
    heads = (Column("Arm", head=True), Column(view.leading, "num"), Column("Outcome", "ends"))
    yield Section(
        "", "Under the same conditions", (DataTable("Arms under the same conditions", heads, rows, sortable=True),)
    )


def _fork(fork: ExperimentForkView) -> Iterator[PageBlock]:
    yield from _outcomes(fork.outcomes)
    if fork.figures:
        yield Prose(heading="Figures")
        heads = ("Measured", "Expected", joined("Measured ", small("/ expected")))
        rows: list[tuple[Cell, ...]] = [
            (joined(name, *([" ", small(unit)] if unit else [])), value, expected, ratio)
            for name, unit, value, expected, ratio in fork.figures
        ]
        columns = (Column("Figure", head=True), *(Column(head, "num") for head in heads))
        yield DataTable(f"Figures of fork {fork.number}", columns, rows, "wrap")
    if fork.expectation:
        yield FactList((_expected(fork.expectation),), "expected")
    if fork.counts:
        yield FactList(fork.counts)
    if table := fork.distributions:
        yield Prose(heading="Distributions")
        columns = (Column("In ms", head=True), *(Column(head, "num") for head in table.heads))
        yield DataTable(
            f"Distributions of fork {fork.number}", columns, [(name, *figures) for name, figures in table.rows], "wrap"
        )
    for title, facts in fork.sections:
        yield from (Prose(heading=title), FactList(facts))
    if fork.pinned_note:
        yield Prose(fork.pinned_note, "Pinned threads")
        yield from _stacks(fork.pinned) if fork.pinned else ()
    if fork.remote:
        yield from (Prose(heading="Remote system"), FactList(fork.remote))
    yield from (Prose(heading="How it ran"), FactList(fork.facts))
    for title, told in (("The host during the fork", fork.host), ("The JVM", fork.vm)):
        if told:
            yield Details(title, (FactList(told),))
    if fork.asked:
        yield Details("The request as the program reports it", (Pre(fork.asked),))
