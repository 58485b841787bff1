"""Answers that are whole, that break off, and that never end; over a real connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from jdkmatrix.host.http import Connection, HttpError, NoAnswerError
from tests.support.loopback import answering

BODY = b"x" * 200_000
TIMEOUT_S = 1.0
PIECES = 100  # until even a stream without an end is over, lest a test hang


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    never = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        match self.path:
            case "/whole" | "/then-closed":
                self.send_header("Content-Length", str(len(BODY)))
                self.end_headers()
                self.wfile.write(BODY)
                self.close_connection = self.path == "/then-closed"  # without a word, like one that was idle
            case "/chunked":
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))
            case "/short":
                self.send_header("Content-Length", str(len(BODY) + 1))
                self.end_headers()
                self.wfile.write(BODY)
                self.close_connection = True
            case "/events":
                self.send_header("Connection", "close")
                self.end_headers()
                for _ in range(PIECES):
                    self.wfile.write(b": still there\n\n")
                    self.never.wait(TIMEOUT_S / 10)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def connection() -> Iterator[Connection]:
    with (
        answering(ThreadingHTTPServer(("127.0.0.1", 0), Answers)) as server,
        Connection(f"http://127.0.0.1:{server.server_port}", timeout_s=TIMEOUT_S) as connection,
    ):
        yield connection


def test_whole_answers_keep_the_connection(connection: Connection) -> None:
    assert connection.get("/whole") == (200, BODY)
    port = connection.local_port
    assert connection.get("/chunked") == connection.get("/whole") == (200, BODY)
    assert port is not None and connection.local_port == port


def test_an_answer_that_breaks_off_is_none(connection: Connection) -> None:
    with pytest.raises(HttpError, match=r"GET /short: .*200000 bytes read, 1 more expected"):
        connection.get("/short")
    assert connection.get("/whole") == (200, BODY)


def test_a_connection_that_the_server_has_closed_meanwhile_is_opened_again(connection: Connection) -> None:
    assert connection.get("/then-closed") == (200, BODY)
    port = connection.local_port
    assert port is not None
    assert connection.get("/whole") == (200, BODY)
    assert connection.local_port not in (None, port)


def test_a_stream_that_never_ends_is_no_answer(connection: Connection) -> None:
    with pytest.raises(NoAnswerError, match="no answer within 1 s"):
        connection.get("/events")
