"""SYNTHETIC runs for tests of the report: schema-valid, made up by formulae, measured by nobody.

Every record says so where a reader would see it (host model, notes), so that a page built from these can never be
taken for a result. Nothing outside the tests imports this module.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import Load, RateLoad, SaturateLoad
from jdkmatrix.records.forks import BurnCheck, Confinement, Fork, Proof
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import Calibration, DriverFacts, NotTestable, ServerFacts, Stopping
from jdkmatrix.records.windows import SeriesSteadiness, Warmup, WarmupWindow
from jdkmatrix.store.cells import CellRecord, Identity
from jdkmatrix.store.loaded import LoadedRun
from tests.support.outcome_runs import failed, refused
from tests.support.records import altered, run_record, with_forks, with_load, with_logs
from tests.support.run_facts import jdk_records, scenario_record
from tests.support.served_windows import START_S, WARM_S, WINDOW_S, samples_of, throughput, window_of

LOADS: dict[str, Load] = {
    "saturate-50": SaturateLoad(connections=50),
    "rate-2000": RateLoad(rate_rps=2000, connections=50),
}


@dataclass(frozen=True)
class Shape:
    """The shape of a run to make up."""

    jdks: tuple[str, ...] = ("temurin-21.0.8", "temurin-25")
    executors: tuple[str, ...] = ("liberty", "virtual")
    cpus: tuple[int, ...] = (1,)
    burn_us: tuple[int, ...] = (0,)
    loads: tuple[str, ...] = ("saturate-50",)
    blocks: int = 3
    windows: int = 2
    driver: str = "loadgen"
    accidents: bool = False  # one failed, one invalid, one not steady, one missing, one unreadable cell
    seed: int = 7
    run_id: str = "20250101-120000-synthetic"


QUICK = Shape(blocks=2)
FIVE = Shape(jdks=("temurin-25",), blocks=5, windows=1)

_STEADY = SeriesSteadiness(
    figure="cpu_us_per_request", finding="flat", warm=True, from_window=1, level=30.0, change=-0.002, trend_p=0.7,
    drift_per_s=-0.0004, tail_s=5.0, drift_tail_least=-0.011, fall_max=0.0125, ahead_s=5.0, drift_ahead=-0.002,
)  # fmt: skip


def _fork(key: CellKey, load: Load, number: int, sequence: int, rng: random.Random, shape: Shape) -> Fork:
    base = throughput(key, load, rng)
    warm_rps = base[0] / 2
    warmup = tuple(
        WarmupWindow(
            stage="moderate" if i <= WARM_S // 2 else "load", t_s=START_S + i, rate_rps=warm_rps,
            completed=int(warm_rps), cpu_us_per_request=base[1] * (1 + 4 * math.exp(-i / 2)),
            jit_share=0.9 * math.exp(-i / 3), p99_us=None if i == 1 else 900 + 20_000 * math.exp(-i / 2),
        )
        for i in range(1, WARM_S + 1)
    )  # fmt: skip
    end_s = int(START_S + WARM_S + 2 + shape.windows * (WINDOW_S + 1))
    virtual, us = "virtual" in key.executor, key.burn_us
    thread = "" if key.executor == "virtual" else "Default Executor-thread-"
    java, day = "/jdks/SYNTHETIC/bin/java", f"2025-01-01T12:{sequence % 60:02d}"
    return Fork(
        fork=number, position=1 + shape.executors.index(key.executor), sequence=sequence, status=Status.OK, reasons=(),
        started_at=f"{day}:00Z", ended_at=f"{day}:30Z",
        command=(java, "-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-jar", "ws server.jar", "defaultServer"),
        driver_command=(java, "-jar", "loadgen.jar", "--label", "it's a test"),
        confinement=Confinement(
            sut_cpus=tuple(range(key.cpus)), driver_cpus=(key.cpus,), method="cgroup cpuset", overlapped=False
        ),
        first_response_s=START_S + 0.1 * rng.random(),
        proof=Proof(
            requests=200, executor=key.executor, virtual=virtual, distinct_threads=200 if virtual else 9,
            thread_names=tuple(f"{thread}{i}" for i in range(1, 4)),
        ),
        burn_check=BurnCheck(rounds=us * 41, asked_us=us, best_us=us * 1.01, expected_us=us * 1.004) if us else None,
        warmup=Warmup(
            windows=warmup, steady=True, jit_cpus=(*range(key.cpus), key.cpus), duration_s=float(WARM_S),
            time_to_steady_s=START_S + 9 + number / 8, series=(_STEADY,),
            settling=(warmup[-1].model_copy(update={"stage": "settling", "t_s": START_S + WARM_S + 3}),),
        ),
        windows=tuple(window_of(key, load, i, rng, base, shape.driver) for i in range(1, shape.windows + 1)),
        clock_speed_after=224.9, samples=samples_of(key, load, end_s, rng),
        logs={"server console": f"../logs/{key.cell_id}/fork-{number}/console.log"},
    )  # fmt: skip


def _with_accidents(cells: list[CellRecord]) -> list[CellRecord]:
    """Make one cell each failed, invalid, not steady, with one fork of several failed, and (dropped) not measured."""
    no_port = Reason(code="no-port", message="the server said it was ready and opened no port within 5 s")
    shares = {"driver_cpu_share": 0.97, "driver_cpu_share_max": 0.9}
    busy = Reason(code="driver-busy", message="the driver used 97 % of its own CPU: it measured itself", figures=shares)
    cap = Reason(code="warm-up-cap", message="CPU per request was not flat after 45 s", figures={"spread": 0.23})

    def not_steady(fork: Fork) -> Fork:
        return altered(fork, {"status": Status.NOT_STEADY, "reasons": (cap,)})

    for index, change in ((3, failed(no_port)), (6, refused(busy)), (9, not_steady)):
        cells[index] = cells[index].model_copy(update={"forks": tuple(map(change, cells[index].forks))})
    first, *others = cells[1].forks
    cells[1] = cells[1].model_copy(update={"forks": (failed(no_port)(first), *others)})
    del cells[12]
    return cells


def synthetic_run(directory: Path, shape: Shape = QUICK) -> LoadedRun:
    """Return a run with log files below `directory`; its records are not written."""
    return with_logs(made_up(shape), directory, _LOG)


_LOG = "".join(f"[12:00:{i % 60:02d}] CWWKF{i:04d}I: SYNTHETIC line {i}\n" for i in range(260))


@cache
def made_up(shape: Shape = QUICK) -> LoadedRun:
    """Make up a run in no folder. Its parts are immutable, so that all who ask for this shape get the same one."""
    rng = random.Random(shape.seed)
    axes = product(shape.jdks, shape.executors, shape.cpus, shape.burn_us, shape.loads)
    keys = [
        CellKey(workload="mp-ping", jdk=jdk, executor=executor, cpus=cpus, burn_us=burn_us, load=load)
        for jdk, executor, cpus, burn_us, load in axes
    ]
    cells = []
    for position, key in enumerate(keys):
        load = LOADS[key.load]
        forks = tuple(
            _fork(key, load, block, (block - 1) * len(keys) + position + 1, rng, shape)
            for block in range(1, shape.blocks + 1)
        )
        identity = Identity(digest=f"{position:064x}", inputs={"jdk": key.jdk, "cpus": key.cpus})
        flags = {"UseG1GC": "true", "MaxHeapSize": "1073741824", "CICompilerCount": "2"}
        cells.append(
            CellRecord(
                key=key, load=load, identity=identity, parameters={}, burn_rounds=key.burn_us * 41, jvm_flags=flags,
                forks=forks,
            )
        )  # fmt: skip
    problems: tuple[str, ...] = ()
    if shape.accidents:
        cells = _with_accidents(cells)
        problems = ("some-cell.json: was unreadable and set aside; measured again, or continued without its series",)
    unavailable = keys[0].model_copy(update={"jdk": "semeru-25", "executor": "liberty", "cpus": 1, "burn_us": 0})
    run = run_record(
        shape.run_id,
        seed=shape.seed,
        matrix={"schema": 1},
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
        cells=(*keys, unavailable),
        not_testable=(NotTestable(key=unavailable, reason="semeru-25 is not available here"),),
        order=tuple(f"{key.cell_id}#{block}" for block in range(1, shape.blocks + 1) for key in keys),
        notes=("SYNTHETIC: this run was made up for a test and measured by nobody.",),
    )
    return LoadedRun(run=run, cells=tuple(cells), problems=problems, directory=Path())


def with_scenario(loaded: LoadedRun) -> LoadedRun:
    """Return the run as one that repeats a published experiment, with what was published."""
    return replace(loaded, run=loaded.run.model_copy(update={"scenario": scenario_record()}))


def with_stopping(loaded: LoadedRun, precision: float = 0.02, max_blocks: int = 20) -> LoadedRun:
    """Return the run as one whose blocks were added until every ratio was known to this precision."""
    rules = Stopping(precision=precision, min_blocks=5, max_blocks=max_blocks)
    return replace(loaded, run=loaded.run.model_copy(update={"stopping": rules}))


def driven_by(loaded: LoadedRun, driver: str, of: Callable[[CellKey], bool] = lambda key: True) -> LoadedRun:
    """Return the run as if another driver had made the load of these cells."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        windows = tuple(with_load(window, {"driver": driver}) for window in fork.windows)
        return altered(fork, {"windows": windows}) if of(cell.key) else fork

    return with_forks(loaded, changed)


