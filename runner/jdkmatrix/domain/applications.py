"""The applications that a server can serve: each is a file of its name in workloads/applications, beside the module
that builds its war. workloads/embedded-server says which of its Servlets an embedded server serves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from jdkmatrix.domain.catalogue import FeatureSet, ServerKind
from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.project_files import workloads_folder
from jdkmatrix.reading import read_toml
from jdkmatrix.validation import unknown, validated

REMOTE_URL = "jdkmatrix.remote.url"
REMOTE_TIMEOUT_MS = "jdkmatrix.remote.timeout_ms"
REMOTE_CLIENT = "jdkmatrix.remote.client"
BANKING_ACCOUNTS = "jdkmatrix.banking.accounts"
DATABASE_URL = "jdkmatrix.database.url"
DATABASE_POOL = "jdkmatrix.database.pool"
DATABASE_CONNECTIONS = "jdkmatrix.database.connections"
DATABASE_WAIT_MS_MAX = "jdkmatrix.database.wait_ms_max"

Front = Literal["rest", "servlet"]
Below = Annotated[str, Field(pattern=r"^/")]


class Application(Record):
    """`fronts`: what takes its requests, Jakarta REST or plain Servlets; `same_either_way`: a server without Jakarta
    REST serves with a Servlet, at the same path, what others serve with it. `does_nothing`: it answers with a constant.
    `ready_path`, below the context root, answers 200 when the application is in order, and calls nothing.
    `required`: the system properties without which it is not. `needs`: what it needs from a feature set beyond Jakarta
    REST. `limit_path`: where an application that blocks its threads on purpose is told for how long at most. `has_mix`:
    it serves several kinds of requests; `mixes`: of them, as matrix.toml may have them. `has_probes`: it has our
    probes; without them it says nothing about itself. `at_root`: it is a server of its own, without a context root."""

    name: str
    fronts: Annotated[tuple[Front, ...], Field(min_length=1)]
    ready_path: Below
    same_either_way: bool = False
    does_nothing: bool = False
    required: tuple[str, ...] = ()
    needs: str | None = None
    limit_path: Below | None = None
    has_mix: bool = False
    mixes: Mapping[str, Any] = Field({}, exclude=True)
    has_probes: bool = True
    at_root: bool = False

    @property
    def calls_remote(self) -> bool:
        return REMOTE_URL in self.required

    @property
    def has_database(self) -> bool:
        return DATABASE_URL in self.required

    @property
    def has_accounts(self) -> bool:
        """True if it is told how many accounts its bank has."""
        return BANKING_ACCOUNTS in self.required

    @property
    def context_root(self) -> str:
        return "" if self.at_root else f"/{self.name}"

    def root_of(self, front: str) -> str:
        """Return the path below which the driver's requests go: Jakarta REST, or the same endpoints without it."""
        return f"{self.context_root}/servlet" if front == "servlet" else self.context_root

    def runs_on(self, kind: ServerKind, front: str, features: FeatureSet) -> bool:
        """Return whether this kind of server can serve it by this front, as a server with these features would."""
        if self.at_root or kind.is_command:
            return self.at_root and kind.is_command
        if not self.has_probes:
            return kind.war is not None
        return kind.has_features or ((front == "servlet" or self.same_either_way) and not features.only_here)

    def check(self, properties: Mapping[str, str]) -> None:
        """Check its properties. Raises: MatrixError names the required properties that are not among `properties`."""
        missing = [name for name in self.required if name not in properties]
        if missing:
            raise MatrixError(f'the application "{self.name}" needs the system properties {", ".join(missing)}')


@cache
def applications() -> Mapping[str, Application]:
    """Read all applications, by name.

    Raises:
        MatrixError: a file is not as it should be: names it and the key.
    """
    files = sorted(_folder().glob("*.toml"))
    return {file.stem: validated(Application, {**read_toml(file), "name": file.stem}, file) for file in files}


def application_file(name: str) -> Path:
    return _folder() / f"{name}.toml"


def _folder() -> Path:
    return workloads_folder() / "applications"


def application_of(name: str) -> Application:
    """Return an application by name. Raises: MatrixError: unknown application."""
    if name not in applications():
        raise MatrixError(f"application: {unknown(name, applications())}")
    return applications()[name]
