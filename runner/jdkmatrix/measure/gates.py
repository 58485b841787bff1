"""Why a window, or a whole fork, must not be trusted. Pure: figures and thresholds in, reasons out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.config.model import Thresholds
from jdkmatrix.records import (
    BurnCheck,
    CellLoad,
    LoadResult,
    Pressure,
    RampedLoad,
    RampLoad,
    RateLoad,
    Reason,
    RemoteStats,
    Status,
    StepsLoad,
    SutUsage,
    Warmup,
    Window,
)


@dataclass(frozen=True)
class Means:
    """What a window means to see, which is no fault then.

    `service_s`: what an answer takes at least; what becomes due in the last of it cannot be answered. `overload`: the
    load looks for what the server cannot do, so that a missed rate and the requests that fail with it are what is
    measured; without a missed rate, failures count as ever. `heap_growth`: where the memory goes is the question.
    `remote_cpus`: how many the remote system has.
    """

    service_s: float = 0.0
    overload: bool = False
    heap_growth: bool = False
    remote_cpus: int = 0


USUAL = Means()


def window_reasons(
    load: LoadResult,
    sut: SutUsage,
    host: Pressure,
    limits: Thresholds,
    *,
    remote: RemoteStats | None = None,
    means: Means = USUAL,
) -> tuple[Reason, ...]:
    """Every gate that this window did not pass; empty means valid."""
    of_load = [*_of_driver(load, limits)]
    if load.completed == 0:
        of_load.append(Reason(code="no-answers", message="no request was answered", figures={"completed": 0}))
    if not (means.overload and is_missed(load, limits, service_s=means.service_s)):
        of_load += _of_answers(load, limits, means.service_s)
    of_remote = remote_reasons(remote, means, limits) if remote else ()
    return (*of_load, *of_remote, *_of_sut(sut, limits, means), *host_reasons(host, limits))


def is_missed(load: LoadResult, limits: Thresholds, *, service_s: float = 0.0) -> bool:
    """Were fewer requests answered than were due? False for a closed loop, in which none is due."""
    share = _achieved_share(load, service_s)
    return share is not None and share < limits.achieved_rate_min


def ended_overloaded(load: CellLoad, windows: Sequence[Window], limits: Thresholds, *, service_s: float) -> bool:
    """Did this load look for what the server cannot do, and end there? Then it answers late, which is not to hang."""
    sought = isinstance(load, RampedLoad | StepsLoad)
    return sought and bool(windows) and is_missed(windows[-1].load, limits, service_s=service_s)


def measured_status(windows: Sequence[Window], warmup: Warmup | None, limits: Thresholds) -> Status:
    """Of a fork that went through to its end."""
    valid = sum(window.valid for window in windows)
    if valid == 0 or valid < limits.valid_windows_min * len(windows):
        return Status.INVALID
    return Status.NOT_STEADY if warmup is not None and not warmup.steady else Status.OK


def too_few_valid(windows: Sequence[Window]) -> Reason:
    """Why an invalid fork is so."""
    valid = sum(window.valid for window in windows)
    which = f"only {valid} of {len(windows)} windows are valid" if valid else "every window is invalid"
    codes = sorted({reason.code for window in windows for reason in window.reasons})
    return Reason(
        code="too-few-valid-windows",
        message=f"{which}: {', '.join(codes)}",
        figures={"valid": valid, "of": len(windows)},
    )


def burn_off(check: BurnCheck | None, limits: Thresholds) -> Reason | None:
    """Is a request's work not the one that was calibrated? The host's clock is accounted for: this is about the JVM."""
    if check is None or check.expected_us is None:
        return None
    off = check.best_us / check.expected_us - 1
    if abs(off) <= limits.burn_off_max:
        return None
    return Reason(
        code="burn-off",
        message=(
            f"{check.asked_us:g} µs of work took {check.best_us:.1f} µs at best, where {check.expected_us:.1f} µs are "
            "expected at the CPU's speed of that moment: this JVM does other work than was calibrated"
        ),
        figures={"off": off, "max": limits.burn_off_max},
    )


def _achieved_share(load: LoadResult, service_s: float) -> float | None:
    due = _due(load, service_s)
    if due is None:
        return None
    return load.completed / due if due else 0.0


def _due(load: LoadResult, service_s: float) -> float | None:
    """Early enough to be answered in time; None for a closed loop."""
    match load.load:
        case RateLoad() as asked:
            # A driver may start its connections one after another, and then owes fewer than this.
            due = asked.rate_rps * load.duration_s if load.due is None else load.due
            return max(0.0, due - asked.rate_rps * service_s)
        case RampLoad() as ramp:
            return float(ramp.due_until(load.duration_s - service_s))
        case _:
            return None


def _of_driver(load: LoadResult, limits: Thresholds) -> Iterator[Reason]:
    if load.driver_cpu_share > limits.driver_cpu_share_max:
        yield Reason(
            code="driver-saturated",
            message=f"the driver used {load.driver_cpu_share:.0%} of its CPUs: it measured itself",
            figures={"driver_cpu_share": load.driver_cpu_share, "max": limits.driver_cpu_share_max},
        )


def _of_answers(load: LoadResult, limits: Thresholds, service_s: float) -> Iterator[Reason]:
    due, share = _due(load, service_s), _achieved_share(load, service_s)
    if due is not None and share is not None and share < limits.achieved_rate_min:
        yield Reason(
            code="rate-missed",
            message=f"{load.completed:,} of {due:,.0f} requests that were due were answered",
            figures={"achieved_share": share, "min": limits.achieved_rate_min},
        )
    failed = load.errors.total + load.non_2xx
    if failed > limits.error_share_max * (load.completed + load.errors.total):
        yield Reason(
            code="errors",
            message=f"{load.errors.total} failed requests, {load.non_2xx} answers other than 2xx",
            figures={"failed": failed, "completed": load.completed, "max_share": limits.error_share_max},
        )


def remote_reasons(remote: RemoteStats, means: Means, limits: Thresholds) -> Iterator[Reason]:
    """Whether the remote system was itself what was waited for."""
    share = remote.cpu_s / ((remote.now_monotonic_ns - remote.since_monotonic_ns) / 1e9 * means.remote_cpus)
    if share > limits.remote_cpu_share_max:
        yield Reason(
            code="remote-saturated",
            message=f"the remote system used {share:.0%} of its CPUs: it may have held requests up",
            figures={"remote_cpu_share": share, "max": limits.remote_cpu_share_max},
        )
    late_us_max = max(limits.remote_late_p99_us_max, limits.remote_late_share_max * means.service_s * 1e6)
    late_us = {
        name: latency.percentiles_us["99"]
        for name, latency in (("answers", remote.lateness), ("timer", remote.loop_lateness))
        if latency is not None and latency.percentiles_us["99"] > late_us_max
    }
    if late_us:
        told = " and ".join(f"its {name} {value / 1000:.1f} ms" for name, value in late_us.items())
        yield Reason(
            code="remote-late",
            message=f"the remote system was late, at p99 {told}: requests waited for it longer than was asked",
            figures={
                **{f"{name}_p99_us": value for name, value in late_us.items()},
                "max": late_us_max,
            },
        )


def _of_sut(sut: SutUsage, limits: Thresholds, means: Means) -> Iterator[Reason]:
    if sut.jit_share > limits.jit_share_max:
        yield Reason(
            code="compiling",
            message=f"the JIT compiler used {sut.jit_share:.0%} of a CPU: the code was not its final one",
            figures={"jit_share": sut.jit_share, "max": limits.jit_share_max},
        )
    growth, committed = sut.heap_growth_bytes, sut.heap_committed_bytes
    if means.heap_growth:
        growth = None
    if growth is not None and committed is not None and growth > limits.heap_growth_max * (committed - growth):
        yield Reason(
            code="heap-growing",
            message=f"the committed heap grew by {growth / 2**20:,.0f} to {committed / 2**20:,.0f} MiB",
            figures={"growth_bytes": growth, "committed_bytes": committed, "max_share": limits.heap_growth_max},
        )
    if sut.astray_threads:
        yield Reason(
            code="affinity-changed",
            message=f"{sut.astray_threads} threads of the server may run on other CPUs than its own",
            figures={"astray_threads": sut.astray_threads, "max": 0},
        )


def host_reasons(host: Pressure, limits: Thresholds) -> Iterator[Reason]:
    """What the host did that spoils whatever was measured meanwhile."""
    if host.steal_share > limits.steal_share_max:
        yield Reason(
            code="steal",
            message=f"the hypervisor took {host.steal_share:.1%} of the CPU time away",
            figures={"steal_share": host.steal_share, "max": limits.steal_share_max},
        )
    if host.foreign_cpu_share > limits.foreign_cpu_share_max:
        yield Reason(
            code="foreign-cpu",
            message=f"other processes used {host.foreign_cpu_share:.1%} of these CPUs",
            figures={"foreign_cpu_share": host.foreign_cpu_share, "max": limits.foreign_cpu_share_max},
        )
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
