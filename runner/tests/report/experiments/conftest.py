"""A run of every experiment, some of its cells bad, and the sections of its page."""

from __future__ import annotations

import pytest

from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import Sections, experiments_run, sections_of


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return experiments_run(tmp_path_factory.mktemp("experiments"), accidents=True)


@pytest.fixture(scope="session")
def sections(loaded: LoadedRun) -> Sections:
    return sections_of(loaded)
