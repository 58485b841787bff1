"""A fork with everything that comes with the bank: a remote system, a mix, a ramp, a box, its memory, its books."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psutil
import pytest

from jdkmatrix.domain.applications import BANKING_ACCOUNTS
from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.domain.tables import Limits, RemoteAnswers
from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.fork.measure_fork import measure_fork
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.records.memory import UNATTRIBUTED
from jdkmatrix.records.reasons import Status
from jdkmatrix.stats.ramps import seconds_of
from jdkmatrix.subjects.parts import Parts
from tests.support.real_parts import Once, Silent, subject_of, with_rules, with_subject
from tests.support.waiting import has_ended, wait_until

pytestmark = pytest.mark.real

RAMP = RampedLoad(points=((0, 20), (2, 80), (6, 80)), connections=40, warmup_rps=20)
DELAY_US = 100_000
BANK: dict[str, Any] = {
    "workload": "banking-servlet",
    "wait_us": DELAY_US,
    "load": "rampup-750",
    "feature_set": "restfulWS-3.1-jsonb-3.0-servlet-6.0",
}


def banking(setup: ForkDraft, parts: Parts, mix: str, limits: Limits) -> ForkDraft:
    instance = subject_of(setup).instance
    workload = subject_of(setup).matrix.workloads["banking-servlet"]
    served = with_subject(
        setup,
        load=RAMP,
        instance=replace(
            instance,
            application="banking",
            properties={BANKING_ACCOUNTS: "1000"},
            jvm_options=(*instance.jvm_options, "-XX:NativeMemoryTracking=summary"),
        ),
        workload=workload.model_copy(update={"limits": limits, "memory_every_s": 2.0}),
        mix=subject_of(setup).matrix.mixes[mix].below("/banking/servlet", ""),
    )
    cpus = served.cell.cpu_sets
    remote = parts.remote(subject_of(setup).matrix, RemoteAnswers(size_bytes=256))
    return with_subject(served, cpu_sets=replace(cpus, remote=cpus.driver), remote=remote)


def test_a_ramp_on_the_bank(fork_of: Callable[..., ForkDraft], parts: Parts) -> None:
    limits = Limits(threads_max=2000, memory_bytes_max=4_000_000_000, open_files_max=4096)
    fork = measure_fork(banking(fork_of("temurin-25", "virtual", **BANK), parts, "bank-day", limits), Silent())
    assert fork.usable, fork.reasons
    window = fork.windows[0]
    assert window.load.load == RAMP.ramp
    assert window.load.errors.total == window.load.non_2xx == 0
    assert window.served is not None
    assert window.served.plugged_virtual == window.served.begun >= window.load.answers
    end_s = window.t_s + window.load.duration_s
    was_asked = any(window.t_s < one.t_s < end_s for one in fork.memory)  # a busy host may keep this tool from it
    assert window.sut.probe_cpu_s is not None and window.sut.probe_cpu_s < window.sut.cpu_s
    assert window.sut.probe_cpu_s > 0 or not was_asked
    served_s = window.sut.cpu_s - window.sut.probe_cpu_s
    assert window.sut.cpu_us_per_request == pytest.approx(served_s * 1e6 / window.load.answers)
    assert [second.t_s for second in seconds_of(fork)] == [1, 2, 3, 4, 5, 6]
    assert window.remote is not None
    assert window.remote.answered >= window.load.completed > 0
    assert window.remote.in_flight_peak >= 2, "delays are as asked for once the server is warm"
    slowest = window.load.uncorrected
    assert slowest is not None and slowest.min_us >= DELAY_US
    assert fork.audit is not None
    assert fork.audit.conserved and fork.audit.transfers_done > 0
    assert {one.limit for one in fork.limits} == {"threads", "memory", "open files"}
    assert fork.outcomes == ()
    last = fork.memory[-1]
    assert sum(last.resident.values()) == last.rss_bytes
    assert last.resident.get(UNATTRIBUTED, 0) <= 0.1 * last.rss_bytes
    assert fork.remote_command


def crash() -> None:
    children = psutil.Process().children(recursive=True)
    server = next(child for child in children if any("jetty-server.jar" in part for part in child.cmdline()))
    server.send_signal(signal.SIGSEGV)
    wait_until(lambda: has_ended(server.pid), "the server did not crash")


@pytest.mark.parametrize("limits", [None, Limits(threads_max=2000)])
def test_a_server_that_crashes_when_it_may_be_late(
    fork_of: Callable[..., ForkDraft], parts: Parts, limits: Limits | None
) -> None:
    """More is due than its connections can carry, which two seconds show. That its books cannot be checked is then no
    excuse, and neither is a box none of whose limits it hit."""
    setup = banking(fork_of("temurin-25", "jetty", **{**BANK, "server": "jetty"}), parts, "bank-day", Limits())
    asked = subject_of(setup).workload.model_copy(update={"limits": limits, "memory_every_s": None})
    crowded = RAMP.model_copy(update={"connections": 2, "points": ((0, 20), (1, 80), (2, 80))})
    served = with_rules(with_subject(setup, workload=asked, load=crowded), "thresholds", achieved_rate_min=0.99)
    fork = measure_fork(served, Once(crash, at="checking the books"))
    assert [reason.code for reason in fork.windows[0].shortfalls] == ["rate-missed"]
    assert [reason.code for reason in fork.reasons] == ["not-audited", "server"]
    assert fork.status is Status.FAILED and "killed by signal 6" in fork.reasons[1].message


def test_in_a_box_too_a_closed_loop_is_on_before_its_window(fork_of: Callable[..., ForkDraft], parts: Parts) -> None:
    """Otherwise a window of a second would have no answer in its first tenth."""
    setup = banking(
        fork_of("temurin-25", "jetty", **{**BANK, "server": "jetty"}), parts, "forward", Limits(threads_max=2000)
    )
    fork = measure_fork(with_subject(setup, load=SaturateLoad(connections=20)), Silent())
    assert [window.load.latency_from_s for window in fork.windows] == [1.0], fork.reasons


def test_a_thread_for_each_request_in_a_box_that_is_too_small(fork_of: Callable[..., ForkDraft], parts: Parts) -> None:
    """When idle, it has about 45 threads; the highest rate asks for 600 × 0.1 s more, and the box leaves it fewer."""
    setup = banking(fork_of("temurin-21.0.8", "platform", **BANK), parts, "forward", Limits(threads_max=75))
    steep = RAMP.model_copy(update={"connections": 200, "points": ((0, 20), (2, 600), (3, 600), (4, 20), (5, 20))})
    fork = measure_fork(with_subject(setup, load=steep), Silent())
    assert [outcome.code for outcome in fork.outcomes] == ["threads-limit"], fork.reasons
    assert any(reason.code == "threads-limit" for reason in fork.reasons)
    assert fork.limits[0].maximum == 75
