"""The page of a cell with a server. Pure; logs were read before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import CAPACITY, CPU, METRICS, THROUGHPUT, metrics_of
from jdkmatrix.records.forks import Audit, Fork
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.blocks.inline import strong
from jdkmatrix.report.blocks.kinds import (
    Charts,
    Container,
    Disclosure,
    Fact,
    FactList,
    Items,
    Log,
    PageBlock,
    Prose,
    Section,
    Tile,
    WebPage,
)
from jdkmatrix.report.blocks.tables import Column
from jdkmatrix.report.cell_page.every_cell import (
    CellLinks,
    Logs,
    cell_page,
    command_lines,
    fork_section,
    lede_of,
    limited,
    peers_section,
    place_facts,
)
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import window_blocks
from jdkmatrix.report.cell_page.under_load import outside_words, under_load_words
from jdkmatrix.report.cells.cell_figures import failed_words, pair_table, paired_words
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.judgements import sentence, worth_reporting
from jdkmatrix.report.cells.latency import KIND_SHORT, KIND_WORDS
from jdkmatrix.report.cells.shown import CPU_COST, P99, RATE, ShownCell
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.clock import speed_words
from jdkmatrix.report.run_page.search import search_blocks
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import (
    STATUS_CLASS,
    STATUS_WORDS,
    State,
    condition,
    driven,
    losses_words,
    ratio_sentence,
)
from jdkmatrix.store.cells import CellRecord


def served_page(
    cell: CellStats, record: CellRecord, judged: JudgedRun, logs: Logs, links: CellLinks, root: str
) -> WebPage:
    """`record`: of the cell, with all details."""
    key, run = cell.key, judged.run
    shown = ShownCell(key, cell, judged.cells, judged.judgements)
    return cell_page(
        record,
        run,
        logs,
        links,
        title=f"{key.executor} on {key.jdk}",
        state=shown.state_badge,
        condition=f"{key.served}, {condition(key.cpus, key.task)}",
        load_words=driven(cell.kind.words(), cell.driver),
        cells=("All cells", "#cells"),
        work="Task duration",
        lede=lede_of(tiles(shown, cell), _tiles_note(cell)),
        peers=(*_siblings(shown, judged), *_against(shown, cell)),
        forks=[fork_block(fork, record, cell, run, logs.get((fork.fork, fork.attempt), ())) for fork in record.forks],
        root=root,
    )


def _tiles_note(cell: CellStats) -> str | None:
    if cell.latency is None:
        return None
    return (
        f"Latency is {KIND_WORDS[cell.latency.kind]}, all usable forks together; beneath it is the 95 % interval of "
        "the geometric mean of the forks’ own percentiles. One fork with a long tail can move the figure outside it."
    )


def tiles(shown: ShownCell, cell: CellStats) -> tuple[Tile, ...]:
    """A tile says beneath its figure how sure it is, and in so many words where there is no interval."""

    def sure(figure: Figure) -> Figure:
        """Where there is no interval, the tooltip says why."""
        return figure if figure.sort is None or figure.under else replace(figure, under=figure.title)

    def percentile(name: str) -> Figure:
        figure = sure(shown.percentile(name))
        low_to_high = figure.under != figure.title and figure.sort is not None
        return replace(figure, under=f"{figure.under} over forks") if low_to_high else figure

    arm = cell.attained
    outcome = Figure(f"{arm.yes} of {arm.told}", float(arm.yes), amber=arm.yes < arm.told)
    return (
        *([Tile(cell.question.title, outcome, "forks")] if arm.no and not cell.question.is_sought else []),
        *([Tile("Rate held", sure(shown.figure(CAPACITY)), "requests/s")] if cell.figures(CAPACITY) else []),
        Tile("Throughput", _over_forks(shown, cell), "requests/s"),
        Tile(" ".join(filter(None, ("CPU per request", cell.kind.cpu_label))), sure(shown.figure(CPU)), "µs"),
        *(Tile(f"p{name}", percentile(name), "ms") for name in ("50", "99", "99.9")),
        *(Tile(one.title, shown.figure(one), one.unit) for one in METRICS if one.on_cell_page),
        *(Tile(one.title, shown.figure(one), one.unit) for one in METRICS if one.where_seen and cell.figures(one)),
    )


def _over_forks(shown: ShownCell, cell: CellStats) -> Figure:
    figure = shown.figure(THROUGHPUT)
    if figure.sort is None:
        return figure
    forks = plural(len(cell.figures(THROUGHPUT)), "fork")
    sure = f"{figure.under}, {forks}" if figure.under else f"{forks}: no interval"
    return replace(figure, under="; ".join(filter(None, (sure, failed_words(cell)))))


def _against(shown: ShownCell, cell: CellStats) -> Iterator[Section]:
    """The run’s comparison of this cell with its reference, and the blocks behind it."""
    key, judgements = cell.key, shown.judgements
    compared = [one for metric in metrics_of(cell.load) if (one := judgements.comparison(metric, key))]
    if not compared:
        return
    base = compared[0].base.key.executor
    outcomes = judgements.outcomes(key)
    sentences = []
    if outcomes is not None and worth_reporting(outcomes):
        sentences.append((outcomes.question.title, f"{sentence(outcomes, key.executor, base)}."))
    for one in compared:
        judged, paired = judgements.of(one.metric, key), paired_words(one)
        said = f"no block has both; {losses_words(one.losses, key.executor, base)}."
        if judged:
            said = ratio_sentence(one.metric, judged, key.executor, base, paired=paired)
        sentences.append((one.metric.title, said))
    items = Items([strong(term) + f": {said}" for term, said in sentences], "against")
    pairs = [pair_table(one) for one in compared if one.pairs]
    behind = [Disclosure("The blocks behind these ratios", (Container(pairs, "windows"),))] if pairs else []
    yield Section("", f"Compared with {base}", (items, *behind))


def _siblings(shown: ShownCell, judged: JudgedRun) -> Iterator[Section]:
    """Every executor under the same conditions."""
    kind = KIND_SHORT[shown.cell.latency.kind] if shown.cell and shown.cell.latency else ""
    columns, cells = (RATE, CPU_COST, P99), judged.cells
    peers = [replace(shown, key=other, cell=cells.get(other)) for other in cells.peers(shown.key)]
    heads = (Column("Executor", head=True), *(one.column(kind if one is P99 else "") for one in columns))
    rows = {one.key: (one.cell is not None, [column.of(one) for column in columns]) for one in peers}
    return peers_section(shown.key, heads, rows, judged.order)


def fork_block(fork: Fork, record: CellRecord, cell: CellStats, run: RunRecord, logs: Sequence[Log]) -> Section:
    short = cell.fork_fell_short(fork)
    series, same = fork_charts(fork)
    seconds = (
        "Seconds since the start of the server process; measured windows are shaded, and between them nothing is drawn."
    )
    blocks: list[PageBlock] = [FactList(tuple(_facts(fork, record, run)))]
    if series or same:
        blocks.append(Charts("Second by second", seconds, series, css="small"))
        blocks += [Prose(f"The same all the time: {'; '.join(same)}.")] if same else []
    charts = warmup_charts(fork)
    blocks.append(
        Charts("Warm-up", warmup_note(fork), charts, css="small") if charts else Prose(warmup_note(fork), "Warm-up")
    )
    blocks += window_blocks(fork)
    blocks += search_blocks(fork.fork, fork.capacity) if fork.capacity else ()
    return fork_section(
        fork,
        State.FELL_SHORT.value if short else STATUS_WORDS[fork.status],
        State.FELL_SHORT.css if short else STATUS_CLASS[fork.status],
        blocks,
        command_lines(
            ("Server", fork.command),
            ("Driver", fork.driver_command),
            ("Remote system", fork.remote_command),
            ("Database", fork.database.command if fork.database else ()),
        ),
        logs,
    )


def _facts(fork: Fork, record: CellRecord, run: RunRecord) -> Iterator[Fact]:
    confinement, first_s = fork.confinement, fork.first_response_s
    together = "they share CPUs" if confinement.overlapped else "no CPU in common"
    server, driver = facts.ranges(confinement.sut_cpus), facts.ranges(confinement.driver_cpus)
    yield from place_facts(fork, run, f"server {server}, driver {driver}: {together}")
    yield Fact("Protocol", protocol_words(fork))
    yield Fact("First answer", "none came" if first_s is None else f"{first_s:.1f} s after the start")
    yield Fact("Proof of executor", _proof(fork))
    yield Fact("Proof under load", under_load_words(fork))
    yield Fact("Work check", _work(fork, record.key))
    yield Fact("CPU speed", speed_words(fork), "of serial work on one of the server's CPUs, around the windows")
    shared = " (the driver's)" if confinement.remote_cpus == confinement.driver_cpus else ""
    if database := fork.database:
        where, size = facts.ranges(confinement.remote_cpus), f"{database.data_bytes / 1e6:.0f} MB of fresh data"
        yield Fact(
            "Database", f"PostgreSQL {database.version} on CPUs {where}{shared}, as user {database.user}, {size}"
        )
    elif confinement.remote_cpus:
        by_socket = (record.identity.inputs.get("workload") or {}).get("client") == "socket"
        caller = "a plain socket on which the request’s thread blocks" if by_socket else "the JDK’s HTTP client"
        yield Fact("Remote system", f"on CPUs {facts.ranges(confinement.remote_cpus)}{shared}, called by {caller}")
    if audit := fork.audit:
        money = "money was conserved" if audit.conserved else "money was made or lost"
        moved = f"{plural(audit.transfers_done, 'transfer')} between {plural(audit.accounts, 'account')}"
        yield Fact("Bank audit", f"{moved}: {money}{_left_open(audit)}")
    yield from limited(fork)


def _left_open(audit: Audit) -> str:
    if audit.open_transactions is None:
        return ""
    left = plural(audit.open_transactions, "transaction")
    return f"; {audit.transfers_answered:,} were answered, {left} left open in the database"


def protocol_words(fork: Fork) -> str:
    """How it was measured beside the others of its block."""
    if not fork.together:
        return f"by itself: {fork.why_alone}" if fork.why_alone else "separate: by itself"
    windows = fork.windows
    lost = sum(not window.valid for window in windows)
    others = plural(len(fork.together) - 1, "other server")
    return f"interleaved: {plural(len(windows), 'round')} in turns with {others}, {lost} of them lost to gates"


def _proof(fork: Fork) -> str:
    if fork.outside:
        return outside_words(fork.outside)
    proof = fork.proof
    if proof is None:
        return "none: the fork ended before it, or was overloaded"
    kind = "virtual" if proof.virtual else "platform"
    names = ", ".join(f"“{name}”" if name else "(no name)" for name in proof.thread_names)
    return (
        f"{plural(proof.requests, 'request')} over one connection: executor {proof.executor}, "
        f"{plural(proof.distinct_threads, f'{kind} thread')}; names: {names or 'none recorded'}"
    )


def _work(fork: Fork, key: CellKey) -> str:
    check = fork.burn_check
    if check is None:
        return "none: the fork ended before it, or was overloaded" if key.burn_us else "not needed: no added work"
    expected = "" if check.expected_us is None else f", {check.expected_us:.1f} expected at the CPU’s speed of then"
    return f"{check.rounds:,} rounds took {check.best_us:.1f} µs at best, {check.asked_us:.0f} µs asked{expected}"
