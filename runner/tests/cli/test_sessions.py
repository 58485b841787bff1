"""A run in several sessions: `--resume` from end to end, with made-up forks."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.cli import recording, running
from jdkmatrix.cli.between_blocks import SiteBetweenBlocks
from jdkmatrix.cli.reporting import EXIT_WITH_FAILURES
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.stopping import StoppedError
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.errors import MatrixError
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.provision.project import Project
from jdkmatrix.records.provenance import PartOrigin, Provenance
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.run import Calibration, HostFacts, NotTestable, ServerFacts
from jdkmatrix.report.site.build import Built
from jdkmatrix.run import campaign as module
from jdkmatrix.run.plan import make_plan
from jdkmatrix.run.prepared import Prepared
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore
from tests.support.builders import load_result, window
from tests.support.outcome_runs import Change, failed, spoilt, without_driver
from tests.support.project import make_project
from tests.support.records import altered, in_whole
from tests.support.run_facts import host_facts
from tests.support.served_campaign import Script
from tests.support.served_campaign import campaign as made_up_campaign

HALF = load_result(throughput_rps=500.0)
HANGS = failed(Reason(code="server-hangs", message="the server hangs"))
SHORT = Options("short", {}, blocks=2)
STAGED = """
[profiles.begin]
extends = "short"
blocks = 2
[profiles.begin.select]
server = ["open-liberty"]
executor = ["liberty", "virtual"]
load = ["saturate-50"]
[profiles.staged]
extends = "begin"
first = "begin"
[profiles.staged.select]
burn_us = [0, 100]
load = ["share-50"]
[profiles.sized]
extends = "begin"
[profiles.sized.select]
burn_us = [100]
load = ["share-50"]
"""
BASES = [CellKey(workload="mp-ping", jdk="temurin-25", executor="liberty", cpus=1, burn_us=burn, load="saturate-50")
         for burn in (0, 100)]  # fmt: skip


class Sessions:
    """`matrix run` on a run of its own: everything but parts, host and forks is real; `facts`, `boot` and `commit` are
    what the doubles say of this host and of the source."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.script = Script()
        self.facts: HostFacts = host_facts()
        self.counted: Calibration | None = None  # what a calibration comes to
        self.known: list[Calibration | None] = []  # the one that was known, whenever cells were prepared
        self.boot = "boot-1"
        self.commit: tuple[str | None, bool | None] = ("a" * 40, False)
        self.asked: list[tuple[int, dict[CellKey, float]]] = []  # cells to prepare, and the capacities known then
        self.sites: list[int] = []  # after how many forks it was written while the run went on
        self._folder, self._capsys = folder, capsys

    def measure(self, options: Options = SHORT, *, resume: bool = False) -> int:
        return running.run(options, resume=resume, directory=self.run, site=None)

    def cut(self, after_forks: int, options: Options = SHORT) -> None:
        """Ctrl-C behind so many."""
        self.script.cut_after = after_forks
        with pytest.raises(KeyboardInterrupt):
            self.measure(options)
        self.script.cut_after = None

    @property
    def run(self) -> Path:
        return self._folder / "run"

    def loaded(self) -> LoadedRun:
        return in_whole(RunStore(self.run).load())

    def told(self) -> str:
        """Since it was asked last."""
        return self._capsys.readouterr().out


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sessions:
    made = Sessions(tmp_path, capsys)
    home = make_project(tmp_path / "project")
    with (home / "matrix.toml").open("a") as file:
        file.write(STAGED)
    project = Project(home, home)
    setups = made_up_campaign(RunStore.create(tmp_path / "unused"), blocks=1).setups

    def prepared(project: Project, matrix: Any, profile: Any, cells: Any, *, seed: int, **others: Any) -> Prepared:
        made.asked.append((len(cells), dict(others["capacities_rps"])))
        made.known.append(others["known_calibration"](made.facts))
        setup = replace(
            next(iter(setups.values())), matrix=matrix, profile=profile, host=made.facts, confiner=others["confiner"]
        )
        return Prepared(
            plan=make_plan(cells, profile, seed=seed, impossible={}), setups=dict.fromkeys(cells, setup),
            host=made.facts, servers=(ServerFacts(name="Open Liberty", version="1", sha256="a"),), drivers=(), jdks=(),
            calibration=made.known[-1] or made.counted, provenance=Provenance(inputs=(), parts=()), notes=(),
        )  # fmt: skip

    monkeypatch.setattr(running, "find_project", lambda: project)
    monkeypatch.setattr(running, "prepare", prepared)
    monkeypatch.setattr(recording, "catalogue_records", lambda *_: ())
    monkeypatch.setattr(running, "write_site", lambda *_: Built(home / "site" / "index.html", (), ()))
    monkeypatch.setattr(running, "write_site_apart", lambda *_: made.sites.append(len(made.script.labels)))
    monkeypatch.setattr(running, "SiteBetweenBlocks", partial(SiteBetweenBlocks, clock=lambda: 0.0))
    monkeypatch.setattr(recording, "boot_id", lambda: made.boot)
    monkeypatch.setattr(recording, "source_revision", lambda *_: made.commit)
    monkeypatch.setattr(running, "measuring", lambda: nullcontext(Confiner(None, "made up")))
    monkeypatch.setattr(module, "measure_fork", made.script)
    return made


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


