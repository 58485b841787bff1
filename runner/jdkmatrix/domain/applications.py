"""The applications that a server can serve, and what each needs of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jdkmatrix.domain.catalogue import FeatureSet, ServerKind
from jdkmatrix.errors import MatrixError

REMOTE_URL = "jdkmatrix.remote.url"
REMOTE_TIMEOUT_MS = "jdkmatrix.remote.timeout_ms"
REMOTE_CLIENT = "jdkmatrix.remote.client"
BANKING_ACCOUNTS = "jdkmatrix.banking.accounts"


@dataclass(frozen=True)
class Application:
    """`fronts`: what takes its requests, Jakarta REST or plain Servlets; `same_either_way`: a server without Jakarta
    REST serves by a Servlet what others serve by it, at the same path. `does_nothing`: it answers with a constant.
    `ready_path`, below the context root, answers 200 when the application is in order, and calls nothing.
    `required` are the system properties without which it is not. `calls_remote`: a remote system. `has_mix`: does it
    serve requests of several kinds? `has_accounts`: of a bank. `needs`: what it needs of a feature set beyond Jakarta
    REST. `limit_path`: where an application that blocks its threads on purpose is told for how long at
    most."""

    name: str
    fronts: tuple[str, ...]
    ready_path: str
    same_either_way: bool = False
    does_nothing: bool = False
    required: tuple[str, ...] = ()
    calls_remote: bool = False
    has_mix: bool = False
    has_accounts: bool = False
    needs: str | None = None
    limit_path: str | None = None

    @property
    def archive(self) -> str:
        """Its name in workloads/outputs.json."""
        return f"{self.name}.war"

    @property
    def context_root(self) -> str:
        return f"/{self.name}"

    def root_of(self, front: str) -> str:
        """Below which the driver's requests go: Jakarta REST, or the same endpoints without it."""
        return f"{self.context_root}/servlet" if front == "servlet" else self.context_root

    def runs_on(self, kind: ServerKind, front: str, features: FeatureSet) -> bool:
        """Can this kind of server serve it by this front, as a server with these features would?"""
        return kind.has_features or ((front == "servlet" or self.same_either_way) and not features.only_here)

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises: MatrixError names the required properties that are not among `properties`."""
        missing = [name for name in self.required if name not in properties]
        if missing:
            raise MatrixError(f'the application "{self.name}" needs the system properties {", ".join(missing)}')


_ALL = (
    Application("mp-ping", fronts=("rest",), ready_path="/ping", same_either_way=True, does_nothing=True),
    Application(
        "banking",
        fronts=("rest", "servlet"),
        # Not one that calls the remote system: a server must not depend on it for its start.
        ready_path="/accounts",
        required=(REMOTE_URL, BANKING_ACCOUNTS),
        calls_remote=True,
        has_mix=True,
        has_accounts=True,
        needs="JSON binding",
    ),
    Application(
        "pinning",
        fronts=("servlet",),
        ready_path="/servlet/ready",
        has_mix=True,
        needs="servlets",
        limit_path="/servlet/limit",
    ),
)
APPLICATIONS: Mapping[str, Application] = {application.name: application for application in _ALL}


def application_of(name: str) -> Application:
    """Raises: MatrixError: unknown application."""
    if name not in APPLICATIONS:
        raise MatrixError(f'"{name}" is not an application (allowed: {", ".join(APPLICATIONS)})')
    return APPLICATIONS[name]
