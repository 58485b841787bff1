"""SYNTHETIC forks with a search for their capacity."""

from __future__ import annotations

import random
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.loads.base import Ask
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad, CapacitySearch
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.subjects.served.windows import measure_all
from tests.support.records import altered, with_forks, with_load
from tests.support.served_windows import latency

LOAD = CapacityLoad(connections=50, p99_max_us=10_000, floor_share=0.1, resolution=0.05, step_s=3)


def _measured(like: Window, capacity_rps: float, ask: Ask, *, index: int) -> Window:
    """Its p99 grows towards `capacity_rps`, and by a factor beyond it; the third window is disturbed."""
    load = ask.load
    assert isinstance(load, RateLoad)
    late = load.rate_rps > capacity_rps
    scale_us = 400 / (1.05 - load.rate_rps / capacity_rps) if not late else 300_000
    reasons = (Reason(code="steal", message="the hypervisor took <b>9 %</b> away"),) if index == 3 else ()
    seen = {"load": load, "corrected": latency(scale_us, 1.0, 10_000), "throughput_rps": load.rate_rps}
    return with_load(like, seen, index=index, reasons=reasons)


def searched(loaded: LoadedRun) -> LoadedRun:
    """The same run with a search in every fork, for rates around 0.8 of its closed loop's throughput."""
    source = random.Random(5)

    def with_search(cell: CellRecord, fork: Fork) -> Fork:
        ceiling_rps = fork.windows[0].load.throughput_rps
        capacity_rps = ceiling_rps * 0.8 * source.lognormvariate(0, 0.03)
        server = SimpleNamespace(measure=partial(_measured, fork.windows[0], capacity_rps))
        search = CapacitySearch(LOAD).search_below(ceiling_rps, float)
        found = measure_all(search, cast(Any, server), [])
        return altered(fork, {"capacity": found})

    return with_forks(loaded, with_search, load=LOAD)
