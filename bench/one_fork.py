"""Measure one fork as any run does, for the sake of its windows."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from jdkmatrix.config.load import load_matrix
from jdkmatrix.config.model import Matrix, Profile, Selection
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.fork_record import CellSetup
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.provision.project import find_project
from jdkmatrix.records.forks import Fork
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.origins import source_revision
from jdkmatrix.run.plan import select_cells
from jdkmatrix.run.prepare import prepare
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore

PROFILE = "one-fork"
RATE = "one-fork-rate"
PRECISION = 0.05


def keep(file: Path | None, name: str, found: Sequence[BaseModel], host: Mapping[str, object] | None) -> None:
    """Write what was found to `file`, under `name`; `host`: None if not all was measured, and then into a file beside
    it."""
    if file is None:
        return
    to = file if host is not None else file.with_suffix(".part.json")
    to.write_text(json.dumps({**(host or {}), name: [one.model_dump() for one in found]}, indent=1) + "\n")
    if host is None:
        print(f"what was measured is in {to}", file=sys.stderr)


@dataclass(frozen=True)
class Asked:
    """`load`: one from matrix.toml, or `RATE`, which is `rate_rps` over 50 connections."""

    workload: str
    executor: str
    load: str
    windows: int
    window_s: float
    rate_rps: float = 1000.0
    wait_us: int = 0
    cpus: int = 1


@dataclass(frozen=True)
class OneFork:
    """A fork ready to be measured once; `setup` is that of its only cell."""

    matrix: Matrix
    prepared: Prepared

    @property
    def setup(self) -> CellSetup:
        return next(iter(self.prepared.setups.values()))

    def measured(self, folder: Path, step: Callable[[str], None], *, setup: CellSetup | None = None) -> Fork:
        """Measure the fork. `folder`: where its run goes; `step`: hears of every window as soon as it is over.

        Raises:
            MatrixError: it has no window.
        """
        (cell,) = self.prepared.plan.cells
        store = RunStore.create(Path(tempfile.mkdtemp(dir=folder)) / "run")
        campaign = Campaign(
            matrix=self.matrix,
            profile=self.matrix.profiles[PROFILE],
            plan=self.prepared.plan,
            setups={cell: setup or self.setup},
            store=store,
        )
        campaign.measure(campaign.open(step), Listening(step))
        recorded = store.read_cell(cell)
        if recorded is None or not recorded.forks:
            raise MatrixError("the fork was not recorded")
        fork = recorded.forks[-1]
        if not fork.windows:
            raise MatrixError(f"the fork has no windows: {'; '.join(reason.message for reason in fork.reasons)}")
        return fork


def get_ready(asked: Asked, confiner: Confiner, say: Callable[[str], None], *, seed: int) -> OneFork:
    project = find_project()
    matrix = _only(load_matrix(project.matrix), asked)
    ready = prepare(
        project,
        matrix,
        matrix.profiles[PROFILE],
        select_cells(matrix, PROFILE),
        seed=seed,
        known_calibration=lambda _: None,
        capacities_rps={},
        confiner=confiner,
        say=say,
    )
    return OneFork(matrix, ready)


def facts(prepared: Prepared) -> dict[str, object]:
    """Return where and with what it was measured."""
    host = prepared.host
    return {
        "measured_at": datetime.now(UTC).date().isoformat(),
        "commit": source_revision(find_project().root, None)[0],
        "cpu": host.cpu.model,
        "kernel": host.kernel.split()[0],
        "virtualisation": host.virtualisation,
        "irq_time_accounting": host.irq_time_accounting,
    }


def _only(matrix: Matrix, asked: Asked) -> Matrix:
    select = Selection(
        workload=(asked.workload,), server=("open-liberty",), jdk=("temurin-25",), executor=(asked.executor,),
        cpus=(asked.cpus,), burn_us=(0,), wait_us=(asked.wait_us,), load=(asked.load,),
    )  # fmt: skip
    profile = Profile(
        description="one fork",
        blocks=1,
        windows=asked.windows,
        window_s=asked.window_s,
        precision=PRECISION,
        select=select,
    )
    loads: Mapping[str, object] = {**matrix.loads, RATE: RateLoad(rate_rps=asked.rate_rps, connections=50)}
    axes = matrix.axes.model_copy(update={"load": (*matrix.axes.load, RATE)})
    measure = matrix.measure.model_copy(update={"repeats_max": 0})
    return matrix.model_copy(update={"loads": loads, "axes": axes, "profiles": {PROFILE: profile}, "measure": measure})


class Listening:
    """Passes on the steps of forks."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self.step = step

    def forks_added(self, forks: int) -> None: ...

    def fork_started(self, planned: PlannedFork) -> None: ...

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None: ...

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None: ...

    def decided(self, text: str) -> None: ...
