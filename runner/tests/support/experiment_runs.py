"""Runs of experiments without a server, for tests of the report.

The program's output is real (samples/standalone: one small result each, on two CPUs of a busy machine); the forks, host
and run around it are made up and say so, and a second fork repeats the first with its leading figure a little off.
Nothing here is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.domain.loads import CountLoad, InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.limits import Enforcement
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.run import Calibration, NotTestable
from jdkmatrix.report.blocks.kinds import Section
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.store.cells import CellRecord, Identity
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import remote_stats
from tests.support.project import RECORDED
from tests.support.records import altered, experiment_fork, run_record, with_logs
from tests.support.run_facts import jdk_records
from tests.support.served_runs import QUICK, made_up

SAMPLES = RECORDED / "standalone"
OLD, NEW = "temurin-21.0.8", "temurin-25"
JDKS = {"21": OLD, "25": NEW}
Sections = Mapping[str, Section]

PINNING = {"experiment": "pinning", "block_ms": 50, "warmup_s": 1.0, "jvm": None, "limits": None}
BURN = {"experiment": "burn", "warmup_s": 1.0, "drain_s": 10.0, "jvm": None, "limits": None}
SPAWN = {"experiment": "spawn", "task": "sleep", "sleep_s": 30.0, "timeout_s": 120.0, "jvm": None, "limits": None}
FANOUT = {"experiment": "fanout", "remote": {"size_bytes": 1024}, "timeout_s": 60.0, "jvm": None, "limits": None}
HANG = {"experiment": "hang", "inside": "synchronized", "hold_ms": 20, "patience": 200, "jvm": None, "limits": None}
JSON = {"experiment": "json", "buffers": "thread-local", "warmup_s": 1.0, "jvm": None, "limits": None}
BORROW = {"experiment": "borrow", "connections": 5, "yields": True, "warmup_s": 1.0, "jvm": None, "limits": None}
PUTS = {"experiment": "puts", "size_bytes": 4096, "warmup_s": 1.0, "jvm": None, "limits": None}


class Sample(NamedTuple):
    """One result per JDK, as a cell. `file`: below samples/standalone, without the JDK."""

    file: str
    workload: str
    executor: str
    load: TaskLoad
    parameters: Mapping[str, Any]
    burn_us: int = 0

    def key(self, jdk: str) -> CellKey:
        names = {"in-flight": "tasks", "task-rate": "rate", "count": "count"}
        number = next(value for name, value in self.load.model_dump().items() if name != "kind")
        return CellKey(
            workload=self.workload, server=NO_SERVER, jdk=JDKS[jdk], executor=self.executor, cpus=2,
            burn_us=self.burn_us, load=f"{names[self.load.kind]}-{number:g}",
        )  # fmt: skip

    def result(self, jdk: str) -> ProgramResult:
        return read_sample(f"{self.file}-{jdk}")


@cache
def read_sample(name: str) -> ProgramResult:
    return ProgramResult.model_validate_json((SAMPLES / f"{name}.json").read_bytes())


_FLIGHT, _RATE = InFlightLoad(tasks=8), TaskRateLoad(rate_per_s=5000)
_WATCHED, _UNWATCHED = {**BURN, "parks": True}, {**BURN, "parks": False}
_ONE_MIB, _SMALL = {**SPAWN, "stack_kib": 1024}, {**SPAWN, "stack_kib": 256, "limits": {"threads_max": 500}}
_PRINT = {**SPAWN, "task": "print", "sleep_s": None}
_FEW_FILES = {**FANOUT, "limits": {"open_files_max": 64}}
_MANY = CountLoad(count=10_000)

BY_KIND: dict[str, tuple[Sample, ...]] = {
    "burn": (
        Sample("burn-virtual-flight-on", "burn", "virtual", _FLIGHT, _WATCHED, 500),
        Sample("burn-fixed-2-flight-on", "burn", "fixed-2", _FLIGHT, _WATCHED, 500),
        Sample("burn-cached-flight-on", "burn", "cached", _FLIGHT, _WATCHED, 500),
        Sample("burn-virtual-rate5000-on", "burn", "virtual", _RATE, _WATCHED, 50),
        Sample("burn-virtual-rate5000-off", "burn-unwatched", "virtual", _RATE, _UNWATCHED, 50),
    ),
    "spawn": (
        Sample("spawn-platform-1000-1m", "spawn-sleep-1m", "platform", CountLoad(count=1000), _ONE_MIB),
        Sample("spawn-platform-10000-1m", "spawn-sleep-1m", "platform", _MANY, _ONE_MIB),
        Sample("spawn-virtual-10000", "spawn-sleep-1m", "virtual", _MANY, _ONE_MIB),
        Sample("spawn-virtual-100000", "spawn-sleep-1m", "virtual", CountLoad(count=100_000), _ONE_MIB),
        Sample("spawn-platform-pids", "spawn-sleep-boxed", "platform", CountLoad(count=2000), _SMALL),
        Sample("spawn-platform-print", "spawn-print", "platform", _MANY, _PRINT),
        Sample("spawn-virtual-print", "spawn-print", "virtual", _MANY, _PRINT),
    ),
    "pinning": tuple(
        Sample(f"pinning-{place}", f"pinning-{place}", "virtual", CountLoad(count=100), {**PINNING, "inside": place})
        for place in ("synchronized", "lock", "object-wait", "class-init", "native")
    ),
    "hang": (
        Sample("hang-virtual-3", "hang-synchronized", "virtual", CountLoad(count=3), HANG),
        Sample("hang-virtual-2", "hang-synchronized", "virtual", CountLoad(count=2), HANG),
    ),
    "json": (
        Sample("json-virtual", "json-thread-local", "virtual", CountLoad(count=100), JSON),
        Sample("json-work-stealing", "json-thread-local", "work-stealing", CountLoad(count=100), JSON),
    ),
    "borrow": tuple(
        Sample(f"borrow-{pool}", f"borrow-{pool}", "virtual", CountLoad(count=20), {**BORROW, "pool": pool})
        for pool in ("hikari-7.0.2", "hikari-7.1.0", "agroal")
    ),
    "puts": (
        Sample("puts-fixed-5", "puts-4k", "fixed-5", CountLoad(count=3000), PUTS),
        Sample("puts-virtual-bounded-5", "puts-4k", "virtual-bounded-5", CountLoad(count=3000), PUTS),
    ),
    "fanout": (
        Sample("fanout-platform", "fanout", "platform", CountLoad(count=20), FANOUT),
        Sample("fanout-fixed-5", "fanout", "fixed-5", CountLoad(count=20), FANOUT),
        Sample("fanout-virtual", "fanout", "virtual", CountLoad(count=20), FANOUT),
        Sample("fanout-virtual-semaphore-5", "fanout", "virtual-semaphore-5", CountLoad(count=20), FANOUT),
        Sample("fanout-structured", "fanout", "structured", CountLoad(count=20), FANOUT),
        Sample("fanout-virtual-nofiles", "fanout-few-files", "virtual", CountLoad(count=200), _FEW_FILES),
    ),
}  # fmt: skip
_LEADING = {"spawn": "started_s", "hang": "went_on_share", "fanout": "wall_s"}  # for all others: throughput


def experiments_run(directory: Path, *, forks: int = 2, accidents: bool = False) -> LoadedRun:
    """Return a run of every kind, with log files below `directory`."""
    return with_logs(experiments_of(forks=forks, accidents=accidents), directory, "SYNTHETIC line\n")


@cache
def experiments_of(*of_kinds: str, forks: int = 2, accidents: bool = False) -> LoadedRun:
    """Return a run of these kinds (by default every kind), in no folder. `accidents`: the first three cells are one
    that failed, one with an invalid fork, and one that has not run."""
    kinds = of_kinds or tuple(BY_NAME)
    samples = [(sample, jdk) for kind in kinds for jdk in JDKS for sample in BY_KIND[kind]]
    records = [_record(sample, jdk, at, forks) for at, (sample, jdk) in enumerate(samples)]
    keys = tuple(record.key for record in records)
    elsewhere = keys[0].model_copy(update={"jdk": "semeru-25"})
    if accidents:
        records = _with_accidents(records)
    run = run_record(
        "20250101-120000-synthetic-experiments",
        ended_at="2025-01-01T12:09:00Z",
        matrix={"experiments": {s.workload: dict(s.parameters) for kind in kinds for s in BY_KIND[kind]}},
        jdks=jdk_records(tuple(JDKS.values())),
        calibrations=tuple(
            Calibration(jdk=jdk, rounds_per_us=41.2, repeats=5, spread=0.012, cpu=0) for jdk in JDKS.values()
        ),
        cells=(*keys, elsewhere),
        not_testable=(NotTestable(key=elsewhere, reason="semeru-25 is not available here"),),
        order=tuple(f"{key.cell_id}#{fork}" for fork in range(1, forks + 1) for key in keys),
        notes=("SYNTHETIC: forks, host and run were made up around results of a test.",),
    )
    return LoadedRun(run=run, cells=tuple(records), problems=(), directory=Path())


def _record(sample: Sample, jdk: str, at: int, forks: int) -> CellRecord:
    key = sample.key(jdk)
    return CellRecord(
        key=key, load=sample.load, parameters=dict(sample.parameters), burn_rounds=key.burn_us * 41,
        identity=Identity(digest=f"{at:064x}", inputs={"jdk": key.jdk, "cpus": key.cpus}),
        jvm_flags={"UseG1GC": "true"},
        forks=tuple(_fork(sample, key, jdk, number, at) for number in range(1, forks + 1)),
    )  # fmt: skip


def _fork(sample: Sample, key: CellKey, jdk: str, number: int, at: int) -> Fork:
    fanout = sample.parameters["experiment"] == "fanout"
    boxed = sample.parameters["limits"] is not None
    return experiment_fork(
        fork=number, position=1, sequence=10 * number + at, status=Status.OK, reasons=(),
        started_at=f"2025-01-01T12:{number:02d}:00Z", ended_at=f"2025-01-01T12:{number:02d}:08Z",
        command=("/jdks/SYNTHETIC/bin/java", "-jar", "standalone.jar", sample.workload, "--it's", "a test"),
        remote_command=("/jdks/SYNTHETIC/bin/java", "-jar", "remote.jar") if fanout else (),
        confinement=Confinement(
            sut_cpus=(0, 1), driver_cpus=(), remote_cpus=(2,) if fanout else (), method="cgroup cpuset",
            overlapped=False,
        ),
        host=Pressure(steal_share=0.001, foreign_cpu_share=0.02, psi_cpu_some_share=None), clock_speed=225.0,
        clock_speed_after=225.9, remote=_remote() if fanout else None, result=_varied(sample.result(jdk), number),
        limits=(Enforcement(limit="threads", maximum=500, by="cgroup v2"),) if boxed and not fanout else (),
        logs={"standalone.err": f"../logs/{key.cell_id}/fork-{number}/standalone.err"},
    )  # fmt: skip


def _varied(result: ProgramResult, number: int) -> ProgramResult:
    """Lower the leading figure by 1 % from each fork to the next."""
    if result.seen is None or number == 1:
        return result
    name = _LEADING.get(result.experiment, "throughput_per_s")
    return with_seen(result, {name: result.seen[name] * 0.99 ** (number - 1)})


def with_seen(result: ProgramResult, changes: Mapping[str, Any]) -> ProgramResult:
    """Return a copy of the result with some of what it has seen changed."""
    return result.model_copy(update={"seen": {**(result.seen or {}), **changes}})


def _remote() -> RemoteStats:
    told = {"answered": 20, "in_flight_peak": 20, "cpu_s": 0.2, "since_monotonic_ns": 1, "now_monotonic_ns": 2}
    return remote_stats(late_us=1, cpu_share=0).model_copy(update={**told, "lateness": None, "loop_lateness": None})


def _with_accidents(records: list[CellRecord]) -> list[CellRecord]:
    late = Reason(code="measurement", message="the program had not ended after 90 s")
    busy = Reason(code="steal", message="the hypervisor took 7 % of the CPU time", figures={"steal_share": 0.07})
    nothing = {"status": Status.FAILED, "reasons": (late,), "result": None, "host": None}
    failed, some, _, *others = records
    invalid = some.forks[0].model_copy(update={"status": Status.INVALID, "reasons": (busy,)})
    return [
        failed.model_copy(update={"forks": tuple(altered(fork, nothing) for fork in failed.forks)}),
        some.model_copy(update={"forks": (invalid, *some.forks[1:])}),
        *others,
    ]


def sections_of(loaded: LoadedRun) -> Sections:
    """Return the sections that the run's page has for its experiments."""
    return {one.id.removeprefix("experiment-"): one for one in experiment_sections(JudgedRun(loaded).experiments)}


def mixed() -> LoadedRun:
    """Return a SYNTHETIC run that also has servers' cells."""
    served, other = made_up(replace(QUICK, blocks=1)), experiments_of("pinning")
    both = {name: (*getattr(other.run, name), *getattr(served.run, name)) for name in ("cells", "not_testable")}
    run = served.run.model_copy(update={**both, "matrix": {**served.run.matrix, **other.run.matrix}})
    return replace(served, run=run, cells=(*served.cells, *other.cells))
