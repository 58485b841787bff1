"""Beside a program's figures: distributions, the JVM, the remote system that it called. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import digits
from jdkmatrix.experiments.base import Details, Seen
from jdkmatrix.records.readings import VmFacts
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.report.blocks.kinds import Fact
from jdkmatrix.report.experiments.views import DistributionTable
from jdkmatrix.report.words.numbers import Figure, count, milliseconds

_MIB = 1024**2
_PERCENTILES = ("50", "90", "99", "99.9")
_NOT_SAID = "the program does not say"


def distributions(details: Details) -> DistributionTable | None:
    if not details.distributions:
        return None
    heads = ("count", "least", *(f"p{name}" for name in _PERCENTILES), "most")
    return DistributionTable(heads, tuple((name, _row(one)) for name, one in details.distributions))


def _row(one: Seen) -> tuple[Figure, ...]:
    found = (one["min_us"], *(one["percentiles_us"].get(name) for name in _PERCENTILES), one["max_us"])
    return count(one["count"]), *(milliseconds(value, why=_NOT_SAID) for value in found)


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