def turned_run() -> LoadedRun:
    """Return a run of `virtual`, at 0.7 of the requests per second of the pool's `liberty`: both drift by 2 % a round
    and scatter little. In every fork of `virtual` the first round is spoilt, in every one of `liberty` the last."""
    plain = made_up(Shape(jdks=("temurin-25",), blocks=4, run_id="turned"))
    source = random.Random(5)
    steal = Reason(code="steal", message="the hypervisor took <b>9 %</b> away")

    def turned(cell: CellRecord, fork: Fork) -> Fork:
        level, spoilt = (21_000.0, 1) if cell.key.executor == "virtual" else (30_000.0, 10)
        like = fork.windows[0]
        windows = []
        for index in range(1, 11):
            rps = level * 1.02**index * math.exp(source.gauss(0, 0.004))
            seen = {"throughput_rps": rps, "completed": round(rps), "sent": round(rps), "duration_s": 1.0}
            usage = like.sut.model_copy(update={"cpu_us_per_request": 1e6 / rps})
            reasons = (steal,) if index == spoilt else ()
            windows.append(with_load(like, seen, index=index, t_s=60.0 + 2.5 * index, sut=usage, reasons=reasons))
        together = tuple(one.forks[fork.fork - 1].sequence for one in plain.cells)
        return altered(fork, {"windows": tuple(windows), "together": together})

    return with_forks(plain, turned)
