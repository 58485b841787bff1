"""The tables of a fork's measured windows, and of its search for the highest rate. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.fork_figures import bound_of, chosen, distribution_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Latency
from jdkmatrix.records.pressure import CpuRole, CpuUse
from jdkmatrix.records.readings import DATABASE_CPU_US
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Capacity, Window
from jdkmatrix.report.blocks.inline import badge, joined
from jdkmatrix.report.blocks.kinds import PageBlock, Prose
from jdkmatrix.report.blocks.tables import DataTable, columns
from jdkmatrix.report.cells.shown import KIND_SHORT, KIND_WORDS, NO_BOUND, few_beyond
from jdkmatrix.report.run_page.over_rate import OUTCOMES
from jdkmatrix.report.words.numbers import Figure, count, mebibytes, milliseconds, missing, quantity, share
from jdkmatrix.stats.percentiles import are_bounds, enough_beyond, is_overstated

_NO_REMOTE = "no figures of a remote system were recorded"
_NO_DATABASE = "no figures of a database were recorded"
_SILENT = "this driver does not report it"
_ONE_LOOP = "the driver has one event loop, or does not report it"
_NO_GAUGE = "the server did not report it"
_ENDED = "too many threads ended in the window, and the kernel does not add up what they had counted"

Getter = Callable[[Window], Figure]


def _unscheduled(window: Window) -> str:
    """Say why a figure of its schedule is missing."""
    return "a closed loop has no schedule" if window.load.load.is_closed_loop else _SILENT


def _percentile(latency: Latency | None, name: str, why: str = _SILENT) -> Figure:
    if latency and not enough_beyond(latency.count, name):
        return few_beyond(latency.count)
    return milliseconds(latency.percentiles_us.get(name) if latency else None, why=why)


def _latency(name: str) -> Getter:
    """Return a getter of a percentile; it is a lower bound where requests that would be beyond it have no answer, and
    an upper bound where the driver was late."""

    def figure(window: Window) -> Figure:
        latency = chosen(window)
        told = _percentile(latency, name)
        if latency is None or told.sort is None:
            return told
        short = bool(window.shortfalls) or are_bounds(window.load.lower_bounds or 0, latency.count, name)
        bound = bound_of(too_low=short, too_high=is_overstated(told.sort, window.load.send_lateness, name))
        return NO_BOUND if bound is None else told._replace(text=bound.signed(told.text))

    return figure


def _use(role: CpuRole, figure: Callable[[CpuUse], float]) -> Getter:
    """Return a getter of a figure of a role's CPUs, including whoever shares them."""
    return lambda window: share(figure(use) if (use := window.host.use_of(role)) else None)


def _errors(window: Window) -> Figure:
    errors, lead = window.load.errors, window.load.lead
    kinds = {"connect": errors.connect, "read": errors.read, "write": errors.write, "timeout": errors.timeout}
    kinds["before the window"] = lead.errors.total if lead else 0
    parts = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number)
    return Figure(f"{errors.total:,}", errors.total, parts or None)


def _gc(window: Window) -> Figure:
    sut = window.sut
    if sut.gc_count is None or sut.gc_ms is None:
        return missing(_NO_GAUGE)
    return Figure(f"{sut.gc_count:,} in {sut.gc_ms:,} ms", sut.gc_ms)


def _reading(window: Window, metric: str, scale: float = 1.0) -> Figure:
    value = next((one.value for one in window.readings if one.metric == metric), None)
    return quantity(None if value is None else value * scale, 3, why=_NO_GAUGE)


def _whole(window: Window, metric: str) -> int | None:
    return next((round(one.value) for one in window.readings if one.metric == metric), None)


def _database_cpu(window: Window) -> Figure:
    answers = window.load.answers_2xx
    return _reading(window, DATABASE_CPU_US, 1 / answers) if answers else missing("no answer had status 2xx")


