"""SYNTHETIC forks under rising steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.loads.base import Ask, Lengths, NearestRate
from jdkmatrix.loads.kinds.rising_steps import RisingSteps, StepsLoad
from jdkmatrix.method.gate import DEFAULT_CONTEXT, WindowContext
from jdkmatrix.method.gates import Thresholds
from jdkmatrix.method.shortfalls import window_shortfalls
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.subjects.served.findings import Findings
from jdkmatrix.subjects.served.phases import measure_phases
from jdkmatrix.subjects.served.windows import Windows
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import Shape, synthetic_run
from tests.support.served_windows import latency
from tests.support.shipped import MATRIX

LIMITS = MATRIX.thresholds
LOAD = StepsLoad(rates_rps=(1000, 2000, 3000, 4000, 5000, 6000), connections=50, step_s=2, warmup_rps=500)


@dataclass
class Server:
    """SYNTHETIC: answers up to `capacity_rps`, for which it needs all its CPUs, and fails what it cannot answer. As
    `Windows` it measures; it takes note of what it was asked for."""

    like: Window
    capacity_rps: float
    thresholds: Thresholds = LIMITS
    means: WindowContext = DEFAULT_CONTEXT
    asked: list[float] = field(default_factory=list)

    def nearest_rps(self, connections: int) -> NearestRate:
        return float

    def measure(self, ask: Ask, *, index: int) -> Window:
        load, duration_s = ask.load, ask.duration_s
        assert isinstance(load, RateLoad)
        self.asked.append(load.rate_rps)
        reached = min(load.rate_rps, self.capacity_rps)
        late = 1.0 if reached == load.rate_rps else 500.0
        seen = {
            "load": load, "due": round(load.rate_rps * duration_s), "completed": round(reached * duration_s),
            "throughput_rps": reached, "errors": Errors(timeout=round((load.rate_rps - reached) * duration_s)),
            "corrected": latency(400.0 * late, 1.0, 1000),
        }  # fmt: skip
        used = {"cpu_us_per_request": 100.0 + index, "cpu_share": reached / self.capacity_rps}
        usage = self.like.sut.model_copy(update=used)
        measured = with_load(self.like, seen, index=index, sut=usage, reasons=())
        return measured.model_copy(update={"shortfalls": window_shortfalls(measured.load, self.thresholds)})


def stepped(like: Window, capacity_rps: float, load: StepsLoad = LOAD) -> tuple[Server, list[Window]]:
    server, found = Server(like, capacity_rps), Findings()
    measure_phases(RisingSteps(load), cast(Windows, cast(Any, server)), Lengths(1, 1), found)
    return server, found.windows


def stepped_at(loaded: LoadedRun, most_rps: Mapping[str, float]) -> LoadedRun:
    """The same run under rising steps, on servers that can do so much, by executor."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        return altered(fork, {"windows": tuple(stepped(fork.windows[0], most_rps[cell.key.executor])[1])})

    return with_forks(loaded, changed, load=LOAD)


def stepped_run(folder: Path) -> LoadedRun:
    """A run under rising rates, in which virtual threads are saturated first."""
    plain = synthetic_run(folder, Shape(run_id="steps", jdks=("temurin-25",), blocks=2))

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        share = 0.8 if cell.key.executor == "virtual" else 1.0
        return altered(fork, {"windows": tuple(stepped(fork.windows[0], 3500.0 * share + fork.fork)[1])})

    return with_forks(plain, changed, load=LOAD)
