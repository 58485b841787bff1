"""What a result holds beside its leading figures: counts, distributions, memory, parks, the JVM. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.records.experiments import (
    BurnResult,
    BurnSeen,
    Distribution,
    ExperimentResult,
    FanoutResult,
    FanoutSeen,
    MemoryUse,
    ParkReport,
    PinningResult,
    SpawnResult,
    SpawnSeen,
    VmFacts,
)
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.report.experiments.views import DistributionTable
from jdkmatrix.report.experiments.words import measure
from jdkmatrix.report.numbers import Figure, count, digits, milliseconds, plural, share
from jdkmatrix.report.views import Fact

_MIB = 1024**2
_PERCENTILES = ("50", "90", "99", "99.9")
_NOT_SAID = "the program does not say"


def counts(result: ExperimentResult) -> tuple[Fact, ...]:
    match result:
        case BurnResult() if result.seen:
            return tuple(_burn(result.seen))
        case SpawnResult() if result.seen:
            return tuple(_spawn(result.seen))
        case PinningResult() if result.seen:
            seen = result.seen
            found = [
                Fact("Threads", f"{seen.threads_started:,} started, {seen.threads_served:,} had a turn"),
                Fact("Operations", f"{seen.operations:,} in {digits(seen.duration_s, 3)} s"),
            ]
            if seen.carriers:
                one = seen.carriers
                found.append(
                    Fact(
                        "Carriers",
                        f"{one.parallelism} usual, {one.max_pool_size} allowed, {one.most} at once, of them "
                        f"{one.compensating} in place of blocked ones",
                        f"from {one.source}",
                    )
                )
            return tuple(found)
        case FanoutResult() if result.seen:
            return tuple(_fanout(result.seen))
    return ()


def _burn(seen: BurnSeen) -> Iterator[Fact]:
    late = f", {seen.completed_late:,} after the end" if seen.completed_late else ""
    yield Fact(
        "Tasks",
        f"{seen.due:,} due, {seen.submitted:,} submitted, {seen.completed:,} done{late}, {seen.unfinished:,} never",
    )
    if seen.warmup_unfinished:
        yield Fact("Left over from the warm-up", plural(seen.warmup_unfinished, "task"))
    yield Fact("Queued", f"{seen.tasks_queued_max:,} at most, {digits(seen.tasks_queued_mean, 3)} on average")
    yield Fact("Work of a task", f"{seen.rounds_per_task:,} rounds, {digits(seen.burn_us, 3)} µs on a CPU of its own")
    yield Fact("CPU", f"{digits(seen.cpu_s, 3)} s in {digits(seen.duration_s, 3)} s on {plural(seen.cpus, 'CPU')}")
    yield Fact("Workers", f"{seen.workers:,}" if seen.workers is not None else "as many as it takes")
    if seen.lower_bounds:
        yield Fact("Lower bounds", f"{seen.lower_bounds:,} latencies of tasks that were never done")


def _spawn(seen: SpawnSeen) -> Iterator[Fact]:
    live = "" if seen.live is None else f", {seen.live:,} live at once"
    yield Fact("Threads", f"{seen.started:,} started{live}")
    if seen.thread_stack_bytes is not None:
        yield Fact("Stack of a platform thread", f"{seen.thread_stack_bytes / 1024:,.0f} KiB")
    yield Fact("Memory before", _memory(seen.before))
    if seen.while_live:
        yield Fact("Memory while all live", _memory(seen.while_live))
    yield Fact("Memory at its peak", f"VIRT {_kib(seen.peak.virt_bytes)}, RSS {_kib(seen.peak.rss_bytes)}")


def _memory(use: MemoryUse) -> str:
    pss = "" if use.pss_bytes is None else f", PSS {_kib(use.pss_bytes)}"
    heap = f"{digits(use.heap_used_bytes / _MIB, 3)} of {digits(use.heap_committed_bytes / _MIB, 3)} MiB"
    threads = plural(use.native_threads, "thread")
    return f"VIRT {_kib(use.virt_bytes)}, RSS {_kib(use.rss_bytes)}{pss}; heap {heap}; {threads} of the kernel"


def _kib(size_bytes: float) -> str:
    """As top shows it, and with a unit that a reader knows."""
    return f"{size_bytes / 1024:,.0f} KiB ({digits(size_bytes / _MIB, 3)} MiB)"


def _fanout(seen: FanoutSeen) -> Iterator[Fact]:
    errors = ", ".join(f"{name} {number:,}" for name, number in sorted(seen.errors.items()))
    yield Fact("Requests", f"{seen.ok:,} answered, {seen.failed:,} failed{f' ({errors})' if errors else ''}")
    yield Fact("Beyond the ideal", measure(seen.overhead_s, "s"))
    least = "at least " if seen.open_files_peak_is_lower_bound else ""
    limits = [
        f"{one:,}" if one is not None else "none" for one in (seen.open_files_soft_limit, seen.open_files_hard_limit)
    ]
    yield Fact(
        "Open files",
        f"{seen.open_files_before:,} before, {least}{seen.open_files_peak:,} at once; limits: soft {limits[0]}, hard "
        f"{limits[1]}",
    )
    yield Fact("Threads of the kernel", f"{seen.native_threads_peak:,} at once")


def distributions(result: ExperimentResult) -> DistributionTable | None:
    found = [(name, one) for name, one in _distributions(result) if one is not None and one.count > 0]
    if not found:
        return None
    heads = ("count", "least", *(f"p{name}" for name in _PERCENTILES), "most")
    return DistributionTable(heads, tuple((name, _row(one)) for name, one in found))


def _distributions(result: ExperimentResult) -> Iterator[tuple[str, Distribution | None]]:
    match result:
        case BurnResult() if result.seen:
            seen = result.seen
            yield "From when it was due to its start", seen.latency_to_start
            yield "From when it was due to its end", seen.latency_to_end
            yield "Submitted late by", seen.submitter_lateness
            yield "Parks of workers", seen.parks.park
            yield (
                "Parked while tasks were queued",
                (seen.parks.parked_while_queued.stretch if seen.parks.parked_while_queued else None),
            )
        case PinningResult() if result.seen:
            yield "From wanting to block to going on", result.seen.latency
            yield "Pinned for", result.seen.pinned.pinned
        case FanoutResult() if result.seen:
            yield "Request", result.seen.latency
            yield "Answered after the first request", result.seen.since_start


def _row(one: Distribution) -> tuple[Figure, ...]:
    percentiles = [milliseconds(one.percentiles_us.get(name), why=_NOT_SAID) for name in _PERCENTILES]
    return (
        count(one.count),
        milliseconds(one.min_us, why=_NOT_SAID),
        *percentiles,
        milliseconds(one.max_us, why=_NOT_SAID),
    )


def parks(result: ExperimentResult) -> tuple[Fact, ...]:
    if not isinstance(result, BurnResult) or result.seen is None:
        return ()
    report = result.seen.parks
    if report.probe != "on":
        return (Fact("JDK Flight Recorder", "not asked to look" if report.probe == "off" else f"{report.reason}"),)
    return tuple(_parks(report))


def _parks(report: ParkReport) -> Iterator[Fact]:
    if report.workers_parked is not None and report.parked_s is not None:
        workers = plural(report.workers_parked, "worker")
        yield Fact("Parked", f"{workers}, together for {digits(report.parked_s, 3)} s")
    found = report.parked_while_queued
    if found is not None:
        idle = "" if found.idle_share is None else f", {share(found.idle_share).text} of all workers’ time"
        yield Fact(
            "Parked while tasks were queued",
            f"{found.count:,} stretches, {digits(found.total_s, 3)} s over all workers; no more workers counted than "
            f"tasks were queued: {digits(found.idle_worker_s, 3)} s{idle}",
        )
        for one in found.at_least:
            yield Fact(
                f"Of {digits(one.at_least_us / 1000, 3)} ms and more", f"{one.count:,}, {digits(one.total_s, 3)} s"
            )
        longest = found.longest
        if longest:
            yield Fact(
                "The longest",
                f"{digits(longest.duration_us / 1000, 3)} ms, from {digits(longest.since_start_s, 3)} s on, with "
                f"{plural(longest.tasks_queued, 'task')} queued; thread {longest.thread_id}",
            )
    if report.parks_by_blocker:
        blockers = sorted(report.parks_by_blocker.items(), key=lambda item: -item[1])
        yield Fact("What they were parked on", "; ".join(f"{name} {number:,}" for name, number in blockers))
    if report.clock:
        yield Fact("Times set against each other to", f"{digits(report.clock.residual_us, 2)} µs")
    if report.lost_bytes:
        yield Fact("Lost", f"{report.lost_bytes:,} bytes of events: parks are missing")


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
