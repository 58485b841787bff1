"""Forks of experiments: how each ran, what its program expected, and the stacks that pinned its threads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jdkmatrix.domain.quantities import digits
from jdkmatrix.experiments.base import at
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import VmFacts
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.report.blocks.inline import code, joined, small
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, PageBlock, Pre, Prose
from jdkmatrix.report.cell_page.every_cell import limited, place_facts
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.clock import speed_words
from jdkmatrix.report.words.numbers import milliseconds, share

_MIB = 1024**2


def how_it_ran(fork: Fork, run: RunRecord) -> tuple[Fact, ...]:
    confinement = fork.confinement
    cpus = f"program {facts.ranges(confinement.sut_cpus)}"
    if confinement.remote_cpus:
        together = "they share CPUs" if set(confinement.remote_cpus) & set(confinement.sut_cpus) else "no CPU in common"
        cpus += f", remote system {facts.ranges(confinement.remote_cpus)}: {together}"
    return (
        *place_facts(fork, run, cpus),
        Fact("CPU speed", speed_words(fork), "of serial work on one of its CPUs, before and after"),
        *(Fact("Compromise", compromise) for compromise in confinement.compromises),
        *limited(fork),
        *(Fact("Limit that was hit", outcome.message) for outcome in fork.outcomes),
    )


def pressure(program: ProgramWindow, host: Pressure) -> Iterator[Fact]:
    span = program.result.measured_span if program.result else None
    if span is None or program.host_span_s is None:
        why = "including start and warm-up: it reported no measured span"
        yield Fact("Watched", "all of the program’s life", why)
    else:
        yield Fact(
            "Watched",
            f"{digits(program.host_span_s, 3)} s around the {digits(span.duration_s, 3)} s that it measured",
            "from the last reading before them to the first after them, and for half a second at least",
        )
    yield Fact("Steal", share(host.steal_share).text, "time that the hypervisor gave to others")
    yield Fact("Others’ CPU", share(host.foreign_cpu_share).text, "of all CPUs: busy, and no part of the experiment")
    yield Fact("CPU pressure", share(host.psi_cpu_some_share).text, "of the time a task waited for a CPU")
    if host.throttled_share is not None:
        yield Fact("Throttled", share(host.throttled_share).text, "by the CPU quota of a cgroup")
    if host.swapped_bytes_per_s is not None:
        yield Fact("Swapped", f"{digits(host.swapped_bytes_per_s, 3)} bytes/s")
    for name, seconds in (("Clock stepped", host.clock_step_s), ("Suspended", host.suspended_s)):
        if seconds:
            yield Fact(name, f"{digits(seconds, 3)} s")


def vm_facts(vm: VmFacts) -> tuple[Fact, ...]:
    return (
        Fact("JVM", f"{vm.name}, {vm.vm_version}, {vm.vendor}"),
        Fact("Java", vm.java_version),
        Fact("Options", " ".join(vm.options) or "none"),
        Fact("CPUs that it sees", f"{vm.processors}"),
        Fact("Heap", f"at most {digits(vm.max_heap_bytes / _MIB, 3)} MiB; {', '.join(vm.collectors)}"),
        Fact("Kernel", f"{vm.kernel}, {vm.arch}"),
    )


def remote_facts(remote: RemoteStats) -> tuple[Fact, ...]:
    faults = remote.faults.status_500 + remote.faults.close + remote.faults.never
    late = remote.lateness.percentiles_us.get("99") if remote.lateness else None
    return (
        Fact(
            "Requests",
            f"{remote.answered:,} answered, {remote.in_flight_peak:,} at once, {remote.abandoned:,} abandoned by the "
            f"caller, {remote.refused:,} refused, {faults:,} faults that were ordered",
        ),
        Fact("Answered late by", f"{milliseconds(late, why='').text} ms (p99)" if late is not None else "not recorded"),
        Fact("CPU", f"{digits(remote.cpu_s, 3)} s"),
    )


_NO_FORMULA = "none"


def expectation_of(fork: Fork) -> Fact | None:
    told = _expected(fork)
    return Fact(*told) if told else None


def _expected(fork: Fork) -> tuple[str, str] | None:
    """A figure's formula and its source."""
    found = fork.result.expected if fork.result else None
    if found is None:
        return None
    named = next((one.metric for one in fork.readings if one.expected is not None), None)
    figure = named or (found.quantity or "").rpartition(".")[2].replace("_", " ")
    name = "No figure is expected" if found.formula == _NO_FORMULA else joined(f"{figure} = ", code(found.formula))
    return name, joined(found.source)


