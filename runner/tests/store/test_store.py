"""Results on disk are whole or absent; what cannot be read is named and kept."""

from __future__ import annotations

import errno
import gzip
import lzma
import resource
import shutil
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.run import NotTestable
from jdkmatrix.store.atomic import StoreError, write_atomic
from jdkmatrix.store.cells import CellRecord, Identity
from jdkmatrix.store.readable import UnreadableError
from jdkmatrix.store.runs import RunStore, all_runs, is_run, latest_begun, latest_run
from tests.support.builders import cell, fork, key
from tests.support.outcome_runs import run_of
from tests.support.served_runs import Shape, made_up
from tests.support.sites import stored


def test_another_stamp_follows_from_whatever_is_written_below_the_run(tmp_path: Path) -> None:
    """Pages show logs, too, and a record that replaces another may be as long."""
    store = RunStore.create(tmp_path / "run")
    record = cell(forks=(fork(1),))
    log = store.new_log_dir(record.key, 1, 1) / "messages.log"
    stamps = [store.stamp()]
    for change in (
        lambda: store.save_cell(record),
        lambda: store.save_cell(record),
        lambda: log.write_text("one"),
        lambda: log.write_text("one more"),
        log.unlink,
        lambda: store.directory.rename(tmp_path / "elsewhere"),
    ):
        change()
        there = store.directory if store.directory.exists() else tmp_path / "elsewhere"
        stamps.append(RunStore(there).stamp())
        assert RunStore(there).stamp() == stamps[-1]
    assert stamps[5] == stamps[2], "without its log it is as before"
    assert len({*stamps}) == len(stamps) - 1


