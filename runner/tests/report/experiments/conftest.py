"""A run of every experiment, some of its cells bad, and the sections of its page."""

from __future__ import annotations

import pytest

from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import Sections, experiments_of, sections_of


@pytest.fixture(scope="session")
def loaded() -> LoadedRun:
    return experiments_of(accidents=True)


@pytest.fixture(scope="session")
def sections(loaded: LoadedRun) -> Sections:
    return sections_of(loaded)
