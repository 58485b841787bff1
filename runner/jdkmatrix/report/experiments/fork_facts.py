"""What a result holds beside its leading figures: counts, distributions, memory, parks, the JVM. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import digits
from jdkmatrix.experiments.result import Distribution, ExperimentResult, VmFacts
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.report.experiments.views import DistributionTable
from jdkmatrix.report.views import Fact
from jdkmatrix.report.words.numbers import Figure, count, milliseconds

_MIB = 1024**2
_PERCENTILES = ("50", "90", "99", "99.9")
_NOT_SAID = "the program does not say"


def counts(result: ExperimentResult) -> tuple[Fact, ...]:
    return tuple(Fact(*told) for told in result.seen.counts()) if result.seen else ()


def sections(result: ExperimentResult) -> tuple[tuple[str, tuple[Fact, ...]], ...]:
    """What only this experiment has, each below its title."""
    found = result.seen.sections() if result.seen else ()
    return tuple((title, tuple(Fact(*told) for told in facts)) for title, facts in found)


def distributions(result: ExperimentResult) -> DistributionTable | None:
    found = [
        (name, one)
        for name, one in (result.seen.distributions() if result.seen else ())
        if one is not None and one.count > 0
    ]
    if not found:
        return None
    heads = ("count", "least", *(f"p{name}" for name in _PERCENTILES), "most")
    return DistributionTable(heads, tuple((name, _row(one)) for name, one in found))


def _row(one: Distribution) -> tuple[Figure, ...]:
    percentiles = [milliseconds(one.percentiles_us.get(name), why=_NOT_SAID) for name in _PERCENTILES]
    return (
        count(one.count),
        milliseconds(one.min_us, why=_NOT_SAID),
        *percentiles,
        milliseconds(one.max_us, why=_NOT_SAID),
    )


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
