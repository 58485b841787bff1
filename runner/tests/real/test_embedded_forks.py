"""Real forks on embedded servers, measured, proven and judged like those on the usual one; and bounded virtual ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.domain.executors import is_per_request
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.provision.project import Project
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.proof import place_of
from jdkmatrix.subjects.parts import Parts
from tests.support.project import make_project
from tests.support.real_parts import ROUNDS_PER_US, Silent, key, parts_of, setup_of, subject_of, with_subject

pytestmark = pytest.mark.real

SERVERS = ("open-liberty", "jetty", "tomcat")
JDKS = ("temurin-25", "temurin-21.0.8")
FORKS = [
    *(("jetty", "temurin-25", executor) for executor in ("jetty", "virtual", "platform", "cached", "fixed-50")),
    *(
        ("tomcat", "temurin-25", executor)
        for executor in ("tomcat", "tomcat-virtual", "virtual", "platform", "fixed-50")
    ),
    *((server, "temurin-25", "virtual-bounded-8") for server in SERVERS),
    ("jetty", "temurin-21.0.8", "jetty"),
    ("jetty", "temurin-21.0.8", "virtual"),
    ("tomcat", "temurin-21.0.8", "virtual"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = make_project(tmp_path_factory.mktemp("project"))
    return Project(home, home)


@pytest.fixture(scope="module")
def parts(project: Project) -> Parts:
    first, *others = (parts_of(project, JDKS, server=server) for server in SERVERS)
    return replace(first, servers={name: one for parts in (first, *others) for name, one in parts.servers.items()})


@pytest.mark.parametrize(("server", "jdk", "executor"), FORKS)
def test_every_executor(project: Project, parts: Parts, tmp_path: Path, server: str, jdk: str, executor: str) -> None:
    fork = measure_fork(setup_of(project, parts, key(jdk, executor, server=server), tmp_path), Silent())
    assert fork.usable, fork.reasons
    assert fork.served.proof is not None and fork.served.proof.executor == executor
    window = fork.served.windows[0]
    assert window.valid, window.reasons
    assert window.load.completed > 0 and window.load.failed == 0
    assert window.served is not None
    assert window.served.on(place_of(executor)) == window.served.begun >= window.load.completed
    if is_per_request(executor):
        assert window.served.threads_started is not None and window.served.threads_started >= window.served.begun
    assert all(sample.gauges is not None and sample.gauges.heap_used_bytes > 0 for sample in fork.served.samples)
    assert "console.log" in fork.logs


@pytest.mark.parametrize("server", ["jetty", "tomcat"])
def test_a_burn_is_the_one_that_was_asked_for(project: Project, parts: Parts, tmp_path: Path, server: str) -> None:
    cell = key("temurin-25", "virtual", server=server, burn_us=100)
    fork = measure_fork(setup_of(project, parts, cell, tmp_path), Silent())
    assert fork.usable, fork.reasons
    assert fork.served.burn_check is not None and fork.served.burn_check.rounds == 100 * ROUNDS_PER_US


@pytest.mark.parametrize(
    ("server", "asked", "runs"),
    [
        ("jetty", "virtual", "cached"),
        ("jetty", "jetty", "fixed-50"),
        ("jetty", "cached", "jetty"),
        ("tomcat", "virtual", "tomcat-virtual"),
        ("tomcat", "tomcat", "tomcat-virtual"),
    ],
)
def test_another_executor_than_the_cells_fails_the_fork(
    project: Project, parts: Parts, tmp_path: Path, server: str, asked: str, runs: str
) -> None:
    setup = setup_of(project, parts, key("temurin-25", asked, server=server), tmp_path)
    other = replace(subject_of(setup).instance, executor=runs)
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
