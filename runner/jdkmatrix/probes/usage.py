"""The SUT's use of the host over one window: the difference of two readings. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from jdkmatrix.domain.quantities import rise
from jdkmatrix.host.limit_groups import QuotaCounters
from jdkmatrix.probes.process import ATTACH_THREADS, JIT_THREADS, Reading, cpu_ns_of, cpu_share_of, difference
from jdkmatrix.records.readings import QUOTA_PERIODS, THROTTLED_PERIODS, THROTTLED_US, WindowReading
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
) -> SutUsage:
    """`answers`: all that the server gave between the two readings, which also span connecting and draining where the
    load was not on before.
    `cpus`: how many the server may use, by its CPUs and its quota of CPU time.
    `carriers`: what the kernel calls the carriers of virtual threads, where their share is looked for.
    `samples` are those taken inside the window: they only raise the peaks.

    CPU per request is 0 where nothing was answered; such a window is invalid by its gates. It leaves out what answering
    jcmd took, which is known to the nanosecond: nobody asks a server in service every few seconds, the same workload
    that is not watched must cost the same here, and a server with more threads pays more for each answer, so that
    what is left in would stand in a ratio as if requests had cost it. What a reading costs beside that (caches,
    locks) is not known, and in it. `cpu_s` and the share of the CPUs have all of it.
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
        carriers_cpu_share=None if carriers is None else cpu_share_of(carriers, before, after),
        astray_threads=astray_threads,
    )


def rises(before: Gauges | None, after: Gauges | None) -> tuple[WindowReading, ...]:
    """The rise of every total that both have, and what is known since the reset before them."""
    if before is None or after is None:
        return ()
    since_reset = (WindowReading(metric=name, value=value) for name, value in after.since_reset.items())
    risen = (
        WindowReading(metric=name, value=after.totals[name] - total)
        for name, total in before.totals.items()
        if name in after.totals
    )
    return (*since_reset, *risen)


def throttling(before: QuotaCounters | None, after: QuotaCounters | None) -> tuple[WindowReading, ...]:
    """By a quota of CPU time, between two readings of its counters; empty where there is none."""
    if before is None or after is None:
        return ()
    return (
        WindowReading(metric=QUOTA_PERIODS, value=after.periods - before.periods),
        WindowReading(metric=THROTTLED_PERIODS, value=after.throttled_periods - before.throttled_periods),
        WindowReading(metric=THROTTLED_US, value=after.throttled_us - before.throttled_us),
    )


def _rise(before: Gauges | None, after: Gauges | None, counter: str) -> int | None:
    return rise(getattr(before, counter, None), getattr(after, counter, None))
