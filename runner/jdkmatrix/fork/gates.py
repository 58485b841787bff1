"""Why a window, or a whole fork, must not be trusted, and what the server did not do. Pure: figures and thresholds in,
reasons out.

The two are kept apart. What the host or the measurement did wrong (`window_reasons`) spoils a window: it says nothing
of the server and is dropped. What the server did not do (`window_shortfalls`: answer, keep up, answer without a
failure) is what was to be found out. To drop that would keep the forks that did well and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.config.model import Thresholds
from jdkmatrix.domain.loads import RampLoad, RateLoad
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.pressure import CpuRole, CpuUse, Pressure
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import SutUsage, Warmup, Window


@dataclass(frozen=True)
class WindowContext:
    """What a window means to see, which is no fault then.

    `service_s`: what an answer takes at least; what becomes due in the last of it cannot be answered. `heap_growth`:
    where the memory goes is the question. `sut_cpus`, `remote_cpus`: how many the server and the remote system have.
    `precision`: what the profile promises for a ratio, as a share; what takes the server's CPU time away is judged by
    it. `p99_max_us`: the objective that latency is held against.
    """

    service_s: float = 0.0
    heap_growth: bool = False
    remote_cpus: int = 0
    precision: float = 0.05
    p99_max_us: float | None = None
    sut_cpus: int = 1


DEFAULT_CONTEXT = WindowContext()
_MISSING_PER_PRECISION_MAX = 0.2  # of a window: CPU per request is too low by as much


def window_reasons(
    load: LoadResult,
    sut: SutUsage,
    host: Pressure,
    limits: Thresholds,
    *,
    remote: RemoteStats | None = None,
    served: Served | None = None,
    means: WindowContext = DEFAULT_CONTEXT,
) -> tuple[Reason, ...]:
    """Every gate that this window did not pass by a fault of the host or of the measurement; empty means valid."""
    of_remote = remote_reasons(remote, means, limits, holds_up=not _is_saturated(load, sut, limits)) if remote else ()
    return (
        *readings_late(host.elapsed_s, load.duration_s + _answers_s(load), limits),
        *_readings_short(host.elapsed_s, load.duration_s, means),
        *_of_driver(load, limits, means),
        *of_remote,
        *_of_sut(sut, limits, means),
        *served_reasons(served),
        *host_reasons(host, limits, means),
    )


def window_shortfalls(load: LoadResult, limits: Thresholds, *, service_s: float = 0.0) -> tuple[Reason, ...]:
    """Shortfalls of the server against its load; empty: none. `service_s`: see WindowContext."""
    return tuple(_of_answers(load, limits, service_s))


def readings_late(elapsed_s: float | None, expected_s: float, limits: Thresholds) -> Iterator[Reason]:
    """Whether the readings span what they are to be of. Every share of a CPU is of the time between them: where this
    tool was stopped, that time is longer, and a disturbance of the load looks smaller by as much.

    `elapsed_s`: between the readings; `expected_s`: that they are to take at most."""
    if elapsed_s is not None and elapsed_s - expected_s > limits.readings_late_max_s:
        yield Reason(
            code="readings-late",
            message=f"this tool was stopped or held up: its readings span {elapsed_s:.1f} s and not {expected_s:.1f} s",
            figures={"elapsed_s": elapsed_s, "expected_s": expected_s, "max_late_s": limits.readings_late_max_s},
        )


def _readings_short(elapsed_s: float | None, duration_s: float, means: WindowContext) -> Iterator[Reason]:
    """Where a load runs before its part that counts, the readings at its edge may come too late, and what the server
    used until then is in none of its figures."""
    missing_max = _MISSING_PER_PRECISION_MAX * means.precision
    if elapsed_s is not None and duration_s - elapsed_s > missing_max * duration_s:
        yield Reason(
            code="readings-short",
            message=f"the readings came late: they span {elapsed_s:.2f} s of a load of {duration_s:.2f} s",
            figures={"elapsed_s": elapsed_s, "duration_s": duration_s, "missing_max": missing_max},
        )


def _answers_s(load: LoadResult) -> float:
    """For how long a driver may have waited for answers when time was up: a second at most, and no longer than the
    slowest one took, since those that never came stand there with the time that they had waited."""
    return min(1.0, load.uncorrected.max_us / 1e6) if load.uncorrected and load.uncorrected.count else 1.0


def beside_peers(windows: Sequence[Window], limits: Thresholds) -> tuple[Window, ...]:
    """The windows of one closed loop. Where it saturates the server, each must have kept it as busy as the best did:
    one in which the server idled was held up from outside, whatever else was seen."""
    best = max((window.sut.cpu_share for window in windows), default=0.0)
    if best < limits.saturated_share_min:
        return tuple(windows)
    least = best - limits.saturated_share_drop_max
    return tuple(
        window if window.sut.cpu_share >= least else _starved(window, best, limits.saturated_share_drop_max)
        for window in windows
    )


def _starved(window: Window, best: float, drop_max: float) -> Window:
    share = window.sut.cpu_share
    reason = Reason(
        code="starved",
        message=f"the server used {share:.1%} of its CPUs, and {best:.1%} in another window of this fork",
        figures={"cpu_share": share, "best": best, "max_drop": drop_max},
    )
    return window.model_copy(update={"reasons": (*window.reasons, reason)})


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


def _of_driver(load: LoadResult, limits: Thresholds, means: WindowContext) -> Iterator[Reason]:
    if load.driver_cpu_share > limits.driver_cpu_share_max:
        yield Reason(
            code="driver-saturated",
            message=f"the driver used {load.driver_cpu_share:.0%} of its CPUs: it measured itself",
            figures={"driver_cpu_share": load.driver_cpu_share, "max": limits.driver_cpu_share_max},
        )
    late, latency = load.send_lateness, load.corrected
    if late is None or latency is None or not (late.count and latency.count):
        return
    late_us, p99_us = late.percentiles_us["99"], max(latency.percentiles_us["99"], means.p99_max_us or 0.0)
    if late_us > limits.driver_late_share_max * p99_us:
        of_what = "the p99 measured" if means.p99_max_us is None else "the p99 that is looked at"
        yield Reason(
            code="driver-late",
            message=f"the driver sent up to {late_us / 1000:.2f} ms late (p99), {late_us / p99_us:.0%} of {of_what}",
            figures={"late_p99_us": late_us, "p99_us": p99_us, "max_share": limits.driver_late_share_max},
        )


def _of_answers(load: LoadResult, limits: Thresholds, service_s: float) -> Iterator[Reason]:
    if load.completed == 0:
        yield Reason(code="no-answers", message="no request was answered", figures={"completed": 0})
    due, share = _due(load, service_s), _achieved_share(load, service_s)
    if due is not None and share is not None and share < limits.achieved_rate_min:
        yield Reason(
            code="rate-missed",
            message=f"{load.completed:,} of {due:,.0f} requests that were due were answered",
            figures={"achieved_share": share, "min": limits.achieved_rate_min},
        )
    failed = load.failed
    if failed > limits.error_share_max * (load.completed + load.errors.total):
        yield Reason(
            code="errors",
            message=f"{load.errors.total} failed requests, {load.non_2xx} answers other than 2xx",
            figures={"failed": failed, "completed": load.completed, "max_share": limits.error_share_max},
        )


def _is_saturated(load: LoadResult, sut: SutUsage, limits: Thresholds) -> bool:
    """A closed loop in which the server's CPUs are what limits it."""
    return load.load.is_closed_loop and sut.cpu_share >= limits.saturated_share_min