COMPRESSED = {".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_a_compressed_cell_is_the_same_and_a_damaged_one_is_told(tmp_path: Path, suffix: str) -> None:
    """Runs that are kept for long are compressed."""
    store = RunStore.create(tmp_path)
    record = cell(forks=(fork(1), fork(2)))
    store.save_cell(record)
    plain = store.cell_path(record.key)
    kept = plain.with_name(plain.name + suffix)
    kept.write_bytes(COMPRESSED[suffix](plain.read_bytes()))
    assert store.count_cells() == 1, "a run that went on has both"
    plain.unlink()
    assert store.read_cell(record.key) == record and store.count_cells() == 1
    for damaged in (kept.read_bytes()[:-20], b"not compressed", b""):
        kept.write_bytes(damaged)
        with pytest.raises(UnreadableError, match=kept.name):
            store.read_cell(record.key)


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()], ids=["files", "memory"]
)
def test_a_cell_that_cannot_be_read_just_now_is_not_taken_for_a_damaged_one(
    tmp_path: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be set aside, and measured again."""
    store = RunStore.create(tmp_path)
    store.save_cell(cell(forks=(fork(1),)))
    monkeypatch.setattr(Path, "read_bytes", mock.Mock(side_effect=error))
    with pytest.raises(MatrixError, match="cannot be read") as told:
        store.read_cell(cell().key)
    assert told.value.exit_code == 1 and not isinstance(told.value, UnreadableError)


def test_a_file_of_another_cell_is_not_taken_for_this_one(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path)
    there, other = (cell(key(executor), (fork(1),)) for executor in ("liberty", "virtual"))
    store.save_cell(there)
    shutil.copyfile(store.cell_path(there.key), store.cell_path(other.key))
    with pytest.raises(UnreadableError, match=rf"{other.key.cell_id}\.json: .* its key is that of another cell$"):
        store.read_cell(other.key)
    assert store.read_cell(there.key) == there


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path)
    (tmp_path / "logs").rmdir()
    (tmp_path / "logs").touch()
    with pytest.raises(StoreError, match=r"fork-1 cannot be made: Not a directory"):
        store.new_log_dir(key("virtual"), 1, 1)


def test_a_failed_write_leaves_the_old_file_and_a_disk_without_room_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomic(path, "new \ud800")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(StoreError, match=r"file cannot be written: File too large"):
            write_atomic(path, "new" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_cell_is_never_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    store = RunStore.create(tmp_path_factory.mktemp("run"))
    record = cell(forks=(fork(1),))
    store.save_cell(record)
    path = store.cell_path(record.key)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(st.sampled_from([whole[:at], whole[:at] + b"\x00\xff" + whole[at:], b"", b"[]", b"null"]))
    path.write_bytes(damaged)
    with pytest.raises(UnreadableError, match=path.name):
        store.read_cell(record.key)


def test_in_a_complete_run_a_planned_cell_without_a_file_is_missed(tmp_path: Path) -> None:
    there, gone, impossible = (cell(key(executor), (fork(1),)) for executor in ("liberty", "virtual", "platform"))
    store = RunStore.create(tmp_path)
    store.save_cell(there)

    def damaged(status: str) -> tuple[str, ...]:
        not_testable = (NotTestable(key=impossible.key, reason="no CPUs"),)
        run = run_of([there, gone, impossible], status=status, not_testable=not_testable).run
        store.save_run(run)
        loaded = store.load()
        assert loaded.problems == loaded.damaged
        return loaded.damaged

    assert damaged("complete") == (f"{store.cell_path(gone.key)}: missing, although the run is complete",)
    assert damaged("interrupted") == damaged("running") == (), "it had not its turn yet"
    store.cell_path(there.key).write_text("{")
    assert len(damaged("complete")) == 2 and "not a readable result" in damaged("interrupted")[0]


def test_what_cannot_stand_is_kept_under_another_name(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path)
    for number in (1, 2):
        store.cell_path(key()).write_text(f"damage {number}")
        assert store.set_aside(key(), "unreadable").read_text() == f"damage {number}"
    assert len(list((tmp_path / "cells").iterdir())) == 2


@pytest.mark.parametrize("suffix", ["", *COMPRESSED])
def test_a_file_that_was_set_aside_and_measured_again_is_kept_and_no_damage(tmp_path: Path, suffix: str) -> None:
    """When a run that was kept for long goes on, its files are compressed."""
    record = cell(forks=(fork(1),))
    store = RunStore.create(tmp_path)
    store.save_run(run_of([record]).run)
    plain = store.cell_path(record.key)
    plain.with_name(plain.name + suffix).write_bytes(b"damage")
    aside = store.set_aside(record.key, "unreadable")
    assert aside.read_bytes() == b"damage" and store.read_cell(record.key) is None
    store.save_cell(record)
    loaded = store.load()
    why = "was unreadable and set aside; measured again, or continued without its series"
    assert loaded.problems == (f"{aside.name}: {why}",) and not loaded.damaged


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_a_run_that_is_kept_for_long_is_compressed_and_can_go_on(tmp_path: Path, suffix: str) -> None:
    record = run_of([cell(forks=(fork(1),))]).run
    store = RunStore.create(tmp_path / "one")
    store.save_run(record)
    plain = store.directory / "run.json"
    plain.with_name(f"run.json{suffix}").write_bytes(COMPRESSED[suffix](plain.read_bytes()))
    plain.unlink()
    assert is_run(store.directory) and store.read_run() == record
    assert all_runs(tmp_path) == (store.directory,) and latest_run(tmp_path) == store.directory
    store.save_run(record.model_copy(update={"profile": "of-today"}))
    assert store.read_run().profile == "of-today" and all_runs(tmp_path) == (store.directory,)


def test_the_newest_run_is_the_one_that_began_last_whatever_its_name(tmp_path: Path) -> None:
    for newest in (latest_run, latest_begun):
        with pytest.raises(MatrixError, match="no run"):
            newest(tmp_path)
    run = run_of([cell()]).run
    session = run.first_session
    for name, began in {
        "my-first-try": "2026-03-01T00:30:00+01:00",
        "20260301T000000Z-quick": "2026-02-28T23:29:59Z",
        "zzz": "2026-02-27T00:00:00",
    }.items():
        sessions = (session.model_copy(update={"started_at": began}),)
        RunStore.create(tmp_path / name).save_run(run.model_copy(update={"sessions": sessions}))
    for newest in (latest_run, latest_begun):
        assert newest(tmp_path).name == "my-first-try"
    stopped = RunStore.create(tmp_path / "a-second-try").directory
    assert (latest_run(tmp_path).name, latest_begun(tmp_path)) == ("my-first-try", stopped)
    (stopped / "run.json").write_text("{")
    assert latest_run(tmp_path) == stopped, "it is named, and no other run is taken for the newest"


def test_a_compressed_copy_beside_a_cell_is_set_aside_with_it(tmp_path: Path) -> None:
    store, record = RunStore.create(tmp_path), cell(key(), (fork(1),))
    store.save_cell(record)
    plain = store.cell_path(record.key)
    copy = plain.with_name(f"{plain.name}.gz")
    copy.write_bytes(gzip.compress(plain.read_bytes()))
    assert store.set_aside(record.key, "superseded").name == f"{plain.name}.superseded-1"
    assert store.read_cell(record.key) is None and not copy.exists()


def test_an_attempt_has_an_empty_folder_of_its_own_and_earlier_logs_are_kept(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path)
    for killed in (1, 2, 3):
        folder = store.new_log_dir(key(), 1, 1)
        assert folder.name == "fork-1" and not list(folder.iterdir())
        (folder / "messages.log").write_text(f"killed {killed}")
    kept = sorted(folder.parent.glob("fork-1.unfinished-or-superseded-*/messages.log"))
    assert [path.read_text() for path in kept] == ["killed 1", "killed 2"]
    later = store.new_log_dir(key(), 1, 2)
    assert later.name == "fork-1.attempt-2" and not list(later.iterdir())
    assert (folder / "messages.log").read_text() == "killed 3", "what a record names stays where it is"
    assert not list(store.new_log_dir(key(), 2, 1).iterdir())


def test_what_the_latest_session_has_not_measured_is_in_no_figure_until_it_has(tmp_path: Path) -> None:
    """The latest session went on with another kernel, was stopped in its first stage, and cannot measure one cell."""
    loaded = made_up(Shape(jdks=("temurin-25",), burn_us=(0, 100), blocks=1))
    first, second = loaded.run.latest_session, loaded.run.latest_session.model_copy(update={"number": 2})
    sessions = (first, second.model_copy(update={"host": first.host.model_copy(update={"kernel": "7.0"})}))

    def measured(burn_us: int, kernel: str) -> list[CellRecord]:
        identity = Identity(digest="d", inputs={"host": {"kernel": kernel}})
        some = (cell for cell in loaded.cells if cell.key.burn_us == burn_us)
        return [cell.model_copy(update={"identity": identity}) for cell in some]

    none, some = measured(0, "7.0"), measured(100, first.host.kernel)
    gone = none.pop()
    store = stored(tmp_path / "run", replace(loaded, cells=(*none, *some, gone)))
    refused = NotTestable(key=gone.key, reason="it is gone")
    run = loaded.run.model_copy(update={"sessions": sessions, "status": "interrupted", "not_testable": (refused,)})
    store.save_run(run)
    found = store.load()
    assert (found.damaged, {cell.key for cell in found.cells}) == ((), {cell.key for cell in none})
    assert {cell.key for cell in found.earlier} == {cell.key for cell in (*some, gone)}
    assert len(found.problems) == len(found.earlier)
    assert any("has another host, CPU or kernel, and has not measured it yet" in text for text in found.problems)
    assert any("cannot measure it: it is gone" in text for text in found.problems)
    store.save_run(run.model_copy(update={"status": "complete"}))
    assert {cell.key for cell in store.load().earlier} == {gone.key}, "then all the others have had their turn"


def test_settings_are_what_was_set_and_of_a_jdk_of_the_user_its_files() -> None:
    def of(jdk: str = "temurin-25", **inputs: object) -> str:
        told = {"cell": {"jdk": jdk}, "workload": {"client": "socket"}, "jvm_options": ["-Xmx1g"], **inputs}
        return Identity(digest="d", inputs=told).settings

    assert of() == of(workload={"client": "socket", "came_later": None}) == of(measuring_code="another")
    assert len({of(), of(jvm_options=["-Xmx2g"]), of(workload={"client": "jdk"}), of(mix={"seed": 1})}) == 4
    assert len({of(host={"governor": name, "kernel": "6.1"}) for name in ("powersave", "performance")}) == 2
    assert len({of(host={"mitigations": {"retbleed": text}}) for text in ("Vulnerable", "Mitigation: IBRS")}) == 2
    assert of(host={"governor": "performance", "kernel": "6.1"}) == of(
        host={"governor": "performance", "kernel": "6.2"}
    )
    assert of(postgresql=["18.1", "a"]) == of(postgresql=["18.1", "b"]) != of(postgresql=["17.6", "b"])
    assert len({of(), *(of(option_files={"/x.jar": digest}) for digest in "ab")}) == 3
    assert of(jdk_files_sha256="a") == of(jdk_files_sha256="b"), "a hash pins them"
    assert of("own-jdk", jdk_files_sha256="a") != of("own-jdk", jdk_files_sha256="b")


def test_what_a_killed_runner_had_begun_is_removed_and_nothing_else(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path)
    store.save_cell(cell(key()))
    (tmp_path / "scratch-7" / "server").mkdir(parents=True)
    begun = [tmp_path / ".run.json.a1.tmp", tmp_path / "cells" / f".{key().cell_id}.json.b2.tmp"]
    for path in begun:
        path.touch()
    store.remove_leftovers()
    assert {path.name for path in tmp_path.iterdir()} == {"cells", "logs"}
    assert [path.name for path in (tmp_path / "cells").iterdir()] == [f"{key().cell_id}.json"]


def test_the_folder_of_a_run_is_removed_only_while_nothing_is_in_it(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run")
    (store.directory / "run.json").write_text("{}")
    store.remove_empty()
    assert {path.name for path in store.directory.iterdir()} == {"run.json", "cells", "logs"}
    (store.directory / "run.json").unlink()
    RunStore.create(store.directory / "capacity")  # a stage that failed before its first fork
    store.remove_empty()
    assert not store.directory.exists()
