"""Small made-up values for tests of pure parts."""

from __future__ import annotations

from typing import Any

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.load_results import Errors, Latency, LoadResult, SpectrumPoint
from jdkmatrix.records.pressure import CpuRole, CpuUse, Pressure
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.remote import RemoteFaults, RemoteStats
from jdkmatrix.records.windows import Gauges, SutUsage, WarmupWindow, Window
from jdkmatrix.store.cells import CellRecord, Identity
from tests.support.records import altered

SATURATE = SaturateLoad(connections=50)


def key(executor: str = "virtual", **changes: Any) -> CellKey:
    values = {
        "workload": "mp-ping", "jdk": "temurin-25", "executor": executor, "cpus": 1, "burn_us": 0,
        "load": "saturate-50",
    }  # fmt: skip
    return CellKey.model_validate({**values, **changes})


def latency(p99_us: float = 1000.0) -> Latency:
    percentiles = {"50": p99_us / 2, "90": p99_us * 0.9, "99": p99_us, "99.9": p99_us, "99.99": p99_us}
    count = 10_000
    spectrum = tuple(
        SpectrumPoint(quantile=share, value_us=p99_us * share, count=round(share * count)) for share in (0.5, 0.9, 1.0)
    )
    return Latency(
        count=count, min_us=1.0, mean_us=p99_us / 2, max_us=p99_us, percentiles_us=percentiles, spectrum=spectrum
    )


def load_result(load: Load = SATURATE, **changes: Any) -> LoadResult:
    result = LoadResult(
        driver="made-up", load=load, started_monotonic_ns=0, ended_monotonic_ns=1_000_000_000, duration_s=1.0,
        latency_from_s=0.0, due=None, sent=1000, unsent=None, completed=1000, non_2xx=0, errors=Errors(),
        reconnects=0, bytes_read=1, throughput_rps=1000.0,
        corrected=latency() if isinstance(load, RateLoad) else None, uncorrected=latency(),
        send_lateness=None, driver_cpu_s=0.5, driver_cpu_share=0.5, intervals=(),
    )  # fmt: skip
    return result.model_copy(update=changes)


def cpu_use(*roles: CpuRole, steal: float = 0.0, foreign: float = 0.0, busy: float = 0.5) -> CpuUse:
    return CpuUse(
        roles=roles, cpus=(0,), busy_share=busy, own_share=busy - foreign, interrupt_share=0.0,
        foreign_share=foreign, steal_share=steal, rounding_share=0.0,
    )  # fmt: skip


def pressure(steal: float = 0.0, foreign: float = 0.0) -> Pressure:
    """Return pressure on the server's CPUs; the driver's are calm."""
    uses = (cpu_use("sut", steal=steal, foreign=foreign), cpu_use("driver"))
    return Pressure(steal_share=steal, foreign_cpu_share=foreign, cpu_use=uses, psi_cpu_some_share=None)


def remote_stats(*, late_us: float, cpu_share: float) -> RemoteStats:
    """Return the statistics of ten seconds on one CPU."""
    return RemoteStats(
        answered=1000, in_flight=0, in_flight_peak=10, abandoned=0, refused=0,
        faults=RemoteFaults(status_500=0, close=0, never=0), cpu_s=10 * cpu_share, since_monotonic_ns=0,
        now_monotonic_ns=10**10, lateness=latency(late_us), loop_lateness=latency(100),
    )  # fmt: skip


def gauges(begun: int = 0, **changes: Any) -> Gauges:
    """Return gauges of a virtual-thread server that has begun so many requests, and answered as many questions."""
    return Gauges(
        pool_size=1, active=1, queued=0, in_flight=0, in_flight_peak=0, carriers=1, heap_used_bytes=1,
        heap_committed_bytes=1, direct_buffer_bytes=0, mapped_buffer_bytes=0, gc_count=0, gc_ms=0, jit_ms=0,
        threads_started=2 * begun, served_on_servers=0, served_on_plugged_virtual=begun, served_on_plugged_platform=0,
        served_elsewhere=0,
    ).model_copy(update=changes)  # fmt: skip


def sut_usage(jit_share: float = 0.0, **changes: Any) -> SutUsage:
    usage = SutUsage(
        cpu_s=1.0, cpu_us_per_request=1000.0, cpu_share=1.0, jit_share=jit_share, rss_bytes=1, rss_peak_bytes=1,
        virt_bytes=1, threads=1, threads_peak=1, voluntary_switches=None, involuntary_switches=None,
        run_queue_wait_s=None, gc_count=None, gc_ms=None, jit_ms=None, heap_used_bytes=None,
        direct_buffer_bytes=None, in_flight_peak=None,
    )  # fmt: skip
    return usage.model_copy(update=changes)


def reasons(*codes: str) -> tuple[Reason, ...]:
    return tuple(Reason(code=code, message=f"it was {code}") for code in codes)


def window(index: int = 1, load: LoadResult | None = None, **changes: Any) -> Window:
    """Return a valid window, measured on a calm host."""
    usual = {"t_s": 0.0, "load": load or load_result(), "sut": sut_usage(), "host": pressure()}
    return Window(index=index, **{**usual, **changes})


def warmup_window(t_s: float, cost_us: float, jit: float = 0.0) -> WarmupWindow:
    return WarmupWindow(
        stage="load", t_s=t_s, rate_rps=1000, completed=1000, cpu_us_per_request=cost_us, jit_share=jit, p99_us=None
    )


def fork(number: int = 1, status: Status = Status.OK) -> Fork:
    return Fork(
        fork=number, position=1, sequence=number, status=status, reasons=(), started_at="2026-01-01T00:00:00+00:00",
        ended_at="2026-01-01T00:01:00+00:00", command=("java",), driver_command=("driver",),
        confinement=Confinement(sut_cpus=(1,), driver_cpus=(0,), method="sched_setaffinity", overlapped=False),
        first_response_s=3.0, proof=None, burn_check=None, warmup=None, windows=(), samples=(), logs={},
    )  # fmt: skip


def fork_with(*windows: Window, number: int = 1, status: Status = Status.OK) -> Fork:
    return altered(fork(number, status), {"windows": windows})


def cell(cell_key: CellKey | None = None, forks: tuple[Fork, ...] = ()) -> CellRecord:
    return CellRecord(
        key=cell_key or key(), load=SATURATE, identity=Identity(digest="d", inputs={}), parameters={}, burn_rounds=0,
        forks=forks,
    )  # fmt: skip