def remote_reasons(
    remote: RemoteStats, means: WindowContext, limits: Thresholds, *, holds_up: bool = True
) -> Iterator[Reason]:
    """Whether the remote system was itself what was waited for. `holds_up`: does it matter when it is late? A closed
    loop that keeps the server's CPUs full is held up by them, and no latency of it is judged."""
    share = remote.cpu_s / ((remote.now_monotonic_ns - remote.since_monotonic_ns) / 1e9 * means.remote_cpus)
    if share > limits.remote_cpu_share_max:
        yield Reason(
            code="remote-saturated",
            message=f"the remote system used {share:.0%} of its CPUs: it may have held requests up",
            figures={"remote_cpu_share": share, "max": limits.remote_cpu_share_max},
        )
    if not holds_up:
        return
    delay_us = means.service_s * 1e6
    short_us_max = min(limits.remote_late_p99_us_max, limits.remote_late_short_share_max * delay_us)
    late_us_max = max(limits.remote_late_least_us, short_us_max, limits.remote_late_share_max * delay_us)
    late_us = {
        name: latency.percentiles_us["99"]
        for name, latency in (("answers", remote.lateness), ("timer", remote.loop_lateness))
        if latency is not None and latency.percentiles_us["99"] > late_us_max
    }
    mean_us_max = limits.remote_late_mean_share_max * delay_us
    mean_us = remote.lateness.mean_us if remote.lateness is not None else 0.0
    told, figures = [], {}
    if late_us:
        told.append("at p99 " + " and ".join(f"its {name} {value / 1000:.1f} ms" for name, value in late_us.items()))
        figures = {**{f"{name}_p99_us": value for name, value in late_us.items()}, "max": late_us_max}
    if 0 < mean_us_max < mean_us:
        told.append(f"on average its answers {mean_us / 1000:.2f} ms")
        figures |= {"answers_mean_us": mean_us, "mean_max": mean_us_max}
    if told:
        message = f"the remote system was late, {', '.join(told)}: requests waited for it longer than was asked"
        yield Reason(code="remote-late", message=message, figures=figures)


