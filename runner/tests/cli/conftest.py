"""A project for each module; neither another test nor a run that measures on this host affects these tests."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from jdkmatrix.cli import measuring_lock
from tests.support.project import make_project
from tests.support.session_runs import Sessions, made_up_sessions


@pytest.fixture(autouse=True)
def own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring_lock, "_NAME", f"jdk-matrix.test.{uuid4()}")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sessions:
    return made_up_sessions(tmp_path, monkeypatch, capsys)
