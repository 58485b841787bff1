"""The sessions in which a run was measured, what differed between them, and how much the host's clock speed changed
meanwhile, by a piece of serial work before each window. Pure.

The executors of a block are compared with each other: what changes inside a block disturbs ratios, what changes between
blocks disturbs whatever is compared across them, such as two JDKs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.run import Calibration, Session
from jdkmatrix.report.blocks.kinds import Fact, Notice
from jdkmatrix.report.run_page.facts import duration, lasted_s, moment, ranges
from jdkmatrix.report.words.numbers import share
from jdkmatrix.report.words.sentences import capitalised
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun, measuring_sessions

# Facts that differ each time they are read, or are compared by their hash.
_NOT_COMPARED = ("load_1min", "kernel_command_line")
_HOST_NAMES = {
    "allowed": "the list of CPUs allowed",
    "clocksource": "the clock source",
    "cores": "the number of cores",
    "cpu model": "the CPU",
    "driver": "the driver of the CPU’s frequency",
    "hostname_hash": "the host",
    "irq_time_accounting": "the accounting of interrupts",
    "kernel_command_line_sha256": "the kernel's command line",
    "libc": "the C library",
    "limits": "the list of limits",
    "memory_gib": "the memory in GiB",
    "mitigations": "the list of mitigations",
    "online": "the list of CPUs online",
    "os": "the distribution",
    "packages": "the number of packages",
    "smt": "SMT",
    "swap_bytes": "the number of bytes of swap",
    "transparent_huge_pages": "the use of transparent huge pages",
}
_SHOWN_AT_MOST = 80
_WINDOWS_TITLE = "in windows that count; the rest is starts, warm-ups, what gates refused, and the runner’s own work"


def differences(sessions: Sequence[Session]) -> tuple[str, ...]:
    """List what was not the same in all sessions. What a session did not record is not compared."""
    boots = {session.boot_id for session in sessions if session.boot_id}
    found = ["the host was restarted in between"] if len(boots) > 1 else []
    told = ((key, value) for session in sessions for key, value in _compared(session) if value is not None)
    for key, values in grouped((key, _words(value)) for key, value in told).items():
        known = dict.fromkeys(values)
        if len(known) < 2:
            continue
        short = all(len(value) <= _SHOWN_AT_MOST for value in known) and not key.endswith(("_hash", "_sha256"))
        name = _HOST_NAMES.get(key) or f"the {key.replace('_', ' ')}"
        found.append(f"{name} differs" + (f" ({', then '.join(known)})" if short else ""))
    return tuple(found)


def _words(value: Any) -> str:
    """Return a fact about the host as it reads in a sentence."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {told}" for name, told in sorted(value.items()))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ranges(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def line(loaded: LoadedRun) -> str | None:
    """Describe the sessions for a summary; None where one session measured everything."""
    sessions = measuring_sessions(loaded.run, loaded.cells)
    if len(sessions) < 2:
        return None
    return "; ".join([f"measured in {plural(len(sessions), 'session')}", *differences(sessions)])


def fact(loaded: LoadedRun) -> tuple[Fact, ...]:
    """Say when each session began, how long it took, and how many of its forks stand."""
    sessions, forks = loaded.run.sessions, _forks(loaded)
    if len(sessions) < 2:
        return tuple(Fact("Sessions", "1") for _ in sessions)
    told = []
    for session in sessions:
        goes_on = session is sessions[-1] and loaded.run.status == "running"
        lasted = duration(session) if session.ended_at else "in progress" if goes_on else "killed"
        parts = (moment(session.started_at), lasted, plural(forks[session.number], "fork"))
        told.append(", ".join(filter(None, parts)))
    return (Fact("Sessions", f"{len(sessions)}: {'; '.join(told)}", "with the forks kept from each, usable or not"),)


def windows_fact(loaded: LoadedRun) -> tuple[Fact, ...]:
    """Say how much of the time gave figures; empty where the length of a session is not known, or no window counts."""
    spans = [lasted_s(session) for session in loaded.run.sessions]
    took_s = sum(filter(None, spans))
    counted_s = sum(_counted_s(fork) for cell in loaded.cells for fork in cell.forks if fork.usable)
    if None in spans or not took_s > 0 or not counted_s:
        return ()
    return (Fact("In windows", f"{counted_s / took_s:.0%} of that time".replace("%", " %"), _WINDOWS_TITLE),)


def _counted_s(fork: Fork) -> float:
    """Return the seconds of a fork's windows that count, a search's included, or of what its program measured."""
    span = fork.result.measured_span if fork.result else None
    windows_s = sum(window.load.duration_s for window in fork.every_window if window.valid)
    return windows_s + (span.duration_s if span else 0.0)


def notices(loaded: LoadedRun) -> Iterator[Notice]:
    sessions = measuring_sessions(loaded.run, loaded.cells)
    if len(sessions) < 2:
        return
    found = differences(sessions)
    told = "; ".join(found) or "nothing that was recorded differs between them"
    yield Notice(
        "warn" if found else "info",
        f"Measured in {plural(len(sessions), 'session')}",
        f"{capitalised(told)}. No block is split over two: ratios pair forks of one session, while a "
        "cell’s own figures are over all of them.",
    )


def _forks(loaded: LoadedRun) -> Counter[int]:
    """Count the forks that stand, by session."""
    return Counter(fork.session for cell in loaded.cells for fork in cell.forks)


def _compared(session: Session) -> Iterable[tuple[str, Any]]:
    dumped = session.host.model_dump()
    cpu = dumped.pop("cpu")
    del dumped["memory_bytes"]
    yield "version of the tool", session.tool_version
    yield "commit", session.git_commit and session.git_commit[:12]
    yield "CPU confinement", session.confinement
    for name, value in cpu.items():
        yield ("cpu model" if name == "model" else name), value
    yield "memory_gib", session.host.memory_gib
    yield from ((name, value) for name, value in dumped.items() if name not in _NOT_COMPARED)


@dataclass(frozen=True)
class Moved:
    """How far the clock speed moved: the fastest over the slowest, less 1, as a share. `in_block`: in the block where
    it moved most; `blocks_beyond`: those of `blocks` in which it moved by more than asked about."""

    over_run: float
    in_block: float
    blocks: int
    blocks_beyond: int


def speeds(fork: Fork) -> tuple[float, ...]:
    """Return every reading of a fork, in the order of time."""
    after = () if fork.clock_speed_after is None else (fork.clock_speed_after,)
    return (*fork.clock_speeds, *after)


def moved(cells: Iterable[CellRecord], beyond: float) -> Moved | None:
    """Compare all readings; None where nothing was read. Readings on different CPUs are not compared."""
    read = [(cell, fork, speed) for cell in cells for fork in cell.forks for speed in speeds(fork)]
    if not read:
        return None
    by_cpus = grouped((fork.confinement.sut_cpus, speed) for _, fork, speed in read)
    by_block = grouped(((cell.key.group_id, fork.fork), speed) for cell, fork, speed in read)
    blocks = list(map(_moved, by_block.values()))
    return Moved(max(map(_moved, by_cpus.values())), max(blocks), len(blocks), sum(one > beyond for one in blocks))


def _moved(readings: Sequence[float]) -> float:
    return max(readings) / min(readings) - 1


def clock_notices(cells: Iterable[CellRecord], promised: float) -> Iterable[Notice]:
    """Yield a notice where the clock speed moved by more than the run promises for its ratios."""
    if (found := moved(cells, promised)) is None or found.over_run <= promised:
        return
    inside = (
        f"inside {found.blocks_beyond} of {plural(found.blocks, 'block')} it moved by more than that, in one by "
        f"{share(found.in_block).text}, and part of that is in their ratios"
        if found.blocks_beyond
        else f"inside a block by {share(found.in_block).text} at most"
    )
    yield Notice(
        "warn" if found.blocks_beyond else "info",
        "The CPUs’ speed changed",
        f"A fixed piece of serial work, done on the server’s CPUs right before each window, was on average up to "
        f"{share(found.over_run).text} faster at one moment of this run than at another, while ratios are promised to "
        f"± {promised * 100:g} %; {inside}. Compare blocks with each other, and JDKs, with care.",
    )


def calibration_notices(calibrations: Iterable[Calibration]) -> Iterable[Notice]:
    """Yield a notice where the clock speed moved by more than wanted while the work of a task was counted."""
    for one in calibrations:
        if one.spread_wanted is not None and one.spread > one.spread_wanted:
            yield Notice(
                "info",
                "Task durations are approximate",
                f"The speed of CPU {one.cpu} varied by {share(one.spread).text} while the work of a microsecond was "
                "counted, so tasks may be that much longer or shorter than their names say. They are the same work for "
                "every executor and every JDK: ratios do not suffer.",
            )


def speed_words(fork: Fork) -> str:
    """Show the readings of a fork in a line."""
    found = speeds(fork)
    if not found:
        return "not read"
    if len(found) == 1:
        return f"{digits(found[0], 4)} divisions/µs"
    return (
        f"{digits(min(found), 4)} to {digits(max(found), 4)} divisions/µs in {len(found)} readings: "
        f"moved by {share(_moved(found)).text}"
    )
