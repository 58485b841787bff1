"""A fork of a cell: where and how it ran, what it was proven to be, its seconds and its windows. Pure; logs were read
before."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import amount, per_cent, plural
from jdkmatrix.records.forks import Audit, Fork
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.served import Place
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.inline import badge, joined
from jdkmatrix.report.blocks.kinds import Charts, Command, Fact, FactList, Log, PageBlock, Prose, Section
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import window_blocks
from jdkmatrix.report.cell_page.programs import program_blocks
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.over_rate import search_blocks
from jdkmatrix.report.run_page.sessions import speed_words
from jdkmatrix.report.words.sentences import STATUS_CLASS, STATUS_WORDS, State
from jdkmatrix.store.cells import CellRecord

_PLACES: tuple[tuple[Place, str], ...] = (
    ("servers", "threads of the server’s own pool"),
    ("plugged_virtual", "virtual threads"),
    ("plugged_platform", "platform threads of the plugged executor"),
    ("elsewhere", "threads of unknown origin"),
)


def fork_section(fork: Fork, cell: CellStats, record: CellRecord, run: RunRecord, logs: Sequence[Log]) -> Section:
    """The first log of a fork that failed is open."""
    word, css = STATUS_WORDS[fork.status], STATUS_CLASS[fork.status]
    if not cell.is_program and cell.fork_fell_short(fork):
        word, css = State.FELL_SHORT.value, State.FELL_SHORT.css
    blocks: list[PageBlock] = [
        *(program_blocks(fork, run) if cell.is_program else _served_blocks(fork, record, run)),
        *_commands(fork, "Program" if cell.is_program else "Server"),
        *([Prose(heading="Logs")] if logs else []),
        *(replace(log, open=number == 0 and css == "failed") for number, log in enumerate(logs)),
    ]
    title = joined(f"Fork {fork.fork} ", badge(word, css))
    return Section(f"fork-{fork.fork}", title, blocks, reasons=reason_words(fork.reasons))


def _commands(fork: Fork, measured: str) -> Iterator[PageBlock]:
    """Each program that was started, with its command line."""
    programs = {
        measured: fork.command,
        "Driver": fork.driver_command,
        "Remote system": fork.remote_command,
        "Database": fork.database.command if fork.database else (),
    }
    if any(programs.values()):
        yield Prose(heading="Command lines")
    for title, command in programs.items():
        if command:
            yield from (Prose(heading=title, level=4), Command(shlex.join(command), f"{title}’s command line"))


def reason_words(reasons: Sequence[Reason]) -> tuple[str, ...]:
    return tuple(map(_reason, reasons))


def _reason(reason: Reason) -> str:
    figures = ", ".join(f"{name} {amount(value, '')}" for name, value in reason.figures.items())
    return f"{reason.message} ({figures})" if figures else reason.message


def _served_blocks(fork: Fork, record: CellRecord, run: RunRecord) -> Iterator[PageBlock]:
    series, same = fork_charts(fork)
    yield FactList(tuple(_facts(fork, record, run)))
    if series or same:
        yield Charts("Second by second", _SECONDS, series, css="small")
    if same:
        yield Prose(f"The same all the time: {'; '.join(same)}.")
    if charts := warmup_charts(fork):
        yield Charts("Warm-up", warmup_note(fork), charts, css="small")
    else:
        yield Prose(warmup_note(fork), "Warm-up")
    yield from window_blocks(fork)
    yield from search_blocks(fork.fork, fork.capacity) if fork.capacity else ()


_SECONDS = (
    "Seconds since the start of the server process; measured windows are shaded, and between them nothing is drawn."
)


def _facts(fork: Fork, record: CellRecord, run: RunRecord) -> Iterator[Fact]:
    confinement, first_s = fork.confinement, fork.first_response_s
    together = "they share CPUs" if confinement.overlapped else "no CPU in common"
    server, driver = facts.ranges(confinement.sut_cpus), facts.ranges(confinement.driver_cpus)
    yield from facts.place_facts(fork, run, f"server {server}, driver {driver}: {together}")
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
    yield from facts.limited(fork)


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


def under_load_words(fork: Fork) -> str:
    """The windows and those of a search are told together."""
    windows = fork.every_window
    told = [(window, window.served) for window in windows if window.served]
    if shares := [share for window in windows if (share := window.sut.carriers_cpu_share) is not None]:
        return (
            f"not counted, since nothing of ours is in it; carriers of virtual threads had {share_words(shares)} of "
            f"the CPU time in {plural(len(shares), 'window')}"
        )
    if not told:
        return "not counted" if windows else "not counted: no window was measured"
    begun = sum(served.begun for _, served in told)
    parts = [
        f"{count:,} of {begun:,} requests in {plural(len(told), 'window')} ran on {words}"
        for place, words in _PLACES
        if (count := sum(served.on(place) for _, served in told))
    ]
    if all((served.threads_started or 0) >= served.begun for _, served in told):
        parts[-1] += ", each on a new one"
    parts.append(_of_driver([window for window, _ in told]))
    if len(told) < len(windows):
        parts.append(f"in {len(windows) - len(told)} more the server could not be asked")
    return "; ".join(parts)


def _of_driver(windows: list[Window]) -> str:
    sent = [window.load.sent for window in windows]
    if None in sent:
        return f"the driver had {sum(window.load.completed for window in windows):,} answers"
    return f"the driver sent {sum(filter(None, sent)):,}"


def outside_words(proof: OutsideProof) -> str:
    """How the executor was proven without a word of the application."""
    busiest = ", ".join(f"“{one.name}” ({one.threads}) {per_cent(one.cpu_share)}" for one in proof.busiest)
    names = ", ".join(f"“{name}”" if name else "without a name" for name in proof.virtual_names)
    seen = (
        f"{plural(proof.virtual_threads, 'virtual thread')} ({names})" if proof.virtual_threads else "no virtual thread"
    )
    carriers = f"{plural(len(proof.carriers), 'carrier')} of virtual threads" if proof.carriers else "their carriers"
    return (
        f"from outside, under a closed loop of GET {proof.path}: {plural(proof.dumps, 'thread dump')} showed {seen}; "
        f"{carriers} had {per_cent(proof.carriers_cpu_share)} of the CPU time of {plural(proof.answers, 'answer')}; by "
        f"threads: {busiest}"
    )


def share_words(shares: list[float]) -> str:
    low, high = per_cent(min(shares)), per_cent(max(shares))
    return low if low == high else f"{low} to {high}"
