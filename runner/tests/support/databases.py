"""A PostgreSQL client that needs no library: it speaks protocol 3.0, without a password."""

from __future__ import annotations

import socket
import struct
from typing import Self
from urllib.parse import urlsplit

from tests.support.waiting import HANGS_S


class DatabaseClient:
    """A client connected to the server at `url`, which is in JDBC's form."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url.removeprefix("jdbc:"))
        self._socket = socket.create_connection((place.hostname or "", place.port or 0), timeout=HANGS_S)
        said = b"user\0postgres\0database\0postgres\0\0"
        self._socket.sendall(struct.pack("!ii", len(said) + 8, 196608) + said)
        self._answers = self._socket.makefile("rb")
        self.refused = self._until_ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *stopped: object) -> None:
        self._answers.close()
        self._socket.close()

    def ask(self, sql: str) -> str | None:
        """Send `sql` and return its error message; None if there is none, "" if the server hung up."""
        self._send(sql)
        return self._until_ready()

    def reset_while_answering(self, sql: str) -> None:
        """Reset the connection during the answer, as the kernel does for a process that ends."""
        self._send(sql)
        self._answers.read(1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.__exit__()

    def _send(self, sql: str) -> None:
        text = sql.encode() + b"\0"
        self._socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)

    def _until_ready(self) -> str | None:
        error = None
        while head := self._read(5):
            kind, length = struct.unpack("!ci", head)
            body = self._read(length - 4)
            if kind == b"E":
                error = next(field[1:].decode() for field in body.split(b"\0") if field.startswith(b"M"))
            if kind == b"Z":
                return error
        return error or ""

    def _read(self, length: int) -> bytes:
        try:
            return self._answers.read(length)
        except ConnectionResetError:
            return b""
