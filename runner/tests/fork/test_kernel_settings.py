"""Kernel settings of one arm: in force while it runs, put back whatever happens, on a made-up host."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jdkmatrix.doctor.base import Host
from jdkmatrix.fork.kernel import KernelError, cannot_set, kernel_settings, put_back_leftovers
from tests.support.doctor_host import make_host, read, write

SWAPPINESS = "/proc/sys/vm/swappiness"
ASLR = "/proc/sys/kernel/randomize_va_space"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return make_host(tmp_path / "root")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "arm.json"


def test_the_settings_hold_inside_and_are_put_back(host: Host, state: Path) -> None:
    with kernel_settings(host, {SWAPPINESS: "1", ASLR: "0"}, state):
        assert (read(host.root, SWAPPINESS).strip(), read(host.root, ASLR).strip()) == ("1", "0")
        assert state.exists()
    assert (read(host.root, SWAPPINESS).strip(), read(host.root, ASLR).strip()) == ("60", "2")
    assert not state.exists()


def test_they_are_put_back_after_a_failure(host: Host, state: Path) -> None:
    with pytest.raises(RuntimeError, match="fork"), kernel_settings(host, {SWAPPINESS: "1"}, state):
        raise RuntimeError("fork")
    assert read(host.root, SWAPPINESS).strip() == "60"


def test_what_a_killed_run_left_is_put_back_by_the_next_arm_even_one_without_settings(host: Host, state: Path) -> None:
    killed = kernel_settings(host, {SWAPPINESS: "1"}, state)
    killed.__enter__()
    assert read(host.root, SWAPPINESS).strip() == "1"
    with kernel_settings(host, {}, state):
        assert read(host.root, SWAPPINESS).strip() == "60"


def test_others_than_root_are_told_who_can_put_back_what_a_killed_run_of_roots_left(
    host: Host, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = kernel_settings(host, {SWAPPINESS: "1"}, state)
    killed.__enter__()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(KernelError, match=r"still in place: /proc/sys/vm/swappiness; `matrix doctor --restore`"):
        put_back_leftovers(host, state)
    assert read(host.root, SWAPPINESS).strip() == "1"
    write(host.root, SWAPPINESS, "60")  # as after a reboot
    put_back_leftovers(host, state)
    assert state.exists(), "root's"


def test_a_value_that_is_refused_fails_the_arm_and_leaves_nothing_behind(host: Host, state: Path) -> None:
    write(host.root, ASLR, "2")
    (host.root / ASLR.lstrip("/")).unlink()
    (host.root / ASLR.lstrip("/")).symlink_to("/proc/version")  # readable, but nobody can write it
    with (
        pytest.raises(KernelError, match="randomize_va_space"),
        kernel_settings(host, {SWAPPINESS: "1", ASLR: "0"}, state),
    ):
        pytest.fail("the arm must not run")
    assert read(host.root, SWAPPINESS).strip() == "60"


def test_a_host_without_the_file_or_the_rights_says_so_beforehand(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cannot_set(host, {"/sys/kernel/debug/sched/base_slice_ns": "1"}) == (
        "this host does not show /sys/kernel/debug/sched/base_slice_ns"
    )
    assert cannot_set(host, {SWAPPINESS: "1"}) is None
    already = {SWAPPINESS: (host.text(SWAPPINESS) or "").strip()}
    assert cannot_set(host, already) == f"this host has that already ({SWAPPINESS}: {already[SWAPPINESS]})"
    assert cannot_set(host, {**already, ASLR: "0"}) is None
    monkeypatch.setattr(os, "access", lambda file, mode: Path(file) != host.at(SWAPPINESS))
    refused = f"here even root may not write {SWAPPINESS}, as in most containers"
    assert cannot_set(host, {SWAPPINESS: "1", ASLR: "0"}) == refused, "proc is mounted read-only there"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cannot_set(host, {SWAPPINESS: "1"}) == f"only root may write {SWAPPINESS}"
    assert cannot_set(host, {}) is None


def test_a_record_that_cannot_be_looked_for_is_told(host: Host, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stat(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(KernelError, match=rf"settings of an earlier run: {state}: Permission denied"):
        kernel_settings(host, {}, state).__enter__()
