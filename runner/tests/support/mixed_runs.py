"""SYNTHETIC runs with cells of servers and experiments without one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_run
from tests.support.served_runs import QUICK, synthetic_run


def mixed(folder: Path) -> LoadedRun:
    served = synthetic_run(folder, replace(QUICK, blocks=1))
    other = experiments_run(folder, ("pinning",))
    run = served.run.model_copy(
        update={"cells": (*other.run.cells, *served.run.cells), "matrix": {**served.run.matrix, **other.run.matrix}}
    )
    return replace(served, run=run, cells=(*served.cells, *other.cells))
