"""One fork of each executor, and on each JDK that can be had here: real server, real driver, real CPUs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.domain.executors import is_virtual
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.records.windows import Gauges
from jdkmatrix.servers.proof import place_of
from tests.support.real_parts import ROUNDS_PER_US, ForkOf, Silent, subject_of, with_subject

pytestmark = pytest.mark.real

# `fixed-N` is in test_liberty_real.py, `virtual-bounded-N` in test_embedded_forks.py; `platform` and the server's own
# pool are below. On the other JDKs, what a release could change: virtual threads, the server's own and ours.
FORKS = [
    *(("temurin-25", executor) for executor in ("virtual", "liberty-virtual", "cached")),
    *(("temurin-21.0.8", executor) for executor in ("liberty-virtual", "virtual")),
    ("openjdk-28-nightly", "virtual"),
]


def assert_measured(fork: Fork) -> None:
    assert fork.usable, fork.reasons
    assert fork.proof.virtual == is_virtual(fork.proof.executor)
    window = fork.windows[0]
    assert window.valid, window.reasons
    assert window.load.completed > 0
    assert window.load.errors.total == window.load.non_2xx == 0
    assert 0 < window.sut.cpu_us_per_request < 1e6
    assert window.sut.rss_peak_bytes >= window.sut.rss_bytes > 50e6
    served = window.served
    assert served.begun >= window.load.completed
    assert served.on(place_of(fork.proof.executor)) == served.begun
    if fork.proof.executor in ("virtual", "platform"):
        assert served.threads_started is not None and served.threads_started >= served.begun
    # The hooks that plugged it in are gone: no service look-up under load meets them.
    hooked = any(part.startswith("-Djdkmatrix.executor.bundle=") for part in fork.command)
    assert [one.value for one in window.readings if one.metric == "hook_calls"] == ([0] if hooked else [])
    assert fork.samples
    assert_gauges(fork.proof.executor, [sample.gauges for sample in fork.samples])
    told = [sample.gauges.totals.get("hook_calls") for sample in fork.samples if sample.gauges]
    assert all((calls or 0) > 0 for calls in told) if hooked else not any(told)
    assert {"messages.log", "console.log"} <= fork.logs.keys()


def assert_gauges(executor: str, samples: list[Gauges | None]) -> None:
    for gauges in samples:
        assert gauges.pool_size is not None and gauges.pool_size >= 1
        assert gauges.carriers is not None and (gauges.carriers >= 1) == is_virtual(executor)
        assert gauges.jit_ms > 0 and gauges.heap_used_bytes > 0 and gauges.totals["allocated_bytes"] > 0


@pytest.mark.parametrize(("jdk", "executor"), FORKS)
def test_every_executor_and_every_jdk(fork_of: ForkOf, jdk: str, executor: str) -> None:
    """One is as busy as it can be; the others run at a rate that leaves the tests beside them some CPU."""
    setup = fork_of(jdk, executor)
    if (jdk, executor) != FORKS[0]:
        setup = with_subject(setup, load=RateLoad(rate_rps=500, connections=10))
    assert_measured(measure_fork(setup, Silent()))


def test_it_serves_from_what_is_plugged_in_on_netty(fork_of: ForkOf, tmp_path: Path) -> None:
    setup = fork_of("temurin-25", "virtual-bounded-8", server="open-liberty-netty")
    assert_measured(measure_fork(with_subject(setup, load=RateLoad(rate_rps=500, connections=10)), Silent()))
    opened = [line for line in (tmp_path / "logs" / "messages.log").read_text().splitlines() if "CWWKO0219I" in line]
    assert len(opened) == 1 and "io.openliberty.netty" in opened[0]


def test_microprofile_burn_and_a_constant_rate(fork_of: ForkOf) -> None:
    setup = fork_of("temurin-25.0.2", "platform", workload="mp-ping-mp61", burn_us=100, feature_set="microProfile-6.1")
    load = RateLoad(rate_rps=500, connections=5)
    fork = measure_fork(with_subject(setup, load=load), Silent())
    assert_measured(fork)
    result = fork.windows[0].load
    assert result.due == pytest.approx(500, abs=5)
    assert result.corrected is not None
    assert fork.burn_check.rounds == 100 * ROUNDS_PER_US
    assert fork.burn_check.best_us > 0


def test_a_search_for_the_capacity(fork_of: ForkOf, tmp_path: Path) -> None:
    """Requests may take very long, and the server is cold: what is found means nothing, but its bounds do."""
    setup = fork_of("temurin-25", "liberty")
    load = CapacityLoad(connections=5, p99_max_us=1e9, floor_share=0.01, resolution=0.9, step_s=0.5)
    fork = measure_fork(with_subject(setup, load=load), Silent())
    assert_measured(fork)
    assert fork.windows[0].load.load == load.in_windows
    found = fork.capacity
    assert found.ceiling_rps == pytest.approx(fork.windows[0].load.throughput_rps)
    assert found.steps[0].rate_rps == pytest.approx(found.ceiling_rps / 100)
    assert found.steps[0].held, found.steps[0].window
    assert all(step.window.load.load.kind == "rate" and step.window.load.corrected for step in found.steps)
    assert found.held_rps is not None and found.floor_rps <= found.held_rps <= found.ceiling_rps
    assert (tmp_path / "logs" / "search-1.hlog").exists()


def test_an_executor_that_is_not_the_cells_fails_the_fork(fork_of: ForkOf) -> None:
    """The server is the one that starts soonest, as below: each server answers with the name of what runs a request."""
    setup = fork_of("temurin-25", "virtual", server="jetty")
    other = replace(subject_of(setup).instance, executor="cached")
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
    assert 'did not run on "virtual"' in fork.reasons[0].message
    assert fork.windows == ()


def test_another_executor_under_load_fails_the_fork(fork_of: ForkOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both serve from platform threads; only the first proof, by answers, is left out."""
    setup = fork_of("temurin-25", "cached", server="jetty")
    other = replace(subject_of(setup).instance, executor="jetty")
    monkeypatch.setattr("jdkmatrix.subjects.served.measurement.prove_executor", lambda *_, **__: None)
    load = RateLoad(rate_rps=500, connections=10)
    fork = measure_fork(with_subject(setup, instance=other, load=load), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
    assert "on the server's own threads" in fork.reasons[0].message
    assert fork.reasons[0].figures["wrong"] == fork.reasons[0].figures["begun"] > 0
