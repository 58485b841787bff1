"""From one cell to what its page shows. Pure; logs were read before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import CAPACITY, CPU, METRICS, P99, THROUGHPUT, metrics_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import RunRecord
from jdkmatrix.report.cell_page.every_cell import box, command_lines, kept_there, ran_with, reason_words
from jdkmatrix.report.cell_page.fork_series import fork_series, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import window_table
from jdkmatrix.report.cell_page.under_load import under_load_words
from jdkmatrix.report.cells.cell_figures import cost, failed_words, of_metric, percentile
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import Judgements
from jdkmatrix.report.cells.latency import KIND_SHORT, KIND_WORDS
from jdkmatrix.report.cells.outcomes import sentence, worth_reporting
from jdkmatrix.report.cells.pairs import pair_table, paired_words
from jdkmatrix.report.html.names import file_stem
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.attempts import Logs, attempt_views, order_words
from jdkmatrix.report.run_page.clock import speed_words
from jdkmatrix.report.run_page.run_view import state_text
from jdkmatrix.report.run_page.search import search_view
from jdkmatrix.report.views import Against, Fact, LogView, ServedCellView, ServedForkView, Sibling
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.report.words.sentences import condition, driven, losses_words, ratio_sentence
from jdkmatrix.report.words.states import STATE_CLASS, STATE_MEANING, STATUS_CLASS, STATUS_WORDS, State
from jdkmatrix.store.cells import CellRecord

_NO_FORK = "no usable fork"


def view_cell(
    cell: CellStats,
    record: CellRecord,
    cells: Cells,
    judgements: Judgements,
    run: RunRecord,
    order: Sequence[str],
    logs: Logs,
) -> ServedCellView:
    """`record`: of the cell, with all details."""
    key = cell.key
    return ServedCellView(
        cell_id=key.cell_id,
        title=f"{key.executor} on {key.jdk}",
        condition=f"{key.served}, {condition(key.cpus, key.task)}",
        load_words=driven(cell.kind.words(), cell.driver),
        status=state_text(cell),
        status_class=STATE_CLASS[cell.state],
        status_title=STATE_MEANING[cell.state],
        tiles=_tiles(cell),
        tiles_note=_tiles_note(cell),
        latency_short=KIND_SHORT[cell.latency.kind] if cell.latency else "",
        siblings=_siblings(key, cells, order),
        against=_against(cell, judgements),
        forks=tuple(_fork(fork, record, cell, run, logs.get((fork.fork, fork.attempt), ())) for fork in record.forks),
        attempts=attempt_views(record, run, logs),
        ran_with=ran_with(record, run, work="Task duration"),
    )


def _tiles_note(cell: CellStats) -> str | None:
    if cell.latency is None:
        return None
    return (
        f"Latency is {KIND_WORDS[cell.latency.kind]}, all usable forks together; beneath it is the 95 % interval of "
        "the geometric mean of the forks’ own percentiles. One fork with a long tail can move the figure outside it."
    )


def _tiles(cell: CellStats) -> tuple[tuple[str, str, Figure], ...]:
    """A tile says beneath its figure how sure it is, and in so many words where there is no interval."""
    why = _NO_FORK

    def percentile_tile(name: str) -> Figure:
        figure = percentile(cell, name, why=why)
        if figure.sort is None:
            return figure
        return replace(figure, under=f"{figure.under} over forks" if figure.under else figure.title)

    def tile(figure: Figure) -> Figure:
        """Where there is no interval, the tooltip says why."""
        return figure if figure.sort is None or figure.under else replace(figure, under=figure.title)

    throughput = of_metric(THROUGHPUT, cell, why=why)
    held = (("Rate held", "requests/s", tile(of_metric(CAPACITY, cell, why=why))),) if cell.figures(CAPACITY) else ()
    arm = cell.attained
    outcome = (
        (cell.question.title, "forks", Figure(f"{arm.yes} of {arm.told}", float(arm.yes), amber=arm.yes < arm.told)),
    )
    return (
        *(outcome if arm.no and not cell.question.is_sought else ()),
        *held,
        ("Throughput", "requests/s", replace(throughput, under=_over_forks(cell, throughput))),
        (" ".join(filter(None, ("CPU per request", cell.kind.cpu_label))), "µs", tile(of_metric(CPU, cell, why=why))),
        ("p50", "ms", percentile_tile("50")),
        ("p99", "ms", percentile_tile("99")),
        ("p99.9", "ms", percentile_tile("99.9")),
        *((one.title, one.unit, of_metric(one, cell, why=why)) for one in METRICS if one.on_cell_page),
    )


def _over_forks(cell: CellStats, figure: Figure) -> str | None:
    if figure.sort is None:
        return None
    forks = plural(len(cell.figures(THROUGHPUT)), "fork")
    sure = f"{figure.under}, {forks}" if figure.under else f"{forks}: no interval"
    failed = failed_words(cell)
    return f"{sure}; {failed}" if failed else sure


def _against(cell: CellStats, judgements: Judgements) -> Against | None:
    """What the page of the run says of this cell and the one that it is compared with, and the blocks behind it; None
    where it is compared with none."""
    key = cell.key
    compared = [one for metric in metrics_of(cell.load) if (one := judgements.comparison(metric, key))]
    if not compared:
        return None
    base = compared[0].base.key.executor
    outcomes = judgements.outcomes(key)
    sentences = []
    if outcomes is not None and worth_reporting(outcomes):
        sentences.append((outcomes.question.title, f"{sentence(outcomes, key.executor, base)}."))
    for one in compared:
        judged = judgements.of(one.metric, key)
        paired = paired_words(one)
        said = (
            ratio_sentence(one.metric, judged, key.executor, base, paired=paired)
            if judged
            else f"no block has both; {losses_words(one.losses, key.executor, base)}."
        )
        sentences.append((one.metric.title, said))
    return Against(base, tuple(sentences), tuple(pair_table(one) for one in compared if one.pairs))


def _siblings(key: CellKey, cells: Cells, order: Sequence[str]) -> tuple[Sibling, ...]:
    """Every executor under the same conditions."""
    found = []
    for other in cells.peers(key):
        cell = cells.get(other)
        found.append(
            Sibling(
                executor=other.executor,
                slot=order.index(other.executor),
                href=f"{file_stem(other.cell_id)}.html" if cell and other != key else None,
                throughput=of_metric(THROUGHPUT, cell, why=_NO_FORK),
                cpu=cost(cell, why=_NO_FORK),
                p99=of_metric(P99, cell, why=_NO_FORK),
                current=other == key,
            )
        )
    return tuple(found)


def _fork(fork: Fork, record: CellRecord, cell: CellStats, run: RunRecord, logs: Sequence[LogView]) -> ServedForkView:
    id_prefix = f"fork-{fork.fork}"
    short = cell.fork_fell_short(fork)
    return ServedForkView(
        number=fork.fork,
        anchor=id_prefix,
        status=State.FELL_SHORT.value if short else STATUS_WORDS[fork.status],
        status_class=STATE_CLASS[State.FELL_SHORT] if short else STATUS_CLASS[fork.status],
        reasons=reason_words(fork.reasons),
        facts=_facts(fork, record, run),
        warmup_note=warmup_note(fork),
        warmup=warmup_charts(fork),
        series=fork_series(fork),
        windows=window_table(fork.windows) if fork.windows else None,
        search=search_view(fork.capacity) if fork.capacity else None,
        commands=command_lines(
            ("Server", fork.command), ("Driver", fork.driver_command), ("Remote system", fork.remote_command)
        ),
        logs=tuple(logs),
    )


def _facts(fork: Fork, record: CellRecord, run: RunRecord) -> tuple[Fact, ...]:
    confinement = fork.confinement
    together = "they share CPUs" if confinement.overlapped else "no CPU in common"
    return (
        Fact("Order", order_words(fork, run)),
        facts.started(fork),
        Fact(
            "CPUs",
            f"server {facts.ranges(confinement.sut_cpus)}, driver {facts.ranges(confinement.driver_cpus)}: {together}",
        ),
        kept_there(fork),
        Fact("Protocol", protocol_words(fork)),
        Fact(
            "First answer",
            f"{fork.first_response_s:.1f} s after the start" if fork.first_response_s is not None else "none came",
        ),
        Fact("Proof of executor", _proof(fork)),
        Fact("Proof under load", under_load_words(fork)),
        Fact("Work check", _work(fork, record.key)),
        Fact("CPU speed", speed_words(fork), "of serial work on one of the server's CPUs, around the windows"),
        *_of_workload(fork, record),
    )


def protocol_words(fork: Fork) -> str:
    """How it was measured beside the others of its block."""
    if not fork.together:
        return f"by itself: {fork.why_alone}" if fork.why_alone else "separate: by itself"
    windows = fork.windows
    lost = sum(not window.valid for window in windows)
    others = plural(len(fork.together) - 1, "other server")
    return f"interleaved: {plural(len(windows), 'round')} in turns with {others}, {lost} of them lost to gates"


def _of_workload(fork: Fork, record: CellRecord) -> Iterable[Fact]:
    """What only some workloads have."""
    if fork.confinement.remote_cpus:
        shared = " (the driver's)" if fork.confinement.remote_cpus == fork.confinement.driver_cpus else ""
        by_socket = (record.identity.inputs.get("workload") or {}).get("client") == "socket"
        caller = "a plain socket on which the request’s thread blocks" if by_socket else "the JDK’s HTTP client"
        yield Fact("Remote system", f"on CPUs {facts.ranges(fork.confinement.remote_cpus)}{shared}, called by {caller}")
    audit = fork.audit
    if audit:
        books = "money was conserved" if audit.conserved else "money was made or lost"
        moved = f"{plural(audit.transfers_done, 'transfer')} between {plural(audit.accounts, 'account')}"
        yield Fact("Books", f"{moved}: {books}")
    yield from box(fork)


def _proof(fork: Fork) -> str:
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
