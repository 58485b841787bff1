"""A run in several sessions: `--resume` from end to end, with made-up forks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.cli import recording, running
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import StoppedError
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.reasons import Reason
from jdkmatrix.run import campaign as module
from jdkmatrix.run import changed
from jdkmatrix.run.plan import make_plan
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.store.runs import RunStore
from tests.support.outcome_runs import Change, failed, spoilt, without_driver
from tests.support.session_runs import Sessions

HANGS = failed(Reason(code="server-hangs", message="the server hangs"))


@pytest.mark.parametrize(("ends", "code"), [([], 0), ([HANGS], EXIT_WITH_FAILURES)])
def test_a_whole_run_has_nothing_to_do_and_keeps_its_code(sessions: Sessions, ends: list[Change], code: int) -> None:
    sessions.script.endings["mp-ping-on-jetty.temurin-25.virtual.cpus-1.burn-0us.rate-500#1"] = [*ends]
    assert sessions.measure() == code
    first = sessions.loaded()
    assert len(sessions.script.labels) == 4
    assert "left gaps" not in sessions.told()
    assert [(s.number, s.status, s.boot_id, s.confinement) for s in first.run.sessions] == [
        (1, "complete", "boot-1", "sched_setaffinity")
    ]
    assert first.run.order == tuple(sessions.script.labels)
    assert sessions.measure(resume=True) == code
    assert "nothing to do" in sessions.told()
    assert len(sessions.script.labels) == 4
    assert sessions.loaded() == first


@pytest.mark.parametrize("ended_by", [MatrixError("it ends at once"), StoppedError(2)], ids=["refused", "stopped"])
def test_a_run_that_ends_before_its_first_record_leaves_no_folder(
    ended_by: BaseException, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "prepare", mock.Mock(side_effect=ended_by))
    with pytest.raises(type(ended_by)) as ended:
        sessions.measure()
    assert ended.value is ended_by
    assert not sessions.run.exists()


def test_a_run_takes_no_folder_of_something_else(sessions: Sessions) -> None:
    (sessions.run / "scratch-notes").mkdir(parents=True)
    with pytest.raises(MatrixError, match=r"other files \(scratch-notes\); --run takes a folder that is new or empty"):
        sessions.measure()
    (sessions.run / "scratch-notes").rmdir()
    assert sessions.measure() == 0


def test_a_run_that_is_complete_is_recorded_so_before_anything_that_may_be_stopped(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "catalogue_records", mock.Mock(side_effect=StoppedError(2)))
    with pytest.raises(StoppedError):
        sessions.measure()
    run = sessions.loaded().run
    assert (run.status, run.order) == ("complete", tuple(sessions.script.labels)) and run.latest_session.ended_at


def test_a_finished_run_offers_what_can_be_measured_again(sessions: Sessions) -> None:
    second = "mp-ping-on-jetty.temurin-25.virtual.cpus-1.burn-0us.rate-500#2"
    sessions.script.endings[second] = [spoilt, without_driver, spoilt]
    assert sessions.measure() == 0, "of two forks one can be used"
    assert (
        f"gaps in 1 block; to measure it again: .venv/bin/matrix run --resume --run {sessions.run}" in sessions.told()
    )
    first = sessions.loaded().run
    sessions.boot, sessions.commit = "boot-2", ("b" * 40, True)
    assert sessions.measure(resume=True) == 0
    told = sessions.told()
    assert "1 fork of 1 block was spoilt by faults of the host; measuring that block again" in told
    after = sessions.loaded()
    assert len(sessions.script.labels) == 6 + 2
    assert {fork.session for cell in after.cells for fork in cell.forks if fork.fork == 2} == {2}
    assert {fork.session for cell in after.cells for fork in cell.forks if fork.fork == 1} == {1}
    assert all(fork.usable for cell in after.cells for fork in cell.forks)
    assert after.run.first_session == first.first_session
    assert [(s.git_commit, s.boot_id, s.status) for s in after.run.sessions] == [
        ("a" * 40, "boot-1", "complete"), ("b" * 40, "boot-2", "complete"),
    ]  # fmt: skip
    assert after.run.sessions[0] == first.sessions[0]
    assert all(session.duration_s is not None and session.duration_s > 0 for session in after.run.sessions)
    assert after.run.order == tuple(sessions.script.labels)
    assert "measured in 2 sessions; the host was restarted in between" in told


def test_a_run_whose_folders_were_removed_goes_on_and_is_kept(sessions: Sessions, tmp_path: Path) -> None:
    assert sessions.measure() == 0
    shutil.rmtree(tmp_path / "run" / "cells")
    shutil.rmtree(tmp_path / "run" / "logs")
    assert sessions.measure(resume=True) == 0
    assert len(sessions.script.labels) == 8
    assert all(fork.usable for cell in sessions.loaded().cells for fork in cell.forks)
    assert sessions.measure(resume=True) == 0
    assert len(sessions.script.labels) == 8, "nothing is left to do"


def test_a_damaged_cell_is_set_aside_and_its_block_measured_again(sessions: Sessions, tmp_path: Path) -> None:
    sessions.measure()
    damaged = sorted((tmp_path / "run" / "cells").glob("*.json"))[0]
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    sessions.told()
    assert sessions.measure(resume=True) == 0
    assert f"{damaged.name}.unreadable-1" in sessions.told()
    repaired = sessions.loaded()
    assert {fork.session for cell in repaired.cells for fork in cell.forks} == {2}
    assert len(repaired.cells) == 2
    why = "was unreadable and set aside; measured again, or continued without its series"
    assert repaired.problems == (f"{damaged.name}.unreadable-1: {why}",)


def test_stopping_ends_the_session_in_order(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "measure_fork", mock.Mock(side_effect=StoppedError(15)))
    assert sessions.measure() == 128 + 15
    (session,) = RunStore(sessions.loaded().directory).read_run().sessions
    assert session.status == "interrupted"
    assert session.ended_at is not None


def test_a_change_of_the_host_is_named_and_its_cells_are_measured_again(sessions: Sessions) -> None:
    sessions.measure()
    cpu = sessions.facts.cpu.model_copy(update={"microcode": "0x2"})
    sessions.facts = sessions.facts.model_copy(update={"cpu": cpu, "load_1min": 7.0})
    sessions.told()
    assert sessions.measure(resume=True) == 0
    told = sessions.told()
    assert told.count("changed: the CPU's microcode (was 0x1, is 0x2); kept as") == 2
    assert len([*(sessions.loaded().directory / "cells").glob("*.superseded-1")]) == 2
    assert len(sessions.script.labels) == 8
    assert {fork.session for cell in sessions.loaded().cells for fork in cell.forks} == {2}


def test_a_run_whose_last_cells_can_no_longer_be_measured_is_not_complete(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Had they all their blocks, the run would be."""
    options = Options("short", {"burn_us": (0, 100)}, blocks=2)
    sessions.cut(6, options)
    (lacking,) = {cell.key.burn_us for cell in sessions.loaded().cells if len(cell.forks) < 2}
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def gone(project: Any, matrix: Any, profile: Any, cells: Any, *, seed: int, **others: Any) -> Prepared:
        stage = prepared(project, matrix, profile, cells, seed=seed, **others)
        impossible = {cell: "no such JDK" for cell in cells if cell.burn_us in refused}
        plan = make_plan(cells, profile, seed=seed, impossible=impossible)
        setups = {key: one for key, one in stage.setups.items() if key not in impossible}
        return replace(stage, plan=plan, setups=setups)

    monkeypatch.setattr(running, "prepare", gone)
    refused = {lacking}
    sessions.told()
    for _ in range(2):
        with pytest.raises(MatrixError, match=r"2 cells that an earlier session could measure cannot be measured now"):
            sessions.measure(resume=True)
        run = sessions.loaded().run
        assert "nothing to do" not in sessions.told() and (run.status, run.not_testable) == ("interrupted", ())
    refused = {100 - lacking}
    assert sessions.measure(resume=True) == 0
    after = sessions.loaded()
    assert after.run.status == "complete", "what cannot be measured today has all its blocks"
    assert after.run.not_testable == () and [len(cell.forks) for cell in after.cells] == [2] * 4


def test_a_run_ends_where_the_code_that_measures_changes(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody pulls: programs that are started from files would be of another version than the rest."""
    monkeypatch.setattr(changed, "digest_of", lambda _: "of other code")
    with pytest.raises(MatrixError, match="the code of this tool changed during the run"):
        sessions.measure()
    assert sessions.loaded().run.status == "interrupted" and len(sessions.script.labels) == 2, "after a block"


def test_a_record_that_cannot_be_read_is_not_taken_for_that_of_a_complete_run(sessions: Sessions) -> None:
    assert sessions.measure() == 0
    (sessions.run / "run.json").write_text("{")
    with pytest.raises(MatrixError, match=r"run\.json") as refused:
        sessions.measure(resume=True)
    assert refused.value.exit_code == 1
