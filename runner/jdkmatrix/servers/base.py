"""What a server is to a fork: files of ours, and a process that serves an application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jdkmatrix.domain.applications import Application
from jdkmatrix.provision.workloads import Workloads


@dataclass(frozen=True)
class Launch:
    """What to start. `ready_words`: what the server writes to `messages_log` when it says that it is ready; None: it
    says nothing before it answers."""

    command: Sequence[str]
    env: Mapping[str, str]
    base_url: str
    ready_path: str
    messages_log: Path
    console_log: Path
    ready_words: str | None = None


@dataclass(frozen=True)
class LaunchRequest:
    """`java` is the program to run, `feature_set` one of `FEATURE_SETS`, `executor` a checked name that the server has.
    `jvm_options` come before the system properties (`properties`, such as `jdkmatrix.burn.rounds_per_us`)."""

    application: Application
    java: Path
    feature_set: str
    executor: str
    port: int
    jvm_options: Sequence[str]
    properties: Mapping[str, str]


class InstalledServer(Protocol):
    """A server that is on this host. `sha256`: of the archive that it was made from; `java_options`: what it needs on
    any JDK. `home`: where it is, `files_sha256`: of all that is there; None where it is all ours."""

    @property
    def version(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def java_options(self) -> tuple[str, ...]: ...
    @property
    def home(self) -> Path | None: ...
    @property
    def files_sha256(self) -> str | None: ...

    def sources(
        self, workloads: Workloads, *, application: Application, feature_set: str, executor: str
    ) -> tuple[Path, ...]:
        """The files of ours that it is made of when it serves `application` like this."""

    def lay_out(self, workloads: Workloads, wanted: LaunchRequest, *, folder: Path, log_dir: Path) -> Launch:
        """Write the files of a server that serves `wanted.application` on 127.0.0.1:`wanted.port` below `folder`, which
        must be its own; `log_dir` gets messages.log and console.log.

        Raises:
            MatrixError: unknown feature set, or a property that the application needs is missing.
        """
