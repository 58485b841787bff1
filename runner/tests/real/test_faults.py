"""Provoked faults of a server or a driver in the middle of a fork: each ends in a recorded reason."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jdkmatrix.domain.applications import application_of
from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.domain.tables import Limits
from jdkmatrix.fork.faults import faults_of
from jdkmatrix.fork.fork_record import ForkDraft
from jdkmatrix.fork.measure_fork import RunningFork, in_turns, measure_fork
from jdkmatrix.host.http import Connection, HttpError
from jdkmatrix.probes import sampler
from jdkmatrix.provision.project import Project
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.subjects.parts import Parts
from tests.support.fork_setups import usual
from tests.support.real_parts import ForkOf, Once, Silent, key, setup_of, subject_of, with_rules, with_subject
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real


def servers() -> list[psutil.Process]:
    return _java(drives=False)


def server_process() -> psutil.Process:
    (found,) = servers()
    return found


def driver_process() -> psutil.Process:
    (found,) = _java(drives=True)
    return found


def _java(*, drives: bool) -> list[psutil.Process]:
    children = [child for child in psutil.Process().children(recursive=True) if child.name() == "java"]
    return [one for one in children if any("loadgen.jar" in part for part in one.cmdline()) == drives]


def assert_failed(fork: Fork, code: str, *words: str) -> None:
    assert fork.status is Status.FAILED
    assert [reason.code for reason in fork.reasons] == [code], fork.reasons
    for word in words:
        assert word in fork.reasons[0].message
    assert not [child for child in psutil.Process().children(recursive=True) if child.name() == "java"]


def jetty(fork_of: ForkOf, executor: str = "jetty") -> ForkDraft:
    """Return a draft on Jetty: what happens to a fork is the same on every server, and this one starts soonest."""
    return fork_of("temurin-25", executor, server="jetty")


def test_a_server_in_a_box_that_somebody_else_has_killed(fork_of: ForkOf) -> None:
    setup = jetty(fork_of)
    boxed = subject_of(setup).workload.model_copy(update={"limits": Limits(threads_max=2000)})
    fork = measure_fork(with_subject(setup, workload=boxed), Once(lambda: server_process().kill()))
    assert_failed(fork, "killed", "the server was ended by signal 9, which did not come from this tool")
    assert faults_of(fork) == ("killed",)
    assert fork.first_response_s is not None


def test_a_server_that_kills_itself_for_want_of_memory(fork_of: ForkOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds whatever the kernel kills beside it for the same reason."""
    for module in ("host.ending", "servers.process"):
        monkeypatch.setattr(f"jdkmatrix.{module}.oom_kills", lambda: 0)
    setup = jetty(fork_of)
    options = ("-Xmx4m", "-XX:+UseSerialGC", "-XX:OnOutOfMemoryError=kill -9 %p")
    instance = replace(subject_of(setup).instance, jvm_options=options)
    fork = measure_fork(with_subject(setup, instance=instance), Silent())
    assert_failed(fork, "out-of-memory", "the server ran out of memory, and was killed by signal 9", "Java heap space")
    assert faults_of(fork) == ()


def test_a_server_killed_in_turns_leaves_the_other_to_its_end(project: Project, parts: Parts, tmp_path: Path) -> None:
    def kill_the_first() -> None:
        min(servers(), key=psutil.Process.create_time).kill()

    cells = [key("temurin-25", one, server="jetty") for one in ("jetty", "virtual")]
    load = RateLoad(rate_rps=500, connections=10)
    setups = [with_subject(setup_of(project, parts, cell, tmp_path / cell.executor), load=load) for cell in cells]
    forks = [RunningFork(setup, Once(kill_the_first, at="round 1/3, virtual")) for setup in setups]
    killed, other = in_turns(forks, [(0, 1)] * 3, rewarm_s=0.5, lead_s=0.25, round_s=0.5)
    assert_failed(killed, "killed", "the server was ended by signal 9")
    assert [window.index for window in killed.windows] == [1], "what was measured is kept"
    assert other.usable, other.reasons
    assert [window.index for window in other.windows] == [1, 2, 3]


def test_a_driver_that_is_killed(fork_of: ForkOf) -> None:
    fork = measure_fork(jetty(fork_of), Once(lambda: driver_process().kill()))
    assert_failed(fork, "driver")
    assert fork.windows == ()


