"""Real forks on embedded servers, measured, proven and judged as on the usual one; and bounded virtual threads."""

from __future__ import annotations

import pytest

from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.executors import is_per_request
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.servers.proof import place_of
from tests.support.real_parts import ROUNDS_PER_US, ForkOf, Silent, with_subject

pytestmark = pytest.mark.real

BURN_US = 100
EMBEDDED = [kind for kind in server_kinds().values() if kind.jar is not None]
# Measured by every whole run (tests/support/project.py), beside `virtual`; or covered in test_pinning_forks.py or
# test_bank_sql_forks.py.
ELSEWHERE = {
    ("jetty", "temurin-25", "jetty"),
    ("jetty", "temurin-21.0.8", "virtual"),
    *((name, "temurin-25", f"{name}-virtual") for name in ("tomcat", "spring-boot", "quarkus")),
    ("tomcat", "temurin-21.0.8", "tomcat-virtual"),
}
FORKS = [
    *((kind.name, "temurin-25", row.replace("-N", "-8")) for kind in EMBEDDED for row in kind.executors),
    *((kind.name, "temurin-21.0.8", kind.virtual if kind.has(kind.virtual) else kind.own_pool) for kind in EMBEDDED),
    # RequestThreadsTest covers every plugged executor on Tomcat, and one per request and a pool on each other server.
    ("jetty", "temurin-25", "virtual-bounded-8"),
]


@pytest.mark.parametrize(("server", "jdk", "executor"), [one for one in FORKS if one not in ELSEWHERE])
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
    if is_per_request(executor) and place_of(executor) != "servers":
        assert window.served.threads_started is not None and window.served.threads_started >= window.served.begun
    assert all(sample.gauges is not None and sample.gauges.heap_used_bytes > 0 for sample in fork.samples)
    assert "console.log" in fork.logs
