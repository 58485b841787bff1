"""The parts that real forks need, set up once by each worker, and a check that no fork leaves a process behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import psutil
import pytest

from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.probes import jcmd, sampler
from jdkmatrix.provision.project import Project
from jdkmatrix.subjects.parts import Parts
from tests.support.own_application import make_jar
from tests.support.project import compiled_once, make_project
from tests.support.real_parts import ForkOf, key, parts_of, setup_of
from tests.support.waiting import wait_until


@pytest.fixture(scope="session", autouse=True)
def driver_for_seconds() -> Iterator[None]:
    with compiled_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Longer timeouts: a server that answers late, or a JVM that asks another, has four tests beside it on two CPUs."""
    with mock.patch.object(sampler, "GAUGES_TIMEOUT_S", 30.0), mock.patch.object(jcmd, "TIMEOUT_S", 60.0):
        yield


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = make_project(tmp_path_factory.mktemp("project"))
    return Project(home, home)


@pytest.fixture(scope="session")
def parts(project: Project) -> Parts:
    return parts_of(project)


@pytest.fixture(scope="session")
def jar(java: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An application that is not ours."""
    return make_jar(java, tmp_path_factory.mktemp("own"))


@pytest.fixture
def fork_of(project: Project, parts: Parts, tmp_path: Path) -> ForkOf:
    """A function that makes the fork of a cell with this JDK, executor and rest of its key, in this test's folder."""

    def made(jdk: str, executor: str, *, feature_set: str = "restfulWS-3.1", **cell: object) -> ForkDraft:
        return setup_of(project, parts, key(jdk, executor, **cell), tmp_path, feature_set=feature_set)

    return made


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    wait_until(lambda: not any(child.name() == "java" for child in psutil.Process().children(recursive=True)))
