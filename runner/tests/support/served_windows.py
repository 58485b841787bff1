"""SYNTHETIC windows and samples of a fork, made up by formulae for the runs of `served_runs`."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from hdrh.histogram import HdrHistogram

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.records.load_results import Errors, Interval, Latency, LoadResult, SpectrumPoint
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Gauges, Sample, SutUsage, Window

# Relative speed and CPU cost of each executor, and how much its latency tail grows: shapes only, no finding.
_SPEED = {"liberty": 1.0, "virtual": 0.83, "liberty-virtual": 0.93, "platform": 0.42, "fixed-50": 0.97, "cached": 0.88}
_TAIL = {"liberty": 1.0, "virtual": 1.7, "liberty-virtual": 1.3, "platform": 2.6, "fixed-50": 1.1, "cached": 1.4}
START_S, WARM_S, WINDOW_S = 3.0, 12, 4
_QUANTILES = (*(1 - 10 ** (-5 * step / 400) for step in range(400)), 1.0)


def _quantile_us(q: float, scale_us: float, tail: float) -> float:
    """Return a body around `scale_us` with a tail that grows with the logarithm of 1 / (1 - q)."""
    nines = -math.log10(max(1 - q, 1e-6))
    return scale_us * (0.55 + 0.6 * q + 0.22 * tail * math.pow(nines, 1.7))


@lru_cache(maxsize=4096)
def latency(scale_us: float, tail: float, count: int, *, encoded: bool = True) -> Latency:
    points = tuple(
        SpectrumPoint(quantile=q, value_us=_quantile_us(q, scale_us, tail), count=round(q * count))
        for q in _QUANTILES[::12]
    )
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    seen = 0
    for quantile in _QUANTILES:
        fresh = round(quantile * count) - seen
        if fresh > 0:
            histogram.record_value(int(_quantile_us(quantile, scale_us, tail) * 1000), fresh)
            seen += fresh
    at = {"50": 0.5, "90": 0.9, "99": 0.99, "99.9": 0.999, "99.99": 0.9999}
    return Latency(
        count=count, min_us=points[0].value_us, mean_us=scale_us * 1.05, max_us=_quantile_us(1.0, scale_us, tail),
        percentiles_us={name: _quantile_us(q, scale_us, tail) for name, q in at.items()}, spectrum=points,
        histogram=histogram.encode().decode("ascii") if encoded else None,
    )  # fmt: skip


def throughput(key: CellKey, load: Load, rng: random.Random) -> tuple[float, float]:
    """Return (requests per second, CPU µs per request)."""
    jdk = 1.06 if "25" in key.jdk else 1.0
    speed = _SPEED.get(key.executor, 0.9)
    drift = 1 + 0.05 * math.log2(1 + key.burn_us / 50) * (1 - speed) * 6
    cpu_us = (28 / (jdk * speed * drift) + key.burn_us) * (1 + 0.015 * rng.gauss(0, 1))
    capacity = key.cpus**0.93 * 1e6 / cpu_us
    return (min(load.rate_rps, capacity) if isinstance(load, RateLoad) else capacity), cpu_us


def _gauges(key: CellKey, t: float, rng: random.Random, load: Load) -> Gauges:
    pool = key.executor not in ("virtual", "platform")
    return Gauges(
        pool_size=16 if pool else None, active=12 if pool else None, queued=3 if pool else None,
        in_flight=max(0, int(load.connections * 0.6 + rng.gauss(0, 3))), in_flight_peak=load.connections,
        carriers=key.cpus if "virtual" in key.executor else None, heap_used_bytes=int(90e6 + 4e7 * (t % 5)),
        heap_committed_bytes=1 << 30, direct_buffer_bytes=4_194_304 + 8192 * int(t), mapped_buffer_bytes=0,
        gc_count=int(t // 5), gc_ms=int(t // 5) * 7, jit_ms=int(4000 * (1 - math.exp(-t / 6))),
    )  # fmt: skip


def samples_of(key: CellKey, load: Load, end_s: int, rng: random.Random) -> tuple[Sample, ...]:
    samples = []
    cpu_s = 2.0
    for t in range(1, end_s):
        cpu_s += key.cpus * (0.55 if t < START_S + WARM_S else 0.97) * (1 + 0.02 * rng.gauss(0, 1))
        samples.append(
            Sample(
                t_s=t + 0.02 * rng.random(), cpu_s=cpu_s,
                rss_bytes=int(260e6 + 30e6 * (1 - math.exp(-t / 8)) + 4e5 * rng.gauss(0, 1)),
                virt_bytes=4_900_000_000, threads=44 + int(6 * (1 - math.exp(-t / 4))), voluntary_switches=t * 9000,
                involuntary_switches=t * 400, run_queue_wait_s=0.08 * t,
                # one second without an answer, as happens to a saturated server
                gauges=None if t < START_S or t == 9 else _gauges(key, t, rng, load),
            )
        )  # fmt: skip
    return tuple(samples)


def window_of(
    key: CellKey, load: Load, index: int, rng: random.Random, base: tuple[float, float], driver: str
) -> Window:
    rps, cpu_us = base[0] * (1 + 0.004 * rng.gauss(0, 1)), base[1]
    completed = int(rps * WINDOW_S)
    tail = _TAIL.get(key.executor, 1.0)
    due = int(load.rate_rps * WINDOW_S) if isinstance(load, RateLoad) else None
    closed = due is None
    scale = 1e6 * load.connections / rps * 0.8 if closed else 350 + key.burn_us
    encoded = driver != "wrk2"
    service = latency(scale, tail, completed, encoded=encoded)
    result = LoadResult(
        driver=driver, load=load, started_monotonic_ns=1_000_000_000 * index,
        ended_monotonic_ns=1_000_000_000 * (index + WINDOW_S), duration_s=float(WINDOW_S),
        latency_from_s=0.0 if encoded else 1.0, due=due, sent=completed + 12 if encoded else None,
        unsent=None if due is None else max(0, due - completed - 12), completed=completed,
        answered_late=12 if encoded else None, non_2xx=0, errors=Errors(), reconnects=0 if encoded else None,
        bytes_read=completed * 180, throughput_rps=rps,
        corrected=None if closed else latency(scale * 1.1, tail * 1.3, completed, encoded=encoded),
        uncorrected=service if encoded or closed else None,
        send_lateness=None if closed or not encoded else latency(22, 0.6, completed),
        driver_cpu_s=WINDOW_S * 0.41, driver_cpu_share=0.41 + 0.02 * rng.random(),
        intervals=tuple(
            Interval(
                t_s=float(s), completed=int(rps * (1 + 0.01 * rng.gauss(0, 1))), errors=0, p50_us=scale,
                p99_us=scale * (1.9 + 0.3 * rng.random()) * tail, max_us=scale * 6,
            )
            for s in range(1, WINDOW_S + 1)
        ) if encoded else (),
    )  # fmt: skip
    usage = SutUsage(
        cpu_s=cpu_us * completed / 1e6, cpu_us_per_request=cpu_us, cpu_share=min(0.99, cpu_us * rps / 1e6 / key.cpus),
        rss_bytes=int(288e6 * tail**0.1), rss_peak_bytes=int(291e6 * tail**0.1), virt_bytes=4_900_000_000, threads=50,
        threads_peak=52 + (load.connections if key.executor == "platform" else 0), voluntary_switches=40_000,
        involuntary_switches=1_600, run_queue_wait_s=0.31, gc_count=1, gc_ms=7, jit_ms=12, jit_share=0.003,
        heap_used_bytes=180_000_000, direct_buffer_bytes=4_300_000, in_flight_peak=load.connections,
    )  # fmt: skip
    return Window(
        index=index, t_s=START_S + WARM_S + 2 + (index - 1) * (WINDOW_S + 1), load=result, sut=usage,
        host=Pressure(steal_share=0.001, foreign_cpu_share=0.02, psi_cpu_some_share=None),
        clock_speed=225.0 + 0.4 * index, served=_served(key, completed + 12),
    )  # fmt: skip


def _served(key: CellKey, begun: int) -> Served:
    """Return counts by which every request ran where it should."""
    virtual, stock = "virtual" in key.executor, key.executor == "liberty"
    return Served(
        servers=begun if stock else 0, plugged_virtual=begun if virtual else 0,
        plugged_platform=0 if stock or virtual else begun, elsewhere=0, begun_min=begun - 12, begun_max=begun,
        left_over=0, threads_started=None if stock else begun + 5 if key.executor in ("virtual", "platform") else 0,
    )  # fmt: skip
