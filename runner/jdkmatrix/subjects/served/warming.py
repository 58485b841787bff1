"""Warm a server up: first at a moderate rate, then under the load that will be measured, until its gate opens; then let
it settle if the JIT compiler has lost the driver's CPUs again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.loads import CellLoad, Load, RateLoad
from jdkmatrix.fork.fork_record import Listener
from jdkmatrix.loads.base import Lengths, LoadKind, lead_s
from jdkmatrix.method.warmup import (
    WarmupGate,
    WarmupRules,
    duration_s,
    is_moderate_over,
    is_over,
    is_settled,
    is_steady,
    next_rate_rps,
    series_steadiness,
    time_to_steady,
)
from jdkmatrix.probes.process import JIT_THREADS, cpu_ns_of
from jdkmatrix.records.windows import Warmup, WarmupWindow
from jdkmatrix.subjects.served.observe import Bench, Observed, Warmed

_LATE_MAX = 0.1  # of a part of a stretch; later than that, it is read at its end together with the next


def lengths_of(profile: Profile) -> Lengths:
    return Lengths(profile.windows, profile.window_s)


def gate_of(rules: WarmupRules, profile: Profile, kind: LoadKind[Any], answer_s: float) -> WarmupGate:
    """Return the gate at which a server is warm under loads of this kind. `answer_s`: the least for an answer."""
    service_s = 0.0 if kind.grows_pool else answer_s
    ahead_s, lead = kind.ahead_s(lengths_of(profile)), lead_s(kind.load.in_windows, service_s)
    unbroken = not (kind.load.in_windows.is_closed_loop or kind.grows_pool)
    return WarmupGate(rules, ahead_s, profile.promised_precision, service_s, lead, unbroken)


def warm(
    bench: Bench,
    target: CellLoad,
    gate: WarmupGate,
    *,
    cpus: float,
    burn_us: int,
    jit_cpus: tuple[int, ...],
    before_load: Callable[[], None],
    listener: Listener,
) -> Warmup:
    """Warm the server up. `cpus`: how many it has; `burn_us`: the work of a request; `jit_cpus`: where the compiler
    runs meanwhile, for the record. `before_load` is called once, between the moderate rate and the load to be measured.

    Raises:
        MatrixError: as DriverSession.run, or the server gives no answer.
    """
    rules = gate.rules
    windows: list[WarmupWindow] = []
    while not is_steady(windows, gate) and not is_over(windows, gate):
        load: Load = target.in_windows
        moderate_over = is_moderate_over(windows, rules, open_loop=not load.is_closed_loop)
        stage: Literal["moderate", "load"] = "load" if moderate_over else "moderate"
        if stage == "load" and not any(window.stage == "load" for window in windows):
            before_load()
        label = f"warmup-{len(windows) + 1}"
        if stage == "moderate":
            rate_rps = next_rate_rps(windows, rules, cpus=cpus, burn_us=burn_us)
            load = bench.session.nearest(RateLoad(rate_rps=rate_rps, connections=target.connections))
            seen = bench.warm(load, rules.window_s, label=label)
        else:
            parts = gate.windows_at_a_time
            seen = bench.warm(load, gate.window_s * parts, label=label, lead_s=gate.lead_s, parts=parts)
        windows.extend([*_parts(seen)] or [_whole(stage, load, seen)])
        last = windows[-1]
        listener.step(f"warming up: {last.cpu_us_per_request:.0f} µs CPU/request, JIT {last.jit_share:.0%} of a CPU")
    return Warmup(
        windows=tuple(windows),
        steady=is_steady(windows, gate),
        series=series_steadiness(windows, gate),
        time_to_steady_s=time_to_steady(windows, gate),
        jit_cpus=jit_cpus,
        duration_s=duration_s(windows, rules),
    )


def settle(bench: Bench, target: CellLoad, gate: WarmupGate, listener: Listener) -> tuple[WarmupWindow, ...]:
    """Run windows under the load that will be measured, to be thrown away, until the JIT is calm where it runs now.

    Raises:
        MatrixError: as `warm`.
    """
    rules = gate.rules
    windows: list[WarmupWindow] = []
    while len(windows) < rules.settle_windows_max and not is_settled(windows, rules):
        label = f"warmup-settling-{len(windows) + 1}"
        windows.append(settling_window(bench, target.in_windows, gate.settle_s, label=label, lead_s=gate.lead_s))
        last = windows[-1]
        listener.step(f"settling: {last.cpu_us_per_request:.0f} µs CPU/request, JIT {last.jit_share:.0%} of a CPU")
    return tuple(windows)


def settling_window(bench: Bench, load: Load, duration_s: float, *, label: str, lead_s: float = 0.0) -> WarmupWindow:
    """Run one window of a warm server under load, to be thrown away; raises as `warm`."""
    return _whole("settling", load, bench.warm(load, duration_s, label=label, lead_s=lead_s))


def _parts(seen: Warmed) -> Iterator[WarmupWindow]:
    """Yield a window for each part of a stretch of the measured load; for several parts together if this tool was late
    to read the server between them: what it used then belongs to no single one. None if it is undivided."""
    if not seen.marks:
        return
    parts = seen.load.intervals
    ends_s = [0.0, *(part.t_s for part in parts)]
    late_s = [
        (mark.at.monotonic_ns - seen.load.started_monotonic_ns) / 1e9 - end_s
        for mark, end_s in zip(seen.marks, ends_s, strict=True)
    ]
    in_time = [index for index, late in enumerate(late_s) if late <= _LATE_MAX * parts[0].t_s]
    for first, end in pairwise(in_time):
        before, after, joined = seen.marks[first], seen.marks[end], parts[first:end]
        elapsed_s = (after.at.monotonic_ns - before.at.monotonic_ns) / 1e9
        completed = sum(part.completed for part in joined)
        yield WarmupWindow(
            stage="load",
            t_s=seen.t_s + ends_s[end],
            rate_rps=completed / elapsed_s,
            completed=completed,
            cpu_us_per_request=_cost_us((after.at.cpu_ns - before.at.cpu_ns) / 1e3, completed, elapsed_s),
            jit_share=cpu_ns_of(JIT_THREADS, before, after) / 1e9 / elapsed_s,
            p99_us=max((part.p99_us for part in joined if part.p99_us is not None), default=None),
            duration_s=elapsed_s,
        )


def _whole(stage: Literal["moderate", "load", "settling"], load: Load, seen: Observed) -> WarmupWindow:
    latency = seen.load.corrected or seen.load.uncorrected
    return WarmupWindow(
        stage=stage,
        t_s=seen.t_s + seen.load.duration_s,
        rate_rps=load.rate_rps if isinstance(load, RateLoad) else seen.load.throughput_rps,
        completed=seen.load.completed,
        cpu_us_per_request=seen.sut.cpu_us_per_request or _cost_us(seen.sut.cpu_s * 1e6, 0, seen.load.duration_s),
        jit_share=seen.sut.jit_share,
        p99_us=latency.percentiles_us["99"] if latency else None,
        duration_s=seen.load.duration_s,
    )


def _cost_us(cpu_us: float, answers: int, length_s: float) -> float:
    """Return the CPU time per request. A window without an answer counts as expensive: a server that cold cannot cope
    with a higher rate. One in which the server got no CPU at all counts as all of one CPU."""
    return (cpu_us or length_s * 1e6) / max(1, answers)
