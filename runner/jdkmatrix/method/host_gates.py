"""Gates of the host: what took CPU time away, and what befell it; and of this tool, which reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, Seen, Share, WindowContext
from jdkmatrix.method.load_gates import DriverCpuLimits
from jdkmatrix.records.pressure import CpuRole, CpuUse
from jdkmatrix.records.reasons import Reason

_ROLE_WORDS: dict[CpuRole, str] = {
    "sut": "the server",
    "driver": "the driver",
    "remote": "the remote system",
    "runner": "this tool",
}


def _cpu_sets(seen: Seen) -> Iterator[tuple[CpuUse, str]]:
    """Each set of CPUs that something is measured on, and whose it is. What is taken from the server is a bias of its
    figures of the same size, so its limits follow from the precision that is promised; what loads it needs only to be
    there in time."""
    for use in seen.host.cpu_use if seen.host else ():
        if set(use.roles) != {"runner"}:
            yield use, " and ".join(_ROLE_WORDS[role] for role in use.roles)


class ForeignLimits(Table):
    """Shares of the CPUs. `…_per_precision_max`: of the server's, in units of what the profile promises for a ratio."""

    foreign_per_precision_max: Annotated[float, Field(ge=0)] = 1.0  # on the server's CPUs …
    foreign_sut_share_max: Share = 0.02  # … and never more than this
    # What is in nobody's clock looks foreign. So it may be so much more for each of these, and by what ticks round:
    idle_overhead_share_max: Share = 0.04  # waking a CPU up: of the time that it idles or works, whichever is less
    # The end of a thread: on the server's CPUs, for each that ended on the host, whoever's it was.
    thread_end_us: Annotated[float, Field(ge=0)] = 5.0
    foreign_cpu_share_max: Share = 0.10  # on those of driver and remote system


def _foreign(seen: Seen, limits: ForeignLimits, context: WindowContext) -> Iterator[Reason]:
    for use, whose in _cpu_sets(seen):
        of_server = "sut" in use.roles
        foreign_max = limits.foreign_cpu_share_max
        if of_server:
            foreign_max = min(limits.foreign_sut_share_max, limits.foreign_per_precision_max * context.precision)
        foreign_max += _nobodys_share(use, seen, limits)
        if use.foreign_share > foreign_max:
            yield Reason(
                code="foreign-cpu" if of_server else "foreign-cpu-driver",
                message=f"other processes used {use.foreign_share:.1%} of the CPUs of {whose}",
                figures={"foreign_share": use.foreign_share, "own_share": use.own_share, "max": foreign_max},
            )


def _nobodys_share(use: CpuUse, seen: Seen, limits: ForeignLimits) -> float:
    """What may look foreign and is in nobody's clock (probes/cpu_balance.py): waking a CPU up, rounding, and on the
    server's CPUs the ends of threads."""
    idle_share = max(0.0, 1 - use.busy_share - use.steal_share)
    waking_share = limits.idle_overhead_share_max * max(0.0, min(idle_share, use.busy_share))
    ends_share, host = 0.0, seen.host
    if "sut" in use.roles and host and host.threads_ended is not None and host.elapsed_s:
        ends_share = host.threads_ended * limits.thread_end_us / 1e6 / (host.elapsed_s * len(use.cpus))
    return waking_share + ends_share + use.rounding_share


FOREIGN = Gate(
    codes=("foreign-cpu", "foreign-cpu-driver"),
    name="Other processes on our CPUs",
    limits=ForeignLimits,
    check=_foreign,
    catches="CPU time that was neither idle, nor stolen, nor used by our own processes, on the server’s CPUs and on "
    "those of the driver and the remote system. Soft interrupts, which carry loopback traffic, are counted where this "
    "kernel puts them; every run finds out at its start where that is.",
    cannot="A load below the limit; a load on other CPUs that shares caches, memory or a physical core. The limits "
    "allow for what is in no process’s clock, and a load of that size goes unnoticed: waking a CPU (a share of the "
    "time that it idles or works, whichever is less), the rounding of idle time to clock ticks and, on the server’s "
    "CPUs, the last microseconds of every thread that ended. At 10,000 ended threads a second, 5 µs each are 5 % of "
    "one CPU. Threads of other processes count, too; to start and end one costs more than is allowed for it. Other "
    "work that the kernel does for an arm and charges to no process looks like another process: arms with many threads "
    "may be refused for what they are. A run’s page warns where gates refused one arm more often than the other, and "
    "gives such a pair no verdict.",
)


