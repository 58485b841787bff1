"""Gates for the host (what took CPU time away, and other faults) and for this tool, which reads it."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.tables import Table
from jdkmatrix.method.gate import Gate, NotNegative, Observation, Positive, Share, WindowContext, over
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.pressure import CpuRole, CpuUse
from jdkmatrix.records.reasons import Reason

_MISSING_PER_PRECISION_MAX = 0.2  # of a window; CPU per request is too low by the same share
_ROLE_WORDS: dict[CpuRole, str] = {
    "sut": "the server",
    "driver": "the driver",
    "remote": "the remote system or the database",
    "runner": "this tool",
}


class HostLimits(Table):
    """CPU time taken from the server biases its figures by the same share: `…_per_precision_max` are shares of its
    CPUs, in units of the precision that the profile promises. A driver only needs its CPUs in time."""

    foreign_per_precision_max: NotNegative = 1.0  # by processes that are not ours, on the server's CPUs …
    foreign_sut_share_max: Share = 0.02  # … and never more than this
    foreign_cpu_share_max: Share = 0.10  # on the CPUs of driver and remote system
    # CPU time that is in nobody's clock looks foreign. So these allowances, and one for rounding to ticks, are added to
    # the limit. The first two apply only where the kernel does not show how long tasks ran:
    idle_entry_us: NotNegative = 10.0  # waking a CPU: for each time it went idle, where the kernel counts them …
    idle_overhead_share_max: Share = 0.04  # … and elsewhere, of its idle or its busy time, whichever is less
    thread_end_us: NotNegative = 5.0  # on the server's CPUs, for each thread that ended on the host, whoever owned it
    steal_per_precision_max: NotNegative = 0.5
    steal_share_max: Share = 0.05  # of the CPUs of driver and remote system
    runner_cpu_share_max: Share = 0.05  # of one CPU, not one of the server's
    # How much longer than the load and its last responses the readings around it may span: all shares are of that time.
    # It was up to 0.15 s in 1,283 windows; half a second makes 5 % of the shortest window, 1 s, look like 3.3 %.
    readings_late_max_s: Positive = 0.5
    # An experiment's figures are its program's own, so its readings may come late: they may span this many times as
    # long as they should. CPU time that was taken then looks smaller by this factor, so its limits are lowered by it.
    readings_spread_max: Positive = 1.5
    throttled_share_max: Share = 0.001  # of the window, by a cgroup's CPU quota, summed over CPUs
    swapped_bytes_per_s_max: NotNegative = 100_000.0
    clock_step_s_max: NotNegative = 0.1  # relative to the monotonic clock; slewing by NTP stays below 0.5 ms a second


def cpu_sets(seen: Observation) -> Iterator[tuple[CpuUse, bool, str]]:
    """Yield each CPU set that is measured on, whether it is the server's, and whose it is in words."""
    for use in seen.host.cpu_use if seen.host else ():
        if set(use.roles) != {"runner"}:
            yield use, "sut" in use.roles, " and ".join(_ROLE_WORDS[role] for role in use.roles)


