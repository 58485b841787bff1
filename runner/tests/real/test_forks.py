"""One fork of each executor on each JDK that can be had here: real server, real driver, real CPUs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.loads import CapacityLoad, RateLoad
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.provision.project import Project
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Gauges
from jdkmatrix.servers.proof import place_of
from jdkmatrix.subjects.parts import Parts
from tests.support.project import make_project
from tests.support.real_parts import ROUNDS_PER_US, Silent, key, parts_of, setup_of, subject_of, with_subject

pytestmark = pytest.mark.real

# temurin-25.0.3 is there only where a host brings it along; semeru and the archives cannot be had on every network.
MUST_RUN = ("temurin-21.0.8", "temurin-25", "temurin-25.0.2", "openjdk-28-nightly")
EXECUTORS = ("liberty", "liberty-virtual", "virtual", "platform", "fixed-50", "cached")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = make_project(tmp_path_factory.mktemp("project"))
    return Project(home, home)


@pytest.fixture(scope="module")
def parts(project: Project) -> Parts:
    return parts_of(project, MUST_RUN)


def assert_measured(fork: Fork) -> None:
    assert fork.usable, fork.reasons
    assert fork.proof is not None
    assert fork.proof.virtual == is_virtual(fork.proof.executor)
    window = fork.windows[0]
    assert window.valid, window.reasons
    assert window.load.completed > 0
    assert window.load.errors.total == window.load.non_2xx == 0
    assert 0 < window.sut.cpu_us_per_request < 1e6
    assert window.sut.rss_peak_bytes >= window.sut.rss_bytes > 50e6
    served = window.served
    assert served is not None
    assert served.begun >= window.load.completed
    assert served.on(place_of(fork.proof.executor)) == served.begun
    if fork.proof.executor in ("virtual", "platform"):
        assert served.threads_started is not None and served.threads_started >= served.begun
    assert fork.samples
    assert_gauges(fork.proof.executor, [sample.gauges for sample in fork.samples])
    assert {"messages.log", "console.log"} <= fork.logs.keys()


def assert_gauges(executor: str, samples: list[Gauges | None]) -> None:
    for gauges in samples:
        assert gauges is not None
        assert gauges.pool_size is not None and gauges.pool_size >= 1
        assert gauges.carriers is not None and (gauges.carriers >= 1) == is_virtual(executor)
        assert gauges.jit_ms > 0 and gauges.heap_used_bytes > 0 and gauges.totals["allocated_bytes"] > 0


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("jdk", MUST_RUN)
def test_every_executor_on_every_jdk(project: Project, parts: Parts, tmp_path: Path, jdk: str, executor: str) -> None:
    """As busy as it can be on one JDK; on the others at a rate, which leaves the tests beside it some CPU."""
    setup = setup_of(project, parts, key(jdk, executor), tmp_path)
    if jdk != "temurin-25":
        setup = with_subject(setup, load=RateLoad(rate_rps=500, connections=10))
    fork = measure_fork(setup, Silent())
    assert_measured(fork)


def test_microprofile_burn_and_a_constant_rate(project: Project, parts: Parts, tmp_path: Path) -> None:
    cell = key("temurin-25", "virtual", workload="mp-ping-mp61", burn_us=100)
    setup = setup_of(project, parts, cell, tmp_path, feature_set="microProfile-6.1")
    load = RateLoad(rate_rps=500, connections=5)
    fork = measure_fork(with_subject(setup, load=load), Silent())
    assert_measured(fork)
    result = fork.windows[0].load
    assert result.due is not None
    assert result.due == pytest.approx(500, abs=5)
    assert result.corrected is not None
    assert fork.burn_check is not None
    assert fork.burn_check.rounds == 100 * ROUNDS_PER_US
    assert fork.burn_check.best_us > 0


def test_a_search_for_the_capacity(project: Project, parts: Parts, tmp_path: Path) -> None:
    """Any request may take so long, and the server is cold: what is found means nothing, its bounds do."""
    setup = setup_of(project, parts, key("temurin-25", "liberty"), tmp_path)
    load = CapacityLoad(connections=5, p99_max_us=1e9, floor_share=0.01, resolution=0.9, step_s=0.5)
    fork = measure_fork(with_subject(setup, load=load), Silent())
    assert_measured(fork)
    assert fork.windows[0].load.load == load.in_windows
    found = fork.capacity
    assert found is not None
    assert found.ceiling_rps == pytest.approx(fork.windows[0].load.throughput_rps)
    assert found.steps[0].rate_rps == pytest.approx(found.ceiling_rps / 100)
    assert found.steps[0].held, found.steps[0].window
    assert all(step.window.load.load.kind == "rate" and step.window.load.corrected for step in found.steps)
    assert found.held_rps is not None and found.floor_rps <= found.held_rps <= found.ceiling_rps
    assert (tmp_path / "logs" / "search-1.hlog").exists()


def test_an_executor_that_is_not_the_cells_fails_the_fork(project: Project, parts: Parts, tmp_path: Path) -> None:
    setup = setup_of(project, parts, key("temurin-25", "virtual"), tmp_path)
    other = replace(subject_of(setup).instance, executor="cached")
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
    assert 'did not run on "virtual"' in fork.reasons[0].message
    assert fork.windows == ()


def test_an_executor_that_is_not_the_cells_under_load_fails_the_fork(
    project: Project, parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both serve from platform threads; only the first proof, by answers, is left out."""
    setup = setup_of(project, parts, key("temurin-25", "cached"), tmp_path)
    other = replace(subject_of(setup).instance, executor="liberty")
    monkeypatch.setattr("jdkmatrix.subjects.served.measurement.prove_executor", lambda *_, **__: None)
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
    assert "on the server's own threads" in fork.reasons[0].message
    assert fork.reasons[0].figures["wrong"] == fork.reasons[0].figures["begun"] > 0


def test_no_process_is_left(project: Project, parts: Parts) -> None:
    deadline = time.monotonic() + 20
    while children := psutil.Process().children(recursive=True):
        java = [child for child in children if child.name() == "java"]
        if not java:
            break
        assert time.monotonic() < deadline, java
