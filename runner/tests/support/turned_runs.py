"""SYNTHETIC runs whose forks took turns."""

from __future__ import annotations

import math
import random
from pathlib import Path

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import Shape, synthetic_run

STEAL = Reason(code="steal", message="the hypervisor took <b>9 %</b> away")


def turned_run(folder: Path, *, blocks: int = 4, rounds: int = 10, share: float = 0.7) -> LoadedRun:
    """Of `virtual` and the pool's `liberty`, at `share` of its requests per second: both drift along by 2 % a round and
    scatter little. In every fork of `virtual` the first round is spoilt, in every one of `liberty` the last."""
    plain = synthetic_run(folder, Shape(jdks=("temurin-25",), blocks=blocks, run_id="turned"))
    source = random.Random(5)
    together: dict[int, tuple[int, ...]] = {}
    for number in range(1, blocks + 1):
        together[number] = tuple(fork.sequence for cell in plain.cells for fork in cell.forks if fork.fork == number)

    def turned(cell: CellRecord, fork: Fork) -> Fork:
        virtual = cell.key.executor == "virtual"
        level, spoilt = 30_000 * (share if virtual else 1.0), 1 if virtual else rounds
        windows = tuple(
            _window(
                fork.windows[0], index, level * 1.02**index * math.exp(source.gauss(0, 0.004)), spoilt=index == spoilt
            )
            for index in range(1, rounds + 1)
        )
        return altered(fork, {"windows": windows}).model_copy(update={"together": together[fork.fork]})

    return with_forks(plain, turned)


def _window(like: Window, index: int, rps: float, *, spoilt: bool) -> Window:
    seen = {"throughput_rps": rps, "completed": round(rps), "sent": round(rps), "duration_s": 1.0}
    usage = like.sut.model_copy(update={"cpu_us_per_request": 1e6 / rps})
    reasons = (STEAL,) if spoilt else ()
    return with_load(like, seen, index=index, t_s=60.0 + 2.5 * index, sut=usage, reasons=reasons)
