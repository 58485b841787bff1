"""Open Liberty as it is measured: every executor on the stock server, over sockets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.config.load import load_matrix
from jdkmatrix.host.http import Connection
from jdkmatrix.provision import hosttools
from jdkmatrix.provision.project import find_project
from jdkmatrix.provision.workloads import Workloads, build_workloads
from jdkmatrix.records.windows import Gauges
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.instance import Instance
from jdkmatrix.servers.kinds import check_folder
from jdkmatrix.servers.process import ServerError, ServerProcess
from jdkmatrix.servers.proof import prove_executor
from tests.support.servers import liberty

pytestmark = pytest.mark.real

ROUNDS_PER_US = 700
RULES = load_matrix(find_project().matrix).server.model_copy(
    update={"first_response_timeout_s": 90, "ready_without_port_s": 3, "stop_timeout_s": 30}
)
CPUS = tuple(sorted(os.sched_getaffinity(0)))


@pytest.fixture(scope="module")
def workloads() -> Workloads:
    return build_workloads(find_project().root, say=print)


def lay_out(workloads: Workloads, folder: Path, *, executor: str, feature_set: str = "restfulWS-3.1") -> Launch:
    jdk = hosttools.find_jdk()
    assert jdk is not None
    instance = Instance(
        server=liberty(),
        workloads=workloads,
        application="mp-ping",
        java=jdk.home / "bin" / "java",
        vm="hotspot",
        feature_set=feature_set,
        executor=executor,
        jvm_options=("-Xmx256m", "-XX:+UseSerialGC"),
        rounds_per_us=ROUNDS_PER_US,
        properties={},
    )
    return instance.lay_out(folder / "server", folder / "logs")


@pytest.mark.parametrize("name", ["a b", "ü", "a+", "a&=", "a,", "a;", "a'", "a$", "a[1]", "a:b", "a@~"])
def test_it_runs_in_any_other_folder(workloads: Workloads, tmp_path: Path, name: str) -> None:
    check_folder("open-liberty", tmp_path / name)
    with running(lay_out(workloads, tmp_path / name, executor="virtual")) as (_, connection):
        assert connection.get("/ping")[0] == 200


@contextmanager
def running(launch: Launch) -> Iterator[tuple[ServerProcess, Connection]]:
    with ServerProcess(launch, cpus=CPUS, rules=RULES) as process:
        process.wait_ready()
        with Connection(process.base_url, timeout_s=30) as connection:
            yield process, connection


# Every executor is in test_real_forks; these differ in what their gauges can tell.
@pytest.mark.parametrize("executor", ["liberty", "virtual", "fixed-4"])
def test_an_executor_serves_from_its_own_threads(executor: str, workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor=executor)
    with running(made) as (process, connection):
        proof = prove_executor(connection, executor, requests=200)
        assert proof.requests == 200
        assert connection.get("/ping") == (200, b"pong")
        assert connection.get("/ping?burn_us=50") == (200, b"pong")
        gauges = Gauges.model_validate(connection.get_json("/gauges"))
        assert gauges.pool_size is not None and gauges.pool_size >= 1
        assert gauges.active is not None and 1 <= gauges.active <= gauges.pool_size
        assert (gauges.in_flight, gauges.in_flight_peak) == (0, 1)
        assert gauges.carriers is not None and (gauges.carriers >= 1) == proof.virtual
        assert gauges.jit_ms > 0 and gauges.heap_used_bytes > 0
        if executor.startswith("fixed-"):
            assert gauges.pool_size == int(executor.removeprefix("fixed-"))
            assert gauges.queued == 0
        if executor.startswith("liberty"):
            assert gauges.queued is None
        process_id = process.pid
        assert "Name:\tjava\n" in Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
        environment = Path(f"/proc/{process_id}/environ").read_text(encoding="utf-8").strip("\0")
        assert {pair.split("=")[0] for pair in environment.split("\0")} == set(made.env)
    assert not Path(f"/proc/{process_id}").exists()
    assert "stopped after" in made.messages_log.read_text(encoding="utf-8"), "SIGTERM stops it in order"


# The third is in test_banking_real, with the application that it is for.
@pytest.mark.parametrize("feature_set", ["restfulWS-3.1", "microProfile-6.1"])
def test_the_application_on_each_feature_set(feature_set: str, workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor="virtual", feature_set=feature_set)
    with running(made) as (_, connection):
        whoami = connection.get_json("/whoami")
        assert set(whoami) == {"thread", "thread_id", "virtual", "executor", "java_version", "vm_name"}
        assert whoami["executor"] == "virtual" and whoami["virtual"] is True

        connection.get("/gauges?reset=peak")
        assert connection.get_json("/gauges")["in_flight_peak"] == 0
        connection.get("/ping")
        assert connection.get_json("/gauges?reset=peak")["in_flight_peak"] == 1
        assert connection.get_json("/gauges")["in_flight_peak"] == 0

        for bad in ("x", "-1", "10000001", "1e3"):
            status, body = connection.get(f"/ping?burn_us={bad}")
            assert status == 400 and b"from 0 to 10000000" in body and bad.encode() in body
        assert connection.get("/burn?rounds=0&repeats=1")[0] == 400
        assert connection.get("/burn?rounds=100")[0] == 400
        assert connection.get("/burn?rounds=100000000000&repeats=2")[0] == 400
        assert connection.get("/gauges?reset=all")[0] == 400

        assert twice_the_rounds_take_twice_the_time(connection)
    log = made.messages_log.read_text(encoding="utf-8")
    assert " E " not in "".join(line[:120] for line in log.splitlines()), "a start without an error"


def test_requests_in_flight_are_counted_while_they_burn(workloads: Workloads, tmp_path: Path) -> None:
    requests, burn_us = 3, 500_000
    made = lay_out(workloads, tmp_path, executor="platform")
    with running(made) as (process, connection):

        def burn() -> tuple[int, bytes]:
            with Connection(process.base_url, timeout_s=60) as own:
                return own.get(f"/ping?burn_us={burn_us}")

        seen: list[Gauges] = []
        with ThreadPoolExecutor(requests) as clients:
            answers = [clients.submit(burn) for _ in range(requests)]
            while not all(answer.done() for answer in answers):
                seen.append(Gauges.model_validate(connection.get_json("/gauges")))
        assert [answer.result() for answer in answers] == [(200, b"pong")] * requests
        assert max(gauges.in_flight for gauges in seen) >= 2
        # The gauges' own request runs on the executor too, and is not in flight.
        assert max(gauges.active or 0 for gauges in seen) >= 3
        after = Gauges.model_validate(connection.get_json("/gauges?reset=peak"))
        assert (after.in_flight, after.in_flight_peak) == (0, max(gauges.in_flight_peak for gauges in seen))


def test_ping_without_calibration_says_what_is_missing(workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor="liberty")
    command = tuple(part for part in made.command if "rounds_per_us" not in part)
    with running(replace(made, command=command)) as (_, connection):
        assert connection.get("/ping") == (200, b"pong")
        status, body = connection.get("/ping?burn_us=5")
        assert status == 500 and b"jdkmatrix.burn.rounds_per_us" in body


def test_a_target_that_matches_nothing_is_ready_and_opens_no_port(workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor="virtual")
    for bundle in (tmp_path / "server" / "usr" / "extension" / "lib").glob("*.jar"):
        bundle.unlink()
    with (
        pytest.raises(ServerError, match=r"CWWKF0011I.*has opened no port"),
        ServerProcess(made, cpus=CPUS, rules=RULES) as process,
    ):
        process.wait_ready()


def test_a_heap_that_is_too_small_is_told_in_the_words_of_the_log(workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor="virtual")
    command = tuple("-Xmx12m" if part.startswith("-Xmx") else part for part in made.command)
    with (
        pytest.raises(ServerError, match=r"^[^\n]*; its log says: java\.lang\.OutOfMemoryError: Java heap space"),
        ServerProcess(replace(made, command=command), cpus=CPUS, rules=RULES) as process,
    ):
        process.wait_ready()


def test_an_unknown_kind_ends_the_server(workloads: Workloads, tmp_path: Path) -> None:
    made = lay_out(workloads, tmp_path, executor="virtual")
    command = tuple(
        "-Djdkmatrix.executor=virtal" if part.startswith("-Djdkmatrix.executor=") else part for part in made.command
    )
    with (
        pytest.raises(ServerError, match="the server ended with status"),
        ServerProcess(replace(made, command=command), cpus=CPUS, rules=RULES) as process,
    ):
        process.wait_ready()
    log = made.messages_log.read_text(encoding="utf-8")
    assert "unknown request executor: found virtal, allowed are cached, fixed-N" in log


def twice_the_rounds_take_twice_the_time(connection: Connection) -> bool:
    """Three times in a row, within a bounded number of tries: until it is compiled the code gets faster meanwhile."""
    in_a_row = 0
    for _ in range(200):
        short = connection.get_json("/burn?rounds=500000&repeats=20")
        long = connection.get_json("/burn?rounds=1000000&repeats=20")
        assert (short["rounds"], long["rounds"]) == (500_000, 1_000_000)
        in_a_row = in_a_row + 1 if 1.8 < long["best_us"] / short["best_us"] < 2.2 else 0
        if in_a_row == 3:
            return True
    return False
