"""One kept-alive HTTP connection to the server, for proofs and gauges; the load is the driver's."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Self
from urllib.parse import urlsplit

from jdkmatrix.errors import MatrixError

_PIECE_BYTES = 65_536


class HttpError(MatrixError):
    """No answer, or not the one that was asked for."""


class RefusedError(HttpError):
    """Nothing listens."""


class NoAnswerError(HttpError):
    """Connected, but nothing came in time."""


class Connection:
    """A connection to a `base_url` such as "http://127.0.0.1:9080/mp-ping"; every call ends within a few times the
    timeout, however little comes at a time: a user's application may answer with a stream that never ends."""

    def __init__(self, base_url: str, *, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        self._prefix = parts.path
        self._timeout_s = timeout_s
        self._client = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body. Raises: HttpError when there is no HTTP answer."""
        return self._ask("GET", path)

    def post(self, path: str) -> tuple[int, bytes]:
        """Like `get`; the request has no content."""
        return self._ask("POST", path)

    def get_json(self, path: str) -> dict[str, Any]:
        """Return the JSON object of a 200. Raises: HttpError."""
        status, body = self.get(path)
        if status != 200:
            raise HttpError(f"GET {self._prefix}{path}: status {status}: {excerpt(body)}")
        return self.json_object(path, body)

    def json_object(self, path: str, body: bytes) -> dict[str, Any]:
        """Parse the body of the answer at `path`. Raises: HttpError: it is no JSON object."""
        try:
            answer = json.loads(body)
        except ValueError:
            raise HttpError(f"GET {self._prefix}{path}: not JSON: {excerpt(body)}") from None
        if not isinstance(answer, dict):
            raise HttpError(f"GET {self._prefix}{path}: not a JSON object: {excerpt(body)}")
        return answer

    @property
    def local_port(self) -> int | None:
        """The port of our end while the connection is open: the same port means the same connection."""
        return self._client.sock.getsockname()[1] if self._client.sock else None

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str) -> tuple[int, bytes]:
        was_open = self._client.sock is not None
        try:
            try:
                return self._answer(method, path)
            except (BrokenPipeError, ConnectionResetError):
                self._client.close()
                if method != "GET" or not was_open:
                    raise
                return self._answer(method, path)  # servers close a connection that was idle for a long time
        except (OSError, http.client.HTTPException) as error:
            self._client.close()
            asked = f"{method} {self._prefix}{path}"
            if isinstance(error, ConnectionRefusedError):
                raise RefusedError(f"{asked}: connection refused") from None
            if isinstance(error, TimeoutError):
                raise NoAnswerError(f"{asked}: no answer within {self._timeout_s:g} s") from None
            raise HttpError(f"{asked}: {error or type(error).__name__}") from None

    def _answer(self, method: str, path: str) -> tuple[int, bytes]:
        self._client.request(method, self._prefix + path)
        response = self._client.getresponse()
        return response.status, _body(response, time.monotonic() + self._timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *stopped: object) -> None:
        self.close()


def _body(response: http.client.HTTPResponse, until_s: float) -> bytes:
    """Raises: TimeoutError: there is more at that time of time.monotonic."""
    pieces = []
    with response:
        while piece := response.read1(_PIECE_BYTES):
            pieces.append(piece)
            if time.monotonic() > until_s:
                raise TimeoutError
    body = b"".join(pieces)
    if response.length:
        raise http.client.IncompleteRead(body, response.length)
    return body


def excerpt(body: bytes) -> str:
    """Return the first 200 bytes of a body in one line, for a message."""
    return " ".join(body[:200].decode("utf-8", "replace").split())