_GROUPS: dict[str, tuple[tuple[str, Getter], ...]] = {  # title and unit of each figure as in `columns`
    "Load": (
        ("Start|s", lambda w: quantity(w.t_s, 3, why="")),
        ("Duration|s", lambda w: quantity(w.load.duration_s, 3, why="")),
        ("Throughput|req/s", lambda w: quantity(w.load.succeeded_rps, 4, why="")),
        ("Due|requests", lambda w: count(w.load.due, why=_unscheduled(w))),
        ("Sent|requests", lambda w: count(w.load.sent)),
        ("Due, not sent|requests", lambda w: count(w.load.unsent, why=_unscheduled(w))),
        ("Completed|requests", lambda w: count(w.load.completed)),
        ("Answered after the end|requests", lambda w: count(w.load.answered_late)),
        ("Not 2xx|answers", lambda w: count(w.load.non_2xx)),
        ("Not 2xx, after the end|answers", lambda w: count(w.load.late_non_2xx)),
        ("Errors", _errors),
        ("Reconnects", lambda w: count(w.load.reconnects)),
    ),
    "Latency": (
        ("Kind", lambda w: Figure(KIND_SHORT[distribution_of(w)], None, KIND_WORDS[distribution_of(w)])),
        ("Recorded from|s", lambda w: quantity(w.load.latency_from_s, 3, why="")),
        *((f"p{name}|ms", _latency(name)) for name in ("50", "90", "99", "99.9")),
        ("Maximum|ms", lambda w: milliseconds(latency.max_us if (latency := chosen(w)) else None, why=_SILENT)),
    ),
    "Server": (
        ("CPU per request|µs", lambda w: quantity(w.cpu_us_per_answer or None, 3, why="no answer had status 2xx")),
        ("Share of its CPUs, or of its quota", lambda w: share(w.sut.cpu_share)),
        ("Run-queue wait|s", lambda w: quantity(w.sut.run_queue_wait_s, 3, why=_ENDED)),
        ("Switches, voluntary", lambda w: count(w.sut.voluntary_switches, why=_ENDED)),
        ("Switches, forced", lambda w: count(w.sut.involuntary_switches, why=_ENDED)),
        ("RSS, peak|MiB", lambda w: mebibytes(w.sut.rss_peak_bytes, why="")),
        ("Virtual size|MiB", lambda w: mebibytes(w.sut.virt_bytes, why="")),
        ("Heap used|MiB", lambda w: mebibytes(w.sut.heap_used_bytes, why=_NO_GAUGE)),
        ("Direct buffers|MiB", lambda w: mebibytes(w.sut.direct_buffer_bytes, why=_NO_GAUGE)),
        ("Threads, peak", lambda w: count(w.sut.threads_peak)),
        ("In flight, peak|requests", lambda w: count(w.sut.in_flight_peak, why=_NO_GAUGE)),
        ("Garbage collections", _gc),
        ("JIT|ms", lambda w: count(w.sut.jit_ms, why=_NO_GAUGE)),
        ("JIT, share of one CPU", lambda w: share(w.sut.jit_share)),
    ),
    "Driver and host": (
        ("Speed of the server’s CPUs beforehand|divisions/µs", lambda w: quantity(w.clock_speed, 4, why="not read")),
        ("Driver's share of its CPUs", lambda w: share(w.load.driver_cpu_share)),
        ("Driver's busiest event loop, of one CPU", lambda w: share(w.load.driver_loop_cpu_share, why=_ONE_LOOP)),
        ("Send lateness, p99|ms", lambda w: _percentile(w.load.send_lateness, "99", _unscheduled(w))),
        ("Foreign CPU, on the server’s CPUs", _use("sut", lambda use: use.foreign_share)),
        ("Foreign CPU, on the driver’s CPUs", _use("driver", lambda use: use.foreign_share)),
        ("Steal, from the server’s CPUs", _use("sut", lambda use: use.steal_share)),
        ("Steal, from the driver’s CPUs", _use("driver", lambda use: use.steal_share)),
        ("Busy, the driver’s CPUs", _use("driver", lambda use: use.busy_share)),
        ("This tool, of one CPU", lambda w: share(w.host.runner_cpu_share)),
        ("CPU pressure", lambda w: share(w.host.psi_cpu_some_share, why="the kernel does not report it")),
    ),
    "Reading the server’s memory": (
        ("Server’s CPU|s", lambda w: quantity(w.sut.probe_cpu_s, 3, why=_NO_GAUGE)),
        ("Left out of CPU per request|µs", lambda w: quantity(_readings_us(w), 3, why=_NO_GAUGE)),
    ),
    "Remote system": (
        ("Answers", lambda w: count(w.remote.answered if w.remote else None)),
        ("In flight, peak|requests", lambda w: count(w.remote.in_flight_peak if w.remote else None)),
        ("CPU|s", lambda w: quantity(w.remote.cpu_s if w.remote else None, 3, why=_NO_REMOTE)),
        ("Late, p50|ms", lambda w: _percentile(w.remote.lateness if w.remote else None, "50", _NO_REMOTE)),
        ("Late, p99|ms", lambda w: _percentile(w.remote.lateness if w.remote else None, "99", _NO_REMOTE)),
    ),
    "Database": (
        ("CPU|s", lambda w: quantity(w.database.cpu_s if w.database else None, 3, why=_NO_DATABASE)),
        ("Its CPU per request|µs", _database_cpu),
        ("Wait for a connection, p50|ms", lambda w: _reading(w, "connection_wait_p50_us", 1e-3)),
        ("Wait for a connection, p99|ms", lambda w: _reading(w, "connection_wait_p99_us", 1e-3)),
        ("Wait for a connection, most|ms", lambda w: _reading(w, "connection_wait_most_us", 1e-3)),
        ("In use, peak|connections", lambda w: _reading(w, "connections_in_use_peak")),
        ("Time-outs|requests", lambda w: count(_whole(w, "connection_timeouts"), why=_NO_GAUGE)),
    ),
}
_WHERE_SEEN: dict[str, Callable[[Window], object]] = {
    "Reading the server’s memory": lambda w: w.sut.probe_cpu_s,
    "Remote system": lambda w: w.remote,
    "Database": lambda w: w.database,
}


