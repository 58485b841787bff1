"""A fork of a cell: where and how it ran; for a server, what it was proven to be, its seconds and its windows; for an
experiment, what its program counted and expected. Pure; logs are read beforehand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jdkmatrix.domain.executors import has_own_threads
from jdkmatrix.domain.quantities import amount, digits, per_cent, plural
from jdkmatrix.experiments.base import Details, Distribution, Measurand
from jdkmatrix.experiments.kinds import details_of, measurands
from jdkmatrix.experiments.pinning import pinned_words
from jdkmatrix.loads.base import Bound
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import ProgramResult, VmFacts, WindowReading
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.served import Place
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.report.blocks.inline import badge, joined
from jdkmatrix.report.blocks.kinds import Charts, Disclosure, Fact, FactList, Log, PageBlock, Pre, Prose, Section
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import search_blocks, window_blocks
from jdkmatrix.report.cell_page.logs import Logs
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import few_beyond
from jdkmatrix.report.experiments.pinning import pinned_stacks
from jdkmatrix.report.experiments.words import endings, expectation_of, titled
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.sessions import speed_words
from jdkmatrix.report.words.numbers import Figure, count, milliseconds, missing, share
from jdkmatrix.report.words.sentences import STATUS_WORDS, State
from jdkmatrix.stats.percentiles import are_bounds, enough_beyond
from jdkmatrix.store.cells import CellRecord

_PLACES: tuple[tuple[Place, str], ...] = (
    ("servers", ""),  # in words for its own executor
    ("plugged_virtual", "virtual threads"),
    ("plugged_platform", "platform threads of the plugged executor"),
    ("elsewhere", "threads of unknown origin"),
)
_TAIL = ("90", "99", "99.9")
_HOME = re.compile(r"(?<![^:=,])~(?=/|$)")  # at the start of a path
# Clocks are read one after another, microseconds apart; less than this is no step.
_CLOCKS_APART_S = 0.001


def fork_section(fork: Fork, cell: CellStats, record: CellRecord, run: RunRecord, logs: Sequence[Log]) -> Section:
    """Build the section of a fork; the first log of one that failed is open."""
    word, css = STATUS_WORDS[fork.status], fork.status.value
    if cell.fork_fell_short(fork):
        word, css = State.FELL_SHORT.value, State.FELL_SHORT.css
    programs = {
        "Program" if cell.is_program else "Server": fork.command,
        "Driver": fork.driver_command,
        "Remote system": fork.remote_command,
        "Database": fork.database.command if fork.database else (),
    }
    commands = {title: command for title, command in programs.items() if command}
    blocks: list[PageBlock] = [
        *(program_blocks(fork, run) if cell.is_program else _served_blocks(fork, record, run)),
        *([Prose(heading="Command lines")] if commands else []),
        *(
            block
            for title, command in commands.items()
            for block in (Prose(heading=title, level=4), Pre(for_a_shell(command), f"{title}’s command line"))
        ),
        *([Prose(heading="Logs")] if logs else []),
        *(replace(log, open=number == 0 and css == "failed") for number, log in enumerate(logs)),
    ]
    title = joined(f"Fork {fork.fork} ", badge(word, css))
    return Section(f"fork-{fork.fork}", title, blocks, reasons=reason_words(fork.reasons))


def for_a_shell(command: Sequence[str]) -> str:
    """Quote it for pasting: in kept runs ~ is the home directory even where no shell reads it so: -javaagent:~/…"""
    return " ".join(map(_argument, command))


def _argument(text: str) -> str:
    if not _HOME.search(text):
        return shlex.quote(text)
    escaped = re.sub(r'(["\\$`])', r"\\\1", text)
    return f'"{_HOME.sub("$HOME", escaped)}"'


def reason_words(reasons: Sequence[Reason]) -> tuple[str, ...]:
    told = ((one.message, [f"{name} {amount(value, '')}" for name, value in one.figures.items()]) for one in reasons)
    return tuple(f"{message} ({', '.join(figures)})" if figures else message for message, figures in told)


def _served_blocks(fork: Fork, record: CellRecord, run: RunRecord) -> Iterator[PageBlock]:
    series, same = fork_charts(fork)
    yield FactList(tuple(_facts(fork, record, run)))
    if series or same:
        since = "Seconds since the start of the server process; measured windows are shaded"
        words = f"{since}. Throughput and p99 cover these alone, and no line crosses a time in which nothing was read."
        yield Charts("Second by second", words, series, css="small")
    if same:
        yield Prose(f"Constant throughout: {'; '.join(same)}.")
    if charts := warmup_charts(fork):
        yield Charts("Warm-up", warmup_note(fork), charts, css="small")
    else:
        yield Prose(warmup_note(fork), "Warm-up")
    yield from window_blocks(fork)
    yield from search_blocks(fork.fork, fork.capacity) if fork.capacity else ()


def _facts(fork: Fork, record: CellRecord, run: RunRecord) -> Iterator[Fact]:
    confinement, first_s = fork.confinement, fork.first_response_s
    together = "they share CPUs" if confinement.overlapped else "no CPU in common"
    server, driver = facts.ranges(confinement.sut_cpus), facts.ranges(confinement.driver_cpus)
    yield from facts.place_facts(fork, run, f"server {server}, driver {driver}: {together}")
    yield Fact("Protocol", protocol_words(fork))
    yield Fact("First answer", "none came" if first_s is None else f"{first_s:.1f} s after the start")
    yield Fact("Proof of executor", _proof(fork))
    yield Fact("Proof under load", under_load_words(fork))
    work = "none: the fork ended before it, or was overloaded" if record.key.burn_us else "not needed: no added work"
    if check := fork.burn_check:
        work = f"{check.rounds:,} rounds took {check.best_us:.1f} µs at best, {check.asked_us:.0f} µs asked"
        if check.expected_us is not None:
            work += f", {check.expected_us:.1f} expected at the CPU’s speed at the time"
    yield Fact("Work check", work)
    yield Fact("CPU speed", speed_words(fork), "of serial work, the mean of the server's CPUs, around the windows")
    where = facts.numbered("CPU", confinement.remote_cpus)
    where += " (the driver's)" if confinement.remote_cpus == confinement.driver_cpus else ""
    if database := fork.database:
        size = f"{database.data_bytes / 1e6:.0f} MB of fresh data"
        size += f" on {database.file_system}" if database.file_system else ""
        yield Fact("Database", f"PostgreSQL {database.version} on {where}, as user {database.user}, {size}")
    elif confinement.remote_cpus:
        by_socket = (record.identity.inputs.get("workload") or {}).get("client") == "socket"
        caller = "a plain socket on which the request’s thread blocks" if by_socket else "the JDK’s HTTP client"
        yield Fact("Remote system", f"on {where}, called by {caller}")
    if audit := fork.audit:
        money = "money was conserved" if audit.conserved else "money was created or lost"
        moved = f"{plural(audit.transfers_done, 'transfer')} between {plural(audit.accounts, 'account')}"
        if audit.open_transactions is not None:
            left = plural(audit.open_transactions, "transaction")
            answered = "1 was" if audit.transfers_answered == 1 else f"{audit.transfers_answered:,} were"
            money += f"; {answered} answered, {left} left open in the database"
        yield Fact("Bank audit", f"{moved}: {money}")
    yield from facts.limited(fork)


def protocol_words(fork: Fork) -> str:
    """Say how it was measured beside the others of its block."""
    if not fork.together:
        return f"by itself: {fork.why_alone}" if fork.why_alone else "separate: by itself"
    windows = fork.windows
    lost = sum(not window.valid for window in windows)
    others = plural(len(fork.together) - 1, "other server")
    return f"interleaved: {plural(len(windows), 'round')} in turn with {others}, {lost} of them lost to gates"


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


def under_load_words(fork: Fork) -> str:
    """Say which threads served requests under load, over the windows and those of a search together."""
    windows = fork.every_window
    told = [(window, window.served) for window in windows if window.served]
    if shares := [of_time for window in windows if (of_time := window.sut.carriers_cpu_share) is not None]:
        least, most = per_cent(min(shares)), per_cent(max(shares))
        return (
            "not counted, since it contains nothing of ours; carriers of virtual threads had "
            f"{least if least == most else f'{least} to {most}'} of the CPU time in {plural(len(shares), 'window')}"
        )
    if not told:
        return "not counted" if windows else "not counted: no window was measured"
    begun, proof = sum(served.begun for _, served in told), fork.proof
    own = "threads of the server’s own pool"
    if proof and proof.virtual and has_own_threads(proof.executor):
        own = "virtual threads that the server makes itself"
    parts = [
        f"{count:,} of {plural(begun, 'request')} in {plural(len(told), 'window')} ran on {words or own}"
        for place, words in _PLACES
        if (count := sum(served.on(place) for _, served in told))
    ]
    if not parts:
        parts.append(f"no request began in {plural(len(told), 'window')}")
    elif all((served.threads_started or 0) >= served.begun for _, served in told):
        parts[-1] += ", each on a new one"
    sent = [window.load.sent_with_lead for window, _ in told]
    answers = plural(sum(window.load.completed for window, _ in told), "answer")
    parts.append(f"the driver got {answers}" if None in sent else f"the driver sent {sum(filter(None, sent)):,}")
    if len(told) < len(windows):
        parts.append(f"in {len(windows) - len(told)} more the server could not be asked")
    return "; ".join(parts)


def outside_words(proof: OutsideProof) -> str:
    """Say how the executor was proven without a word from the application."""
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


def program_blocks(fork: Fork, run: RunRecord) -> Iterator[PageBlock]:
    program, result = fork.program, fork.result
    told, known = details_of(result) if result else Details(), measurands(result)
    yield from (Prose(one.words, css="outcome") for one in endings((fork,)))
    if figures := [_figure(one, known[one.metric], result) for one in fork.readings if result and one.metric in known]:
        heads = columns("Figure", "Measured#", "Expected#", "Measured|/ expected#")
        yield from (Prose(heading="Figures"), DataTable(f"Figures of fork {fork.fork}", heads, figures, "wrap"))
    if expected := expectation_of(fork):
        yield FactList((Fact(*expected),), "expected")
    if told.facts:
        yield FactList(told.facts)
    if told.distributions:
        heads = columns("In ms", "count#", "least#", "p50#", *(f"p{name}#" for name in _TAIL), "most#")
        rows: list[tuple[Cell, ...]] = [(one.measures, *_of_distribution(one)) for one in told.distributions]
        table = DataTable(f"Distributions of fork {fork.fork}", heads, rows, "wrap")
        yield from (Prose(heading="Distributions"), table)
    for title, section in told.sections:
        yield from (Prose(heading=title), FactList(section))
    if note := pinned_words(result) if result else None:
        yield Prose(note, "Pinned threads")
        yield from pinned_stacks((fork,))[1]
    if program and program.remote:
        yield from (Prose(heading="Remote system"), FactList(remote_facts(program.remote)))
    yield from (Prose(heading="How it ran"), FactList(_how_it_ran(fork, run)))
    if program and program.host:
        yield Disclosure("The host during the fork", (FactList(tuple(_pressure(program, program.host))),))
    if result:
        yield Disclosure("The JVM", (FactList(_vm_facts(result.vm)),))
        yield Disclosure("The request as the program reports it", (facts.pretty_json(result.asked),))


def _of_distribution(told: Distribution) -> Iterator[Figure]:
    """Yield the count, and in ms the ends and percentiles. Few values have a median, but no tail."""
    number, percentiles_us = told.seen["count"], told.seen["percentiles_us"]

    def shown(value_us: float | None, percent: str) -> Figure:
        figure = milliseconds(value_us, why="the program does not report it")
        at_least = figure.sort is not None and are_bounds(told.lower_bounds, number, percent)
        return figure._replace(text=Bound.AT_LEAST.signed(figure.text)) if at_least else figure

    yield from (count(number), shown(told.seen["min_us"], "0"), shown(percentiles_us.get("50"), "50"))
    for percent in _TAIL:
        enough = enough_beyond(number, percent)
        yield shown(percentiles_us.get(percent), percent) if enough else few_beyond(number, "value")
    yield shown(told.seen["max_us"], "100")


def _figure(one: WindowReading, metric: Measurand, result: ProgramResult) -> tuple[Cell, ...]:
    """Return its title, its value, what is expected, and the ratio."""
    expected = ratio = missing("no value is expected for this figure")
    if one.expected is not None:
        expected, ratio = Figure(amount(one.expected, metric.unit), one.expected), missing("0 is expected")
        if one.expected != 0:
            ratio = Figure(digits(one.value / one.expected, 3), one.value / one.expected)
    bound = Bound.AT_LEAST if metric.is_bound(result) else Bound.NONE
    value: Cell = Figure(bound.signed(amount(one.value, metric.unit)), one.value)
    if metric.is_tail_of_few(result):
        value = missing("too few values were slower")
    return titled(metric.title, metric.unit), value, expected, ratio


def _how_it_ran(fork: Fork, run: RunRecord) -> tuple[Fact, ...]:
    confinement = fork.confinement
    cpus = f"program {facts.ranges(confinement.sut_cpus)}"
    if confinement.remote_cpus:
        together = "they share CPUs" if set(confinement.remote_cpus) & set(confinement.sut_cpus) else "no CPU in common"
        cpus += f", remote system {facts.ranges(confinement.remote_cpus)}: {together}"
    return (
        *facts.place_facts(fork, run, cpus),
        Fact("CPU speed", speed_words(fork), "of serial work, the mean of its CPUs, before and after"),
        *(Fact("Compromise", compromise) for compromise in confinement.compromises),
        *facts.limited(fork),
        *(Fact("Limit that was hit", outcome.message) for outcome in fork.outcomes),
    )


def _pressure(program: ProgramWindow, host: Pressure) -> Iterator[Fact]:
    span = program.result.measured_span if program.result else None
    if span is None or program.host_span_s is None:
        why = "including start and warm-up: it reported no measured span"
        yield Fact("Watched", "the program’s whole life", why)
    else:
        around = f"{digits(program.host_span_s, 3)} s around the {digits(span.duration_s, 3)} s that it measured"
        how = "from the last reading before them to the first after them, and for at least half a second"
        yield Fact("Watched", around, how)
    yield Fact("Steal", share(host.steal_share).text, "time that the hypervisor gave to others")
    yield Fact("Others’ CPU", share(host.foreign_cpu_share).text, "of the CPUs in use: not by the experiment")
    if host.writers_share is not None:
        words = "of the program’s CPUs: threads of the kernel, which write what it waits for, and count as part of it"
        yield Fact("Writing to disks", share(host.writers_share).text, words)
    yield Fact("CPU pressure", share(host.psi_cpu_some_share).text, "of the time: a task was waiting for a CPU")
    if host.throttled_share is not None:
        words = f"{digits(host.throttled_share, 3)} s in each second"
        yield Fact("Throttled", words, "by the CPU quota of a cgroup, summed over CPUs")
    if host.swapped_bytes_per_s is not None:
        yield Fact("Swapped", f"{digits(host.swapped_bytes_per_s, 3)} bytes/s")
    for name, seconds in (("Clock stepped", host.clock_step_s), ("Suspended", host.suspended_s)):
        if seconds and abs(seconds) >= _CLOCKS_APART_S:
            yield Fact(name, f"{digits(seconds, 3)} s")


def _vm_facts(vm: VmFacts) -> tuple[Fact, ...]:
    return (
        Fact("JVM", f"{vm.name}, {vm.vm_version}, {vm.vendor}"),
        Fact("Java", vm.java_version),
        Fact("Options", " ".join(vm.options) or "none"),
        Fact("CPUs that it sees", f"{vm.processors}"),
        Fact("Heap", f"at most {digits(vm.max_heap_bytes / 2**20, 3)} MiB; {', '.join(vm.collectors)}"),
        Fact("Kernel", f"{vm.kernel}, {vm.arch}"),
    )


def remote_facts(remote: RemoteStats) -> tuple[Fact, ...]:
    faults = remote.faults.status_500 + remote.faults.close + remote.faults.never
    ordered = "fault as ordered" if faults == 1 else "faults as ordered"
    late = remote.lateness.percentiles_us.get("99") if remote.lateness else None
    return (
        Fact(
            "Requests",
            f"{remote.answered:,} answered, {remote.in_flight_peak:,} at once, {remote.abandoned:,} abandoned by the "
            f"caller, {remote.refused:,} refused, {faults:,} {ordered}",
        ),
        Fact("Answered late by", f"{milliseconds(late, why='').text} ms (p99)" if late is not None else "not recorded"),
        Fact("CPU", f"{digits(remote.cpu_s, 3)} s"),
    )


def earlier_attempts(record: CellRecord, run: RunRecord, logs: Logs) -> Iterator[PageBlock]:
    """Show earlier attempts in the order of measurement; none where every fork kept its first attempt."""
    for fork in record.attempts:
        status = badge(STATUS_WORDS[fork.status], fork.status)
        yield Prose(heading=joined(f"Fork {fork.fork}, attempt {fork.attempt} ", status))
        reasons = dict.fromkeys(reason.message for reason in (*fork.reasons, *fork.window_reasons))
        yield from (Prose(reason, css="reason") for reason in reasons)
        yield FactList((Fact("Order", facts.order_words(fork, run)), facts.started(fork)))
        yield from logs.get((fork.fork, fork.attempt), ())
