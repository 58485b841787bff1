"""How a run adds blocks, stops, continues after it was cut off, and has forks take turns; the forks are made up, their
files are real."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self
from unittest import mock

import pytest

from jdkmatrix.domain.loads import CountLoad, RateLoad
from jdkmatrix.fork.fork_record import ForkDraft, Listener, Round
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run import campaign as module
from jdkmatrix.run.blocks import comparisons, decide
from jdkmatrix.stats.stopping import Arms, StoppingRules, Why
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.outline import outline
from jdkmatrix.store.runs import RunStore
from tests.support.builders import cell, key
from tests.support.outcome_runs import NO_DRIVER, failed, without_driver
from tests.support.records import altered
from tests.support.served_campaign import (
    CELLS,
    NOISY,
    QUIET,
    Heard,
    Script,
    assert_no_block_is_split,
    block_of,
    campaign,
    cells_in,
    made_up,
    measured,
    run,
)


def test_blocks_are_added_where_figures_scatter_and_only_there(store: RunStore, script: Script) -> None:
    heard = Heard()
    order = run(campaign(store, blocks=5, max_blocks=8, precision=0.02), heard)
    assert [len(store.read_cell(one).forks) for one in (QUIET, NOISY)] == [5, 8]
    assert list(order) == script.labels
    sequences = {f"{c.key.cell_id}#{f.fork}": f.sequence for c in cells_in(store) for f in c.forks}
    assert [sequences[label] for label in order] == list(range(1, 5 * 4 + 3 * 2 + 1))
    assert heard.added[0] == 5 * 4
    assert sum("one more" in text for text in heard.decisions) == 3
    enough = [text for text in heard.decisions if text.endswith("enough")]
    assert len(enough) == 1
    assert "cpus-1" in enough[0]


def test_an_arm_that_is_to_have_fewer_blocks_holds_up_no_other(store: RunStore, script: Script) -> None:
    """No further block is promised where the plan has none."""
    aside, alone = QUIET.model_copy(update={"executor": "platform"}), NOISY.model_copy(update={"burn_us": 100})
    rules: dict[str, Any] = {
        "select": {"executor": ["liberty", "virtual"], "burn_us": [0]},
        "include": [{"executor": ["platform"], "blocks": 2}, {"burn_us": [100], "blocks": 3}],
    }
    quiet = [one for one in CELLS if one.cpus == QUIET.cpus]
    heard = Heard()
    run(campaign(store, cells=(*quiet, aside, alone), blocks=5, max_blocks=20, precision=0.02, **rules), heard)
    assert {one.executor: len(store.read_cell(one).forks) for one in (*quiet, aside)} == {
        "liberty": 5, "virtual": 5, "platform": 2,
    }  # fmt: skip
    assert heard.more == {QUIET.group: [True] * 5, alone.group: [True, True, False]}
    assert any("enough" in text for text in heard.decisions)


def test_where_a_load_has_no_figure_to_compare_no_block_is_added(store: RunStore, script: Script) -> None:
    run(campaign(store, load=CountLoad(count=100), blocks=5, max_blocks=20), Heard())
    assert len(script.labels) == 5 * len(CELLS)


@pytest.mark.parametrize("cut_after", [1, 7, 20, 21, 23])
def test_a_cut_off_run_goes_on_in_whole_blocks_to_the_same_end(tmp_path: Path, script: Script, cut_after: int) -> None:
    whole = run(campaign(RunStore.create(tmp_path / "whole"), blocks=5, max_blocks=8), Heard())
    script.labels.clear()
    store = RunStore.create(tmp_path / "cut")
    script.cut_after = cut_after
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=5, max_blocks=8), Heard())
    script.cut_after = None
    order = run(campaign(store, session=2, blocks=5, max_blocks=8), Heard())
    # Blocks here have two forks: after an odd number of forks, the last one's partner is missing.
    begun = cut_after % 2
    again = [f"{label}.2" for label in whole[cut_after - begun : cut_after]]
    assert list(order) == script.labels == [*whole[:cut_after], *again, *whole[cut_after:]]
    for found in cells_in(store):
        assert len(found.attempts) == sum(label.startswith(f"{found.key.cell_id}#") for label in again)
        assert all(one.reasons[-1].code == "block-measured-again" for one in found.attempts)
    assert_no_block_is_split(store)
    script.labels.clear()
    heard = Heard()
    assert run(campaign(store, session=3, blocks=5, max_blocks=8), heard) == order
    assert script.labels == []
    assert set(heard.added) == {0}


def test_cells_are_whole_on_disk_and_in_outline_in_memory(store: RunStore, script: Script) -> None:
    """Otherwise, a run of thousands of forks would not fit into memory."""
    begun = campaign(store, blocks=2)
    measured_now = begun.open(print)
    begun.measure(measured_now, Heard())
    whole = {cell.key: cell for cell in cells_in(store)}
    assert whole.keys() == set(CELLS)
    for cells in (measured_now, begun.open(print)):
        assert cells == {key: outline(cell) for key, cell in whole.items()}
    for one in whole.values():
        assert [fork.command for fork in one.forks] == [("java",)] * 2
        assert one.parameters["application"] == "mp-ping"
    assert len(script.labels) == 2 * 4


def test_a_file_that_is_damaged_while_a_run_goes_on_costs_series_and_no_figure(
    store: RunStore, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.cell_path(QUIET)

    def damaging(setup: ForkDraft, listener: Listener, _: object) -> Fork:
        if setup.planned.key == QUIET and setup.planned.fork == 3:
            path.write_text("{")
        return script(setup, listener)

    monkeypatch.setattr(module, "measure_fork", damaging)
    heard = Heard()
    run(campaign(store, blocks=4), heard)
    for one in cells_in(store):
        lost = 2 if one.key == QUIET else 0
        assert [fork.command for fork in one.forks] == [()] * lost + [("java",)] * (4 - lost)
        assert all(fork.windows for fork in one.forks)
    assert path.with_name(f"{path.name}.unreadable-1").read_text() == "{"
    assert [text for text in heard.decisions if str(path) in text and "unreadable-1" in text]


def kept_in(store: RunStore) -> list[str]:
    """Return the labels of all forks that are on disk."""
    return sorted(f"{found.key.cell_id}#{fork.fork}" for found in cells_in(store) for fork in found.forks)


@pytest.fixture
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_what_is_measured_when_a_run_is_stopped_is_kept(store: RunStore, script: Script) -> None:
    script.signal_at = 3
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=2), Heard())
    assert len(script.labels) == 3
    assert kept_in(store) == sorted(script.labels)


def cells_of(*executors: str, blocks: int = 6) -> list[CellRecord]:
    keys = [key(executor) for executor in executors]
    return [cell(one, tuple(made_up(one, block) for block in range(1, blocks + 1))) for one in keys]


def test_later_blocks_do_not_change_what_was_decided() -> None:
    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert decide(cells_of("liberty", "virtual", blocks=8), 5, rules) == decide(
        cells_of("liberty", "virtual", blocks=5), 5, rules
    )


def test_each_is_compared_with_its_reference() -> None:
    found = comparisons(cells_of("liberty", "virtual", "liberty-aa"), 6)
    assert set(found) == {"virtual", "liberty-aa"}
    assert found["liberty-aa"][1] == found["virtual"][1]


def test_without_a_reference_each_must_be_known_by_itself() -> None:
    found = comparisons(cells_of("fixed-8", "platform"), 6)
    assert set(found) == {"fixed-8", "platform"}
    assert set(found["platform"][1].values()) == {1.0}
    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert decide(cells_of("virtual"), 5, rules).why is Why.PRECISE


def test_a_comparison_whose_arms_lost_different_numbers_of_forks_holds_nobody_up() -> None:
    """It is not judged, however many blocks follow; what was lost later is not considered."""
    load = RateLoad(rate_rps=1000, connections=10)
    short = Reason(code="rate-missed", message="missed")

    def forks(lost: set[int]) -> tuple[Fork, ...]:
        def made(block: int) -> Fork:
            one = measured(block, 1000.0)
            missed = tuple(window.model_copy(update={"shortfalls": (short,)}) for window in one.windows)
            return altered(one, {"windows": missed}) if block in lost else one

        return tuple(map(made, range(1, 9)))

    def cells(**lost: set[int]) -> list[CellRecord]:
        keys = (key(executor) for executor in ("liberty", "virtual"))
        return [cell(one, forks(lost.get(one.executor, set()))).model_copy(update={"load": load}) for one in keys]

    rules = StoppingRules(precision=0.02, min_blocks=5, max_blocks=8)
    assert comparisons(cells(virtual={1, 2, 3}), 5) == {"virtual": Arms({}, {})}
    assert decide(cells(virtual={1, 2, 3}), 5, rules).stop
    both = comparisons(cells(virtual={1}, liberty={2}), 5)
    assert [set(arm) for arm in both["virtual"][:2]] == [{3, 4, 5}, {3, 4, 5}]
    assert not decide(cells(virtual={1}, liberty={2}), 5, rules).stop, "three pairs are fewer than the least"
    assert set(comparisons(cells(virtual={6, 7}), 5)["virtual"][0]) == {1, 2, 3, 4, 5}


def test_a_constant_rate_is_compared_by_cpu_time() -> None:
    load = RateLoad(rate_rps=1000, connections=10)
    forks = (measured(1, 1000.0), measured(2, 1000.0, Status.FAILED))
    cells = [cell(key(e), forks).model_copy(update={"load": load}) for e in ("liberty", "virtual")]
    assert comparisons(cells, 2) == {"virtual": Arms({1: 1000.0}, {1: 1000.0})}


IN_TURNS: dict[str, Any] = {"protocol": "interleaved", "rounds": 4}


@dataclass
class Lanes:
    """A script's forks that take turns. `asked`: which fork was asked for what, in order."""

    script: Script
    asked: list[tuple[str, str]] = field(default_factory=list)
    scratch: set[Path] = field(default_factory=set)


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
def lanes(script: Script, monkeypatch: pytest.MonkeyPatch) -> Lanes:
    made = Lanes(script)
    monkeypatch.setattr(module, "RunningFork", partial(TakesTurns, made))
    monkeypatch.setattr(module, "available_memory_bytes", lambda: 8 << 30)
    return made