class StealLimits(Table):
    steal_per_precision_max: Annotated[float, Field(ge=0)] = 0.5  # on the server's CPUs: 1 % where ± 2 % are promised
    steal_share_max: Share = 0.05  # on those of driver and remote system


def _steal(seen: Seen, limits: StealLimits, context: WindowContext) -> Iterator[Reason]:
    for use, whose in _cpu_sets(seen):
        of_server = "sut" in use.roles
        steal_max = limits.steal_per_precision_max * context.precision if of_server else limits.steal_share_max
        if use.steal_share > steal_max:
            yield Reason(
                code="steal" if of_server else "steal-driver",
                message=f"the hypervisor took {use.steal_share:.1%} of the CPU time of {whose} away",
                figures={"steal_share": use.steal_share, "max": steal_max},
            )


STEAL = Gate(
    codes=("steal", "steal-driver"),
    name="CPU time stolen by the hypervisor",
    limits=StealLimits,
    check=_steal,
    catches="What the kernel reports as stolen. On the server’s CPUs the limit scales with the promised precision.",
    cannot="Stalls that a hypervisor does not report: the server’s own clock then counts them as work. `matrix doctor` "
    "looks for those.",
)


def _cpus_full(seen: Seen, limits: DriverCpuLimits, context: WindowContext) -> Iterator[Reason]:
    for use, whose in _cpu_sets(seen):
        if "sut" not in use.roles and use.busy_share > limits.driver_cpu_share_max:
            yield Reason(
                code="cpus-full",
                message=f"the CPUs of {whose} were busy for {use.busy_share:.0%} of the time: requests waited for them",
                figures={"busy_share": use.busy_share, "max": limits.driver_cpu_share_max},
            )


CPUS_FULL = Gate(
    codes=("cpus-full",),
    name="CPUs saturated by driver and remote system together",
    limits=DriverCpuLimits,
    check=_cpus_full,
    catches="On hosts with few CPUs they share one. Each may be below its limit while the CPU is saturated.",
    cannot="Bursts shorter than a window.",
)


class RunnerLimits(Table):
    runner_cpu_share_max: Share = 0.05  # of one CPU, which is none of the server's


def _runner_busy(seen: Seen, limits: RunnerLimits, context: WindowContext) -> Iterator[Reason]:
    beside_others = seen.host and any("runner" in use.roles and len(use.roles) > 1 for use in seen.host.cpu_use)
    share = seen.host.runner_cpu_share if seen.host and beside_others else None
    if share is not None and share > limits.runner_cpu_share_max:
        yield Reason(
            code="runner-busy",
            message=f"this tool itself used {share:.0%} of a CPU while it watched",
            figures={"runner_cpu_share": share, "max": limits.runner_cpu_share_max},
        )


RUNNER_BUSY = Gate(
    codes=("runner-busy",),
    name="This tool itself",
    limits=RunnerLimits,
    check=_runner_busy,
    catches="It stays off the server’s CPUs and reads the server’s threads only at the ends of windows. The CPU time "
    "that it uses in between is measured.",
    cannot="On a host whose server shares CPUs with the driver, this tool has no other CPU to run on.",
)


class ReadingsLimits(Table):
    # How much longer than the load, and its last answers, the readings around it may span: all shares are of that time.
    # Up to 0.15 s in 1,283 windows; half a second makes 5 % of the shortest window, 1 s, look like 3.3 %.
    readings_late_max_s: Annotated[float, Field(gt=0)] = 0.5


_MISSING_PER_PRECISION_MAX = 0.2  # of a window: CPU per request is too low by as much


