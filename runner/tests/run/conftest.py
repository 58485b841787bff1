"""The store of a campaign of made-up forks, and the script of how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.run import campaign as module
from jdkmatrix.store.runs import RunStore
from tests.support.served_campaign import Script


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore.create(tmp_path / "run")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """The script of the forks that are measured from now on."""
    made = Script()
    monkeypatch.setattr(module, "measure_fork", made)
    return made
