"""Eclipse Jetty, embedded in one of our jars: nothing to lay out but a command line."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.domain.applications import Application
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import Launch, LaunchRequest

JAR = "jetty-server.jar"
_READY = '"event":"ready"'
_PROPERTIES = "org/eclipse/jetty/version/build.properties"  # where Jetty itself has its version
_VERSION = re.compile(r"^version=(\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class JettyServer:
    """`sha256`: of our jar."""

    version: str
    sha256: str
    java_options: tuple[str, ...] = ()
    home: Path | None = None
    files_sha256: str | None = None

    def sources(
        self, workloads: Workloads, *, application: Application, feature_set: str, executor: str
    ) -> tuple[Path, ...]:
        return (workloads.file(JAR),)

    def lay_out(self, workloads: Workloads, wanted: LaunchRequest, *, folder: Path, log_dir: Path) -> Launch:
        wanted.application.check(wanted.properties)
        log_dir.mkdir(parents=True, exist_ok=True)
        console_log = log_dir / "console.log"
        return Launch(
            command=(
                str(wanted.java),
                *wanted.jvm_options,
                *(f"-D{name}={value}" for name, value in wanted.properties.items()),
                "-jar",
                str(workloads.file(JAR)),
                *("--port", str(wanted.port), "--application", wanted.application.name),
                *("--executor", wanted.executor),
            ),
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            base_url=f"http://127.0.0.1:{wanted.port}{wanted.application.context_root}",
            ready_path=wanted.application.ready_path,
            messages_log=console_log,
            console_log=console_log,
            ready_words=_READY,
        )


def open_jetty(workloads: Workloads) -> JettyServer:
    """Raises: MatrixError: the jar does not say which Jetty is in it."""
    jar = workloads.file(JAR)
    try:
        with zipfile.ZipFile(jar) as archive:
            found = _VERSION.search(archive.read(_PROPERTIES).decode("utf-8"))
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise MatrixError(f"{jar}: no version of Jetty in it: {error}") from None
    if found is None:
        raise MatrixError(f"{jar}: no version of Jetty in {_PROPERTIES}")
    return JettyServer(found.group(1), workloads.sha256[JAR])
