"""A campaign of experiments whose program never runs."""

from __future__ import annotations

from typing import Any

import pytest

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.cell_key import NO_SERVER, CellKey
from jdkmatrix.fork.fork_record import ForkDraft, Listener
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run import campaign as module
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.plan import make_plan
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore
from jdkmatrix.subjects.experiments.measurement import ProgramCell
from tests.support.builders import pressure
from tests.support.fork_setups import usual
from tests.support.pinning_results import RESULT
from tests.support.records import experiment_fork
from tests.support.shipped import MATRIX

CELLS = tuple(
    CellKey(workload=f"pinning-{held}", server=NO_SERVER, jdk=jdk, executor="virtual", cpus=2, burn_us=0,
            load="count-100")
    for held in ("synchronized", "lock") for jdk in ("temurin-21.0.8", "temurin-25")
)  # fmt: skip


CPUS = CpuSets(sut=(0, 1), driver=(), overlapped=False, shares_cores=False)


def result(throughput_per_s: float, **changes: Any) -> ProgramResult:
    seen = {**RESULT["seen"], "throughput_per_s": throughput_per_s}
    return ProgramResult.model_validate({**RESULT, "seen": seen, **changes})


def fork(number: int, found: ProgramResult | None, status: Status = Status.OK, *codes: str) -> Fork:
    return experiment_fork(
        fork=number, position=1, sequence=number, status=status,
        reasons=tuple(Reason(code=code, message=f"it was {code}") for code in codes), started_at="a", ended_at="b",
        command=("java",), host=pressure(), result=found, logs={},
        confinement=Confinement(sut_cpus=CPUS.sut, driver_cpus=(), method="sched_setaffinity", overlapped=False),
    )  # fmt: skip


def campaign(store: RunStore, *, block_ms: int = 50, **protocol: Any) -> Campaign:
    profile = Profile.model_validate({"description": "", "windows": 2, "window_s": 3, "select": {}, **protocol})
    setups = {
        key: ProgramCell(**usual(
            profile=profile, load=MATRIX.task_load(key), workload=MATRIX.experiments[key.workload], command=("java",),
            cpu_sets=CPUS, inputs={"block_ms": block_ms},
        ))
        for key in CELLS
    }  # fmt: skip
    return Campaign(
        matrix=MATRIX, profile=profile, plan=make_plan(CELLS, profile, seed=1, impossible={}),
        setups=setups, store=store,
    )  # fmt: skip


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[ForkDraft]:
    run: list[ForkDraft] = []

    def one(setup: ForkDraft, listener: Listener) -> Fork:
        run.append(setup)
        return fork(setup.planned.fork, result(100.0 * setup.planned.fork)).model_copy(
            update={"sequence": setup.planned.sequence}
        )

    monkeypatch.setattr(module, "measure_fork", one)
    return run


def read(store: RunStore, key: CellKey) -> CellRecord:
    found = store.read_cell(key)
    assert found is not None
    return found
