"""The page of a cell: its figures, its peers, its forks, and what it ran with. Pure; logs are read beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.experiments.base import Spread
from jdkmatrix.figures.metrics import CAPACITY, CPU, METRICS, THROUGHPUT, TIME_TO_STEADY, Metric, metrics_of
from jdkmatrix.loads.base import Bound
from jdkmatrix.report.blocks.inline import file_stem, joined, say, strong
from jdkmatrix.report.blocks.kinds import Container, Disclosure, Items, Notices, Prose, Section, Tile, Tiles, WebPage
from jdkmatrix.report.blocks.tables import Cell, Column, DataTable, TableRow, columns
from jdkmatrix.report.cell_page.forks import earlier_attempts, fork_section
from jdkmatrix.report.cell_page.logs import Logs
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.shown import BRIEF, KIND_WORDS, ShownCell, failed_words, named, pair_table, state_badge
from jdkmatrix.report.experiments.sections import asked_section
from jdkmatrix.report.experiments.words import ended, endings, spread_figure
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import pair_sentences
from jdkmatrix.report.run_page.facts import parts_section
from jdkmatrix.report.run_page.notices import refusal_notices
from jdkmatrix.report.words.numbers import Figure, missing
from jdkmatrix.report.words.sentences import capitalised, driven, served_words, size_words
from jdkmatrix.store.cells import CellRecord


@dataclass(frozen=True)
class CellLinks:
    """Links from the cell's page. `record`: to its record or, if `elsewhere`, to all files of its run; `hgrm`: to its
    latencies."""

    record: str
    elsewhere: bool = False
    hgrm: str | None = None


def cell_page(
    cell: CellStats, record: CellRecord, judged: JudgedRun, logs: Logs, links: CellLinks, root: str
) -> WebPage:
    """Build the page. `record`: of the cell, with all details; `root` leads to the site's folder."""
    key, run = record.key, judged.run
    above: tuple[Section, ...]
    if cell.is_program:
        title = f"{key.workload}, {key.executor} on {key.jdk}"
        subject, load = "Without a server", cell.tasks.words()
        cells, work = ("All experiments", "../index.html#experiments"), "Work per task"
        tiles, note = tuple(map(_spread_tile, cell.spreads)), None
        if any(one.least != one.most for one in cell.spreads):
            note = "Medians over the usable forks; beneath them the minimum and the maximum."
        above = (asked_section(record), *_arms(cell, judged))
    else:
        shown = ShownCell(key, cell, judged.judgements)
        title = f"{key.executor} on {key.jdk}"
        subject, load = served_words(key), driven(cell.kind.words(), cell.driver)
        cells, work = ("All cells", "../index.html#cells"), "Task duration"
        tiles, note = _figure_tiles(shown, cell), None
        if cell.latency:
            note = f"Latency is {KIND_WORDS[cell.latency.kind]}, all usable forks together"
            told = cell.latency.percentiles.items()
            exact = [one.forks for name, one in told if cell.latency.bound(name) is Bound.NONE]
            if any(one is not None and one.ci_low is not None for one in exact):
                note += (
                    "; beneath it is the 95 % interval of the geometric mean of the forks’ own percentiles. One fork "
                    "with a long tail can move the figure outside it"
                )
            note += "."
        above = (*_siblings(shown, judged), *_against(shown, cell))
    where = f"{subject}, {size_words(key)}"
    forks = [fork_section(fork, cell, record, run, logs.get((fork.fork, fork.attempt), ())) for fork in record.forks]
    refused = tuple(refusal_notices(judged, [pair for pair in judged.refusals if key in pair]))
    attempts = tuple(earlier_attempts(record, run, logs))
    if attempts:
        forks.append(Section("attempts", "Earlier attempts", attempts, say("attempts")))
    return WebPage(
        tab=f"{title} · {where}",
        heading=joined(title, " ", state_badge(cell)),
        summary=f"{where}. {capitalised(load)}.",
        lede=(
            *(Prose(one.words, css="outcome") for one in endings(record.forks)),
            *([Notices(refused)] if refused else []),
            *([Tiles(tiles)] if tiles else []),
            *([Prose(note)] if note else []),
        ),
        blocks=(*above, *forks, parts_section(record, run, work, say("record", links=links))),
        root=root,
        up="../index.html",
        run_id=run.run_id,
        menu=(
            cells,
            *((f"Fork {fork.fork}", f"#fork-{fork.fork}") for fork in record.forks),
            *([("Earlier attempts", "#attempts")] if attempts else []),
            ("Parts", "#parts"),
        ),
    )


def _unit(spread: Spread) -> str:
    return "per second" if spread.unit == "1/s" else spread.unit


def _spread_tile(spread: Spread) -> Tile:
    """Make a tile that says beneath its figure what it rests on."""
    figure = spread_figure(spread)
    under = ", ".join(filter(None, (figure.under, plural(spread.forks, "fork"))))
    return Tile(spread.title, figure._replace(under=under), _unit(spread))


