"""What a fork of a test is measured with, where a test does not say otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.fork.confinement import AffinityConfiner
from jdkmatrix.fork.fork_record import CellParts, ForkSetup, Subject
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.host.cpusets import CpuSets
from tests.support.builders import key
from tests.support.shipped import MATRIX

CPUS = CpuSets(sut=(min(os.sched_getaffinity(0)),), driver=(), overlapped=False, shares_cores=False)


def parts_with(subject: Subject, **changes: Any) -> CellParts:
    usual: dict[str, Any] = {"burn_rounds": 0, "jvm_flags": {}, "kernel": {}, "remote": None, "inputs": {}}
    return CellParts(subject=subject, **{"cpu_sets": CPUS, **usual, **changes})


def setup_with(parts: CellParts, folder: Path, cell: CellKey | None = None, **changes: Any) -> ForkSetup:
    """One window of a second; logs and scratch below `folder`, where logs may go at once."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    usual: dict[str, Any] = {
        "planned": PlannedFork(cell or key(), fork=1, position=1, sequence=1), "matrix": MATRIX, "windows": 1,
        "window_s": 1.0, "precision": 0.05, "irq_time_accounting": None,
        "confiner": AffinityConfiner("not tried in this test"), "scratch": folder / "scratch",
        "log_dir": folder / "logs", "log_prefix": "../logs",
    }  # fmt: skip
    return ForkSetup(parts=parts, **{**usual, **changes})
