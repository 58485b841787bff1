"""Stages of a run, the capacities that later ones rest on, and what a microsecond of work is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.cli import running
from jdkmatrix.cli.selecting import Options
from jdkmatrix.errors import MatrixError
from jdkmatrix.probes.clock_speed import clock_reader
from jdkmatrix.records.provenance import PartOrigin
from jdkmatrix.records.run import Calibration, NotTestable
from jdkmatrix.run.impossible import NoneHereError, none_here
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.store.readable import UnreadableError
from tests.support.builders import load_result, window
from tests.support.outcome_runs import spoilt
from tests.support.records import altered
from tests.support.session_runs import BASES, Sessions

HALF = load_result(throughput_rps=500.0)


def test_a_stage_begins_when_the_one_before_it_is_measured_and_its_capacities_then(sessions: Sessions) -> None:
    """A cell that the first stage has measured is not measured again to derive a load from it."""
    assert sessions.measure(Options("staged", {})) == 0
    assert [label.rpartition(".")[2] for label in sessions.script.labels[:5]] == [
        "saturate-50#1", "saturate-50#1", "saturate-50#2", "saturate-50#2", "saturate-50#1",
    ]  # fmt: skip
    assert sessions.script.labels[4].startswith(BASES[1].cell_id), "one fork, of the basis that nobody has measured"
    assert all("share-50" in label for label in sessions.script.labels[5:]) and len(sessions.script.labels) == 5 + 8
    assert [(cells, list(known)) for cells, known in sessions.asked] == [(2, []), (1, BASES[:1]), (4, BASES)]
    run = sessions.loaded().run
    assert [one.key for one in run.capacities] == BASES
    (basis,) = [cell for cell in sessions.loaded().cells if cell.key == BASES[0]]
    assert run.capacities[0].throughput_rps == pytest.approx(basis.forks[0].windows[0].load.throughput_rps)
    assert [cell.load for cell in run.cells] == ["saturate-50"] * 2 + ["share-50"] * 4
    assert run.status == "complete" and len(run.order) == 12
    assert sorted(fork.sequence for cell in sessions.loaded().cells for fork in cell.forks) == list(range(1, 13))
    assert "stage begin: 2 blocks" in (told := sessions.told()) and "stage staged: 4 blocks" in told
    assert sessions.sites == [2, 4, 7, 9, 11], "between two blocks and two stages; the last is written at the end"


def test_a_run_of_stages_goes_on_where_it_was_cut_off(sessions: Sessions) -> None:
    sessions.cut(8, Options("staged", {}))
    cut = sessions.loaded().run
    assert (cut.status, len(cut.cells), [one.key for one in cut.capacities]) == ("interrupted", 6, BASES)
    assert sessions.measure(resume=True) == 0
    after = sessions.loaded()
    assert after.run.status == "complete" and after.run.capacities == cut.capacities
    assert after.run.seed == cut.seed
    assert len(sessions.script.labels) == 8 + 2 * 3, "three blocks were left, one of them cut off"
    assert len({fork.sequence for cell in after.cells for fork in (*cell.forks, *cell.attempts)}) == 13
    assert sessions.measure(resume=True) == 0
    assert len(sessions.script.labels) == 14, "nothing is left to do"


def test_a_capacity_is_found_again_when_what_decides_it_has_changed(sessions: Sessions) -> None:
    sessions.cut(6, Options("staged", {}))
    before = list(sessions.script.labels)
    sessions.facts = sessions.facts.model_copy(update={"kernel": "another"})
    assert sessions.measure(resume=True) == 0
    again = [label for label in sessions.script.labels[len(before) :] if BASES[1].cell_id in label]
    assert again, "the fork that the capacity was of ran on another kernel"


def test_a_capacity_is_of_the_forks_that_stand_however_often_a_run_was_cut_off(sessions: Sessions) -> None:
    sessions.cut(6, Options("staged", {}))
    sessions.facts = sessions.facts.model_copy(update={"kernel": "another"})
    sessions.script.endings[f"{BASES[0].cell_id}#1"] = [partial(altered, changes={"windows": (window(1, HALF),)})]
    sessions.script.cut_after = len(sessions.script.labels) + 3
    with pytest.raises(KeyboardInterrupt):
        sessions.measure(resume=True)
    assert BASES[0] not in [one.key for one in sessions.loaded().run.capacities]
    sessions.script.cut_after = None
    assert sessions.measure(resume=True) == 0
    assert sessions.loaded().run.capacities[0].throughput_rps == HALF.throughput_rps


def test_a_capacity_that_a_fault_of_the_host_spoilt_is_a_gap(sessions: Sessions) -> None:
    sessions.script.endings[f"{BASES[1].cell_id}#1"] = [spoilt] * 3
    assert sessions.measure(Options("staged", {})) == 0
    assert "left gaps in 1 block; to measure it again: " in sessions.told()
    sessions.script.endings[f"{BASES[1].cell_id}#1"] = [spoilt] * 3
    assert sessions.measure(resume=True) == 0
    assert "left gaps in 1 block" in (told := sessions.told()) and "nothing to do" not in told
    assert sessions.measure(resume=True) == 0
    assert "left gaps" not in sessions.told()


def test_a_basis_that_cannot_be_measured_leaves_the_others(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def none(project: Any, matrix: Any, profile: Any, cells: Any, **others: Any) -> Prepared:
        if list(cells) == BASES[1:]:
            raise NoneHereError("none of the 1 cell can be measured here:\n  too few CPUs", {})
        return prepared(project, matrix, profile, cells, **others)

    monkeypatch.setattr(running, "prepare", none)
    assert sessions.measure(Options("staged", {})) == 0
    told = sessions.told()
    assert "the capacity of 1 cell is not known: none of the 1 cell can be measured here: too few CPUs" in told
    assert "stage staged: 4 blocks" in told


@pytest.mark.parametrize(("refused", "left"), [("saturate-50", "share-50"), ("share-50", "saturate-50")])
def test_a_stage_of_which_nothing_can_be_measured_leaves_the_others(
    refused: str, left: str, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def some(project: Any, matrix: Any, profile: Any, cells: Any, **others: Any) -> Prepared:
        if len(cells) > 1 and {cell.load for cell in cells} == {refused}:
            raise none_here(cells, dict.fromkeys(cells, "a driver on one CPU is too slow"))
        return prepared(project, matrix, profile, cells, **others)

    monkeypatch.setattr(running, "prepare", some)
    assert sessions.measure(Options("staged", {})) == 0
    assert "can be measured here:\n  a driver on one CPU is too slow\n" in sessions.told()
    run, cells = sessions.loaded().run, sessions.loaded().cells
    assert run.status == "complete" and {cell.key.load for cell in cells if cell.forks} == {left}
    assert {one.key.load for one in run.not_testable} == {refused}
    assert sessions.measure(resume=True) == 0 and "nothing to do" in sessions.told()
    monkeypatch.setattr(running, "prepare", mock.Mock(side_effect=none_here(BASES, dict.fromkeys(BASES, "no JDK"))))
    with pytest.raises(NoneHereError, match="none of the 2 cells can be measured here:\n  no JDK"):
        sessions.measure(resume=True)


def test_artefacts_that_were_built_anew_between_two_stages_end_the_run(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def rebuilt(*given: Any, **others: Any) -> Prepared:
        stage = prepared(*given, **others)
        artefacts = {"artefacts": {"mp-ping.war": f"build {len(sessions.asked) // 2}"}}
        setups = {key: replace(one, inputs={**one.inputs, **artefacts}) for key, one in stage.setups.items()}
        return replace(stage, setups=setups)

    monkeypatch.setattr(running, "prepare", rebuilt)
    monkeypatch.setattr(running, "changed_servers", lambda _: [])
    with pytest.raises(MatrixError, match=r"mp-ping\.war: changed since an earlier stage of the run"):
        sessions.measure(Options("staged", {}))
    assert {cell.key.load for cell in sessions.loaded().cells} == {"saturate-50"}, "what is measured stands"


def test_a_run_whose_options_set_another_goal_than_a_profile_behind_it_goes_on(sessions: Sessions) -> None:
    sessions.cut(3, Options("begin", {}, blocks=5, max_blocks=6, precision=0.5))
    assert sessions.measure(resume=True) == 0
    assert sessions.loaded().run.status == "complete"


def test_a_block_of_an_earlier_stage_that_was_spoilt_is_measured_again_behind_all_others(sessions: Sessions) -> None:
    sessions.script.endings["mp-ping.temurin-25.virtual.cpus-1.burn-0us.saturate-50#2"] = [spoilt] * 3
    assert sessions.measure(Options("staged", {})) == 0
    assert "left gaps in 1 block" in sessions.told()
    before = sessions.loaded().run
    assert sessions.measure(resume=True) == 0
    after = sessions.loaded()
    assert len(after.run.order) == len(before.order) + 2
    again = [fork.sequence for cell in after.cells for fork in cell.forks if fork.session == 2]
    assert sorted(again) == [len(before.order) + 1, len(before.order) + 2]
    assert len(set(after.run.order)) == len(after.run.order)


def test_a_session_that_ends_in_the_first_stage_keeps_what_later_ones_rest_on(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def noting(project: Any, matrix: Any, profile: Any, cells: Any, **others: Any) -> Prepared:
        stage: Prepared = prepared(project, matrix, profile, cells, **others)
        load = cells[0].load
        parts = (*stage.provenance.parts, PartOrigin(part=f"of {load}", origin="hash", detail=load))
        large = cells[0].model_copy(update={"cpus": 64})
        plan = replace(
            stage.plan, cells=(*stage.plan.cells, large), not_testable=(NotTestable(key=large, reason="too large"),)
        )
        provenance = stage.provenance.model_copy(update={"parts": parts})
        return replace(stage, plan=plan, notes=(load,), provenance=provenance)

    monkeypatch.setattr(running, "prepare", noting)
    sessions.script.endings["mp-ping.temurin-25.virtual.cpus-1.burn-0us.saturate-50#1"] = [spoilt] * 3
    assert sessions.measure(Options("staged", {})) == 0
    before = sessions.loaded()
    sessions.script.cut_after = len(sessions.script.labels) + 1
    with pytest.raises(KeyboardInterrupt):
        sessions.measure(resume=True)
    cut = sessions.loaded().run
    assert (cut.capacities, cut.servers, cut.status) == (before.run.capacities, before.run.servers, "interrupted")
    assert len(cut.not_testable) == 2 and cut.not_testable == before.run.not_testable
    assert len(cut.notes) == 2 and (cut.notes, cut.provenance) == (before.run.notes, before.run.provenance)
    sessions.script.cut_after = None
    assert sessions.measure(resume=True) == 0
    after = sessions.loaded()
    assert (after.run.capacities, after.run.status) == (before.run.capacities, "complete")
    assert [cell.load for cell in after.cells] == [cell.load for cell in before.cells]
    assert not list((sessions.run / "cells").glob("*superseded*"))


def test_a_stage_that_cannot_begin_leaves_those_before_it(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def failing(project: Any, matrix: Any, profile: Any, cells: Any, **others: Any) -> Prepared:
        if any(cell.load == "share-50" for cell in cells):
            raise MatrixError("none of the 4 cells can be measured here")
        going: Prepared = prepared(project, matrix, profile, cells, **others)
        return going

    with monkeypatch.context() as patch:
        patch.setattr(running, "prepare", failing)
        with pytest.raises(MatrixError, match="none of the 4 cells") as told:
            sessions.measure(Options("staged", {}))
        assert "4 of 4 forks usable" in sessions.told(), "the summary of what is there"
        # Not even a file that cannot be shown makes it look like a run that is complete.
        patch.setattr(running, "conclude", mock.Mock(side_effect=UnreadableError("an older run")))
        with pytest.raises(MatrixError, match="none of the 4 cells") as hidden:
            sessions.measure(resume=True)
    assert told.value.exit_code == hidden.value.exit_code == 1
    assert (sessions.loaded().run.status, len(sessions.script.labels)) == ("interrupted", 5)
    assert sessions.measure(resume=True) == 0
    assert (sessions.loaded().run.status, len(sessions.script.labels)) == ("complete", 5 + 8)


FAST = Calibration(jdk="temurin-25", rounds_per_us=700.0, repeats=20, spread=0.001, cpu=1)


def test_what_a_microsecond_is_is_counted_once_for_capacities_and_for_what_they_size(sessions: Sessions) -> None:
    sessions.counted = FAST
    assert sessions.measure(Options("sized", {})) == 0
    assert [(cells, list(known)) for cells, known in sessions.asked] == [(1, []), (2, BASES[1:])]
    assert sessions.known == [None, FAST]


@pytest.mark.parametrize("changed", ["nothing", "the host", "the file"])
def test_what_a_microsecond_is_stays_where_a_run_is_begun_again_on_its_host(sessions: Sessions, changed: str) -> None:
    """Capacities were measured with it, and there was no run.json yet. An unreadable file is not kept either."""
    sessions.counted = FAST
    sessions.cut(0, Options("sized", {}))
    if changed == "the host":
        sessions.facts = sessions.facts.model_copy(update={"kernel": "another"})
    if changed == "the file":
        (sessions.run / "capacity" / "calibration.json").write_text("{")
    sessions.counted = FAST.model_copy(update={"rounds_per_us": 701.0})
    assert sessions.measure(Options("sized", {})) == 0
    kept, taken = (FAST, FAST) if changed == "nothing" else (None, sessions.counted)
    assert sessions.known == [None, kept, taken]
    assert sessions.loaded().run.calibrations == (taken,)


@pytest.mark.parametrize(("reader", "clock_speed"), [(clock_reader(), 200.0), ("another build of Python", None)])
def test_the_clock_of_a_calibration_is_compared_with_what_the_same_thing_reads(
    sessions: Sessions, reader: str, clock_speed: float | None
) -> None:
    sessions.counted = FAST.model_copy(update={"clock_speed": 200.0, "clock_reader": reader})
    sessions.cut(1)
    assert sessions.measure(resume=True) == 0
    assert sessions.known[-1] == sessions.counted.model_copy(update={"clock_speed": clock_speed})


def test_what_a_microsecond_is_is_counted_again_on_another_cpu(sessions: Sessions) -> None:
    slow = FAST.model_copy(update={"rounds_per_us": 350.0})
    sessions.counted = FAST
    sessions.cut(1)
    sessions.counted = slow
    assert sessions.measure(resume=True) == 0
    assert sessions.loaded().run.calibrations == (FAST,), "one of a run, while its host stays as it is"
    cpu = sessions.facts.cpu.model_copy(update={"model": "a slower one"})
    sessions.facts = sessions.facts.model_copy(update={"cpu": cpu})
    assert sessions.measure(resume=True) == 0
    assert sessions.loaded().run.calibrations == (slow,)
    assert {fork.session for cell in sessions.loaded().cells for fork in cell.forks} == {3}
