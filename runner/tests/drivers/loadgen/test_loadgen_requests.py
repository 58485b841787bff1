"""A mix of requests on real sockets, as a server reads it."""

from __future__ import annotations

import re
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jdkmatrix.config.request_mix import RequestMix, RequestTemplate
from jdkmatrix.domain.loads import RateLoad, SaturateLoad
from jdkmatrix.drivers.base import DriverError, Target
from jdkmatrix.drivers.loadgen import LoadgenDriver
from tests.drivers.loadgen.test_loadgen_session import run_cli
from tests.support.loopback import answering

pytestmark = pytest.mark.real

MIX = RequestMix(
    seed=7,
    requests=(
        RequestTemplate(method="GET", path="/plain?a=%20", weight=5),
        RequestTemplate(method="GET", path="/random/{random:95:105}", headers={"X-Id": "{unique:7}"}, weight=3),
        RequestTemplate(method="POST", path="/unique/{unique:5}", body='{"é": "{unique:6}"}', weight=2),
    ),
)


class Server(ThreadingHTTPServer):
    """A server that keeps what it reads, and answers 404 to /unique/…"""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, str | None, bytes]] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/not-this"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        assert self.headers["Host"] == f"127.0.0.1:{self.server.server_port}"
        self.server.seen.append((self.command, self.path, self.headers["X-Id"], body))
        self.send_response(404 if self.path.startswith("/unique") else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the driver counts what went wrong."""


def test_a_mix_over_two_event_loops(driver: LoadgenDriver, tmp_path: Path) -> None:
    """In both phases requests are whole, in the shares asked for, with numbers that come once in the session."""
    with answering(Server()) as server, driver.open(Target(server.url, (0, 0), tmp_path, requests=MIX)) as session:
        rate = session.run(RateLoad(rate_rps=600, connections=7), 1, label="rate")
        closed = session.run(SaturateLoad(connections=7), 0.3, label="closed")
    for result in (rate, closed):
        assert (result.errors.total, result.reconnects) == (0, 0)
    sent = (rate.sent or 0) + (closed.sent or 0)
    assert len(server.seen) == sent >= 200
    # Connections that are busy at the end of a phase are closed.
    assert server.connections <= 7 + (rate.outstanding or 0)
    kinds = Counter(path.split("/")[1] for _, path, _, _ in server.seen)
    assert [kinds[k] / sent for k in ("plain?a=%20", "random", "unique")] == pytest.approx([0.5, 0.3, 0.2], abs=0.1)
    numbers: list[int] = []
    for method, path, header, body in server.seen:
        if path.startswith("/unique/"):
            number = path.removeprefix("/unique/")
            assert re.fullmatch("[0-9]{5}", number)
            assert (method, header, body.decode()) == ("POST", None, f'{{"é": "0{number}"}}')
            numbers.append(int(number))
        elif path.startswith("/random/"):
            assert re.fullmatch("09[5-9]|10[0-5]", path.removeprefix("/random/"))
            assert header is not None
            assert re.fullmatch("[0-9]{7}", header)
            assert (method, body) == ("GET", b"")
            numbers.append(int(header))
        else:
            assert (method, path, header, body) == ("GET", "/plain?a=%20", None, b"")
    assert len(set(numbers)) == len(numbers)
    posted = sum(path.startswith("/unique/") for _, path, _, _ in server.seen)
    assert rate.non_2xx + closed.non_2xx == pytest.approx(posted, abs=2 * 7)  # late answers are not counted


def test_numbers_that_are_used_up_end_the_session(driver: LoadgenDriver, tmp_path: Path) -> None:
    mix = RequestMix(seed=1, requests=(RequestTemplate(method="GET", path="/{unique:2}"),))
    with (
        answering(Server()) as server,
        driver.open(Target(server.url, (0,), tmp_path, requests=mix)) as session,
        pytest.raises(DriverError, match="used up: the next is 100; make it wider"),
    ):
        session.run(RateLoad(rate_rps=1000, connections=2), 60, label="short")
    assert sorted(path for _, path, _, _ in server.seen) == [f"/{i:02d}" for i in range(100)]


def test_by_hand(driver: LoadgenDriver, tmp_path: Path) -> None:
    common = ("run", "--connections", "1", "--rate", "50", "--duration", "1s")
    mix = tmp_path / "mix.json"
    mix.write_text('{"seed": 1, "requests": [{"method": "GET", "path": "/a\\r\\nX: y"}]}')
    refused = run_cli(driver, *common, "--url", "http://127.0.0.1:9/", "--requests", str(mix))
    assert refused.returncode == 2
    assert refused.stderr.startswith(f'--requests {mix}: requests[0]: path = "/a\\r\\nX: y": it must begin with /')
    assert len(refused.stderr.splitlines()) == 1
    mix.write_text(MIX.model_dump_json())
    with answering(Server()) as server:
        done = run_cli(driver, *common, "--url", server.url, "--requests", str(mix))
    assert done.returncode == 0, done.stderr
    sent = re.search(r"due 50, sent (\d+)", done.stdout)
    assert sent is not None, done.stdout
    assert 0 < len(server.seen) <= int(sent[1]) <= 50, "the last may be due when time is up"
