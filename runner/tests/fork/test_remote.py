"""The remote system as a process, and the figures that it reports."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.drivers.base import Target
from jdkmatrix.drivers.loadgen import LoadgenDriver
from jdkmatrix.fork.remote import RemoteError, RemoteProcess, parse_stats
from jdkmatrix.host.http import Connection
from jdkmatrix.provision.workloads import Workloads
from tests.support.programs import program
from tests.support.waiting import HANGS_S

ALL_CPUS = tuple(sorted(os.sched_getaffinity(0)))
CPUS = ALL_CPUS[:1]

# 1, 2 and 3 µs.
HISTOGRAM = "HISTFAAAACt4nJNpmSzMwMDAyQABzFCakYGBrSex0IHB/gNE4Dw/01l+pqkcTACCtwaE"


def told(**changes: Any) -> dict[str, Any]:
    return {
        "answered": 3, "in_flight": 1, "in_flight_peak": 2, "abandoned": 0, "refused": 0,
        "faults": {"status-500": 4, "close": 5, "never": 6}, "cpu_s": 0.5, "since_monotonic_ns": 10,
        "now_monotonic_ns": 20, "lateness": {"count": 3, "histogram": HISTOGRAM}, "loop_lateness": None, **changes,
    }  # fmt: skip


def test_figures_are_summed_up_as_the_drivers_are() -> None:
    stats = parse_stats(told())
    assert (stats.answered, stats.in_flight, stats.in_flight_peak) == (3, 1, 2)
    assert (stats.faults.status_500, stats.faults.close, stats.faults.never) == (4, 5, 6)
    assert stats.loop_lateness is None
    assert (stats.lateness.histogram, stats.lateness.count) == (HISTOGRAM, 3)
    assert stats.lateness.percentiles_us["50"] == pytest.approx(2, rel=0.01)
    assert stats.lateness.max_us == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize(
    "changes",
    [
        {"answered": "many"}, {"more": 1}, {"faults": {"status-500": 4}}, {"faults": None}, {"lateness": {}},
        {"lateness": {"histogram": "x"}}, {"lateness": 3},
    ],
)  # fmt: skip
def test_figures_of_another_version_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RemoteError, match="figures of another version"):
        parse_stats(told(**changes))
    with pytest.raises(RemoteError, match="figures of another version"):
        parse_stats({})


def test_netty_unpacks_its_library_into_the_folder_of_the_logs(tmp_path: Path) -> None:
    """It could not be loaded from /tmp where that is mounted noexec."""
    jar, java = tmp_path / "x.jar", tmp_path / "java"
    remote = RemoteProcess(jar, java, cpus=CPUS, log_dir=tmp_path).command
    driver = LoadgenDriver(jar, java, "jdk").command_line(Target("http://127.0.0.1:9/", CPUS, tmp_path))
    for command in (remote, driver):
        assert f"-Dio.netty.native.workdir={tmp_path}" in command[: command.index("-jar")]


@pytest.mark.parametrize(
    ("loops", "connections", "heap"),
    [(1, 50, "256m"), (1, 4000, "256m"), (1, 22_000, "536m"), (4, 6000, "286m"), (32, 50, "504m")],
)
def test_the_heap_has_room_for_loops_and_connections(loops: int, connections: int, heap: str, tmp_path: Path) -> None:
    jar, java, cpus = tmp_path / "x.jar", tmp_path / "java", tuple(range(loops))
    remote = RemoteProcess(jar, java, cpus=cpus, log_dir=tmp_path, connections=connections).command
    target = Target("http://127.0.0.1:9/", cpus, tmp_path, connections=connections)
    for command in (remote, LoadgenDriver(jar, java, "jdk").command_line(target)):
        assert [word for word in command if word.startswith("-Xm")] == [f"-Xms{heap}", f"-Xmx{heap}", "-Xmn192m"]


@pytest.mark.real
def test_what_does_not_start_says_why(java: Path, tmp_path: Path) -> None:
    with (
        RemoteProcess(tmp_path / "no.jar", java, cpus=CPUS, log_dir=tmp_path) as remote,
        pytest.raises(RemoteError, match=r"(?s)ended with exit status 1; the end of .*Unable to access jarfile"),
    ):
        remote.wait_ready()


@pytest.mark.parametrize(
    ("printed", "said"), [("hello", "printed no event of this version"), ("", "ended with exit status 0")]
)
def test_another_program_is_told_from_it(printed: str, said: str, tmp_path: Path) -> None:
    other = program(tmp_path / "java", f"#!/bin/sh\nprintf '{printed}'\n")
    with (
        RemoteProcess(tmp_path / "x.jar", other, cpus=CPUS, log_dir=tmp_path) as remote,
        pytest.raises(RemoteError, match=said),
    ):
        remote.wait_ready()


@pytest.mark.real
@pytest.mark.alone
def test_hundreds_in_flight_are_late_by_little_of_the_delay(workloads: Workloads, java: Path, tmp_path: Path) -> None:
    """2,000 requests a second of 200 ms each are 400 in flight. The permitted lateness is no absolute time but a share
    of the delay, large enough for a host that is busy with other things."""
    driver = LoadgenDriver(workloads.file("loadgen.jar"), java, "host")
    with RemoteProcess(workloads.file("remote.jar"), java, cpus=CPUS, log_dir=tmp_path) as remote:
        remote.wait_ready()
        target = Target(url=f"{remote.url}?delay_us=200000", cpus=ALL_CPUS[-1:], log_dir=tmp_path)
        with driver.open(target) as session:
            session.run(RateLoad(rate_rps=1000, connections=1000), 2.0, label="warm-up")
            remote.stats(reset=True)
            result = session.run(RateLoad(rate_rps=2000, connections=1000), 3.0, label="window")
            stats = remote.stats()
    assert result.unsent == result.errors.total == result.non_2xx == 0
    assert stats.in_flight_peak >= 300
    assert stats.lateness.min_us >= 0
    assert stats.lateness.percentiles_us["50"] < 0.1 * 200_000


@pytest.mark.real
def test_it_answers_and_tells_its_figures_and_its_end(workloads: Workloads, java: Path, tmp_path: Path) -> None:
    with RemoteProcess(workloads.file("remote.jar"), java, cpus=CPUS, log_dir=tmp_path) as remote:
        remote.wait_ready()
        remote.wait_ready()
        remote.stats(reset=True)
        with Connection(remote.url, timeout_s=HANGS_S) as connection:
            for _ in range(3):
                assert connection.get("?delay_us=500&size_bytes=100")[0] == 200
            assert connection.get("?delay_us=1&fault=status-500")[0] == 500
            assert connection.get("?delay_us=soon")[0] == 400
        kept, ended = remote.stats(), remote.stats(reset=True)
        assert (kept.answered, kept.faults.status_500, kept.refused) == (3, 1, 1)
        assert kept.lateness.count == 4
        assert kept.since_monotonic_ns == ended.since_monotonic_ns
        after = remote.stats()
        assert (after.answered, after.lateness, after.since_monotonic_ns) == (0, None, ended.now_monotonic_ns)
        assert os.sched_getaffinity(remote.pid) == set(CPUS)
        os.kill(remote.pid, signal.SIGKILL)
        os.waitid(os.P_PID, remote.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(RemoteError, match=r"^the remote system was killed by signal 9$"):
            remote.stats()
    assert not Path(f"/proc/{remote.pid}").exists()