def _readings_us(window: Window) -> float | None:
    """Return the CPU time per answer of status 2xx that answering our own questions took, in µs; CPU per request leaves
    it out. None: not recorded, or no such answer."""
    used_s, answers = window.sut.probe_cpu_s, window.load.answers_2xx
    return used_s * 1e6 / answers if used_s is not None and answers else None


def window_blocks(fork: Fork) -> tuple[PageBlock, ...]:
    """Build a table for each group of figures, a window per line; below them, why windows are lost, or what the server
    did not do in them."""
    windows = fork.windows
    if not windows:
        return ()
    lost = [window for window in windows if window.reasons]
    short = [window for window in windows if window.shortfalls]
    return (
        Prose(heading="Measured windows"),
        *window_tables(windows, fork.fork),
        *(Prose(f"Window {one.index}: {_messages(one.reasons)}", css="reason") for one in lost),
        *(Prose(f"Window {one.index} fell short: {_messages(one.shortfalls)}", css="reason short") for one in short),
    )


def window_tables(windows: Sequence[Window], fork: int) -> tuple[DataTable, ...]:
    """Build the tables; groups of figures that not every server has are shown where a window has any."""
    heads = [_head(window) for window in windows]
    return tuple(
        DataTable(
            f"{group} by window of fork {fork}",
            columns(group, *(f"{title}#" for title, _ in figures)),
            [(head, *(of(window) for _, of in figures)) for head, window in zip(heads, windows, strict=True)],
            "figures",
        )
        for group, figures in _GROUPS.items()
        if group not in _WHERE_SEEN or any(map(_WHERE_SEEN[group], windows))
    )


def _head(window: Window) -> str:
    if window.reasons:
        return joined(f"window {window.index} ", badge("invalid", "invalid", _messages(window.reasons)))
    if window.shortfalls:
        return joined(f"window {window.index} ", badge("fell short", "fell-short", _messages(window.shortfalls)))
    return f"window {window.index}"


def _messages(reasons: Iterable[Reason]) -> str:
    return "; ".join(reason.message for reason in reasons)


def search_blocks(fork: int, capacity: Capacity) -> tuple[PageBlock, ...]:
    """List every window of one fork's search, in the order in which they were run."""
    held = f"{digits(capacity.held_rps, 4)} requests/s held" if capacity.held_rps else "no rate held"
    failed = f"{digits(capacity.failed_rps, 4)} did not" if capacity.failed_rps else "none failed above it"
    words = (
        f"{held}, {failed}: p99 within {digits(capacity.p99_max_us / 1000, 3)} ms and no failed request, between "
        f"{digits(capacity.floor_rps, 4)} and {digits(capacity.ceiling_rps, 4)} requests/s. End: {capacity.outcome}."
    )
    if capacity.not_monotonic_rps:
        higher = ", ".join(digits(rate, 4) for rate in capacity.not_monotonic_rps)
        words += f" Higher rates that held nevertheless: {higher}."
    steps = [
        (
            quantity(step.rate_rps, 4, why=""),
            step.purpose,
            _latency("99")(step.window),
            quantity(step.window.load.succeeded_rps, 4, why=""),
            badge(*OUTCOMES[step.held], _messages((*step.window.reasons, *step.window.shortfalls))),
        )
        for step in capacity.steps
    ]
    heads = columns("Rate|req/s#", "Why this rate", "p99|ms#", "Throughput|req/s#", "Outcome")
    return Prose(words, "Search for the highest rate"), DataTable(f"Search of fork {fork}", heads, steps)
