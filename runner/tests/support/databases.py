"""A PostgreSQL client that needs no library: it speaks protocol 3.0, and proves its password by SCRAM-SHA-256."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from tests.support.waiting import HANGS_S


def password_in(file: Path) -> str:
    """Return the password in a file of one line, in libpq's form."""
    return file.read_text().rstrip().split(":")[4]


class DatabaseClient:
    """A client connected to the server at `url`, which is in JDBC's form."""

    def __init__(self, url: str, password: str) -> None:
        self._password = password.encode()
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
        self._message(b"Q", sql.encode() + b"\0")

    def _message(self, kind: bytes, body: bytes) -> None:
        self._socket.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def _authenticate(self, asked: int, said: bytes) -> None:
        """Answer one step of SCRAM (RFC 5802, RFC 7677). The nonce is of no use to whoever hears it: this is a test."""
        mine = b"n=,r=nonce"
        if asked == 10:  # AuthenticationSASL
            self._message(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(mine) + 3) + b"n,," + mine)
        elif asked == 11:  # AuthenticationSASLContinue
            told = dict(part.split(b"=", 1) for part in said.split(b","))
            salted = hashlib.pbkdf2_hmac("sha256", self._password, base64.b64decode(told[b"s"]), int(told[b"i"]))
            key = hmac.digest(salted, b"Client Key", "sha256")
            final = b"c=biws,r=" + told[b"r"]  # "n,,"
            signature = hmac.digest(hashlib.sha256(key).digest(), b",".join((mine, said, final)), "sha256")
            proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
            self._message(b"p", final + b",p=" + base64.b64encode(proof))

    def _until_ready(self) -> str | None:
        error = None
        while head := self._read(5):
            kind, length = struct.unpack("!ci", head)
            body = self._read(length - 4)
            if kind == b"R":
                self._authenticate(int.from_bytes(body[:4]), body[4:])
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
