"""A fork of an experiment: what its program counted and expected, and how it ran. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.quantities import amount, digits
from jdkmatrix.experiments.base import Details, Measurand, Seen
from jdkmatrix.experiments.kinds import details_of, measurands
from jdkmatrix.experiments.pinning import pinned_words
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import VmFacts, WindowReading
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.report.blocks.kinds import Disclosure, Fact, FactList, PageBlock, Pre, Prose
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.experiments.pinning import pinned_stacks
from jdkmatrix.report.experiments.words import endings, expectation_of, titled
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.sessions import speed_words
from jdkmatrix.report.words.numbers import Figure, count, milliseconds, missing, share

_MIB = 1024**2
_PERCENTILES = ("50", "90", "99", "99.9")


def ending_blocks(forks: tuple[Fork, ...]) -> Iterator[Prose]:
    return (Prose(one.words, css="outcome") for one in endings(forks))


def program_blocks(fork: Fork, run: RunRecord) -> Iterator[PageBlock]:
    program, result = fork.program, fork.result
    told, known = details_of(result) if result else Details(), measurands(result)
    yield from ending_blocks((fork,))
    if figures := [_figure(one, known[one.metric]) for one in fork.readings if one.metric in known]:
        heads = columns("Figure", "Measured#", "Expected#", "Measured|/ expected#")
        yield from (Prose(heading="Figures"), DataTable(f"Figures of fork {fork.fork}", heads, figures, "wrap"))
    if expected := expectation_of(fork):
        yield FactList((Fact(*expected),), "expected")
    if told.facts:
        yield FactList(told.facts)
    if told.distributions:
        heads = columns("In ms", "count#", "least#", *(f"p{name}#" for name in _PERCENTILES), "most#")
        rows: list[tuple[Cell, ...]] = [(name, *_distribution(one)) for name, one in told.distributions]
        yield from (
            Prose(heading="Distributions"),
            DataTable(f"Distributions of fork {fork.fork}", heads, rows, "wrap"),
        )
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
        yield Disclosure("The request as the program reports it", (Pre(facts.pretty_json(result.asked)),))


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


def _how_it_ran(fork: Fork, run: RunRecord) -> tuple[Fact, ...]:
    confinement = fork.confinement
    cpus = f"program {facts.ranges(confinement.sut_cpus)}"
    if confinement.remote_cpus:
        together = "they share CPUs" if set(confinement.remote_cpus) & set(confinement.sut_cpus) else "no CPU in common"
        cpus += f", remote system {facts.ranges(confinement.remote_cpus)}: {together}"
    return (
        *facts.place_facts(fork, run, cpus),
        Fact("CPU speed", speed_words(fork), "of serial work on one of its CPUs, before and after"),
        *(Fact("Compromise", compromise) for compromise in confinement.compromises),
        *facts.limited(fork),
        *(Fact("Limit that was hit", outcome.message) for outcome in fork.outcomes),
    )


def _pressure(program: ProgramWindow, host: Pressure) -> Iterator[Fact]:
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


def _vm_facts(vm: VmFacts) -> tuple[Fact, ...]:
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
