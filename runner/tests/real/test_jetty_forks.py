"""Real forks on Jetty: the second server is measured, proven and judged like the first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.provision.project import Project
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.proof import place_of
from jdkmatrix.subjects.parts import Parts
from tests.support.project import make_project
from tests.support.real_parts import ROUNDS_PER_US, Silent, key, parts_of, setup_of, subject_of, with_subject

pytestmark = pytest.mark.real

FORKS = [
    *(("temurin-25", executor) for executor in ("jetty", "virtual", "platform", "cached", "fixed-50")),
    *(("temurin-21.0.8", executor) for executor in ("jetty", "virtual")),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = make_project(tmp_path_factory.mktemp("project"))
    return Project(home, home)


@pytest.fixture(scope="module")
def parts(project: Project) -> Parts:
    return parts_of(project, dict.fromkeys(jdk for jdk, _ in FORKS), server="jetty")


@pytest.mark.parametrize(("jdk", "executor"), FORKS)
def test_every_executor(project: Project, parts: Parts, tmp_path: Path, jdk: str, executor: str) -> None:
    fork = measure_fork(setup_of(project, parts, key(jdk, executor, server="jetty"), tmp_path), Silent())
    assert fork.usable, fork.reasons
    assert fork.proof is not None and fork.proof.executor == executor
    window = fork.windows[0]
    assert window.valid, window.reasons
    assert window.load.completed > 0 and window.load.failed == 0
    assert window.served is not None
    assert window.served.on(place_of(executor)) == window.served.begun >= window.load.completed
    assert all(sample.gauges is not None and sample.gauges.heap_used_bytes > 0 for sample in fork.samples)
    assert "console.log" in fork.logs


def test_a_burn_is_the_one_that_was_asked_for(project: Project, parts: Parts, tmp_path: Path) -> None:
    cell = key("temurin-25", "virtual", server="jetty", burn_us=100)
    fork = measure_fork(setup_of(project, parts, cell, tmp_path), Silent())
    assert fork.usable, fork.reasons
    assert fork.burn_check is not None and fork.burn_check.rounds == 100 * ROUNDS_PER_US


@pytest.mark.parametrize(("asked", "runs"), [("virtual", "cached"), ("jetty", "fixed-50"), ("cached", "jetty")])
def test_another_executor_than_the_cells_fails_the_fork(
    project: Project, parts: Parts, tmp_path: Path, asked: str, runs: str
) -> None:
    setup = setup_of(project, parts, key("temurin-25", asked, server="jetty"), tmp_path)
    other = replace(subject_of(setup).instance, executor=runs)
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
