"""A campaign of servers' cells whose forks are made up."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from jdkmatrix.config.model import Profile
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of
from jdkmatrix.domain.loads import GivenLoad
from jdkmatrix.fork.fork_record import ForkDraft, Listener
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.run.campaign import Campaign
from jdkmatrix.run.plan import make_plan
from jdkmatrix.run.repeats import in_blocks
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore
from jdkmatrix.subjects.served.measurement import ServedCell
from tests.support.builders import SATURATE, fork_with, key, load_result, window
from tests.support.fork_setups import usual
from tests.support.outcome_runs import Change
from tests.support.shipped import MATRIX

QUIET, NOISY = key("virtual", cpus=1), key("virtual", cpus=2)
CELLS = tuple(one.model_copy(update={"executor": e}) for one in (QUIET, NOISY) for e in ("liberty", "virtual"))


def measured(number: int, throughput_rps: float, status: Status = Status.OK) -> Fork:
    windows = (window(1, load_result(throughput_rps=throughput_rps), t_s=10.0),) if status is Status.OK else ()
    return fork_with(*windows, number=number, status=status)


def made_up(cell_key: CellKey, block: int) -> Fork:
    """Make up a fork, the same one every time; throughput scatters by 30 % on two CPUs, by 0.1 % on one."""
    source = random.Random(f"{cell_key.cell_id}#{block}")
    level = 1000.0 if base_of(cell_key.executor) == "liberty" else 800.0
    return measured(block, level * source.lognormvariate(0, 0.3 if cell_key.cpus == 2 else 0.001))


class Heard:
    def __init__(self) -> None:
        self.decisions: list[str] = []
        self.added: list[int] = []
        self.more: dict[CellKey, list[bool]] = {}  # by condition, after each of its blocks

    def step(self, text: str) -> None: ...

    def forks_added(self, forks: int) -> None:
        self.added.append(forks)

    def fork_started(self, planned: object) -> None: ...

    def fork_finished(self, fork: Fork, cell: CellRecord) -> None: ...

    def block_finished(self, group: Sequence[CellRecord], more: bool) -> None:
        self.more.setdefault(group[0].key.group, []).append(more)

    def decided(self, text: str) -> None:
        self.decisions.append(text)


def run(campaign: Campaign, heard: Heard) -> tuple[str, ...]:
    return campaign.measure(campaign.open(None), heard)


def campaign(
    store: RunStore,
    *,
    session: int = 1,
    repeats_max: int = 2,
    load: GivenLoad = SATURATE,
    cells: Sequence[CellKey] = CELLS,
    **protocol: Any,
) -> Campaign:
    profile = Profile.model_validate({"description": "", "windows": 1, "window_s": 1, "select": {}, **protocol})
    facts = DriverFacts(name="made-up", version="1", sha256=None, jdk=None, java_version=None)
    built = Workloads(files={}, servers=Path(), sha256={})
    served = usual(
        profile=profile, load=load, driver=cast(Any, SimpleNamespace(facts=facts)),
        instance=cast(Any, SimpleNamespace(workloads=built)), mix=None,
        inputs={"load": load.model_dump(), "artefacts": {}},
    )  # fmt: skip
    rules = MATRIX.measure.model_copy(update={"repeats_max": repeats_max})
    return Campaign(
        matrix=MATRIX.model_copy(update={"measure": rules}), profile=profile,
        plan=make_plan(cells, profile, seed=1, impossible={}), setups=dict.fromkeys(cells, ServedCell(**served)),
        store=store, session=session,
    )  # fmt: skip


class Script:
    """Endings of the attempts at some forks, by cell and block; all others end well. `labels`: what was measured."""

    def __init__(self) -> None:
        self.endings: dict[str, list[Change]] = {}
        self.labels: list[str] = []
        self.positions: list[int] = []
        self.cut_after: int | None = None
        self.signal_at: int | None = None  # Ctrl-C, once this many have been measured

    def __call__(self, setup: ForkDraft, _: Listener, when_measured: Callable[[], object] = lambda: None) -> Fork:
        if len(self.labels) == self.cut_after:
            raise KeyboardInterrupt
        planned = setup.planned
        self.labels.append(planned.label)
        self.positions.append(planned.position)
        (setup.log_dir / "messages.log").write_text(planned.label)
        logs = {"messages.log": f"{setup.log_prefix}/messages.log"}
        seen = {"sequence": planned.sequence, "position": planned.position, "logs": logs}
        made = made_up(planned.key, planned.fork).model_copy(update=seen)
        when_measured()
        if len(self.labels) == self.signal_at:
            signal.raise_signal(signal.SIGINT)
        endings = self.endings.get(f"{planned.key.cell_id}#{planned.fork}")
        return endings.pop(0)(made) if endings else made


def block_of(store: RunStore, number: int = 0) -> list[str]:
    """Return the labels of its forks if there is one block of each condition."""
    return [planned.label for planned in in_blocks(campaign(store, blocks=1).plan.forks)[number].forks]


def cells_in(store: RunStore) -> list[CellRecord]:
    return [found for one in CELLS if isinstance(found := store.read_cell(one), CellRecord)]


def assert_no_block_is_split(store: RunStore) -> None:
    found = {(cell.key.cpus, fork.fork, fork.session) for cell in cells_in(store) for fork in cell.forks}
    assert found and len(found) == len({block[:2] for block in found}), found
