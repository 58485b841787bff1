"""A campaign whose forks take turns: made-up forks, real files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from jdkmatrix.fork.fork_record import ForkDraft, Listener, Round
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.run import campaign as module
from jdkmatrix.run.repeats import in_blocks
from jdkmatrix.store.runs import RunStore
from tests.support.outcome_runs import NO_DRIVER, failed, without_driver
from tests.support.served_campaign import Heard, Script, assert_no_block_is_split, campaign, cells_in, run, store

__all__ = ["store"]

IN_TURNS: dict[str, Any] = {"protocol": "interleaved", "rounds": 4}


class Lanes:
    """Forks of a script that take turns. `asked`: which of them for what, in order."""

    def __init__(self) -> None:
        self.script = Script()
        self.asked: list[tuple[str, str]] = []
        self.scratch: set[Path] = set()


@dataclass
class TakesTurns:
    lanes: Lanes
    setup: ForkDraft
    listener: Listener

    def _hear(self, what: str) -> None:
        self.lanes.asked.append((self.setup.planned.label, what))

    def __enter__(self) -> Self:
        assert self.setup.scratch.is_dir()
        self.lanes.scratch.add(self.setup.scratch)
        self._hear("start")
        return self

    def __exit__(self, *error: object) -> None: ...

    def rewarm(self, duration_s: float) -> None:
        self._hear("rewarm")

    def window(self, turn: Round) -> None:
        self._hear("round")

    def close(self) -> Fork:
        self._hear("end")
        return self.lanes.script(self.setup, self.listener)


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Lanes:
    made = Lanes()
    monkeypatch.setattr(module, "RunningFork", partial(TakesTurns, made))
    monkeypatch.setattr(module, "available_memory_bytes", lambda: 8 << 30)
    monkeypatch.setattr(module, "measure_fork", made.script)
    return made


def block_of(store: RunStore, number: int) -> list[str]:
    block = in_blocks(campaign(store, blocks=2, **IN_TURNS).plan.forks)[number]
    return [planned.label for planned in block.forks]


def test_the_forks_of_a_block_run_at_once_and_know_each_other(store: RunStore, lanes: Lanes) -> None:
    order = run(campaign(store, blocks=1, **IN_TURNS), Heard())
    one, two = block_of(store, 0)
    mine = [what for label, what in lanes.asked if label == one]
    assert mine == ["start", "rewarm", *["round"] * 4, "end"]
    assert lanes.asked[:4] == [(one, "start"), (two, "start"), (one, "rewarm"), (two, "rewarm")]
    in_rounds = [label for label, what in lanes.asked if what == "round"][:8]
    assert sorted(in_rounds[:2]) == sorted(in_rounds[2:4]) == sorted((one, two))
    assert in_rounds[:2] == in_rounds[4:6] == in_rounds[2:4][::-1], "ABBA"
    assert list(order) == [*block_of(store, 0), *block_of(store, 1)]
    for found in cells_in(store):
        (fork,) = found.forks
        assert fork.sequence in fork.together and len(fork.together) == 2
        assert fork.why_alone is None
    by_sequence = {fork.sequence: fork for found in cells_in(store) for fork in found.forks}
    assert by_sequence[1].took_turns_with(by_sequence[2])
    assert not by_sequence[1].took_turns_with(by_sequence[3])
    assert len(lanes.scratch) == 2, "each server has files of its own"


def test_a_fault_in_one_fork_has_the_whole_block_measured_again(store: RunStore, lanes: Lanes) -> None:
    one, other = block_of(store, 0)
    lanes.script.endings[other] = [without_driver]
    heard = Heard()
    run(campaign(store, blocks=1, **IN_TURNS), heard)
    assert lanes.script.labels[:4] == [one, other, f"{one}.2", f"{other}.2"]
    assert "the whole block is measured again" in heard.decisions[0]
    assert heard.added == [4, 2]
    cells = {found.key.cell_id: found for found in cells_in(store)}
    for label in (one, other):
        found = cells[label.partition("#")[0]]
        assert [fork.attempt for fork in found.forks] == [2]
        assert [fork.attempt for fork in found.attempts] == [1]
        assert found.attempts[0].reasons[-1].code == "block-measured-again"
    assert cells[one.partition("#")[0]].forks[0].together == (3, 4)


def test_a_block_that_takes_turns_again_stands_as_it_was_until_it_is_whole(store: RunStore, lanes: Lanes) -> None:
    one, _ = block_of(store, 0)
    lanes.script.endings[one] = [without_driver]
    lanes.script.cut_after = 3
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=1, **IN_TURNS), Heard())
    assert [(fork.attempt, fork.usable) for found in cells_in(store) for fork in found.forks].count((1, True)) == 1
    assert all(not found.attempts for found in cells_in(store))
    lanes.script.cut_after = None
    run(campaign(store, session=2, blocks=1, **IN_TURNS), Heard())
    assert all(fork.usable for found in cells_in(store) for fork in found.forks)
    assert_no_block_is_split(store)


def test_faults_without_an_end_are_given_up_and_left_to_another_session(store: RunStore, lanes: Lanes) -> None:
    one, other = block_of(store, 0)
    lanes.script.endings[one] = [without_driver] * 3
    run(campaign(store, blocks=1, **IN_TURNS), Heard())
    assert [label for label in lanes.script.labels if label.startswith(one)] == [one, f"{one}.2", f"{one}.3"]
    assert campaign(store, blocks=1, **IN_TURNS).needed(campaign(store, blocks=1, **IN_TURNS).open(print))
    lanes.script.labels.clear()
    run(campaign(store, session=2, blocks=1, **IN_TURNS), Heard())
    assert lanes.script.labels == [f"{one}.4", f"{other}.4"], "the block that lacks a fork, whole"
    assert_no_block_is_split(store)


def test_an_executor_that_fails_by_itself_costs_the_others_nothing(store: RunStore, lanes: Lanes) -> None:
    one, _ = block_of(store, 0)
    lanes.script.endings[one] = [failed(NO_DRIVER.model_copy(update={"code": "server"}))]
    run(campaign(store, blocks=1, **IN_TURNS), Heard())
    assert len(lanes.script.labels) == 4
    assert {fork.status for found in cells_in(store) for fork in found.forks} == {Status.OK, Status.FAILED}


def test_where_memory_is_short_they_are_measured_one_by_one_and_say_why(
    store: RunStore, lanes: Lanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "available_memory_bytes", lambda: 1 << 30)
    run(campaign(store, blocks=1, **IN_TURNS), Heard())
    assert lanes.asked == []
    for found in cells_in(store):
        assert found.forks[0].together == ()
        assert found.forks[0].why_alone == "2 servers at once need 2.0 GiB of memory, and 1.0 GiB are free"
    separate = RunStore.create(store.directory.with_name("separate"))
    run(campaign(separate, blocks=1), Heard())
    assert {fork.why_alone for found in cells_in(separate) for fork in found.forks} == {None}, "nobody asked for turns"