def test_a_run_that_cannot_begin_leaves_no_folder(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "prepare", mock.Mock(side_effect=MatrixError("it ends at once")))
    with pytest.raises(MatrixError, match="it ends at once"):
        sessions.measure()
    assert not sessions.run.exists()


def test_a_run_takes_no_folder_of_something_else(sessions: Sessions) -> None:
    (sessions.run / "scratch-notes").mkdir(parents=True)
    with pytest.raises(MatrixError, match=r"other files \(scratch-notes\); --run takes a folder that is new or empty"):
        sessions.measure()
    (sessions.run / "scratch-notes").rmdir()
    assert sessions.measure() == 0


def test_a_stage_begins_when_the_one_before_it_is_measured_and_its_capacities_then(sessions: Sessions) -> None:
    """What the first stage measured already is not measured again to derive a load from."""
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


def test_a_run_that_is_complete_is_recorded_so_before_anything_that_may_be_stopped(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "catalogue_records", mock.Mock(side_effect=StoppedError(2)))
    with pytest.raises(StoppedError):
        sessions.measure()
    run = sessions.loaded().run
    assert (run.status, run.order) == ("complete", tuple(sessions.script.labels)) and run.latest_session.ended_at


def test_a_stage_that_cannot_begin_leaves_those_before_it(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: Callable[..., Prepared] = vars(running)["prepare"]

    def failing(project: Any, matrix: Any, profile: Any, cells: Any, **others: Any) -> Prepared:
        if any(cell.load == "share-50" for cell in cells):
            raise MatrixError("none of the 4 cells can be measured here")
        going: Prepared = prepared(project, matrix, profile, cells, **others)
        return going

    with monkeypatch.context() as patch:
        patch.setattr(running, "prepare", failing)
        with pytest.raises(MatrixError, match="none of the 4 cells"):
            sessions.measure(Options("staged", {}))
    assert "4 of 4 forks usable" in sessions.told(), "the summary of what is there"
    assert (sessions.loaded().run.status, len(sessions.script.labels)) == ("interrupted", 5)
    assert sessions.measure(resume=True) == 0
    assert (sessions.loaded().run.status, len(sessions.script.labels)) == ("complete", 5 + 8)


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
    assert repaired.problems == (f"{damaged.name}.unreadable-1: was unreadable, set aside and measured again",)


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


FAST = Calibration(jdk="temurin-25", rounds_per_us=700.0, repeats=20, spread=0.001, cpu=1)


def test_what_a_microsecond_is_is_counted_once_for_capacities_and_for_what_they_size(sessions: Sessions) -> None:
    sessions.counted = FAST
    assert sessions.measure(Options("sized", {})) == 0
    assert [(cells, list(known)) for cells, known in sessions.asked] == [(1, []), (2, BASES[1:])]
    assert sessions.known == [None, FAST]


@pytest.mark.parametrize("changed", ["nothing", "the host", "the file"])
def test_what_a_microsecond_is_stays_where_a_run_is_begun_again_on_its_host(sessions: Sessions, changed: str) -> None:
    """Capacities were measured with it, and there was no run.json yet. What cannot be read does not stand either."""
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
