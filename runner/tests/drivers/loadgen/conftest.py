"""The jar under test, a JDK, and a server that misbehaves on demand."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest

from jdkmatrix.drivers.base import Target
from jdkmatrix.drivers.loadgen import LoadgenDriver, LoadgenSession
from jdkmatrix.provision.workloads import Workloads
from tests.support.project import C1_ALONE, compiled_once
from tests.support.waiting import HANGS_S

SERVER = Path(__file__).with_name("MoodyServer.java")


class Seen(NamedTuple):
    """One request as the server saw it, by CLOCK_MONOTONIC; `answered_ns` is 0 if it gave no answer."""

    connection: int
    arrived_ns: int
    answered_ns: int


class Report(NamedTuple):
    connections: int
    requests: tuple[Seen, ...]


class MoodyServer:
    """MoodyServer.java as a process."""

    def __init__(self, java: Path, classes: Path, **moods: int | str) -> None:
        command = [str(java), "-XX:+UseSerialGC", "-Xmx128m", C1_ALONE, "-cp", str(classes), "MoodyServer"]
        arguments = [f"{key}={value}" for key, value in moods.items()]
        self.process = subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline().split()
        assert line[:1] == [b"port"], f"the server did not start: {line!r}"
        self.port = int(line[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/ping"

    def report(self) -> Report:
        """End the server, and read all that it has printed."""
        printed, _ = self.process.communicate(timeout=HANGS_S)
        return _report(printed)

    def so_far(self, **moods: int | str) -> Report:
        """Return what it has seen so far; with `moods`, it begins anew."""
        self.process.stdin.write(" ".join(f"{key}={value}" for key, value in moods.items()).encode() + b"\n")
        self.process.stdin.flush()
        return _report(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def _report(printed: bytes) -> Report:
    seen = json.loads(printed)
    return Report(seen["connections"], tuple(Seen(*row) for row in seen["answers"]))


Moody = Callable[..., MoodyServer]
Open = Callable[..., LoadgenSession]


@pytest.fixture(autouse=True)
def driver_for_seconds(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start the driver without its second compiler, unless its latencies are judged."""
    with nullcontext() if request.node.get_closest_marker("alone") else compiled_once():
        yield


@pytest.fixture(scope="session")
def driver(workloads: Workloads, java: Path) -> LoadgenDriver:
    return LoadgenDriver(workloads.file("loadgen.jar"), java, "test-jdk")


@pytest.fixture(scope="session")
def moody_classes(java: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    classes = tmp_path_factory.mktemp("moody")
    subprocess.run([java.with_name("javac"), "-d", classes, SERVER], check=True, timeout=HANGS_S)
    return classes


@pytest.fixture
def moody(java: Path, moody_classes: Path) -> Iterator[Moody]:
    with ExitStack() as stack:

        def start(**moods: int | str) -> MoodyServer:
            server = MoodyServer(java, moody_classes, **moods)
            stack.callback(server.kill)
            return server

        yield start


@pytest.fixture
def open_session(driver: LoadgenDriver, tmp_path: Path) -> Iterator[Open]:
    """Open a session on the last CPU this process may use, and wait until it is ready."""
    with ExitStack() as stack:

        def start(url: str, *, timeout_s: float = 10.0, cpus: tuple[int, ...] | None = None) -> LoadgenSession:
            last = max(os.sched_getaffinity(0))
            session = stack.enter_context(driver.open(Target(url, cpus or (last,), tmp_path, timeout_s)))
            session.wait_ready()
            return session

        yield start
