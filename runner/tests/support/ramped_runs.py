"""SYNTHETIC forks under a ramp."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jdkmatrix.records.cells import CellRecord
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.windows import Sample
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.terms.loads import RampedLoad
from tests.support.records import altered
from tests.support.served_runs import Shape, synthetic_run

LEVEL = RampedLoad(points=((0, 100), (10, 1000), (30, 1000)), connections=100, warmup_rps=50)


RISING = RampedLoad(points=((0, 100), (30, 3100)), connections=100, warmup_rps=50)


STARTED_S = 20.0  # of the load, since the start of the process


def with_ramp(fork: Fork, load: RampedLoad, *, lag_s: float, capacity_rps: float) -> Fork:
    """SYNTHETIC: throughput follows the rate `lag_s` late, up to a capacity beyond which p99 grows; one CPU second per
    1,000 requests, and twice that in the first half of the level stretch."""
    intervals = []
    cpu_s = [0.0]
    for second in range(1, int(load.duration_s) + 1):
        rate_rps = load.rate_at(second)
        done = min(load.rate_at(max(0.0, second - lag_s)), capacity_rps)
        p99_us = 1000.0 if rate_rps <= capacity_rps else 1000.0 * (1 + rate_rps - capacity_rps)
        intervals.append(
            Interval(t_s=second, completed=round(done), errors=0, p50_us=p99_us / 2, p99_us=p99_us, max_us=p99_us * 2)
        )
        cpu_s.append(cpu_s[-1] + round(done) / (1000 if second > 20 else 500))
    like = fork.served.windows[0]
    result = like.load.model_copy(
        update={"load": load.ramp, "intervals": tuple(intervals), "duration_s": load.duration_s, "due": 10}
    )
    window = like.model_copy(update={"t_s": STARTED_S, "load": result, "reasons": ()})
    samples = tuple(_sample(fork.served.samples[-1], STARTED_S - 0.5 + i, cpu_s, i) for i in range(len(cpu_s) + 1))
    return altered(fork, {"windows": (window,), "samples": samples})


def _sample(like: Sample, t_s: float, cpu_s: list[float], i: int) -> Sample:
    """Half a second off the driver's seconds, as samples are."""
    known = cpu_s[min(i, len(cpu_s) - 1)]
    before = cpu_s[max(0, min(i - 1, len(cpu_s) - 1))]
    return like.model_copy(update={"t_s": t_s, "cpu_s": (known + before) / 2})


def ramped(folder: Path, load: RampedLoad) -> LoadedRun:
    """A run under the ramp, in which virtual threads are quicker."""
    plain = synthetic_run(folder, Shape(run_id="ramp", jdks=("temurin-25",), blocks=2))

    def changed(cell: CellRecord) -> CellRecord:
        quick = cell.key.executor == "virtual"
        forks = tuple(
            with_ramp(fork, load, lag_s=1 if quick else 5, capacity_rps=2500 if quick else 2000) for fork in cell.forks
        )
        return cell.model_copy(update={"load": load, "forks": forks})

    return replace(plain, cells=tuple(changed(cell) for cell in plain.cells))
