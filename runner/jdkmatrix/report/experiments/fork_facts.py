"""How a fork of an experiment ran: its CPUs, host, JVM, and the remote system that it called. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.quantities import digits
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import VmFacts
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.run import RunRecord
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.report.blocks.kinds import Fact
from jdkmatrix.report.cell_page.every_cell import confined, limited
from jdkmatrix.report.run_page import facts
from jdkmatrix.report.run_page.attempts import order_words
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
        Fact("Order", order_words(fork, run)),
        facts.started(fork),
        Fact("CPUs", cpus),
        confined(fork),
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
