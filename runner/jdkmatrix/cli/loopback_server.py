"""Serve a folder of static files to the browsers of this host, and to nobody else."""

from __future__ import annotations

import html
import io
import re
import select
import socket
import sys
import threading
import time
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

from jdkmatrix.store.readable import fault

LOOPBACK = "127.0.0.1"
_NAMES = {LOOPBACK, "localhost", "[::1]"}
_PORT = re.compile(r":[0-9]*$")
_OWN_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_NOTHING = "default-src 'none'"
_READ_FOR_POLICY_BYTES = 4096


class LoopbackServer(ThreadingHTTPServer):
    """Serves `directory`, which may be replaced meanwhile. A connection beyond `connections_max` is closed at once; any
    other, if its request is not complete within `request_s_max`, or if it accepts no data for that long."""

    def __init__(self, port: int, directory: Path, *, connections_max: int = 64, request_s_max: float = 10) -> None:
        """Raises: OSError: the port is taken."""
        self._free = threading.BoundedSemaphore(connections_max)
        self.request_s_max = request_s_max
        super().__init__((LOOPBACK, port), partial(_Handler, directory=str(directory)))

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread could be started; Ctrl-C, by contrast, may come after the start of one
            self._free.release()
            raise

    def finish_request(self, request: Any, client_address: Any) -> None:
        try:
            super().finish_request(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print errors, but not those of broken connections, which browsers cause all the time."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, OSError):
            print(f"matrix: a request failed: {fault(error)}", file=sys.stderr)


class _Request(io.RawIOBase):
    """The data that a connection delivers until `deadline_s` of the monotonic clock."""

    def __init__(self, connection: socket.socket, deadline_s: float) -> None:
        self._connection, self._deadline_s = connection, deadline_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Raises: TimeoutError."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0 or not select.select([self._connection], [], [], left_s)[0]:
            raise TimeoutError
        return self._connection.recv_into(buffer)


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of the site, never from a cache, since they change under the same name."""

    server: LoopbackServer
    request: socket.socket
    _policy = _NOTHING

    def setup(self) -> None:
        self.request.settimeout(self.server.request_s_max)
        super().setup()
        self.rfile = io.BufferedReader(_Request(self.request, time.monotonic() + self.server.request_s_max))

    def send_head(self) -> BinaryIO | None:
        """Refuse other names: one that merely resolves to this host may be anybody's page, which would read along."""
        names = [_PORT.sub("", name).lower() for name in self.headers.get_all("Host", ())]
        if len(names) != 1 or names[0] not in _NAMES:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, f"Ask for {LOOPBACK} or localhost")
            return None
        path = self.translate_path(self.path)
        hidden = any(part.startswith(".") for part in Path(path).relative_to(self.directory).parts)
        if hidden or "\0" in path:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        self._policy = _policy(Path(path))
        return super().send_head()

    def list_directory(self, path: object) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", f"{self._policy}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a page would take some ten lines."""


def _policy(path: Path) -> str:
    """Return the content security policy that a page declares; one that allows nothing for any other file."""
    try:
        page = path / "index.html" if path.is_dir() else path
        if page.suffix != ".html":
            return _NOTHING
        with page.open("rb") as file:
            found = _OWN_POLICY.search(file.read(_READ_FOR_POLICY_BYTES))
    except OSError:
        return _NOTHING
    return html.unescape(found[1].decode("ascii", "replace")) if found else _NOTHING
