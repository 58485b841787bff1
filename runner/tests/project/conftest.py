"""The project that the steps of matrix.yml work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import make_project
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import stored


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one finished, made-up run that has cells of every outcome."""
    folder = make_project(tmp_path_factory.mktemp("project"))
    shape = Shape(
        jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), burn_us=(0, 50, 200),
        loads=("saturate-50", "rate-2000"), blocks=1, windows=1, accidents=True,
    )  # fmt: skip
    run = folder / "results" / shape.run_id
    stored(run, synthetic_run(run, shape))
    return folder
