"""`--tune` and `--restore` on a made-up host: exactly what was found comes back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from jdkmatrix.doctor import tuning
from jdkmatrix.doctor.base import Host, HostChange
from jdkmatrix.doctor.catalogue import proposed
from jdkmatrix.doctor.tuned import Tuned, locked, save
from jdkmatrix.doctor.tuning import Restored, restore, steps, tune
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.facts import chosen
from tests.support.doctor_host import CPU, FIXABLE, make_host, read, write

BOOT = "proc/sys/kernel/random/boot_id"
SWAPPINESS = "/proc/sys/vm/swappiness"
ASLR = "/proc/sys/kernel/randomize_va_space"
SOMAXCONN = "/proc/sys/net/core/somaxconn"
THREE = (HostChange(SWAPPINESS, "1", "a"), HostChange(ASLR, "0", "b"), HostChange(SOMAXCONN, "1024", "c"))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tuned.json"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return make_host(tmp_path / "root")


class Crash(BaseException):
    """An exception that, like a power cut, nothing catches."""


def apply(host: Host, state: Path, changes: Iterable[HostChange] = THREE) -> dict[str, str]:
    return tune(host, steps(host, changes), state)


def values(host: Host) -> dict[str, str]:
    return {change.file: chosen(read(host.root, change.file)) for change in THREE}


def endings(restored: tuple[Restored, ...] | None) -> dict[str, str]:
    return {each.file: each.ending for each in restored}


FOUND = {SWAPPINESS: "60", ASLR: "2", SOMAXCONN: "4096"}
TUNED = {SWAPPINESS: "1", ASLR: "0", SOMAXCONN: "1024"}


def test_everything_that_can_be_fixed_comes_back(tmp_path: Path, state: Path) -> None:
    host = make_host(tmp_path / "noisy", FIXABLE)
    changes = proposed(host)
    before = {change.file: chosen(read(host.root, change.file)) for change in changes}
    assert len(before) == len(changes) > 10
    assert apply(host, state, changes) == {}
    assert all(chosen(read(host.root, change.file)) == chosen(change.new) for change in changes)
    assert set(endings(restore(host, state)).values()) == {"put back"}
    assert {file: chosen(read(host.root, file)) for file in before} == before
    assert not state.exists()
    assert restore(host, state) is None


def test_every_user_can_see_whether_there_is_a_record_whatever_roots_umask(host: Host, state: Path) -> None:
    before = os.umask(0o077)
    try:
        apply(host, state)
    finally:
        os.umask(before)
    assert state.parent.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_crash_after_so_many_writes(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch, written: int) -> None:
    """The values that were found are on the disk before the first write."""
    saved = count()

    def save_and_crash(file: Path, tuned: Tuned) -> None:
        save(file, tuned)
        if next(saved) == written:  # the first save comes before the first write
            raise Crash

    with monkeypatch.context() as patched, pytest.raises(Crash):
        patched.setattr(tuning, "save", save_and_crash)
        apply(host, state)
    assert sum(now == TUNED[file] for file, now in values(host).items()) == written
    assert {each["file"]: each["found"] for each in json.loads(state.read_text())["settings"]} == FOUND
    assert sorted(endings(restore(host, state)).values()) == ["already so"] * (3 - written) + ["put back"] * written
    assert values(host) == FOUND
    assert not state.exists()


def test_a_crash_of_the_restore(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(host, state)
    monkeypatch.setattr(tuning, "remove", lambda _: (_ for _ in ()).throw(Crash()))
    write(host.root, ASLR, "2")
    with pytest.raises(Crash):
        restore(host, state)
    monkeypatch.undo()
    assert set(endings(restore(host, state)).values()) == {"already so"}
    assert not state.exists()


def test_after_a_reboot_only_what_still_holds_the_tuned_value_is_put_back(host: Host, state: Path) -> None:
    apply(host, state)
    write(host.root, BOOT, "second-boot\n")
    write(host.root, SWAPPINESS, "60\n")  # the boot gave what was found
    write(host.root, SOMAXCONN, "8192\n")  # the boot gave something else
    restored = restore(host, state)
    assert endings(restored) == {SWAPPINESS: "already so", ASLR: "put back", SOMAXCONN: "left"}
    assert "a reboot or somebody set 8192; --tune had found 4096" in [each.detail for each in restored or ()]
    assert values(host) == {SWAPPINESS: "60", ASLR: "2", SOMAXCONN: "8192"}
    assert not state.exists()


def test_what_somebody_else_changed_meanwhile_stays(host: Host, state: Path) -> None:
    apply(host, state)
    write(host.root, SWAPPINESS, "30\n")
    restored = restore(host, state)
    assert endings(restored)[SWAPPINESS] == "left"
    assert "somebody else set 30; --tune had found 60" in [each.detail for each in restored or ()]
    assert values(host) == {**FOUND, SWAPPINESS: "30"}


def test_a_failed_write_is_told_and_stops_no_other(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, ASLR)
    assert apply(host, state) == {ASLR: "Read-only file system"}
    record = [(each["file"], each["outcome"]) for each in json.loads(state.read_text())["settings"]]
    assert record == [(SWAPPINESS, "written"), (ASLR, "failed: Read-only file system"), (SOMAXCONN, "written")]
    assert endings(restore(host, state)) == {SWAPPINESS: "put back", ASLR: "already so", SOMAXCONN: "put back"}
    assert values(host) == FOUND


def test_a_failed_restore_keeps_what_is_left_to_do(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(host, state)
    with monkeypatch.context() as patched:
        refuse(patched, ASLR)
        assert endings(restore(host, state)) == {SWAPPINESS: "put back", ASLR: "failed", SOMAXCONN: "put back"}
    assert [each["file"] for each in json.loads(state.read_text())["settings"]] == [ASLR]
    assert endings(restore(host, state)) == {ASLR: "put back"}
    assert values(host) == FOUND
    assert not state.exists()


def test_a_distorted_restore_can_be_tried_again(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(host, state)
    real = tuning._write
    with monkeypatch.context() as patched:
        patched.setattr(tuning, "_write", lambda host, file, text: real(host, file, f"{text}0"))
        assert set(endings(restore(host, state)).values()) == {"failed"}
    assert set(endings(restore(host, state)).values()) == {"put back"}
    assert values(host) == FOUND


def test_a_kernel_that_keeps_the_old_value_is_told(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "_write", lambda *_: "")
    assert apply(host, state) == dict.fromkeys(FOUND, "the kernel accepted it but kept the old value")


def test_real_files_of_the_kernel(tmp_path: Path, state: Path) -> None:
    """These are files that concern nothing but this process."""
    machine = Host(root=Path("/"), results=tmp_path)
    name, adjusted = "/proc/self/comm", "/proc/self/oom_score_adj"
    before = {file: Path(file).read_text() for file in (name, adjusted)}
    changes = (HostChange(name, "cut-after-15-characters", ""), HostChange(adjusted, "many", ""))
    assert apply(machine, state, changes) == {adjusted: "Invalid argument"}
    assert Path(name).read_text() == "cut-after-15-ch\n"
    assert endings(restore(machine, state)) == {name: "put back", adjusted: "already so"}
    assert {file: Path(file).read_text() for file in before} == before


def test_a_second_tune_keeps_what_was_found_first(host: Host, state: Path) -> None:
    apply(host, state)
    again = (HostChange(SWAPPINESS, "0", "lower still"), HostChange(f"/{CPU}/smt/control", "on", "one more"))
    apply(host, state, again)
    assert read(host.root, SWAPPINESS) == "0"
    assert set(endings(restore(host, state)).values()) == {"put back"}
    assert values(host) == FOUND
    assert read(host.root, f"{CPU}/smt/control") == "off"


def test_a_second_tune_that_crashes_before_it_writes(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file still holds what the first one wrote, while the record already lists the second."""
    apply(host, state)
    with monkeypatch.context() as patched, pytest.raises(Crash):
        patched.setattr(tuning, "_write", lambda *_: (_ for _ in ()).throw(Crash()))
        apply(host, state, (HostChange(SWAPPINESS, "0", "lower still"),))
    restore(host, state)
    assert values(host) == FOUND


