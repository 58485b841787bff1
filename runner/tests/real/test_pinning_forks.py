"""Requests that block while holding a monitor: JDK 21 serves as many at once as it has carriers, JDK 25 all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.config.request_mix import RequestMix, RequestTemplate
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.records.forks import Fork
from tests.support.fork_setups import usual
from tests.support.pinning_results import assert_pinned
from tests.support.real_parts import ForkOf, Silent, subject_of, with_rules, with_subject

pytestmark = pytest.mark.real

CARRIERS = 2
BLOCK_S = 0.25
CONNECTIONS = 40
LEAST_US = BLOCK_S * 1e6 * (1 - 1e-3)  # a histogram of three digits gives the lower end of what counts as the same
WINDOW_S = 3.0  # 12 times the block; the last answers come after its end
PINNED_RPS = CARRIERS / BLOCK_S  # Little's law, with one request in flight per carrier
FEATURES = "restfulWS-3.1-jsonb-3.0-servlet-6.0"
CROWD, ANSWER_TIMEOUT_S = 60, 5  # pinned carriers need 6 s for the requests that are left when a window is over


def blocked(setup: ForkDraft, construct: str, windows: int = 1, connections: int = CONNECTIONS) -> Fork:
    instance = subject_of(setup).instance
    carriers = [f"-Djdk.virtualThreadScheduler.{name}={CARRIERS}" for name in ("parallelism", "maxPoolSize")]
    path = f"/block?construct={construct}&block_ms={BLOCK_S * 1000:.0f}"
    fork = measure_fork(
        with_subject(
            setup,
            profile=usual(windows=windows, window_s=WINDOW_S)["profile"],
            load=SaturateLoad(connections=connections),
            instance=replace(instance, application="pinning", jvm_options=(*instance.jvm_options, *carriers)),
            workload=subject_of(setup).matrix.workloads["pinning-http-lock"],
            mix=RequestMix(seed=1, requests=(RequestTemplate(method="GET", path=path),)).below("/pinning/servlet", ""),
        ),
        Silent(),
    )
    assert fork.usable, [*fork.reasons, *(window.reasons for window in fork.windows)]
    return fork


def throughputs_rps(fork: Fork) -> list[float]:
    for window in fork.windows:
        assert window.load.errors.total == window.load.non_2xx == 0
        assert window.load.uncorrected is not None and window.load.uncorrected.min_us >= LEAST_US
    return [window.load.throughput_rps for window in fork.windows]


def test_a_monitor_pins_on_21_in_every_window(fork_of: ForkOf) -> None:
    """It pins in the second one, too: what the first left in the server is neither in its way nor taken for a hang."""
    setup = with_rules(fork_of("temurin-21.0.8", "virtual", server="jetty"), answer_timeout_s=ANSWER_TIMEOUT_S)
    fork = blocked(setup, "synchronized", windows=2, connections=CROWD)
    both = throughputs_rps(fork)
    assert len(both) == 2
    for rps in both:
        assert_pinned(rps, PINNED_RPS)


def test_a_monitor_does_not_on_25(fork_of: ForkOf) -> None:
    setup = fork_of("temurin-25", "virtual", server="open-liberty", feature_set=FEATURES)
    (rps,) = throughputs_rps(blocked(setup, "synchronized"))
    assert 5 * PINNED_RPS <= rps <= CONNECTIONS / BLOCK_S