def _figure_tiles(shown: ShownCell, cell: CellStats) -> tuple[Tile, ...]:
    """Make tiles that say beneath their figures how sure these are, or why there is no interval."""

    def sure(figure: Figure) -> Figure:
        """Show the tooltip beneath a figure without an interval: it says why there is none."""
        return figure if figure.sort is None or figure.under else figure._replace(under=figure.title)

    def percentile(name: str) -> Figure:
        figure = shown.percentile(name)
        return figure._replace(under=f"{figure.under} over forks") if figure.under else sure(figure)

    def throughput() -> Figure:
        figure = shown.figure(THROUGHPUT)
        if figure.sort is None:
            return figure
        forks = plural(len(cell.figures(THROUGHPUT)), "fork")
        over = f"{figure.under}, {forks}" if figure.under else f"{forks}: no interval"
        return figure._replace(under="; ".join(filter(None, (over, failed_words(cell)))))

    def of(metric: Metric) -> Figure:
        return shown.time_to_steady if metric is TIME_TO_STEADY else shown.figure(metric)

    arm = cell.attained
    outcome = Figure(f"{arm.yes} of {arm.told}", float(arm.yes), amber=arm.yes < arm.told)
    noun = "fork" if arm.told == 1 else "forks"
    return (
        *([Tile(cell.question.title, outcome, noun)] if arm.no and not cell.question.is_sought else []),
        *([Tile("Rate held", sure(shown.figure(CAPACITY)), "requests/s")] if cell.figures(CAPACITY) else []),
        Tile("Throughput", throughput(), "requests/s"),
        Tile(" ".join(filter(None, ("CPU per request", cell.kind.cpu_label))), sure(shown.figure(CPU)), "µs"),
        *(Tile(f"p{name}", percentile(name), "ms") for name in ("50", "99", "99.9")),
        *(Tile(one.title, of(one), one.unit) for one in METRICS if one.on_cell_page),
        *(Tile(one.title, shown.figure(one), one.unit) for one in METRICS if one.where_seen and cell.figures(one)),
    )


def _arms(cell: CellStats, judged: JudgedRun) -> Iterator[Section]:
    """List every arm with the leading figure of this one or, where it has none, of another."""
    cells = judged.experiments
    every = (cell, *cells.some(cells.peers(cell.key)))
    first = next((one.spreads[0] for one in every if one.spreads), None)
    name = ", ".join(filter(None, (first.name, _unit(first)))) if first else "figure"

    def row(_: CellKey, peer: CellStats | None) -> Sequence[Cell]:
        spread = peer.spread(first.name) if peer and first else None
        why = "no fork has this figure" if peer and peer.usable else "no usable fork"
        leading = spread_figure(spread) if spread else missing(why)
        return leading, joined(*(ended(peer.record.forks) if peer else ()))

    return _peers(cell.key, cells, columns("Arm", f"{name}#", "Outcome~"), row)


def _siblings(shown: ShownCell, judged: JudgedRun) -> Iterator[Section]:
    """List every executor under the same conditions."""
    kind = shown.cell.latency.kind if shown.cell and shown.cell.latency else None
    heads = (Column("Executor", head=True), *(one.column(kind) for one in BRIEF))

    def row(key: CellKey, peer: CellStats | None) -> Sequence[Cell]:
        return [one.of(replace(shown, key=key, cell=peer)) for one in BRIEF]

    return _peers(shown.key, judged.cells, heads, row)


def _peers(
    key: CellKey, cells: Cells, heads: tuple[Column, ...], row: Callable[[CellKey, CellStats | None], Sequence[Cell]]
) -> Iterator[Section]:
    """List all cells that differ from this one only in the executor; nothing where there is no other. `row`: what
    follows the name of each."""
    peers = cells.peers(key)
    if len(peers) < 2:
        return
    rows = []
    for peer in peers:
        cell, current = cells.get(peer), peer == key
        href = f"{file_stem(peer.cell_id)}.html" if cell and not current else None
        name = named(peer.executor, cells.order, href, current=current)
        rows.append(TableRow((name, *row(peer, cell)), "current" if current else ""))
    table = DataTable(f"{heads[0].title}s under the same conditions", heads, rows, sortable=True)
    yield Section("", "Under the same conditions", (table,))


def _against(shown: ShownCell, cell: CellStats) -> Iterator[Section]:
    """Show the run’s comparison of this cell with its reference, and the blocks behind it."""
    key, judgements = cell.key, shown.judgements
    metrics = metrics_of(cell.load)
    compared = [one for metric in metrics if (one := judgements.comparison(metric, key))]
    if not compared:
        return
    base = compared[0].base.key.executor
    sentences = pair_sentences(judgements, key, metrics)
    items = Items([strong(term) + f": {said}" for term, said in sentences], "against")
    pairs = [pair_table(one) for one in compared if one.pairs]
    behind = [Disclosure("The blocks behind these ratios", (Container(pairs, "windows"),))] if pairs else []
    yield Section("", f"Compared with {base}", (items, *behind))
