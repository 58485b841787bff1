"""Get a server named in matrix.toml: one is made from a release, the others are embedded in a jar of ours."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from jdkmatrix.config.model import ServerTable
from jdkmatrix.domain.catalogue import ServerKind
from jdkmatrix.domain.servers import server_kind
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.artefacts import load_lock
from jdkmatrix.provision.liberty import kept_at, open_liberty, provision_liberty
from jdkmatrix.provision.nix_parts import NixParts
from jdkmatrix.provision.workloads import Workloads, built_folder
from jdkmatrix.servers.base import InstalledServer


def install(
    root: Path,
    name: str,
    served: ServerTable,
    workloads: Workloads,
    handed: NixParts | None,
    *,
    say: Callable[[str], None],
) -> InstalledServer:
    """Get the server that matrix.toml calls `name` for the project at `root`; do nothing if it is already there.

    Raises:
        MatrixError: it cannot be had.
    """
    kind = server_kind(name)
    if kind is None:
        raise MatrixError(f"servers.{name}: not a known kind of server")
    if kind.is_command:
        return InstalledServer(kind, version="", sha256="")
    if kind.jar:
        return InstalledServer(kind, _release_in(workloads.file(kind.jar), kind), workloads.sha256[kind.jar])
    if served.artefact is None:
        raise TypeError("checked when matrix.toml was read")
    given = handed.servers.get(served.artefact) if handed else None
    config = workloads.servers / (kind.extends or kind.name)
    found = (
        open_liberty(given.home, given.version, given.sha256)
        if given
        else provision_liberty(root, config, served.artefact, served.feature_sets, say=say)
    )
    return InstalledServer(kind, found.version, found.sha256, found.java_options, found.home, found.files_sha256)


def _release_in(jar: Path, kind: ServerKind) -> str:
    """Raises: MatrixError: the jar does not say which version is in it."""
    if kind.version is None:
        raise TypeError("checked when server.toml was read")
    file, key = kind.version
    try:
        with zipfile.ZipFile(jar) as archive:
            text = archive.read(file).decode("utf-8")
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise MatrixError(f"{jar}: no version of {kind.title} in it: {error}") from None
    found = re.search(rf"^{re.escape(key)}\s*[=:]\s*(\S+)\s*$", text, re.MULTILINE)
    if found is None:
        raise MatrixError(f"{jar}: no {key} of {kind.title} in {file}")
    return found[1]


def is_here(root: Path, name: str, served: ServerTable, handed: NixParts | None) -> bool:
    """Return whether the server is already there, so that `install` neither fetches nor builds it."""
    kind = server_kind(name)
    if kind is None or kind.is_command or handed:
        return True
    if kind.jar:
        return (built_folder(root) / kind.jar).is_file()
    config = root / "workloads" / "servers" / (kind.extends or kind.name)
    return kept_at(root, config, served.artefact or "", served.feature_sets).is_dir()


def releases(root: Path, servers: Mapping[str, ServerTable], handed: NixParts | None) -> dict[str, str]:
    """Return the releases of these servers, as far as they are known without fetching or building anything."""
    lock, built = load_lock(root), handed.workloads if handed else built_folder(root)
    found = {}
    for name, served in servers.items():
        kind = server_kind(name)
        if served.artefact is not None:
            found[name] = lock.artefact(served.artefact).version
        elif built and kind and kind.jar and (built / kind.jar).is_file():
            with suppress(MatrixError):  # a damaged jar is built again when it is needed
                found[name] = _release_in(built / kind.jar, kind)
    return found


def check_folder(server: str, folder: Path) -> None:
    """Raises: MatrixError: this server cannot run below `folder`, because of its name."""
    kind = server_kind(server)
    unfit = kind.unfit_in_paths if kind else ""
    found = next((each for each in str(folder) if unfit and (each in unfit or not each.isprintable())), None)
    if kind and found is not None:
        raise MatrixError(f"{folder}: {kind.title} cannot run below a folder with {found!r} in its name")