def _of_sut(sut: SutUsage, limits: Thresholds, means: WindowContext) -> Iterator[Reason]:
    jit_share, jit_max = sut.jit_share / means.sut_cpus, limits.jit_per_precision_max * means.precision
    if jit_share > jit_max:
        yield Reason(
            code="compiling",
            message=f"the JIT compiler used {jit_share:.1%} of the server's CPUs: the code was not its final one",
            figures={"jit_share": jit_share, "max": jit_max, "precision": means.precision},
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


def served_reasons(served: Served | None) -> Iterator[Reason]:
    """Whether the requests that were sent are those that counted themselves; if not, nobody knows where they ran."""
    if served is not None and not served.begun_min <= served.begun <= served.begun_max:
        yield Reason(
            code="not-counted",
            message=f"{served.begun:,} requests began in the application, of {served.begun_min:,} to "
            f"{served.begun_max:,} that the driver has sent",
            figures={"begun": served.begun, "min": served.begun_min, "max": served.begun_max},
        )


def host_reasons(host: Pressure, limits: Thresholds, means: WindowContext = DEFAULT_CONTEXT) -> Iterator[Reason]:
    """What the host did that spoils whatever was measured meanwhile."""
    for use in host.cpu_use:
        yield from _of_cpus(use, host, limits, means)
    beside_others = any("runner" in use.roles and len(use.roles) > 1 for use in host.cpu_use)
    if beside_others and host.runner_cpu_share is not None and host.runner_cpu_share > limits.runner_cpu_share_max:
        yield Reason(
            code="runner-busy",
            message=f"this tool itself used {host.runner_cpu_share:.0%} of a CPU while it watched",
            figures={"runner_cpu_share": host.runner_cpu_share, "max": limits.runner_cpu_share_max},
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


_ROLE_WORDS: dict[CpuRole, str] = {
    "sut": "the server",
    "driver": "the driver",
    "remote": "the remote system",
    "runner": "this tool",
}


def _of_cpus(use: CpuUse, host: Pressure, limits: Thresholds, means: WindowContext) -> Iterator[Reason]:
    """Of one set of CPUs. What is taken from the server is a bias of its figures of the same size, so its limits follow
    from the precision that is promised; what loads it needs only to be there in time."""
    if set(use.roles) == {"runner"}:
        return
    whose = " and ".join(_ROLE_WORDS[role] for role in use.roles)
    of_server = "sut" in use.roles
    steal_max = limits.steal_per_precision_max * means.precision if of_server else limits.steal_share_max
    if use.steal_share > steal_max:
        yield Reason(
            code="steal" if of_server else "steal-driver",
            message=f"the hypervisor took {use.steal_share:.1%} of the CPU time of {whose} away",
            figures={"steal_share": use.steal_share, "max": steal_max},
        )
    foreign_max = limits.foreign_cpu_share_max
    if of_server:
        of_precision = limits.foreign_per_precision_max * means.precision
        foreign_max = min(limits.foreign_sut_share_max, of_precision)
    foreign_max += _nobodys_share(use, host, limits)
    if use.foreign_share > foreign_max:
        yield Reason(
            code="foreign-cpu" if of_server else "foreign-cpu-driver",
            message=f"other processes used {use.foreign_share:.1%} of the CPUs of {whose}",
            figures={"foreign_share": use.foreign_share, "own_share": use.own_share, "max": foreign_max},
        )
    if not of_server and use.busy_share > limits.driver_cpu_share_max:
        yield Reason(
            code="cpus-full",
            message=f"the CPUs of {whose} were busy for {use.busy_share:.0%} of the time: requests waited for them",
            figures={"busy_share": use.busy_share, "max": limits.driver_cpu_share_max},
        )


def _nobodys_share(use: CpuUse, host: Pressure, limits: Thresholds) -> float:
    """What may look foreign and is in nobody's clock (probes/cpu_balance.py): waking a CPU up, rounding, and on the
    server's CPUs the ends of threads."""
    idle_share = max(0.0, 1 - use.busy_share - use.steal_share)
    waking_share = limits.idle_overhead_share_max * max(0.0, min(idle_share, use.busy_share))
    ends_share = 0.0
    if "sut" in use.roles and host.threads_ended is not None and host.elapsed_s:
        ends_share = host.threads_ended * limits.thread_end_us / 1e6 / (host.elapsed_s * len(use.cpus))
    return waking_share + ends_share + use.rounding_share
