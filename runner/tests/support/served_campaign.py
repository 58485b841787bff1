"""A campaign of servers' cells whose forks are made up."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import GivenLoad, SaturateLoad
from jdkmatrix.fork.fork_record import ForkDraft, Listener
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.run import campaign as module
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.plan import make_plan
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.builders import fork_with, key, load_result, window
from tests.support.fork_setups import usual
from tests.support.shipped import MATRIX

CLOSED = SaturateLoad(connections=50)
QUIET, NOISY = key("virtual", cpus=1), key("virtual", cpus=2)
CELLS = tuple(one.model_copy(update={"executor": e}) for one in (QUIET, NOISY) for e in ("liberty", "virtual"))


def measured(number: int, throughput_rps: float, status: Status = Status.OK) -> Fork:
    windows = (window(1, load_result(throughput_rps=throughput_rps), t_s=10.0),) if status is Status.OK else ()
    return fork_with(*windows, number=number, status=status)


def made_up(cell_key: CellKey, block: int) -> Fork:
    """Two CPUs scatter by 30 %, one by 0.1 %; the same fork every time it is asked for."""
    source = random.Random(f"{cell_key.cell_id}#{block}")
    level = 1000.0 if base_of(cell_key.executor) == "liberty" else 800.0
    return measured(block, level * source.lognormvariate(0, 0.3 if cell_key.cpus == 2 else 0.001))


class Heard:
    def __init__(self) -> None:
        self.decisions: list[str] = []
        self.added: list[int] = []
        self.notices: list[str] = []

    def step(self, text: str) -> None: ...

    def forks_added(self, forks: int) -> None:
        self.added.append(forks)

    def fork_started(self, planned: object) -> None: ...

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None: ...

    def block_finished(self, group: object, more: bool) -> None: ...

    def decided(self, text: str) -> None:
        self.decisions.append(text)

    def notice(self, text: str) -> None:
        self.notices.append(text)


def run(campaign: Campaign, heard: Heard) -> tuple[str, ...]:
    return campaign.measure(campaign.open(heard.notice), heard)


def campaign(
    store: RunStore, *, session: int = 1, repeats_max: int = 2, load: GivenLoad = CLOSED, **protocol: Any
) -> Campaign:
    profile = Profile.model_validate({"description": "", "windows": 1, "window_s": 1, "select": {}, **protocol})
    facts = DriverFacts(name="made-up", version="1", sha256=None, jdk=None, java_version=None)
    served = usual(
        profile=profile, load=load, driver=cast(Any, SimpleNamespace(facts=facts)), instance=cast(Any, None), mix=None,
        inputs={"load": load.model_dump()},
    )  # fmt: skip
    rules = MATRIX.measure.model_copy(update={"repeats_max": repeats_max})
    return Campaign(
        matrix=MATRIX.model_copy(update={"measure": rules}), profile=profile,
        plan=make_plan(CELLS, profile, seed=1, impossible={}), setups=dict.fromkeys(CELLS, ServedCell(**served)),
        store=store, session=session,
    )  # fmt: skip


def measure_nothing(run: list[str]) -> Callable[[ForkDraft, Listener], Fork]:
    """Makes forks up, and adds the label of each to `run`."""

    def one(setup: ForkDraft, listener: Listener) -> Fork:
        run.append(setup.planned.label)
        made = made_up(setup.planned.key, setup.planned.fork)
        return made.model_copy(update={"sequence": setup.planned.sequence, "position": setup.planned.position})

    return one


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore.create(tmp_path / "run")


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the forks that are measured from now on."""
    run: list[str] = []
    monkeypatch.setattr(module, "measure_fork", measure_nothing(run))
    return run


def cells_in(store: RunStore) -> list[CellRecord]:
    return [found for one in CELLS if isinstance(found := store.read_cell(one), CellRecord)]


def assert_no_block_is_split(store: RunStore) -> None:
    by_block: dict[tuple[int, int], set[int]] = {}
    for found in cells_in(store):
        for one in found.forks:
            by_block.setdefault((found.key.cpus, one.fork), set()).add(one.session)
    assert by_block
    assert all(len(sessions) == 1 for sessions in by_block.values()), by_block
