"""What the steps of matrix.yml work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.store.runs import RunStore
from tests.support.project import make_project
from tests.support.served_runs import Shape, synthetic_run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one finished run, made up, with cells of every outcome."""
    folder = make_project(tmp_path_factory.mktemp("project"))
    shape = Shape(
        jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), burn_us=(0, 50, 200),
        loads=("saturate-50", "rate-2000"), blocks=1, windows=1, accidents=True,
    )  # fmt: skip
    store = RunStore.create(folder / "results" / shape.run_id)
    loaded = synthetic_run(store.directory, shape)
    store.save_run(loaded.run)
    for cell in loaded.cells:
        store.save_cell(cell)
    return folder
