"""SYNTHETIC forks under rising steps, and with a search for their capacity."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, cast

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.loads.base import Ask, Lengths
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad, CapacitySearch
from jdkmatrix.loads.kinds.connection_steps import ConnectionStepsLoad
from jdkmatrix.loads.kinds.rising_steps import RisingSteps, StepsLoad
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.subjects.served.windows import measure_all
from tests.support.outcome_runs import windows_of
from tests.support.records import altered, with_forks, with_forks_of, with_load
from tests.support.served_runs import Shape, made_up
from tests.support.served_windows import latency
from tests.support.shipped import MATRIX

LOAD = StepsLoad(rates_rps=(1000, 2000, 3000, 4000, 5000, 6000), connections=50, step_s=2, warmup_rps=500)


def _measured(like: Window, capacity_rps: float, ask: Ask, *, index: int) -> Window:
    """Measure a server that answers up to `capacity_rps`, for which it needs all its CPUs, and fails the rest."""
    load, duration_s = ask.load, ask.duration_s
    assert isinstance(load, RateLoad)
    reached = min(load.rate_rps, capacity_rps)
    late = 1.0 if reached == load.rate_rps else 500.0
    seen = {
        "load": load, "due": round(load.rate_rps * duration_s), "completed": round(reached * duration_s),
        "throughput_rps": reached, "errors": Errors(timeout=round((load.rate_rps - reached) * duration_s)),
        "corrected": latency(400.0 * late, 1.0, 1000),
    }  # fmt: skip
    usage = like.sut.model_copy(update={"cpu_us_per_request": 100.0 + index, "cpu_share": reached / capacity_rps})
    measured = with_load(like, seen, index=index, sut=usage, reasons=())
    return measured.model_copy(update={"shortfalls": window_shortfalls(measured.load, MATRIX.thresholds)})


def stepped(like: Window, capacity_rps: float, load: StepsLoad = LOAD) -> tuple[Window, ...]:
    """Return the window of each step asked of a server with this capacity."""
    server = SimpleNamespace(measure=partial(_measured, like, capacity_rps))
    done: list[Window] = []
    measure_all(RisingSteps(load).asks(Lengths(1, 1)), cast(Any, server), done)
    return tuple(done)


def stepped_at(loaded: LoadedRun, most_rps: Mapping[str, float], *, more_each_rps: float = 0.0) -> LoadedRun:
    """Return the run under rising steps, on servers with these capacities by executor, plus so much per block."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        reached_rps = most_rps[cell.key.executor] + more_each_rps * fork.fork
        return altered(fork, {"windows": stepped(fork.windows[0], reached_rps)})

    return with_forks(loaded, changed, load=LOAD)


@cache
def stepped_run(jdk: str = "temurin-25") -> LoadedRun:
    """Return a run under rising rates, in which virtual threads are saturated first."""
    plain = made_up(Shape(run_id="steps", jdks=(jdk,), blocks=2))
    return stepped_at(plain, {"virtual": 2800.0, "liberty": 3500.0}, more_each_rps=1)


CLIMB = ConnectionStepsLoad(first=10, more=20, connections=60, step_s=2)


def climbing(loaded: LoadedRun, most_rps: Mapping[str, float]) -> LoadedRun:
    """Return the run under steps of connections; each makes 100 requests/s until its server can do no more."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        reached_rps = (min(100.0 * step.connections, most_rps[cell.key.executor]) for step in CLIMB.every_step)
        windows = (
            with_load(fork.windows[0], {"load": step, "throughput_rps": rps}, index=index)
            for index, (step, rps) in enumerate(zip(CLIMB.every_step, reached_rps, strict=True), start=1)
        )
        return altered(fork, {"windows": tuple(windows)})

    return with_forks(loaded, changed, load=CLIMB)


def with_unused_cpus(loaded: LoadedRun, executor: str) -> LoadedRun:
    """Return the run with the server of this executor using a twentieth of the CPUs that it used."""

    def idle(window: Window) -> Window:
        sut = window.sut.model_copy(update={"cpu_share": window.sut.cpu_share / 20})
        return window.model_copy(update={"sut": sut})

    return with_forks_of(loaded, executor, lambda fork: windows_of(fork, idle))


_SEARCH = CapacityLoad(connections=50, p99_max_us=10_000, floor_share=0.1, resolution=0.05, step_s=3)


def _tried(like: Window, capacity_rps: float, ask: Ask, *, index: int) -> Window:
    """Measure a p99 that grows towards `capacity_rps`, and jumps beyond it; the third window is disturbed."""
    load = ask.load
    assert isinstance(load, RateLoad)
    late = load.rate_rps > capacity_rps
    scale_us = 400 / (1.05 - load.rate_rps / capacity_rps) if not late else 300_000
    reasons = (Reason(code="steal", message="the hypervisor took <b>9 %</b> away"),) if index == 3 else ()
    seen = {"load": load, "corrected": latency(scale_us, 1.0, 10_000), "throughput_rps": load.rate_rps}
    return with_load(like, seen, index=index, reasons=reasons)


def searched(loaded: LoadedRun) -> LoadedRun:
    """Return the run with a search in every fork, for rates around 0.8 of its closed loop's throughput."""
    source = random.Random(5)

    def with_search(cell: CellRecord, fork: Fork) -> Fork:
        ceiling_rps = fork.windows[0].load.throughput_rps
        capacity_rps = ceiling_rps * 0.8 * source.lognormvariate(0, 0.03)
        server = SimpleNamespace(measure=partial(_tried, fork.windows[0], capacity_rps))
        search = CapacitySearch(_SEARCH).search_below(ceiling_rps, float)
        return altered(fork, {"capacity": measure_all(search, cast(Any, server), [])})

    return with_forks(loaded, with_search, load=_SEARCH)
