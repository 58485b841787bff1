"""Stand-ins for JDKs and their sources: a `java` that only says its version, its archive, a server on loopback."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from jdkmatrix.jdks.catalogue import JdkEntry, this_system
from tests.support.loopback import answering
from tests.support.programs import program

VERSION = "21.0.99+1"


def java_script(version: str, brand: str = "Temurin-", vm: str = "OpenJDK 64-Bit Server VM") -> str:
    runtime = f"OpenJDK Runtime Environment {brand}{version} (build {version})"
    return f'#!/bin/sh\ncat >&2 <<END\nopenjdk version "x" 2026-01-01\n{runtime}\n{vm} (build {version})\nEND\n'


def release_file(version: str, implementor: str = "Eclipse Adoptium") -> str:
    return f'IMPLEMENTOR="{implementor}"\nJAVA_RUNTIME_VERSION="{version}"\nJVM_VARIANT="Hotspot"\n'


def fake_jdk(home: Path, version: str, *, implementor: str = "Eclipse Adoptium", **java: str) -> Path:
    program(home / "bin" / "java", java_script(version, **java))
    (home / "release").write_text(release_file(version, implementor))
    return home


def packed(
    version: str = VERSION, extra: tuple[tarfile.TarInfo, ...] = (), script: str | None = None, **java: str
) -> bytes:
    """Pack a tar.gz as vendors do, with one link inside the JDK."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text, mode in (
            ("bin/java", script or java_script(version, **java), 0o755),
            ("release", release_file(version), 0o644),
            ("legal/java.base/LICENSE", "free", 0o644),
        ):
            info = tarfile.TarInfo(f"jdk-{version}/{name}")
            info.size, info.mode = len(text.encode()), mode
            tar.addfile(info, io.BytesIO(text.encode()))
        link = tarfile.TarInfo(f"jdk-{version}/legal/jdk.jfr/LICENSE")
        link.type, link.linkname = tarfile.SYMTYPE, "../java.base/LICENSE"
        tar.addfile(link)
        for member in extra:
            tar.addfile(member, io.BytesIO(b"\0" * member.size))
    return buffer.getvalue()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def entry(version: str = VERSION, url: str | None = None, digest: str = "0" * 64, **more: Any) -> JdkEntry:
    archives = {this_system(): {"url": url, "sha256": digest, "second_source": None}} if url else {}
    return JdkEntry.model_validate(
        {
            "id": "test-jdk", "vendor": "Eclipse Adoptium", "vm": "hotspot", "feature_version": 21,
            "version": version, "archives": archives, **more,
        }
    )  # fmt: skip


class FileServer(ThreadingHTTPServer):
    """A server of `files`; `asked` counts GETs.

    A name in `announced` claims that many bytes; `moved` gives the new place of a name; a name in `refused` is answered
    with that status, any other unknown name with 404.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = {f"/{name}": data for name, data in files.items()}
        self.announced: dict[str, int] = {}
        self.moved: dict[str, str] = {}
        self.refused: dict[str, int] = {}
        self.asked = Counter[str]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FileServer

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        if self.path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[self.path])
            self.end_headers()
            return
        data = self.server.files.get(self.path)
        if data is None:
            self.send_error(self.server.refused.get(self.path, 404))
            return
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.announced.get(self.path, len(data))))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def file_server(**files: bytes) -> AbstractContextManager[FileServer]:
    return answering(FileServer(files))
