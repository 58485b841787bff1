"""Forks under a rising load: SYNTHETIC ones, and those of the reference run of infoq-rampup."""

from __future__ import annotations

import json
from itertools import pairwise

from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad, RisingLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval, LoadResult
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import fork_with, window
from tests.support.project import RECORDED
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import Shape, made_up

LEVEL = RampedLoad(points=((0, 100), (10, 1000), (30, 1000)), connections=100, warmup_rps=50)
RISING = RampedLoad(points=((0, 100), (30, 3100)), connections=100, warmup_rps=50)
JOINING = JoinedLoad(connections=1000, join_s=10, held_s=20, warmup_rps=50)
STARTED_S = 20.0  # start of the load, since the start of the process


def with_ramp(fork: Fork, load: RisingLoad, *, lag_s: float, capacity_rps: float) -> Fork:
    """Make a SYNTHETIC fork: throughput follows the rate `lag_s` late, the time that requests take, up to a capacity
    beyond which they take longer; one CPU second per 1,000 requests, and twice that up to second 20."""
    intervals = []
    cpu_s = [0.0]
    for second in range(1, int(load.duration_s) + 1):
        rate_rps = _rate(load, second, lag_s)
        done = min(_rate(load, max(0.0, second - lag_s), lag_s), capacity_rps)
        p99_us = lag_s * 1e6 * (1 if rate_rps <= capacity_rps else 1 + rate_rps - capacity_rps)
        intervals.append(
            Interval(t_s=second, completed=round(done), errors=0, p50_us=p99_us, p99_us=p99_us, max_us=p99_us * 2)
        )
        cpu_s.append(cpu_s[-1] + round(done) / (1000 if second > 20 else 500))
    like = fork.windows[0]
    seen = {"load": load.ramp, "intervals": tuple(intervals), "duration_s": load.duration_s, "due": 10}
    window = with_load(like, seen, t_s=STARTED_S, reasons=())
    # Half a second off the driver's seconds, as samples are.
    samples = tuple(
        fork.samples[-1].model_copy(update={"t_s": STARTED_S - 0.5 + i, "cpu_s": (before_s + after_s) / 2})
        for i, (before_s, after_s) in enumerate(pairwise((cpu_s[0], *cpu_s, cpu_s[-1])))
    )
    return altered(fork, {"windows": (window,), "samples": samples})


def _rate(load: RisingLoad, t_s: float, lag_s: float) -> float:
    """Return the rate asked for; in a closed loop, the rate that answers within `lag_s` make."""
    return load.rate_at(t_s) if isinstance(load, RampedLoad) else load.joined_at(t_s) / lag_s


def ramped(load: RisingLoad) -> LoadedRun:
    """Return a run under the ramp, in which virtual threads are quicker."""
    plain = made_up(Shape(run_id="ramp", jdks=("temurin-25",), blocks=2))

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        quick = cell.key.executor == "virtual"
        return with_ramp(fork, load, lag_s=1 if quick else 5, capacity_rps=2500 if quick else 2000)

    return with_forks(plain, changed, load=load)


def recorded_ramps() -> list[tuple[str, str, Fork]]:
    """Return server, executor and fork, which holds only what the driver saw. All are from an earlier reference run of
    infoq-rampup: for the pool, all forks on the two releases that have the fix and one on 23.0.0.9; two for virtual
    threads. Distributions have only their percentiles."""
    found = json.loads((RECORDED / "ramps" / "infoq-rampup.json").read_text())
    return [
        (one["server"], one["executor"], fork_with(window(1, LoadResult.model_validate(one["load"])))) for one in found
    ]
