"""PostgreSQL, for applications that keep their data in a database: the programs of a pinned release, namely the server
and the one that makes its data folder."""

from __future__ import annotations

import lzma
import platform
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts
from jdkmatrix.provision.cache import kept
from jdkmatrix.provision.seal import files_sha256

_ARTEFACTS = {"x86_64": "postgresql-x86_64", "aarch64": "postgresql-aarch64"}  # of toolchain.lock.json


@dataclass(frozen=True)
class Postgres:
    """`home`: contains bin/postgres and bin/initdb; `files_sha256`: of everything in it."""

    home: Path
    version: str
    files_sha256: str


def provision_postgres(root: Path, *, say: Callable[[str], None]) -> Postgres:
    """Return the pinned release for the project at `root`, unpacking it into the cache if it is not there.

    Raises:
        MatrixError: there is none for this system; fetching, verifying or unpacking failed; or it does not start here.
    """
    name = _ARTEFACTS.get(platform.machine())
    if name is None:
        raise MatrixError(f"no release of PostgreSQL is pinned for {platform.machine()} ({', '.join(_ARTEFACTS)} are)")
    lock = artefacts.load_lock(root)
    artefact = lock.artefact(name)

    def make(folder: Path) -> None:
        say(f"fetching PostgreSQL {artefact.version}")
        _unpack(artefacts.fetch(lock, name), folder)

    target = artefact.kept_at("postgresql")
    kept(target, make, say=say)
    return postgres_at(target)


def is_here(root: Path) -> bool:
    """Return whether none is fetched: the pinned release is in the cache, or there is none for this system."""
    name = _ARTEFACTS.get(platform.machine())
    return name is None or artefacts.load_lock(root).artefact(name).kept_at("postgresql").is_dir()


def postgres_at(home: Path) -> Postgres:
    """Open the PostgreSQL at `home`. Raises: MatrixError: it does not start here."""
    program = home / "bin" / "postgres"
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise MatrixError(f"{program} does not start here: {getattr(error, 'stderr', None) or error}") from None
    found = re.search(r"\(PostgreSQL\) (\S+)", said)
    if found is None:
        raise MatrixError(f"{program} is not PostgreSQL: it says {said.strip()!r}")
    return Postgres(home, found[1], files_sha256(home))


def _unpack(archive: Path, target: Path) -> None:
    """Unpack a jar with a compressed tar in it."""
    try:
        with zipfile.ZipFile(archive) as jar:
            (inside,) = (name for name in jar.namelist() if name.endswith(".txz"))
            with jar.open(inside) as packed, lzma.open(packed) as plain, tarfile.open(fileobj=plain) as files:
                artefacts.unpack_tar(files, target)
    except (OSError, ValueError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise MatrixError(f"unpacking {archive.name}: {error}") from None
