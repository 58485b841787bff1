"""The applications that a server can serve, and what each needs of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.workloads import Workloads

REMOTE_URL = "jdkmatrix.remote.url"
REMOTE_TIMEOUT_MS = "jdkmatrix.remote.timeout_ms"
REMOTE_CLIENT = "jdkmatrix.remote.client"
BANKING_ACCOUNTS = "jdkmatrix.banking.accounts"


@dataclass(frozen=True)
class Application:
    """`ready_path`, below the context root, answers 200 when the application is in order, and calls nothing.
    `required` are the system properties without which it is not. `limit_path`: where an application that blocks its
    threads on purpose is told for how long at most."""

    name: str
    war: Callable[[Workloads], Path]
    ready_path: str
    required: tuple[str, ...] = ()
    limit_path: str | None = None

    @property
    def context_root(self) -> str:
        return f"/{self.name}"

    def root_of(self, front: str) -> str:
        """Below which the driver's requests go: Jakarta REST, or the same endpoints without it."""
        return f"{self.context_root}/servlet" if front == "servlet" else self.context_root

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises: MatrixError names the required properties that are not among `properties`."""
        missing = [name for name in self.required if name not in properties]
        if missing:
            raise MatrixError(f'the application "{self.name}" needs the system properties {", ".join(missing)}')


_ALL = (
    Application("mp-ping", lambda workloads: workloads.mp_ping_war, ready_path="/ping"),
    Application(
        "banking",
        lambda workloads: workloads.banking_war,
        # Not one that calls the remote system: a server must not depend on it for its start.
        ready_path="/accounts",
        required=(REMOTE_URL, BANKING_ACCOUNTS),
    ),
    Application(
        "pinning",
        lambda workloads: workloads.pinning_war,
        ready_path="/servlet/ready",
        limit_path="/servlet/limit",
    ),
)
APPLICATIONS: Mapping[str, Application] = {application.name: application for application in _ALL}


def application_of(name: str) -> Application:
    """Raises: MatrixError: unknown application."""
    if name not in APPLICATIONS:
        raise MatrixError(f'"{name}" is not an application (allowed: {", ".join(APPLICATIONS)})')
    return APPLICATIONS[name]