def expectations(piece: ExperimentSlice) -> Iterator[Fact]:
    """Each formula with its source once, and which cells it is for."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for cell in piece.cells:
        for fork in cell.record.forks:
            if fork.readings and (expected := _expected(fork)):
                about = (piece.subject(cell.key), cell.key.executor, cell.key.jdk)
                found.setdefault(expected, []).append(about)
    for (formula, source), cells in found.items():
        names = (", ".join(dict.fromkeys(column)) for column in zip(*cells, strict=True))
        yield Fact(formula, joined(source, small("; ".join(names))))


MOST_STACKS = 3
# A hidden class has a name of its own each time it is defined: "Name/0x00007f…" or, in JFR, "Name.1324371348".
_HIDDEN = re.compile(r"[/.](?:0x[0-9a-f]+|\d+)(?=\.)")
# JFR writes -1 for a line that the frame does not tell.
_NO_LINE = re.compile(r":-1$")


def plain_frame(frame: str) -> str:
    """Without the number of a hidden class and without a line that is not known."""
    return _NO_LINE.sub("", _HIDDEN.sub("", frame))


def pinned_stacks(forks: Iterable[Fork]) -> tuple[int, tuple[PageBlock, ...]]:
    """How many events the forks saw, and their stacks, the most frequent first. Stacks that differ in the names of
    hidden classes only are one."""
    events = 0
    found: dict[tuple[str | None, str], int] = {}
    for fork in forks:
        pinned = at(fork.result.seen, "pinned") if fork.result else None
        events += at(pinned, "count") or 0
        for stack in at(pinned, "stacks") or ():
            same = (stack["reason"], "\n".join(map(plain_frame, stack["frames"])))
            found[same] = found.get(same, 0) + stack["count"]
    return events, tuple(_blocks(events, sorted(found.items(), key=lambda item: -item[1])[:MOST_STACKS]))


def _blocks(events: int, stacks: list[tuple[tuple[str | None, str], int]]) -> Iterator[PageBlock]:
    for (reason, frames), count in stacks if events else ():
        yield Prose(f"{count:,} of {events:,} events{f': {reason}' if reason else ''}")
        yield Pre(frames)
    if (left_out := events - sum(count for _, count in stacks)) > 0:
        yield Prose(f"{left_out:,} events have other stacks.")


def stacks_of_kind(piece: ExperimentSlice) -> Iterator[Disclosure]:
    """Below one heading for every cell whose usable forks saw events."""
    found = [(cell.key, *pinned_stacks(cell.usable)) for cell in piece.cells]
    seen = [one for one in found if one[1]]
    blocks: list[PageBlock] = []
    for key, _, stacks in seen:
        more = [key.executor] if piece.varies("executor") else []
        more += [f"{key.cpus} CPUs"] if piece.varies("cpus") else []
        blocks += [Prose(heading=", ".join([f"{piece.subject(key)} on {key.jdk}", *more]), level=4), *stacks]
    if seen:
        cells = f"{len(seen)} {'cell' if len(seen) == 1 else 'cells'}"
        events = sum(number for _, number, _ in seen)
        yield Disclosure(f"Stacks that pin: {events} jdk.VirtualThreadPinned events in {cells}", blocks)