def _foreign(seen: Observation, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    for use, of_server, whose in cpu_sets(seen):
        foreign_max = limits.foreign_cpu_share_max
        if of_server:
            foreign_max = min(limits.foreign_sut_share_max, limits.foreign_per_precision_max * context.precision)
        foreign_max = foreign_max / _spread(seen) + _nobodys_share(use, seen, limits)
        if use.foreign_share > foreign_max:
            yield Reason(
                code="foreign-cpu" if of_server else "foreign-cpu-driver",
                message=f"other processes used {use.foreign_share:.1%} of the CPUs of {whose}",
                figures={"foreign_share": use.foreign_share, "own_share": use.own_share, "max": foreign_max}
                | ({} if use.idle_entries_per_s is None else {"idle_entries_per_s": use.idle_entries_per_s}),
            )


def _spread(seen: Observation) -> float:
    """Return how many times longer than they should the readings of an experiment span; 1 elsewhere."""
    elapsed_s = seen.host.elapsed_s if seen.host else None
    return max(1.0, elapsed_s / seen.readings_s) if elapsed_s and seen.readings_s else 1.0


def _nobodys_share(use: CpuUse, seen: Observation, limits: HostLimits) -> float:
    """Return the share of CPU time that may look foreign but is in nobody's clock (probes/cpu_balance.py): waking a
    CPU, rounding and, on the server's CPUs, the ends of threads."""
    if use.by_tasks:
        waking_share = 0.0
    elif use.idle_entries_per_s is None:
        idle_share = max(0.0, 1 - use.busy_share - use.steal_share)
        waking_share = limits.idle_overhead_share_max * max(0.0, min(idle_share, use.busy_share))
    else:
        waking_share = use.idle_entries_per_s * limits.idle_entry_us / 1e6
    ends_share, host = 0.0, seen.host
    if "sut" in use.roles and host and host.threads_ended is not None and host.elapsed_s:
        ends_share = host.threads_ended * limits.thread_end_us / 1e6 / (host.elapsed_s * len(use.cpus))
    return waking_share + ends_share + use.rounding_share


def _steal(seen: Observation, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    for use, of_server, whose in cpu_sets(seen):
        steal_max = limits.steal_per_precision_max * context.precision if of_server else limits.steal_share_max
        steal_max /= _spread(seen)
        message = f"the hypervisor stole {{:.1%}} of the CPU time of {whose}"
        yield from over(steal_max, "steal" if of_server else "steal-driver", message, steal_share=use.steal_share)


def _runner_busy(seen: Observation, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    if seen.host and any("runner" in use.roles and len(use.roles) > 1 for use in seen.host.cpu_use):
        message, share = "this tool itself used {:.0%} of a CPU while it watched", seen.host.runner_cpu_share
        yield from over(limits.runner_cpu_share_max, "runner-busy", message, runner_cpu_share=share)


def _readings(seen: Observation, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    """Check that the readings span the right time. Every CPU share is of the time between them: if this tool was
    stopped, that time is longer, and a disturbance of the load looks smaller in proportion. If a load starts before the
    part that counts, the readings at the start of that part may come too late, and what the server used until then is
    missing from its figures."""
    elapsed_s = seen.host.elapsed_s if seen.host else None
    if elapsed_s is None:
        return
    if seen.load:
        expected_s, late_max_s = seen.load.duration_s + _answers_s(seen.load), limits.readings_late_max_s
    elif seen.readings_s:
        expected_s, late_max_s = seen.readings_s, (limits.readings_spread_max - 1) * seen.readings_s
    else:
        return
    if elapsed_s - expected_s > late_max_s:
        yield Reason(
            code="readings-late",
            message=f"this tool was stopped or held up: its readings span {elapsed_s:.1f} s, not {expected_s:.1f} s",
            figures={"elapsed_s": elapsed_s, "expected_s": expected_s, "max_late_s": late_max_s},
        )
    missing_max = _MISSING_PER_PRECISION_MAX * context.precision
    if seen.load and seen.load.duration_s - elapsed_s > missing_max * seen.load.duration_s:
        duration_s = seen.load.duration_s
        yield Reason(
            code="readings-short",
            message=f"the readings came late: they cover {elapsed_s:.2f} s of a load of {duration_s:.2f} s",
            figures={"elapsed_s": elapsed_s, "duration_s": duration_s, "missing_max": missing_max},
        )


def _answers_s(load: LoadResult) -> float:
    """Return how long a driver waited for responses after time was up, where it tells; else how long it may have: a
    second at most, and no longer than the slowest one took, since requests that were never answered are recorded with
    the time they had waited. After a lead, the readings do not wait."""
    if load.lead:
        return 0.0
    if load.awaited_s is not None:
        return load.awaited_s
    return min(1.0, load.uncorrected.max_us / 1e6) if load.uncorrected and load.uncorrected.count else 1.0


def _host_faults(seen: Observation, limits: HostLimits, context: WindowContext) -> Iterator[Reason]:
    if (host := seen.host) is None:
        return
    message = "a CPU quota held its CPUs back for {:.3f} s in each second, all together"
    throttled_max = limits.throttled_share_max / _spread(seen)
    yield from over(throttled_max, "throttled", message, throttled_share=host.throttled_share)
    if host.swapped_bytes_per_s is not None:
        message = f"the host swapped {host.swapped_bytes_per_s / 1e6:,.1f} MB per second"
        figure = host.swapped_bytes_per_s
        yield from over(limits.swapped_bytes_per_s_max, "swapping", message, swapped_bytes_per_s=figure)
    if host.clock_step_s is not None and abs(host.clock_step_s) > limits.clock_step_s_max:
        message = f"the time of day was stepped by {host.clock_step_s:+.3f} s"
        figures = {"clock_step_s": host.clock_step_s, "max": limits.clock_step_s_max}
        yield Reason(code="clock-stepped", message=message, figures=figures)
    message = "the host was suspended for {:.1f} s"
    yield from over(limits.clock_step_s_max, "suspended", message, suspended_s=host.suspended_s)


HOST_GATES = (
    Gate(
        ("foreign-cpu", "foreign-cpu-driver"),
        "Other processes on our CPUs",
        (
            "foreign_per_precision_max",
            "foreign_sut_share_max",
            "idle_entry_us",
            "idle_overhead_share_max",
            "thread_end_us",
            "foreign_cpu_share_max",
        ),
        _foreign,
        "On the CPUs of the server, the driver and the remote system: the time that tasks ran that are not ours, where "
        "the kernel shows it (the root cgroup of cpuacct, version 1); elsewhere CPU time that was neither idle, nor "
        "stolen, nor used by our own processes. Soft interrupts, which carry loopback traffic, are counted wherever "
        "this kernel accounts for them; every run finds out at its start where that is. If an experiment waits for the "
        "disk, kernel threads that write to disks (kworker, jbd2, xfsaild, btrfs) count as part of it.",
        "A load below the limit; a load on other CPUs that shares caches, memory or a physical core. The limits allow "
        "for CPU time that no process is charged for, so a load of that size goes unnoticed: waking a CPU, unless "
        "tasks were counted (a fixed time whenever it went idle or, where the kernel does not count that, a share of "
        "its idle or its busy time, whichever is less), rounding to clock ticks and, on the server’s CPUs, the last "
        "microseconds of every thread that ended. At 10,000 ended threads a second, 5 µs each are 5 % of one CPU. "
        "Threads of other processes count, too, but starting and ending one costs more than this allowance. Beside an "
        "experiment that waits for the disk, the kernel’s work for other processes’ writes is taken for its own. "
        "Unless tasks were counted, other work that the kernel does for an arm and charges to no process looks like "
        "another process: arms whose threads often sleep and wake may be refused for what they are. A run’s page "
        "warns if gates refused one arm more often than the other, and gives such a pair no verdict. "
        "Where /proc/stat does not show our CPUs under their own numbers, as under lxcfs, this gate, the next two and "
        "the one for CPUs that the driver saturates together with others judge nothing; the run says so at its start.",
    ),
    Gate(
        ("steal", "steal-driver"),
        "CPU time stolen by the hypervisor",
        ("steal_per_precision_max", "steal_share_max"),
        _steal,
        "CPU time that the kernel reports as stolen. On the server’s CPUs the limit scales with the promised "
        "precision.",
        "Stalls that a hypervisor does not report: the server’s own clock then counts them as work. `matrix doctor` "
        "looks for those.",
    ),
    Gate(
        ("runner-busy",),
        "This tool itself",
        ("runner_cpu_share_max",),
        _runner_busy,
        "The CPU time that this tool uses during a window. It stays off the server’s CPUs, and reads the server’s "
        "threads only at the ends of windows.",
        "On a host whose server shares CPUs with the driver, this tool has no other CPU to run on.",
    ),
    Gate(
        ("readings-late", "readings-short"),
        "This tool, stopped or held up",
        ("readings_late_max_s", "readings_spread_max"),
        _readings,
        "All shares of CPU time are of the time between the readings before and after a window. If this tool was "
        "stopped, or had no CPU, that time is longer than the load and the wait for its last responses, and a "
        "disturbance looks smaller than it was. An experiment’s readings may span as long as the pace at which they "
        "are taken explains, and half as long again: its figures are its program’s own, and the limits on what others "
        "took are lowered by the same factor. Where this tool shares its CPUs, its threads run before others, if it "
        "may ask for that (CAP_SYS_NICE), and a reading that was interrupted is left out. Where the load is on before "
        "its window begins, the first readings may also come too late: they may miss at most a fifth of the promised "
        "precision, as a share of the window.",
        "A stop that ends before the load does. It hides nothing: the shares are of the right time, and only samples "
        "of memory and threads are missing.",
    ),
    Gate(
        ("throttled", "swapping", "clock-stepped", "suspended"),
        "Faults of the host",
        ("throttled_share_max", "swapped_bytes_per_s_max", "clock_step_s_max"),
        _host_faults,
        "Throttling by a CPU quota, swapping, a clock that was stepped, a suspended host.",
        "What the kernel does not report is recorded as not known, and not judged.",
    ),
)
