"""SYNTHETIC runs for tests of the report: schema-valid, made up by formulae, measured by nobody.

Every record says so where a reader would see it (host model, notes), so that a page built from these can never be
taken for a result. Nothing outside the tests imports this module.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from hdrh.histogram import HdrHistogram

from jdkmatrix.records.cells import CellRecord, Identity
from jdkmatrix.records.forks import BurnCheck, Confinement, Fork, Proof
from jdkmatrix.records.load_results import Errors, Interval, Latency, LoadResult, SpectrumPoint
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import Calibration, DriverFacts, NotTestable, ServerFacts
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Gauges, Sample, SeriesSteadiness, SutUsage, Warmup, WarmupWindow, Window
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.terms.cell_key import CellKey
from jdkmatrix.terms.loads import Load, RateLoad, SaturateLoad
from tests.support.records import altered, run_record, served_fork
from tests.support.run_facts import host_facts, jdk_records, scenario_record

LOADS: dict[str, Load] = {
    "saturate-50": SaturateLoad(connections=50),
    "rate-2000": RateLoad(rate_rps=2000, connections=50),
}
# Relative speed and CPU cost of each executor, and how much its latency tail grows: shapes only, no finding.
_SPEED = {
    "liberty": 1.0,
    "virtual": 0.83,
    "liberty-virtual": 0.93,
    "platform": 0.42,
    "fixed-50": 0.97,
    "cached": 0.88,
}
_TAIL = {
    "liberty": 1.0,
    "virtual": 1.7,
    "liberty-virtual": 1.3,
    "platform": 2.6,
    "fixed-50": 1.1,
    "cached": 1.4,
}
_START_S, _WARM_S, _WINDOW_S = 3.0, 12, 4
_QUANTILES = (*(1 - 10 ** (-5 * step / 400) for step in range(400)), 1.0)


@dataclass(frozen=True)
class Shape:
    """What to make up."""

    jdks: tuple[str, ...] = ("temurin-21.0.8", "temurin-25")
    executors: tuple[str, ...] = ("liberty", "virtual")
    cpus: tuple[int, ...] = (1,)
    burn_us: tuple[int, ...] = (0,)
    loads: tuple[str, ...] = ("saturate-50",)
    workloads: tuple[str, ...] = ("mp-ping",)
    blocks: int = 3
    windows: int = 2
    driver: str = "loadgen"
    accidents: bool = False  # one failed, one invalid, one not steady, one missing, one unreadable cell
    seed: int = 7
    run_id: str = "20250101-120000-synthetic"


QUICK = Shape(blocks=2)
WIDE = Shape(
    executors=("liberty", "virtual", "liberty-virtual", "platform"),
    cpus=(1, 2, 4),
    burn_us=(0, 50, 200, 1000),
    loads=("saturate-50", "rate-2000"),
    accidents=True,
)


def spectrum(quantiles: Sequence[float], scale_us: float, tail: float, count: int) -> tuple[SpectrumPoint, ...]:
    return tuple(
        SpectrumPoint(quantile=q, value_us=_quantile_us(q, scale_us, tail), count=round(q * count)) for q in quantiles
    )


def _quantile_us(q: float, scale_us: float, tail: float) -> float:
    """A body around `scale_us` with a tail that grows with the logarithm of 1 / (1 - q)."""
    nines = -math.log10(max(1 - q, 1e-6))
    return scale_us * (0.55 + 0.6 * q + 0.22 * tail * math.pow(nines, 1.7))


@lru_cache(maxsize=4096)
def latency(scale_us: float, tail: float, count: int, *, encoded: bool = True) -> Latency:
    points = spectrum(_QUANTILES[::12], scale_us, tail, count)
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    seen = 0
    for quantile in _QUANTILES:
        fresh = round(quantile * count) - seen
        if fresh > 0:
            histogram.record_value(int(_quantile_us(quantile, scale_us, tail) * 1000), fresh)
            seen += fresh
    at = {"50": 0.5, "90": 0.9, "99": 0.99, "99.9": 0.999, "99.99": 0.9999}
    return Latency(
        count=count,
        min_us=points[0].value_us,
        mean_us=scale_us * 1.05,
        max_us=_quantile_us(1.0, scale_us, tail),
        percentiles_us={name: _quantile_us(q, scale_us, tail) for name, q in at.items()},
        spectrum=points,
        histogram=histogram.encode().decode("ascii") if encoded else None,
    )


def _throughput(key: CellKey, load: Load, rng: random.Random) -> tuple[float, float]:
    """(requests per second, CPU µs per request)"""
    jdk = 1.06 if "25" in key.jdk else 1.0
    speed = _SPEED.get(key.executor, 0.9)
    drift = 1 + 0.05 * math.log2(1 + key.burn_us / 50) * (1 - speed) * 6
    cpu_us = (28 / (jdk * speed * drift) + key.burn_us) * (1 + 0.015 * rng.gauss(0, 1))
    capacity = key.cpus**0.93 * 1e6 / cpu_us
    return (min(load.rate_rps, capacity) if isinstance(load, RateLoad) else capacity), cpu_us


def _gauges(key: CellKey, t: float, rng: random.Random, load: Load) -> Gauges:
    pool = key.executor not in ("virtual", "platform")
    return Gauges(
        pool_size=16 if pool else None,
        active=12 if pool else None,
        queued=3 if pool else None,
        in_flight=max(0, int(load.connections * 0.6 + rng.gauss(0, 3))),
        in_flight_peak=load.connections,
        carriers=key.cpus if "virtual" in key.executor else None,
        heap_used_bytes=int(90e6 + 4e7 * (t % 5)),
        heap_committed_bytes=1 << 30,
        direct_buffer_bytes=4_194_304 + 8192 * int(t),
        mapped_buffer_bytes=0,
        gc_count=int(t // 5),
        gc_ms=int(t // 5) * 7,
        jit_ms=int(4000 * (1 - math.exp(-t / 6))),
    )


def _samples(key: CellKey, load: Load, end_s: int, rng: random.Random) -> tuple[Sample, ...]:
    samples = []
    cpu_s = 2.0
    for t in range(1, end_s):
        cpu_s += key.cpus * (0.55 if t < _START_S + _WARM_S else 0.97) * (1 + 0.02 * rng.gauss(0, 1))
        samples.append(
            Sample(
                t_s=t + 0.02 * rng.random(),
                cpu_s=cpu_s,
                rss_bytes=int(260e6 + 30e6 * (1 - math.exp(-t / 8)) + 4e5 * rng.gauss(0, 1)),
                virt_bytes=4_900_000_000,
                threads=44 + int(6 * (1 - math.exp(-t / 4))),
                voluntary_switches=t * 9000,
                involuntary_switches=t * 400,
                run_queue_wait_s=0.08 * t,
                # one second without an answer, as a saturated server has them
                gauges=None if t < _START_S or t == 9 else _gauges(key, t, rng, load),
            )
        )
    return tuple(samples)


def _window(key: CellKey, load: Load, index: int, rng: random.Random, base: tuple[float, float], driver: str) -> Window:
    rps, cpu_us = base[0] * (1 + 0.004 * rng.gauss(0, 1)), base[1]
    completed = int(rps * _WINDOW_S)
    tail = _TAIL.get(key.executor, 1.0)
    due = int(load.rate_rps * _WINDOW_S) if isinstance(load, RateLoad) else None
    closed = due is None
    scale = 1e6 * load.connections / rps * 0.8 if closed else 350 + key.burn_us
    encoded = driver != "wrk2"
    service = latency(scale, tail, completed, encoded=encoded)
    return Window(
        index=index,
        t_s=_START_S + _WARM_S + 2 + (index - 1) * (_WINDOW_S + 1),
        load=LoadResult(
            driver=driver,
            load=load,
            started_monotonic_ns=1_000_000_000 * index,
            ended_monotonic_ns=1_000_000_000 * (index + _WINDOW_S),
            duration_s=float(_WINDOW_S),
            latency_from_s=0.0 if encoded else 1.0,
            due=due,
            sent=completed + 12 if encoded else None,
            unsent=None if due is None else max(0, due - completed - 12),
            completed=completed,
            answered_late=12 if encoded else None,
            non_2xx=0,
            errors=Errors(),
            reconnects=0 if encoded else None,
            bytes_read=completed * 180,
            throughput_rps=rps,
            corrected=None if closed else latency(scale * 1.1, tail * 1.3, completed, encoded=encoded),
            uncorrected=service if encoded or closed else None,
            send_lateness=None if closed or not encoded else latency(22, 0.6, completed),
            driver_cpu_s=_WINDOW_S * 0.41,
            driver_cpu_share=0.41 + 0.02 * rng.random(),
            intervals=tuple(
                Interval(
                    t_s=float(s),
                    completed=int(rps * (1 + 0.01 * rng.gauss(0, 1))),
                    errors=0,
                    p50_us=scale,
                    p99_us=scale * (1.9 + 0.3 * rng.random()) * tail,
                    max_us=scale * 6,
                )
                for s in range(1, _WINDOW_S + 1)
            )
            if encoded
            else (),
            hlog=None,
        ),
        sut=SutUsage(
            cpu_s=cpu_us * completed / 1e6,
            cpu_us_per_request=cpu_us,
            cpu_share=min(0.99, cpu_us * rps / 1e6 / key.cpus),
            rss_bytes=int(288e6 * tail**0.1),
            rss_peak_bytes=int(291e6 * tail**0.1),
            virt_bytes=4_900_000_000,
            threads=50,
            threads_peak=52 + (load.connections if key.executor == "platform" else 0),
            voluntary_switches=40_000,
            involuntary_switches=1_600,
            run_queue_wait_s=0.31,
            gc_count=1,
            gc_ms=7,
            jit_ms=12,
            jit_share=0.003,
            heap_used_bytes=180_000_000,
            direct_buffer_bytes=4_300_000,
            in_flight_peak=load.connections,
        ),
        host=Pressure(steal_share=0.001, foreign_cpu_share=0.02, psi_cpu_some_share=None),
        clock_speed=225.0 + 0.4 * index,
        served=_served(key, completed + 12),
    )


def _served(key: CellKey, begun: int) -> Served:
    """All of them where they should."""
    virtual, stock = "virtual" in key.executor, key.executor == "liberty"
    return Served(
        servers=begun if stock else 0,
        plugged_virtual=begun if virtual else 0,
        plugged_platform=0 if stock or virtual else begun,
        elsewhere=0,
        begun_min=begun - 12,
        begun_max=begun,
        left_over=0,
        threads_started=None if stock else begun + 5 if key.executor in ("virtual", "platform") else 0,
    )


_STEADY = SeriesSteadiness(
    figure="cpu_us_per_request",
    finding="flat",
    warm=True,
    from_window=1,
    level=30.0,
    change=-0.002,
    trend_p=0.7,
    drift_per_s=-0.0004,
    tail_s=5.0,
    drift_tail_least=-0.011,
    fall_max=0.0125,
    ahead_s=5.0,
    drift_ahead=-0.002,
)


def _burn_check(burn_us: int) -> BurnCheck:
    return BurnCheck(rounds=burn_us * 41, asked_us=burn_us, best_us=burn_us * 1.01, expected_us=burn_us * 1.004)


def _fork(key: CellKey, load: Load, number: int, sequence: int, rng: random.Random, shape: Shape) -> Fork:
    base = _throughput(key, load, rng)
    warm_rps = base[0] / 2
    warmup = tuple(
        WarmupWindow(
            stage="moderate" if i <= _WARM_S // 2 else "load",
            t_s=_START_S + i,
            rate_rps=warm_rps,
            completed=int(warm_rps),
            cpu_us_per_request=base[1] * (1 + 4 * math.exp(-i / 2)),
            jit_share=0.9 * math.exp(-i / 3),
            p99_us=None if i == 1 else 900 + 20_000 * math.exp(-i / 2),
        )
        for i in range(1, _WARM_S + 1)
    )
    end_s = int(_START_S + _WARM_S + 2 + shape.windows * (_WINDOW_S + 1))
    virtual = "virtual" in key.executor
    thread = "" if key.executor == "virtual" else "Default Executor-thread-"
    return served_fork(
        fork=number,
        position=1 + shape.executors.index(key.executor),
        sequence=sequence,
        status=Status.OK,
        reasons=(),
        started_at=f"2025-01-01T12:{sequence % 60:02d}:00Z",
        ended_at=f"2025-01-01T12:{sequence % 60:02d}:30Z",
        command=(
            "/jdks/SYNTHETIC/bin/java",
            "-Xms1g",
            "-Xmx1g",
            "-XX:+UseG1GC",
            "-jar",
            "ws server.jar",
            "defaultServer",
        ),
        driver_command=("/jdks/SYNTHETIC/bin/java", "-jar", "loadgen.jar", "--label", "it's a test"),
        confinement=Confinement(
            sut_cpus=tuple(range(key.cpus)), driver_cpus=(key.cpus,), method="cgroup cpuset", overlapped=False
        ),
        first_response_s=_START_S + 0.1 * rng.random(),
        proof=Proof(
            requests=200,
            executor=key.executor,
            virtual=virtual,
            distinct_threads=200 if virtual else 9,
            thread_names=tuple(f"{thread}{i}" for i in range(1, 4)),
        ),
        burn_check=_burn_check(key.burn_us) if key.burn_us else None,
        warmup=Warmup(
            windows=warmup,
            steady=True,
            jit_cpus=(*range(key.cpus), key.cpus),
            duration_s=float(_WARM_S),
            time_to_steady_s=_START_S + 9 + number / 8,
            series=(_STEADY,),
            settling=(warmup[-1].model_copy(update={"stage": "settling", "t_s": _START_S + _WARM_S + 3}),),
        ),
        windows=tuple(_window(key, load, i, rng, base, shape.driver) for i in range(1, shape.windows + 1)),
        clock_speed_after=224.9,
        samples=_samples(key, load, end_s, rng),
        logs={"server console": f"../logs/{key.cell_id}/fork-{number}/console.log"},
    )


def _with_accidents(cells: list[CellRecord]) -> list[CellRecord]:
    """One cell each: failed, invalid, not steady, one fork of several failed, and (dropped) not measured."""
    cells = list(cells)
    failed = Reason(code="no-port", message="the server said it was ready and opened no port within 5 s")
    busy = Reason(
        code="driver-busy",
        message="the driver used 97 % of its own CPU: it measured itself",
        figures={"driver_cpu_share": 0.97, "driver_cpu_share_max": 0.9},
    )
    cap = Reason(code="warm-up-cap", message="CPU per request was not flat after 45 s", figures={"spread": 0.23})

    def change(index: int, **update: object) -> None:
        cell = cells[index]
        cells[index] = cell.model_copy(update={"forks": tuple(altered(f, update) for f in cell.forks)})

    nothing: dict[str, object] = {"windows": (), "samples": (), "warmup": None, "proof": None, "first_response_s": None}
    change(3, status=Status.FAILED, reasons=(failed,), **nothing)
    cell = cells[6]
    invalid = [
        altered(
            f,
            {
                "status": Status.INVALID,
                "reasons": (busy,),
                "windows": tuple(w.model_copy(update={"reasons": (busy,)}) for w in f.served.windows),
            },
        )
        for f in cell.forks
    ]
    cells[6] = cell.model_copy(update={"forks": tuple(invalid)})
    change(9, status=Status.NOT_STEADY, reasons=(cap,))
    first = altered(cells[1].forks[0], {"status": Status.FAILED, "reasons": (failed,), **nothing})
    cells[1] = cells[1].model_copy(update={"forks": (first, *cells[1].forks[1:])})
    del cells[12]
    return cells


def synthetic_run(directory: Path, shape: Shape = QUICK) -> LoadedRun:
    """Make a run up; its log files are written below `directory`, its records are only returned."""
    rng = random.Random(shape.seed)
    keys = [
        CellKey(workload=w, jdk=j, executor=e, cpus=c, burn_us=b, load=name)
        for w in shape.workloads
        for j in shape.jdks
        for e in shape.executors
        for c in shape.cpus
        for b in shape.burn_us
        for name in shape.loads
    ]
    cells = []
    for position, key in enumerate(keys):
        load = LOADS[key.load]
        forks = tuple(
            _fork(key, load, block, (block - 1) * len(keys) + position + 1, rng, shape)
            for block in range(1, shape.blocks + 1)
        )
        for fork in forks:
            log = directory / "logs" / key.cell_id / f"fork-{fork.fork}" / "console.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("".join(f"[12:00:{i % 60:02d}] CWWKF{i:04d}I: SYNTHETIC line {i}\n" for i in range(260)))
        cells.append(
            CellRecord(
                key=key,
                load=load,
                identity=Identity(digest=f"{position:064x}", inputs={"jdk": key.jdk, "cpus": key.cpus}),
                parameters={},
                burn_rounds=key.burn_us * 41,
                jvm_flags={"UseG1GC": "true", "MaxHeapSize": "1073741824", "CICompilerCount": "2"},
                forks=forks,
            )
        )
    problems: tuple[str, ...] = ()
    if shape.accidents:
        cells = _with_accidents(cells)
        problems = ("some-cell.json: was unreadable, set aside and measured again",)
    unavailable = CellKey(
        workload=shape.workloads[0], jdk="semeru-25", executor="liberty", cpus=1, burn_us=0, load=shape.loads[0]
    )
    run = run_record(
        run_id=shape.run_id,
        tool_version="0.1.0",
        git_commit="0123456789abcdef0123456789abcdef01234567",
        git_dirty=False,
        profile="synthetic",
        selection={},
        seed=shape.seed,
        started_at="2025-01-01T12:00:00Z",
        ended_at="2025-01-01T13:07:00Z",
        status="complete",
        command=("matrix", "run", "--profile", "synthetic"),
        matrix={"schema": 1},
        host=host_facts(),
        servers=(ServerFacts(name="Open Liberty", version="25.0.0.12", sha256="a" * 64),),
        drivers=(
            DriverFacts(name=shape.driver, version="1", sha256="b" * 64, jdk="temurin-25", java_version="25.0.4.1+1"),
        ),
        jdks=jdk_records(shape.jdks),
        calibrations=tuple(
            Calibration(jdk=jdk, rounds_per_us=41.2, repeats=20, spread=0.004, cpu=0, clock_speed=225.0)
            for jdk in shape.jdks[-1:]
        ),
        promised_precision=0.05,
        cells=tuple(keys),
        not_testable=(NotTestable(key=unavailable, reason="semeru-25 is not available here"),),
        order=tuple(f"{key.cell_id}#{block}" for block in range(1, shape.blocks + 1) for key in keys),
        notes=("SYNTHETIC: this run was made up for a test and measured by nobody.",),
    )
    return LoadedRun(run=run, cells=tuple(cells), problems=problems, directory=directory)


def with_scenario(loaded: LoadedRun) -> LoadedRun:
    """The run as one that repeats a published experiment, with what was published."""
    return replace(loaded, run=loaded.run.model_copy(update={"scenario": scenario_record()}))