def test_the_forks_of_a_block_run_at_once_and_know_each_other(store: RunStore, lanes: Lanes) -> None:
    order = run(campaign(store, blocks=1, **IN_TURNS), Heard())
    one, two = block_of(store)
    mine = [what for label, what in lanes.asked if label == one]
    assert mine == ["start", "rewarm", *["round"] * 4, "end"]
    assert lanes.asked[:4] == [(one, "start"), (two, "start"), (one, "rewarm"), (two, "rewarm")]
    in_rounds = [label for label, what in lanes.asked if what == "round"][:8]
    assert sorted(in_rounds[:2]) == sorted(in_rounds[2:4]) == sorted((one, two))
    assert in_rounds[:2] == in_rounds[4:6] == in_rounds[2:4][::-1], "ABBA"
    assert list(order) == [*block_of(store), *block_of(store, 1)]
    for found in cells_in(store):
        (fork,) = found.forks
        assert fork.sequence in fork.together and len(fork.together) == 2
        assert fork.why_alone is None
    by_sequence = {fork.sequence: fork for found in cells_in(store) for fork in found.forks}
    assert by_sequence[1].took_turns_with(by_sequence[2])
    assert not by_sequence[1].took_turns_with(by_sequence[3])
    assert len(lanes.scratch) == 2, "each server has files of its own"


