"""Forks that a fault of the host spoils are measured again at the end of their block: made-up forks, real files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.run.plan import order_forks
from jdkmatrix.run.repeats import (
    in_blocks,
    in_order,
    measured_again,
    next_attempt,
    repeat_words,
    with_fork,
    without_fork,
)
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.runs import RunStore
from tests.support.builders import cell, fork, fork_with, key, window
from tests.support.outcome_runs import Change, failed, spoilt, without_driver
from tests.support.served_campaign import Heard, Script, assert_no_block_is_split, block_of, campaign, cells_in, run

HANGS = Reason(code="server-hangs", message="the server hangs")


def not_steady(made: Fork) -> Fork:
    return made.model_copy(update={"status": Status.NOT_STEADY})


def log_of(store: RunStore, one: Fork) -> str:
    return (store.directory / "cells" / one.logs["messages.log"]).read_text()


@pytest.mark.parametrize("ending", [spoilt, without_driver])
def test_a_fault_is_repeated_at_the_end_of_its_block(store: RunStore, script: Script, ending: Change) -> None:
    one, other = block_of(store)
    script.endings[one] = [ending]
    heard = Heard()
    order = run(campaign(store, blocks=1), heard)
    assert script.labels[:4] == [one, other, f"{one}.2", script.labels[3]]
    assert script.positions == [1, 2, 3, 1, 2]
    assert list(order) == script.labels
    assert heard.added == [4, 1], "one is to be done again"
    assert "measured again at the end of its block" in heard.decisions[0]
    found = next(one_cell for one_cell in cells_in(store) if one.startswith(f"{one_cell.key.cell_id}#"))
    assert [(f.status, f.attempt, f.position, f.sequence) for f in found.forks] == [(Status.OK, 2, 3, 3)]
    (kept,) = found.attempts
    assert kept.status is not Status.OK
    assert (kept.attempt, kept.position, kept.sequence) == (1, 1, 1)
    assert (log_of(store, kept), log_of(store, found.forks[0])) == (one, f"{one}.2")


@pytest.mark.parametrize("ending", [not_steady, failed(HANGS), failed(Reason(code="program", message="?"))])
def test_what_the_server_did_is_not_repeated(store: RunStore, script: Script, ending: Change) -> None:
    one, _ = block_of(store)
    script.endings[one] = [ending]
    run(campaign(store, blocks=1), Heard())
    assert len(script.labels) == 4
    script.labels.clear()
    run(campaign(store, session=2, blocks=1), Heard())
    assert script.labels == [], "nor by another session"


@pytest.mark.parametrize("repeats_max", [0, 1, 2])
def test_after_so_many_repeats_the_last_attempt_stands(store: RunStore, script: Script, repeats_max: int) -> None:
    one, other = block_of(store)
    script.endings[one] = [spoilt] * 9
    run(campaign(store, repeats_max=repeats_max, blocks=1), Heard())
    repeats = [f"{one}.{attempt}" for attempt in range(2, repeats_max + 2)]
    assert script.labels[: 2 + repeats_max] == [one, other, *repeats]
    assert len(script.labels) == 4 + repeats_max
    found = next(one_cell for one_cell in cells_in(store) if one_cell.attempts or one_cell.forks[0].attempt > 1
                 or one_cell.forks[0].status is Status.INVALID)  # fmt: skip
    assert [(f.status, f.attempt) for f in found.forks] == [(Status.INVALID, repeats_max + 1)]
    assert [f.attempt for f in found.attempts] == list(range(1, repeats_max + 1))


def test_several_of_a_block_take_turns(store: RunStore, script: Script) -> None:
    one, other = block_of(store)
    script.endings.update({one: [spoilt, spoilt], other: [without_driver]})
    run(campaign(store, blocks=1), Heard())
    assert script.labels[:5] == [one, other, f"{one}.2", f"{other}.2", f"{one}.3"]
    assert script.positions[:5] == [1, 2, 3, 4, 5]


def test_blocks_are_decided_on_after_the_repeats(store: RunStore, script: Script) -> None:
    whole = RunStore.create(store.directory / "undisturbed")
    undisturbed = run(campaign(whole, blocks=5, max_blocks=8), Heard())
    script.labels.clear()
    for label in undisturbed[::3]:
        script.endings[label] = [spoilt]
    order = run(campaign(store, blocks=5, max_blocks=8), Heard())
    assert [label for label in order if label.count(".") == undisturbed[0].count(".")] == list(undisturbed)
    assert {one.key: len(one.forks) for one in cells_in(store)} == {one.key: len(one.forks) for one in cells_in(whole)}


@pytest.mark.parametrize("cut_after", range(1, 6))
def test_what_was_finished_is_there_whenever_a_run_is_cut_off(store: RunStore, script: Script, cut_after: int) -> None:
    """This holds in the middle of the repeats, too: forks 3 to 5 of the first block repeat two of its forks."""
    one, other = block_of(store)
    script.endings.update({one: [spoilt, spoilt], other: [without_driver]})
    script.cut_after = cut_after
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, blocks=1), Heard())
    on_disk = [fork_ for found in cells_in(store) for fork_ in (*found.forks, *found.attempts)]
    assert len(on_disk) == cut_after
    assert {log_of(store, fork_) for fork_ in on_disk} == set(script.labels)
    script.cut_after = None
    script.endings.clear()
    before = list(script.labels)
    order = run(campaign(store, session=2, blocks=1), Heard())
    assert list(order) == script.labels
    assert_no_block_is_split(store)
    whole = cut_after == 5
    again = [] if whole else [label.rpartition("#")[0] for label in (one, other)]
    assert [label.partition("#")[0] for label in script.labels[len(before) :]][: len(again)] == again
    assert all(fork_.usable for found in cells_in(store) for fork_ in found.forks)
    assert len(list(order)) == sum(len(found.forks) + len(found.attempts) for found in cells_in(store))


def test_another_session_measures_spoilt_blocks_again_and_says_so(store: RunStore, script: Script) -> None:
    one, other = block_of(store)
    script.endings[one] = [spoilt] * 3
    run(campaign(store, blocks=2), Heard())
    script.labels.clear()
    script.endings[one] = [spoilt]
    later = campaign(store, session=2, blocks=2)
    cells = later.open(None)
    assert repeat_words(later.needed(cells), cells) == (
        "1 fork of 1 block was spoilt by faults of the host; measuring that block again",
    )
    heard = Heard()
    later.measure(cells, heard)
    assert script.labels == [f"{one}.4", f"{other}.2", f"{one}.5"], "repeats start anew"
    assert heard.added == [2, 1]
    again, sound = (next(f for f in cells_in(store) if label.startswith(f"{f.key.cell_id}#")) for label in (one, other))
    assert [fork_.attempt for fork_ in again.attempts] == [1, 2, 3, 4]
    assert [(fork_.status, fork_.session) for fork_ in sound.attempts] == [(Status.OK, 1)]
    assert sound.attempts[0].reasons == (measured_again(2),)
    assert "session 2" in measured_again(2).message
    assert_no_block_is_split(store)
    done = campaign(store, session=3, blocks=2)
    assert done.needed(done.open(None)) == ()


def test_a_block_that_is_measured_again_stands_as_it_was_until_it_is_whole(store: RunStore, script: Script) -> None:
    one, other = block_of(store)
    script.endings[one] = [spoilt] * 3
    run(campaign(store, blocks=1), Heard())
    stood = {found.key: found.forks for found in cells_in(store)}
    script.cut_after = len(script.labels) + 1
    script.endings.clear()
    with pytest.raises(KeyboardInterrupt):
        run(campaign(store, session=2, blocks=1), Heard())
    assert {found.key: found.forks for found in cells_in(store)} == stood, "its sound fork counts still"
    (waited,) = [fork_ for found in cells_in(store) for fork_ in found.attempts if fork_.session == 2]
    assert [reason.code for reason in waited.reasons] == ["block-cut-off"]
    assert "session 2 was stopped" in waited.reasons[0].message
    script.cut_after = None
    order = run(campaign(store, session=3, blocks=1), Heard())
    assert script.labels[-2:] == [f"{one}.5", f"{other}.2"] and list(order) == script.labels
    sound = next(found for found in cells_in(store) if other.startswith(f"{found.key.cell_id}#"))
    assert [(fork_.session, fork_.reasons) for fork_ in sound.forks] == [(3, ())]
    assert sound.attempts[0].reasons == (measured_again(3),)
    assert all(fork_.usable for found in cells_in(store) for fork_ in found.forks)
    assert_no_block_is_split(store)


# ---------------------------------------------------------------- the pure parts


@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=12))
def test_nothing_that_was_measured_is_lost_and_one_attempt_of_each_fork_stands(steps: list[tuple[int, bool]]) -> None:
    record: CellRecord = cell()
    for sequence, (number, aside) in enumerate(steps, start=1):
        if aside:
            record = without_fork(record, number, measured_again(2))
            continue
        attempt = next_attempt(record, number)
        record = with_fork(record, fork(number).model_copy(update={"attempt": attempt, "sequence": sequence}))
    measured = [sequence for sequence, (_, aside) in enumerate(steps, start=1) if not aside]
    everything = (*record.forks, *record.attempts)
    assert sorted(one.sequence for one in everything) == measured
    assert [one.fork for one in record.forks] == sorted({one.fork for one in record.forks})
    assert [one.sequence for one in record.attempts] == sorted(one.sequence for one in record.attempts)
    for number in {one.fork for one in everything}:
        attempts = sorted(one.attempt for one in everything if one.fork == number)
        assert attempts == list(range(1, len(attempts) + 1))
        latest = max((one for one in everything if one.fork == number), key=lambda one: one.sequence)
        assert all(one is latest for one in record.forks if one.fork == number)
    labels = in_order([record])
    assert len(labels) == len(set(labels)) == len(measured)


def test_a_block_from_two_sessions_is_not_settled() -> None:
    cells = [key(executor) for executor in ("liberty", "virtual")]
    (block,) = in_blocks(order_forks(dict.fromkeys(cells, 1), seed=3))
    sound = fork_with(window())
    records: dict[object, CellRecord] = {one: cell(one, (sound,)) for one in cells}
    assert block.is_settled(records)  # type: ignore[arg-type]
    records[cells[0]] = cell(cells[0], (sound.model_copy(update={"session": 2}),))
    assert not block.is_settled(records)  # type: ignore[arg-type]
