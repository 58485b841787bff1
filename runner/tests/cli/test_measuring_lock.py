"""One run measures at a time, and what would disturb it can ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.cli import measuring_lock
from jdkmatrix.errors import MatrixError
from tests.support.project import called, make_project


def test_while_one_run_measures_another_is_refused_and_the_site_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_lock, "cache_dir", lambda: tmp_path)
    assert not measuring_lock.is_measuring()
    with measuring_lock.alone_on_this_host():
        assert measuring_lock.is_measuring()
        with (
            pytest.raises(MatrixError, match="another run is measuring"),
            measuring_lock.alone_on_this_host(),
        ):
            pass
    assert not measuring_lock.is_measuring()


def test_what_is_wrong_with_the_selection_is_told_before_that_another_run_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring_lock, "cache_dir", lambda: tmp_path)
    home = make_project(tmp_path / "project")
    with measuring_lock.alone_on_this_host():
        refused = called(home, "run", "--profile", "short", "--jdk", "temurin-9")
        waiting = called(home, "run", "--profile", "short")
    assert (refused.returncode, waiting.returncode) == (1, 1)
    assert "temurin-9" in refused.stderr
    assert "another run is measuring" in waiting.stderr
    assert not (home / "results").exists()
