"""Runs that several test files share: of one condition, and of many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun
from tests.support.served_runs import FIVE, QUICK, Shape, made_up


@pytest.fixture(scope="session")
def quick() -> LoadedRun:
    return made_up(QUICK)


@pytest.fixture(scope="session")
def under_rate() -> LoadedRun:
    return made_up(replace(FIVE, loads=("rate-2000",)))


@pytest.fixture(scope="session")
def closed_loop() -> LoadedRun:
    shape = replace(FIVE, executors=("liberty", "virtual", "platform", "liberty-aa"))
    return made_up(shape)


@pytest.fixture(scope="session")
def loaded() -> LoadedRun:
    """Return a run of many conditions, with some bad cells."""
    shape = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True)
    return made_up(shape)


@pytest.fixture(scope="session")
def page(loaded: LoadedRun) -> PageOfRun:
    return PageOfRun(loaded)
