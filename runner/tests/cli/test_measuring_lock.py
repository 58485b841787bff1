"""One run measures at a time, and whatever would disturb it can ask whether one does."""

from __future__ import annotations

import errno
import multiprocessing
import os
import socket
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from jdkmatrix.cli import measuring_lock, running
from jdkmatrix.cli.selecting import Options
from jdkmatrix.errors import MatrixError
from jdkmatrix.subjects.parts import Parts
from tests.support.project import called, make_project
from tests.support.waiting import HANGS_S


def test_while_one_run_measures_another_is_refused_whatever_its_cache_and_the_site_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not measuring_lock.is_measuring()
    monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "one"))
    with measuring_lock.alone_on_this_host():
        monkeypatch.setenv("MATRIX_CACHE", str(tmp_path / "another"))
        assert measuring_lock.is_measuring()
        with pytest.raises(MatrixError, match="another run is measuring"), measuring_lock.alone_on_this_host():
            pass
    assert not measuring_lock.is_measuring()


def test_a_lock_that_the_host_does_not_allow_is_no_run_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "bind", mock.Mock(side_effect=PermissionError(errno.EPERM, "not permitted")))
    with pytest.raises(MatrixError, match="is not known: not permitted"), measuring_lock.alone_on_this_host():
        pass


def _refused_as(user_id: int) -> None:
    os.setuid(user_id)
    try:
        with measuring_lock.alone_on_this_host():
            os._exit(1)
    except MatrixError:
        os._exit(0 if measuring_lock.is_measuring() else 2)


@pytest.mark.real
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_run_of_another_user_is_refused_too() -> None:
    with measuring_lock.alone_on_this_host():
        other = multiprocessing.get_context("fork").Process(target=_refused_as, args=(65534,))
        other.start()
        other.join(HANGS_S)
    assert other.exitcode == 0


def test_what_is_wrong_with_the_selection_is_told_before_that_another_run_measures(tmp_path: Path) -> None:
    home = make_project(tmp_path / "project")
    with measuring_lock.alone_on_this_host():
        refused = called(home, "run", "--profile", "short", "--jdk", "temurin-9")
        waiting = called(home, "run", "--profile", "short")
    assert (refused.returncode, waiting.returncode) == (1, 1)
    assert "temurin-9" in refused.stderr
    assert "another run is measuring" in waiting.stderr
    assert not (home / "results").exists()


def test_nothing_is_got_or_built_while_a_run_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build would disturb the run, and remove what it starts servers with."""
    monkeypatch.setattr(running, "set_up_parts", lambda *_, **__: pytest.fail("it would build"))
    monkeypatch.setattr(running, "is_measuring", lambda: True)
    with pytest.raises(MatrixError, match="a run is measuring on this host: fetching and building would disturb it"):
        running.set_up(Options("quick", {}))


def test_a_setup_that_lacks_something_says_so_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = {"workloads": None, "servers": {}, "loads": {}, "drivers": {}}
    jdks: Any = {"temurin-25": None, "semeru-25": "no archive"}
    parts = Parts(**nothing, jdks=jdks, postgres="no room")
    monkeypatch.setattr(running, "set_up_parts", lambda *_, **__: parts)
    with pytest.raises(MatrixError, match=r"^not available here: semeru-25, the database; all else is set up$"):
        running.set_up(Options("quick", {}))
