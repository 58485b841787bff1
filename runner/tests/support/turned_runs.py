"""SYNTHETIC runs whose forks took turns."""

from __future__ import annotations

import math
import random
from pathlib import Path

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import Shape, synthetic_run

STEAL = Reason(code="steal", message="the hypervisor took <b>9 %</b> away")
ROUNDS = 10


def turned_run(folder: Path) -> LoadedRun:
    """Of `virtual` and the pool's `liberty`, at 0.7 of its requests per second: both drift along by 2 % a round and
    scatter little. In every fork of `virtual` the first round is spoilt, in every one of `liberty` the last."""
    plain = synthetic_run(folder, Shape(jdks=("temurin-25",), blocks=4, run_id="turned"))
    source = random.Random(5)

    def turned(cell: CellRecord, fork: Fork) -> Fork:
        level, spoilt = (21_000.0, 1) if cell.key.executor == "virtual" else (30_000.0, ROUNDS)
        like = fork.windows[0]
        windows = []
        for index in range(1, ROUNDS + 1):
            rps = level * 1.02**index * math.exp(source.gauss(0, 0.004))
            seen = {"throughput_rps": rps, "completed": round(rps), "sent": round(rps), "duration_s": 1.0}
            usage = like.sut.model_copy(update={"cpu_us_per_request": 1e6 / rps})
            reasons = (STEAL,) if index == spoilt else ()
            windows.append(with_load(like, seen, index=index, t_s=60.0 + 2.5 * index, sut=usage, reasons=reasons))
        together = tuple(one.forks[fork.fork - 1].sequence for one in plain.cells)
        return altered(fork, {"windows": tuple(windows), "together": together})

    return with_forks(plain, turned)
