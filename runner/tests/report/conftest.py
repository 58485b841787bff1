"""Runs that several files look at: of one condition, and of many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun
from tests.support.served_runs import FIVE, QUICK, Shape, synthetic_run


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("quick"), QUICK)


@pytest.fixture(scope="session")
def under_rate(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("rate"), replace(FIVE, loads=("rate-2000",)))


@pytest.fixture(scope="session")
def closed_loop(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    shape = replace(FIVE, executors=("liberty", "virtual", "platform", "liberty-aa"))
    return synthetic_run(tmp_path_factory.mktemp("closed"), shape)


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """Of many conditions, some of its cells bad."""
    shape = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True)
    return synthetic_run(tmp_path_factory.mktemp("run"), shape)


@pytest.fixture(scope="session")
def page(loaded: LoadedRun) -> PageOfRun:
    return PageOfRun(loaded)
