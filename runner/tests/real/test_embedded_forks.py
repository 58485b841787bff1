"""Real forks on embedded servers, measured, proven and judged like those on the usual one; and bounded virtual ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.executors import is_per_request
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.servers.proof import place_of
from tests.support.real_parts import ROUNDS_PER_US, ForkOf, Silent, subject_of, with_subject

pytestmark = pytest.mark.real

BURN_US = 100
NETTY = "open-liberty-netty"  # in test_forks.py
EMBEDDED = [kind for kind in server_kinds().values() if kind.jar is not None]
FORKS = [
    *((kind.name, "temurin-25", executor) for kind in EMBEDDED for executor in kind.executors),
    *((kind.name, "temurin-21.0.8", kind.virtual if kind.has(kind.virtual) else kind.own_pool) for kind in EMBEDDED),
    # `virtual` is what every whole run measures on it (tests/support/project.py).
    *(("jetty", "temurin-25", executor) for executor in ("platform", "cached", "fixed-50")),
    *(
        (kind.name, "temurin-25", "virtual-bounded-8")
        for kind in server_kinds().values()
        if kind.plugged and kind.name != NETTY
    ),
]


@pytest.mark.parametrize(("server", "jdk", "executor"), FORKS)
def test_every_executor(fork_of: ForkOf, server: str, jdk: str, executor: str) -> None:
    setup = fork_of(jdk, executor, server=server, burn_us=BURN_US)
    fork = measure_fork(with_subject(setup, load=RateLoad(rate_rps=500, connections=10)), Silent())
    assert fork.usable, fork.reasons
    assert fork.proof is not None and fork.proof.executor == executor
    assert fork.burn_check is not None and fork.burn_check.rounds == BURN_US * ROUNDS_PER_US
    window = fork.windows[0]
    assert window.valid, window.reasons
    assert window.load.completed > 0 and window.load.failed == 0
    assert window.served.on(place_of(executor)) == window.served.begun >= window.load.completed
    if is_per_request(executor):
        assert window.served.threads_started is not None and window.served.threads_started >= window.served.begun
    assert all(sample.gauges is not None and sample.gauges.heap_used_bytes > 0 for sample in fork.samples)
    assert "console.log" in fork.logs


def test_another_of_its_own_executors_than_the_cells_fails_the_fork(fork_of: ForkOf) -> None:
    """That the other servers tell theirs apart is proven above: each answers with its own name."""
    setup = fork_of("temurin-25", "jetty", server="jetty")
    other = replace(subject_of(setup).instance, executor="jetty-no-reserved")
    fork = measure_fork(with_subject(setup, instance=other), Silent())
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == ["wrong-executor"]