def test_a_server_whose_threads_are_all_busy_is_dumped_and_ended(
    fork_of: ForkOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended by whichever waits for it first: a query of ours, or the requests that the load has left, if any."""
    monkeypatch.setattr(sampler, "GAUGES_TIMEOUT_S", 5.0)
    setup = with_rules(jetty(fork_of, "fixed-1"), answer_timeout_s=5)
    askers: list[threading.Thread] = []

    def occupy() -> None:
        port = server_port()
        root = application_of("mp-ping").context_root

        def burn() -> None:
            with Connection(f"http://127.0.0.1:{port}{root}", timeout_s=HANGS_S) as connection:
                try:
                    connection.get("/ping?burn_us=10000000")
                except HttpError:
                    return  # the server was ended meanwhile

        for _ in range(3):
            askers.append(threading.Thread(target=burn))
            askers[-1].start()

    fork = measure_fork(setup, Once(occupy))
    for asker in askers:
        asker.join(HANGS_S)
    assert len(askers) == 3, "otherwise something else kept the server from answering"
    assert_failed(fork, "server-hangs", "threads.txt")
    left = "for 5 s, none of the requests left over from the load was answered"
    assert "no answer within 5 s" in fork.reasons[0].message or left in fork.reasons[0].message
    assert {"threads.txt", "virtual-threads.txt"} <= fork.logs.keys()
    assert "jdkmatrix" in (setup.log_dir / "threads.txt").read_text()


def server_port() -> int:
    sockets = server_process().net_connections("tcp")
    return next(socket.laddr.port for socket in sockets if socket.status == psutil.CONN_LISTEN)


def test_a_server_that_somebody_else_has_stopped_does_not_hang(
    fork_of: ForkOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "GAUGES_TIMEOUT_S", 2.0)
    setup = with_rules(jetty(fork_of), answer_timeout_s=2)
    fork = measure_fork(setup, Once(lambda: os.kill(server_process().pid, signal.SIGSTOP)))
    assert_failed(fork, "killed", "the server was stopped by somebody else, or by a debugger")
    assert faults_of(fork) == ("killed",)


def test_a_window_in_which_this_tool_was_stopped_is_refused(fork_of: ForkOf) -> None:
    """Ctrl-Z stops it like this; the server and the driver go on, at a rate that leaves other tests some CPU."""
    setup = with_subject(jetty(fork_of), load=RateLoad(rate_rps=500, connections=10))
    setup = with_subject(setup, profile=usual(windows=2, window_s=3.0)["profile"])
    begun = f"until [ -e '{setup.log_dir}/window-2.hlog' ]; do sleep 0.05; done; sleep 0.5"
    stop = ["sh", "-c", f"{begun}; kill -STOP {os.getpid()}; sleep 6; kill -CONT {os.getpid()}"]
    in_the_second = Once(lambda: subprocess.Popen(stop), at="window 1/2")
    fork = measure_fork(with_rules(setup, "thresholds", readings_late_max_s=2.0), in_the_second)
    codes = [[reason.code for reason in window.reasons] for window in fork.windows]
    assert ["readings-late" in found for found in codes] == [False, True], fork.reasons
    elapsed_s = [window.host.elapsed_s for window in fork.windows]
    assert elapsed_s[1] is not None and elapsed_s[1] > 5


def test_a_log_that_floods(fork_of: ForkOf) -> None:
    """The server has a log of its own beside its console."""
    setup = with_rules(fork_of("temurin-25", "liberty"), log_bytes_max=20_000_000)
    stop = threading.Event()

    def flood() -> None:
        with (setup.log_dir / "messages.log").open("ab") as log:
            while not stop.is_set() and log.tell() < 30_000_000:
                log.write(b"the server says the same thing over and over again\n" * 20_000)

    try:
        fork = measure_fork(setup, Once(lambda: threading.Thread(target=flood).start()))
    finally:
        stop.set()
    assert_failed(fork, "flood", "20 MB", "server.log_bytes_max")
    left = (setup.log_dir / "messages.log").read_bytes()
    assert len(left) < 1_100_000
    assert b"bytes left out" in left
    assert left.startswith(b"*****")
