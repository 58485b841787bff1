"""Open Liberty as it is measured: every executor on the stock server, over sockets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pytest

from jdkmatrix.host.http import Connection
from jdkmatrix.probes.sampler import gauges_of
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.records.windows import Gauges
from jdkmatrix.servers.base import Launch
from jdkmatrix.servers.kinds import check_folder
from jdkmatrix.servers.process import ServerError, ServerProcess
from jdkmatrix.servers.proof import prove_executor
from tests.support import servers
from tests.support.servers import on_liberty
from tests.support.waiting import HANGS_S

pytestmark = pytest.mark.real

ROUNDS_PER_US = 700
# tests/real/test_forks.py has every executor; these differ in what their gauges can tell. The third feature set is in
# test_banking_real.py, with the application that it is for.
SERVED = {"fixed-4": "restfulWS-3.1", "virtual": "microProfile-6.1", "liberty": "restfulWS-3.1"}
UNCALIBRATED = "liberty"
ODD_FOLDER = "a b ü+&=,;'$[1]a:b@~"
RULES = servers.RULES.model_copy(update={"ready_without_port_s": 3, "stop_timeout_s": 30})
CPUS = tuple(sorted(os.sched_getaffinity(0)))


Layout = Callable[..., Launch]


@pytest.fixture(scope="module")
def layout(workloads: Workloads, java: Path) -> Layout:
    def made(folder: Path, *, executor: str = "virtual", feature_set: str = "restfulWS-3.1") -> Launch:
        instance = on_liberty(workloads, java, feature_set=feature_set, executor=executor, rounds_per_us=ROUNDS_PER_US)
        return instance.lay_out(folder / "server", folder / "logs")

    return made


def instead_of(option: str, made: Launch, *others: str) -> Launch:
    """Return the launch with `others` in place of the option that begins with `option`."""
    parts = [others if part.startswith(option) else (part,) for part in made.command]
    assert others in parts
    return replace(made, command=tuple(chain.from_iterable(parts)))


@contextmanager
def running(launch: Launch) -> Iterator[tuple[ServerProcess, Connection]]:
    with ServerProcess(launch, cpus=CPUS, rules=RULES) as process:
        process.wait_ready()
        with Connection(process.base_url, timeout_s=HANGS_S) as connection:
            yield process, connection


@dataclass(frozen=True)
class Running:
    """A server that several tests query; `executor` is its own."""

    executor: str
    made: Launch
    process: ServerProcess
    connection: Connection


@pytest.fixture(scope="module", params=SERVED)
def server(
    request: pytest.FixtureRequest, layout: Layout, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """It runs in any folder that it does not refuse, starts without an error, and SIGTERM stops it cleanly."""
    executor: str = request.param
    folder = tmp_path_factory.mktemp("server") / ODD_FOLDER
    check_folder("open-liberty", folder)
    made = layout(folder, executor=executor, feature_set=SERVED[executor])
    if executor == UNCALIBRATED:
        made = instead_of("-Djdkmatrix.burn.rounds_per_us=", made)
    with running(made) as (process, connection):
        process_id = process.pid
        yield Running(executor, made, process, connection)
    assert not Path(f"/proc/{process_id}").exists()
    log = made.messages_log.read_text(encoding="utf-8")
    assert "stopped after" in log
    assert " E " not in "".join(line[:120] for line in log.splitlines())


def test_an_executor_serves_from_its_own_threads(server: Running) -> None:
    executor, connection = server.executor, server.connection
    proof = prove_executor(connection, executor, requests=200)
    assert proof.requests == 200
    connection.get("/gauges?reset=peak")
    assert connection.get("/ping") == (200, b"pong")
    gauges = gauges_of(connection.get_json("/gauges"))
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
    process = Path(f"/proc/{server.process.pid}")
    assert "Name:\tjava\n" in (process / "status").read_text(encoding="utf-8")
    environment = (process / "environ").read_text(encoding="utf-8").strip("\0")
    assert {pair.split("=")[0] for pair in environment.split("\0")} == set(server.made.env)


def test_the_application_answers_as_agreed(server: Running) -> None:
    connection = server.connection
    whoami = connection.get_json("/whoami")
    assert set(whoami) == {"thread", "thread_id", "virtual", "executor", "java_version", "vm_name"}
    assert (whoami["executor"], whoami["virtual"]) == (server.executor, server.executor == "virtual")

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
    assert connection.get("/burn?rounds=2000000000000&repeats=2")[0] == 400
    assert connection.get("/gauges?reset=all")[0] == 400

    status, body = connection.get("/ping?burn_us=5")
    if server.executor == UNCALIBRATED:
        assert status == 500 and b"jdkmatrix.burn.rounds_per_us" in body
    else:
        assert (status, body) == (200, b"pong")


@pytest.mark.parametrize("server", ["fixed-4"], indirect=True)  # virtual threads that burn leave no carrier to ask
def test_requests_in_flight_are_counted_while_they_burn(server: Running) -> None:
    requests, burn_us = 3, 500_000
    connection = server.connection

    def burn() -> tuple[int, bytes]:
        with Connection(server.process.base_url, timeout_s=HANGS_S) as own:
            return own.get(f"/ping?burn_us={burn_us}")

    connection.get("/gauges?reset=peak")
    seen: list[Gauges] = []
    with ThreadPoolExecutor(requests) as clients:
        answers = [clients.submit(burn) for _ in range(requests)]
        while not all(answer.done() for answer in answers):
            seen.append(gauges_of(connection.get_json("/gauges")))
    assert [answer.result() for answer in answers] == [(200, b"pong")] * requests
    assert max(gauges.in_flight for gauges in seen) >= 2
    # The gauges' own request runs on the executor too, and is not in flight.
    assert max(gauges.active or 0 for gauges in seen) >= 3
    after = gauges_of(connection.get_json("/gauges?reset=peak"))
    assert (after.in_flight, after.in_flight_peak) == (0, max(gauges.in_flight_peak for gauges in seen))


def not_ready(made: Launch, why: str) -> None:
    with pytest.raises(ServerError, match=why), ServerProcess(made, cpus=CPUS, rules=RULES) as process:
        process.wait_ready()


def test_a_channel_that_sees_no_executor_leaves_a_server_ready_without_a_port(layout: Layout, tmp_path: Path) -> None:
    """Our bundle lends threads to the pool and hides every executor from the channel."""
    made = instead_of("-Djdkmatrix.executor=", layout(tmp_path), "-Djdkmatrix.threads=lent")
    not_ready(made, r"CWWKF0011I.*has opened no port")


def test_a_bundle_that_is_missing_ends_the_server(layout: Layout, tmp_path: Path) -> None:
    made = layout(tmp_path)
    for bundle in (tmp_path / "server" / "usr" / "extension" / "lib").glob("*.jar"):
        bundle.unlink()
    not_ready(made, r"the server ended with status")


def test_an_unknown_kind_ends_the_server(layout: Layout, tmp_path: Path) -> None:
    made = instead_of("-Djdkmatrix.executor=", layout(tmp_path), "-Djdkmatrix.executor=virtal")
    not_ready(made, "the server ended with status")
    log = made.messages_log.read_text(encoding="utf-8")
    assert "unknown request executor: found virtal, allowed are cached, fixed-N" in log