@pytest.mark.usefixtures("interruptible")
def test_a_block_that_took_its_turns_is_kept_whole_when_the_run_is_stopped(store: RunStore, lanes: Lanes) -> None:
    """The run is stopped while the block's first fork ends, with the other's record only in memory."""
    lanes.script.signal_at = 1
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=2, **IN_TURNS), Heard())
    assert lanes.script.labels == block_of(store)
    assert kept_in(store) == sorted(block_of(store))


def test_a_block_is_kept_whole_though_nobody_can_be_told_of_it(store: RunStore, lanes: Lanes) -> None:
    """The run's terminal may be gone, say."""
    heard = Heard()
    heard.fork_finished = mock.Mock(side_effect=OSError)  # type: ignore[method-assign]
    with pytest.raises(OSError):
        run(campaign(store, blocks=2, **IN_TURNS), heard)
    assert kept_in(store) == sorted(block_of(store)) == sorted(lanes.script.labels)


def test_a_fault_in_one_fork_has_the_whole_block_measured_again(store: RunStore, lanes: Lanes) -> None:
    one, other = block_of(store)
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
    one, _ = block_of(store)
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
    one, other = block_of(store)
    lanes.script.endings[one] = [without_driver] * 3
    run(campaign(store, blocks=1, **IN_TURNS), Heard())
    assert [label for label in lanes.script.labels if label.startswith(one)] == [one, f"{one}.2", f"{one}.3"]
    assert campaign(store, blocks=1, **IN_TURNS).needed(campaign(store, blocks=1, **IN_TURNS).open(print))
    lanes.script.labels.clear()
    run(campaign(store, session=2, blocks=1, **IN_TURNS), Heard())
    assert lanes.script.labels == [f"{one}.4", f"{other}.4"], "the block that lacks a fork, whole"
    assert_no_block_is_split(store)


def test_an_executor_that_fails_by_itself_costs_the_others_nothing(store: RunStore, lanes: Lanes) -> None:
    one, _ = block_of(store)
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
