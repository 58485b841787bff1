"""Which servers there are: another one is a file beside these, its name here, and a row in terms/servers.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jdkmatrix.config.model import ServerTable
from jdkmatrix.domain.servers import JETTY, OPEN_LIBERTY, server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.liberty import open_liberty, provision_liberty
from jdkmatrix.provision.nix_parts import NixParts
from jdkmatrix.provision.workloads import Workloads
from jdkmatrix.servers.base import InstalledServer
from jdkmatrix.servers.jetty import open_jetty
from jdkmatrix.servers.liberty import LibertyServer

Say = Callable[[str], None]


def _liberty(
    root: Path, served: ServerTable, workloads: Workloads, handed: NixParts | None, say: Say
) -> InstalledServer:
    if served.artefact is None:
        raise TypeError("checked when matrix.toml was read")
    given = handed.servers.get(served.artefact) if handed else None
    if given:
        return LibertyServer(open_liberty(given.home, given.version, given.sha256))
    return LibertyServer(provision_liberty(root, served.artefact, served.feature_sets, say=say))


def _jetty(root: Path, served: ServerTable, workloads: Workloads, handed: NixParts | None, say: Say) -> InstalledServer:
    return open_jetty(workloads)


_INSTALL = {OPEN_LIBERTY.name: _liberty, JETTY.name: _jetty}


def install(
    root: Path, name: str, served: ServerTable, workloads: Workloads, handed: NixParts | None, *, say: Say
) -> InstalledServer:
    """Get the server that matrix.toml calls `name` for the project at `root`; does nothing where it is there.

    Raises:
        MatrixError: it cannot be had.
    """
    kind = server_kind(name)
    if kind is None:
        raise MatrixError(f"servers.{name}: of no known kind")
    return _INSTALL[kind.name](root, served, workloads, handed, say)
