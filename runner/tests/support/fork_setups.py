"""The setup with which a test measures a fork, unless the test says otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellSetup, ForkDraft
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.host.cpusets import CpuSets
from tests.support.builders import SATURATE, key
from tests.support.run_facts import host_facts
from tests.support.shipped import MATRIX

CPUS = CpuSets(sut=(min(os.sched_getaffinity(0)),), driver=(), overlapped=False)


def usual(*, windows: int = 1, window_s: float = 1.0, **changes: Any) -> dict[str, Any]:
    """Return the fields of a `CellSetup`; by default a fork has one window of one second."""
    protocol = {"description": "", "blocks": 1, "windows": windows, "window_s": window_s, "select": {}}
    return {
        "matrix": MATRIX, "profile": Profile.model_validate(protocol), "host": host_facts(),
        "confiner": Confiner(None, "not tried in this test"), "load": SATURATE,
        "workload": MATRIX.workloads["mp-ping"], "cpu_sets": CPUS, "calibration": None, "burn_rounds": 0,
        "jvm_flags": {}, "kernel": {}, "remote": None, "inputs": {}, **changes,
    }  # fmt: skip


def draft_of(
    setup: CellSetup, folder: Path, cell: CellKey | None = None, planned: PlannedFork | None = None
) -> ForkDraft:
    """Draft a fork whose logs and scratch are below `folder`; the folder for logs is made at once."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    fork = planned or PlannedFork(cell or key(), fork=1, position=1, sequence=1)
    return ForkDraft(setup, fork, folder / "scratch", folder / "logs", "../logs")