def _readings(seen: Seen, limits: ReadingsLimits, context: WindowContext) -> Iterator[Reason]:
    """Whether the readings span what they are to be of. Every share of a CPU is of the time between them: where this
    tool was stopped, that time is longer, and a disturbance of the load looks smaller by as much. Where a load runs
    before its part that counts, the readings at its edge may come too late, and what the server used until then is in
    none of its figures."""
    elapsed_s, expected_s = seen.host.elapsed_s if seen.host else None, seen.readings_s
    if elapsed_s is None:
        return
    if expected_s is not None and elapsed_s - expected_s > limits.readings_late_max_s:
        yield Reason(
            code="readings-late",
            message=f"this tool was stopped or held up: its readings span {elapsed_s:.1f} s and not {expected_s:.1f} s",
            figures={"elapsed_s": elapsed_s, "expected_s": expected_s, "max_late_s": limits.readings_late_max_s},
        )
    missing_max = _MISSING_PER_PRECISION_MAX * context.precision
    duration_s = seen.load.duration_s if seen.load else 0.0
    if duration_s - elapsed_s > missing_max * duration_s:
        yield Reason(
            code="readings-short",
            message=f"the readings came late: they span {elapsed_s:.2f} s of a load of {duration_s:.2f} s",
            figures={"elapsed_s": elapsed_s, "duration_s": duration_s, "missing_max": missing_max},
        )


READINGS = Gate(
    codes=("readings-late", "readings-short"),
    name="This tool, stopped or held up",
    limits=ReadingsLimits,
    check=_readings,
    catches="All shares of CPU time are of the time between the readings before a window and after it. If this tool "
    "was stopped, or had no CPU, that is longer than the load and the wait for its last responses, and a disturbance "
    "looks smaller than it was. An experiment’s readings may also be as far apart as the pace at which they are taken "
    "makes them. Where the load runs before its window begins (wrk2), the first readings may also come too late: by a "
    "fifth of the promised precision at most.",
    cannot="A stop that ends before the load does. It hides nothing: the shares are of the right time, and only "
    "samples of memory and threads are missing.",
)


class HostLimits(Table):
    throttled_share_max: Share = 0.001  # of the window, by the CPU quota of a cgroup
    swapped_bytes_per_s_max: Annotated[float, Field(ge=0)] = 100_000.0
    # Of the time of day beyond the monotonic clock; slewing by NTP stays below 0.5 ms a second.
    clock_step_s_max: Annotated[float, Field(ge=0)] = 0.1


def _host_faults(seen: Seen, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    host = seen.host
    if host is None:
        return
    if host.throttled_share is not None and host.throttled_share > limits.throttled_share_max:
        yield Reason(
            code="throttled",
            message=f"a CPU quota held this run back for {host.throttled_share:.1%} of the time",
            figures={"throttled_share": host.throttled_share, "max": limits.throttled_share_max},
        )
    if host.swapped_bytes_per_s is not None and host.swapped_bytes_per_s > limits.swapped_bytes_per_s_max:
        yield Reason(
            code="swapping",
            message=f"the host swapped {host.swapped_bytes_per_s / 1e6:,.1f} MB per second",
            figures={"swapped_bytes_per_s": host.swapped_bytes_per_s, "max": limits.swapped_bytes_per_s_max},
        )
    if host.clock_step_s is not None and abs(host.clock_step_s) > limits.clock_step_s_max:
        yield Reason(
            code="clock-stepped",
            message=f"the time of day was moved by {host.clock_step_s:+.3f} s",
            figures={"clock_step_s": host.clock_step_s, "max": limits.clock_step_s_max},
        )
    if host.suspended_s is not None and host.suspended_s > limits.clock_step_s_max:
        yield Reason(
            code="suspended",
            message=f"the host was suspended for {host.suspended_s:.1f} s",
            figures={"suspended_s": host.suspended_s, "max": limits.clock_step_s_max},
        )


HOST_FAULTS = Gate(
    codes=("throttled", "swapping", "clock-stepped", "suspended"),
    name="Faults of the host",
    limits=HostLimits,
    check=_host_faults,
    catches="Throttling by a CPU quota, swapping, a clock that was set, a suspended host.",
    cannot="What the kernel does not report here is recorded as not known and not judged.",
)
