"""Artefacts from the Maven repository that the host is set up for, pinned by sha256 in toolchain.lock.json.

The host's Maven fetches them with its own settings (mirrors, proxies, credentials); where it gets them is its affair,
and what it got is ours: nothing is used unless its sha256 matches the lock file.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import Field

from jdkmatrix.domain.record import Record
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import hosttools
from jdkmatrix.provision.cache import cache_dir, locked
from jdkmatrix.provision.command import run_logged
from jdkmatrix.provision.seal import sha256_of
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.validation import validated

LOCK_FILE = "toolchain.lock.json"


# A JVM finds files with an umlaut in their path only in a UTF-8 locale. glibc before 2.39 goes by LANGUAGE, too.
UTF8_LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}


class Artefact(Record):
    """`coordinates` are group:artefact:version:packaging[:classifier]."""

    coordinates: Annotated[str, Field(pattern=r"^[\w.-]+(:[\w.-]+){3,4}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

    @property
    def version(self) -> str:
        return self.coordinates.split(":")[2]

    @property
    def repository_path(self) -> Path:
        """The path below a repository's root (the "default" layout of Maven 2 and later)."""
        group, name, version, packaging, *classifier = self.coordinates.split(":")
        file_name = "-".join([name, version, *classifier]) + f".{packaging}"
        return Path(*group.split("."), name, version, file_name)

    def kept_at(self, kind: str) -> Path:
        """Return the folder of the cache for what is made from it."""
        return cache_dir() / kind / f"{self.version}-{self.sha256[:12]}"


class Lock(Record):
    """toolchain.lock.json. `maven_dependency_plugin` is the version of the plugin that fetches."""

    maven_dependency_plugin: Annotated[str, Field(pattern=r"^[0-9][\w.-]*$")]
    artefacts: dict[str, Artefact]

    def artefact(self, name: str) -> Artefact:
        """Return the artefact. Raises: MatrixError when the lock does not name it."""
        if name not in self.artefacts:
            known = ", ".join(sorted(self.artefacts))
            raise MatrixError(f"{LOCK_FILE}: no artefact {name!r} (there are: {known})")
        return self.artefacts[name]


def load_lock(root: Path) -> Lock:
    """Read `root`/toolchain.lock.json. Raises: MatrixError with the key and what is wrong with it."""
    path = root / LOCK_FILE
    return validated(Lock, parse_json(read_text(path), str(path)), path)


def maven_repository() -> Path:
    """Return the local repository for everything that we have Maven do; the user's own stays as it is."""
    return cache_dir() / "m2"


def fetch(lock: Lock, name: str, *, maven: str = "mvn") -> Path:
    """Return the verified file of artefact `name`, fetching it if it is not there yet.

    It is in `maven_repository()`; Maven is not started if it is there already.

    Raises:
        MatrixError: Maven failed, or the sha256 is another than the lock's; then the file is gone again.
    """
    artefact = lock.artefact(name)
    path = maven_repository() / artefact.repository_path
    with locked(path.parent):
        if not path.is_file():
            _download(artefact, plugin=lock.maven_dependency_plugin, maven=maven)
        if not path.is_file():
            raise MatrixError(f"{artefact.coordinates}: Maven reported success, but there is no {path}")
        found = sha256_of(path)
        if found != artefact.sha256:
            shutil.rmtree(path.parent)
            raise MatrixError(
                f"{artefact.coordinates}: sha256 is {found}, {LOCK_FILE} says {artefact.sha256}; it was removed"
            )
    return path


def forget(lock: Lock, name: str) -> None:
    """Free the disk space that artefact `name` takes; `fetch` gets it again."""
    folder = (maven_repository() / lock.artefact(name).repository_path).parent
    shutil.rmtree(folder, ignore_errors=True)


def unpack_tar(file: tarfile.TarFile, target: Path) -> None:
    """Unpack, refusing paths outside the target, except with Python 3.11.3 and older, which has no such filter."""
    file.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
    file.extractall(target)


def _download(artefact: Artefact, *, plugin: str, maven: str) -> None:
    command = [
        maven,
        "--batch-mode",
        "--quiet",
        # Try again what an earlier call did not find: Maven remembers failures for a day.
        "--update-snapshots",
        f"-Dmaven.repo.local={maven_repository()}",
        f"org.apache.maven.plugins:maven-dependency-plugin:{plugin}:get",
        f"-Dartifact={artefact.coordinates}",
        "-Dtransitive=false",
    ]
    env = {**hosttools.maven_env(), **UTF8_LOCALE}
    with told_of_proxies():
        run_logged(command, what=f"fetching {artefact.coordinates}", cwd=Path("/"), env=env)


@contextmanager
def told_of_proxies() -> Iterator[None]:
    """Explain a failed call of Maven if the environment names a proxy, which pip takes and Maven does not."""
    try:
        yield
    except MatrixError as error:
        raise MatrixError(f"{error}{_about_proxies(os.environ)}") from None


def _about_proxies(env: Mapping[str, str]) -> str:
    named = next((name for name in ("https_proxy", "HTTPS_PROXY") if env.get(name)), None)
    return f"\nMaven does not read {named}: it takes a proxy, or a mirror, from ~/.m2/settings.xml" if named else ""
