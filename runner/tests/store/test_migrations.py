"""Files of schema 1, as its last version wrote them, read as what they are today."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.records.migrations import cell_from_1
from jdkmatrix.records.run import RunRecord
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore
from tests.support.project import RECORDED

SAMPLES = RECORDED / "schema1"
SERVED = ("served", "served-banking")
EXPERIMENTS = ("experiment-burn", "experiment-fanout", "experiment-pinning", "experiment-spawn")


def sample(name: str) -> Any:
    return json.loads((SAMPLES / f"{name}.json").read_text())


def read_cell(name: str, folder: Path) -> CellRecord:
    store = RunStore.create(folder)
    old = sample(name)
    key = CellRecord.model_validate(cell_from_1(old)).key
    store.cell_path(key).write_text(json.dumps(old))
    found = store.read_cell(key)
    assert found is not None
    return found


def read_run(name: str, folder: Path) -> RunRecord:
    store = RunStore.create(folder)
    shutil.copyfile(SAMPLES / f"{name}.json", folder / "run.json")
    return store.read_run()


@pytest.mark.parametrize("name", SERVED)
def test_a_cell_with_a_server(name: str, tmp_path: Path) -> None:
    old, new = sample(name), read_cell(name, tmp_path)
    (before,), (after,) = old["forks"], new.forks
    assert new.schema_version == 2
    assert new.parameters["application"] == new.key.workload
    assert new.served_load.model_dump(mode="json") == old["load"]
    assert after.command == tuple(before["sut_command"])
    assert after.served.driver_command == tuple(before["driver_command"])
    assert (after.status.value, after.session, after.logs) == (before["status"], before["session"], before["logs"])
    told = after.model_dump(mode="json", exclude_unset=True)
    assert told["confinement"] == before["pinning"]
    for name_, value in before.items():
        if name_ not in ("sut_command", "pinning"):
            assert told.get(name_, told["measured"].get(name_)) == value, name_


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_cell_without_one(name: str, tmp_path: Path) -> None:
    old, new = sample(name), read_cell(name, tmp_path)
    (before,), (after,) = old["forks"], new.forks
    assert new.parameters == {name_: value for name_, value in old["parameters"].items() if value is not None}
    assert new.task_load.model_dump(mode="json") == old["load"]
    assert after.experiment.result is not None
    assert after.experiment.result.model_dump(mode="json") == before["result"]
    assert (after.command, after.clock_speed_after) == (tuple(before["command"]), before["clock_speed_after"])


def test_a_run_in_sessions_and_on_two_servers(tmp_path: Path) -> None:
    old, new = sample("run"), read_run("run", tmp_path)
    assert [server.id for server in new.servers] == ["open-liberty", "open-liberty-23.0.0.10"]
    assert [
        {"pinning" if name == "confinement" else name: value for name, value in told.items()}
        for told in (session.model_dump(mode="json", exclude_unset=True) for session in new.sessions)
    ] == old["sessions"]
    assert new.started_at == old["started_at"]


def test_a_run_that_tells_of_no_session_was_one(tmp_path: Path) -> None:
    old, new = sample("run-without-sessions"), read_run("run-without-sessions", tmp_path)
    (only,) = new.sessions
    assert (only.number, only.boot_id, only.confinement) == (1, None, None)
    assert (only.started_at, only.ended_at, only.status) == (old["started_at"], old["ended_at"], old["status"])
    assert (only.git_commit, only.host.cpu.model) == (old["git_commit"], old["host"]["cpu"]["model"])


@pytest.mark.parametrize("missing", ["server", "drivers", "host", "sessions.host"])
def test_what_is_no_file_of_schema_1_is_told(missing: str, tmp_path: Path) -> None:
    old = sample("run" if "." in missing else "run-without-sessions")
    inside = old["sessions"][0] if "." in missing else old
    name = missing.rpartition(".")[2]
    if name == "server":
        inside[name] = "no table"
    else:
        del inside[name]
    RunStore.create(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(old))
    with pytest.raises(UnreadableError, match=r"run\.json: not a "):
        RunStore(tmp_path).read_run()


@pytest.mark.parametrize("text", ["[]", "1", '{"schema_version": 1}', '{"schema_version": 3}', "{", ""])
def test_what_is_no_record_at_all_is_told(text: str, tmp_path: Path) -> None:
    RunStore.create(tmp_path)
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UnreadableError, match=r"run\.json: not a "):
        RunStore(tmp_path).read_run()
