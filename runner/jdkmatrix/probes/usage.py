"""The SUT's use of the host over one window: the difference between two readings. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jdkmatrix.domain.quantities import rise
from jdkmatrix.host.limit_groups import QuotaCounters
from jdkmatrix.probes.process import ATTACH_THREADS, JIT_THREADS, Reading, cpu_ns_of, cpu_share_of, difference
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import HOOK_CALLS, QUOTA_PERIODS, THROTTLED_PERIODS, THROTTLED_US, WindowReading
from jdkmatrix.records.windows import Gauges, Sample, SutUsage


def usage(
    before: Reading,
    after: Reading,
    *,
    gauges_before: Gauges | None,
    gauges_after: Gauges | None,
    samples: Iterable[Sample],
    answers: int,
    cpus: float,
    astray_threads: int,
    carriers: Collection[str] | None = None,
    gauged_s: float | None = None,
) -> SutUsage:
    """Compute the usage between two readings. `answers`: all that the server gave between them; they also span
    connecting and draining where the load was not on before.
    `cpus`: how many the server may use, by its CPUs and its CPU quota.
    `carriers`: the kernel's names for the carriers of virtual threads, if their share is wanted.
    `gauged_s`: the time between the two readings of gauges.
    `samples`: those taken inside the window, which only raise the peaks.

    CPU time per request is 0 if nothing was answered. It leaves out the time for answering jcmd, which is known to the
    nanosecond: nobody queries a server in production every few seconds, the same workload must cost the same here when
    it is not watched, and a server with more threads pays more for each answer, so that a ratio would show what is left
    in as if requests had cost it. Other costs of a reading (caches, locks) are not known, and included. `cpu_s` and the
    share of the CPUs include all of it.
    """
    begun, ended = before.at, after.at
    cpu_s = (ended.cpu_ns - begun.cpu_ns) / 1e9
    elapsed_s = max(1, ended.monotonic_ns - begun.monotonic_ns) / 1e9
    probe_cpu_s = cpu_ns_of(ATTACH_THREADS, before, after) / 1e9
    inside = tuple(samples)
    scheduling = difference(before, after)
    return SutUsage(
        cpu_s=cpu_s,
        probe_cpu_s=probe_cpu_s,
        cpu_us_per_request=(cpu_s - probe_cpu_s) * 1e6 / answers if answers else 0.0,
        cpu_share=cpu_s / (elapsed_s * cpus),
        jit_share=cpu_ns_of(JIT_THREADS, before, after) / 1e9 / elapsed_s,
        rss_bytes=ended.rss_bytes,
        rss_peak_bytes=max([ended.rss_bytes, *(sample.rss_bytes for sample in inside)]),
        virt_bytes=ended.virt_bytes,
        threads=ended.thread_count,
        threads_peak=max([ended.thread_count, *(sample.threads for sample in inside)]),
        voluntary_switches=scheduling.voluntary_switches if scheduling else None,
        involuntary_switches=scheduling.involuntary_switches if scheduling else None,
        run_queue_wait_s=scheduling.run_queue_wait_s if scheduling else None,
        gc_count=_rise(gauges_before, gauges_after, "gc_count"),
        gc_ms=_rise(gauges_before, gauges_after, "gc_ms"),
        jit_ms=_rise(gauges_before, gauges_after, "jit_ms"),
        heap_used_bytes=gauges_after.heap_used_bytes if gauges_after else None,
        heap_committed_bytes=gauges_after.heap_committed_bytes if gauges_after else None,
        heap_growth_bytes=_rise(gauges_before, gauges_after, "heap_committed_bytes"),
        direct_buffer_bytes=gauges_after.direct_buffer_bytes if gauges_after else None,
        in_flight_peak=gauges_after.in_flight_peak if gauges_after else None,
        gauged_s=gauged_s if gauges_before and gauges_after else None,
        carriers_cpu_share=None if carriers is None else cpu_share_of(carriers, before, after),
        astray_threads=astray_threads,
    )


def beside_interrupts(sut: SutUsage, host: Pressure, cpus: float) -> SutUsage:
    """Return the usage with the share of what interrupts left of its CPUs, where they are in no process's time: a
    server that uses all that is left uses its CPUs in full, however many interrupts its answers cost. `cpus`: as in
    `usage`; a quota of less than its CPUs loses nothing to interrupts."""
    use = next((one for one in host.cpu_use if "sut" in one.roles), None)
    if not host.irq_time_accounting or use is None or cpus < len(use.cpus) or use.interrupt_share >= 1:
        return sut
    return sut.model_copy(update={"cpu_share": sut.cpu_share / (1 - use.interrupt_share)})


def rises(before: Gauges | None, after: Gauges | None, *, more_than_window: bool = False) -> tuple[WindowReading, ...]:
    """Return what is known since the last reset, and the rise of every total that both readings have.
    `more_than_window`: requests ahead of the window lie between the readings, too; then return only the calls of hooks,
    of which there must be none at any time."""
    if before is None or after is None:
        return ()
    since_reset = (WindowReading(metric=name, value=value) for name, value in after.since_reset.items())
    risen = (
        WindowReading(metric=name, value=after.totals[name] - total)
        for name, total in before.totals.items()
        if name in after.totals
    )
    return tuple(one for one in (*since_reset, *risen) if one.metric == HOOK_CALLS or not more_than_window)


def throttling(before: QuotaCounters | None, after: QuotaCounters | None) -> tuple[WindowReading, ...]:
    """Return the throttling by a CPU quota between two readings of its counters; empty if there is none."""
    if before is None or after is None:
        return ()
    return (
        WindowReading(metric=QUOTA_PERIODS, value=after.periods - before.periods),
        WindowReading(metric=THROTTLED_PERIODS, value=after.throttled_periods - before.throttled_periods),
        WindowReading(metric=THROTTLED_US, value=after.throttled_us - before.throttled_us),
    )


def _rise(before: Gauges | None, after: Gauges | None, counter: str) -> int | None:
    return rise(getattr(before, counter, None), getattr(after, counter, None))