def test_a_second_tune_after_a_reboot_starts_from_what_the_boot_gave(host: Host, state: Path) -> None:
    apply(host, state)
    write(host.root, BOOT, "second-boot\n")
    write(host.root, SWAPPINESS, "45\n")
    apply(host, state)
    assert values(host) == TUNED
    restore(host, state)
    assert values(host) == {**FOUND, SWAPPINESS: "45"}


def test_a_file_that_is_gone_is_told_and_not_made(host: Host, state: Path) -> None:
    apply(host, state)
    (host.root / SOMAXCONN.lstrip("/")).unlink()
    assert endings(restore(host, state))[SOMAXCONN] == "gone"
    assert not (host.root / SOMAXCONN.lstrip("/")).exists()
    assert steps(host, (HostChange("/proc/sys/no/such", "1", ""),)) == ()


def test_a_record_that_cannot_be_read_stops_both(host: Host, state: Path) -> None:
    state.parent.mkdir()
    for text in ("{", '{"format": 2, "boot_id": "", "settings": []}', "[]"):
        state.write_text(text)
        with pytest.raises(MatrixError, match="not a readable record of --tune"):
            apply(host, state)
        with pytest.raises(MatrixError, match="not a readable record of --tune"):
            restore(host, state)
        assert state.read_text() == text
    assert values(host) == FOUND


def test_without_a_place_for_the_record_nothing_is_changed(host: Host, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MatrixError, match="Not a directory"):
        apply(host, tmp_path / "file" / "state" / "tuned.json")
    assert values(host) == FOUND


def test_only_one_at_a_time(host: Host, state: Path) -> None:
    with locked(state), pytest.raises(MatrixError, match="is running"):
        apply(host, state)
    assert values(host) == FOUND


def refuse(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    """Refuse writes, as a container does that mounts /proc/sys read-only; permissions do not hold root back."""
    real = os.open

    def opened(path: Path, flags: int, *rest: int) -> int:
        if str(path).endswith(file) and flags & os.O_WRONLY:
            raise OSError(30, "Read-only file system")
        return real(path, flags, *rest)

    monkeypatch.setattr("jdkmatrix.doctor.tuning.os.open", opened)
