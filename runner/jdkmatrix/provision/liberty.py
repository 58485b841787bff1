"""Open Liberty, cut down to the features that the workloads use.

The repository has only the whole runtime (over 350 MB). Its own `server package --include=minify` makes a smaller one
from it, which is kept; the archive is deleted then, and fetched again only when the feature sets change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.provision import artefacts
from jdkmatrix.provision.cache import kept
from jdkmatrix.provision.command import building_jdk, run_logged
from jdkmatrix.provision.seal import files_sha256

_SERVER = "minify"


@dataclass(frozen=True)
class Liberty:
    """`home` is wlp; `sha256`: of the archive that it was made from; `files_sha256`: of everything in `home`.

    `java_options` are the JVM options that it needs on any JDK since 9 (its lib/platform/java/java9.options).
    """

    home: Path
    version: str
    sha256: str
    files_sha256: str
    java_options: tuple[str, ...]


def provision_liberty(
    root: Path, config: Path, artefact_name: str, feature_sets: Sequence[str], *, say: Callable[[str], None]
) -> Liberty:
    """Return the server with these feature sets for the project at `root`, making it if the cache does not have it.

    `config`: the server's folder, which has `features`; `artefact_name`: its name in toolchain.lock.json. `say` gets a
    line before each step that takes seconds.

    Raises:
        MatrixError: fetching, verifying or minifying failed; the cache is as before.
    """
    lock = artefacts.load_lock(root)
    artefact, target = lock.artefact(artefact_name), kept_at(root, config, artefact_name, feature_sets)

    def make(folder: Path) -> None:
        say(f"fetching Open Liberty {artefact.version}")
        archive = artefacts.fetch(lock, artefact_name)
        say(f"minifying Open Liberty {artefact.version}")
        _minify(archive, config, feature_sets, folder)
        artefacts.forget(lock, artefact_name)

    # Alone with the archive, which is removed at the end.
    kept(target, make, say=say, alone_in=artefact.kept_at("liberty"))
    return open_liberty(target / "wlp", artefact.version, artefact.sha256)


def kept_at(root: Path, config: Path, artefact_name: str, feature_sets: Sequence[str]) -> Path:
    """Return the cache folder that holds the server once it has been made; parameters as in provision_liberty."""
    whole = artefacts.load_lock(root).artefact(artefact_name).kept_at("liberty")
    key = hashlib.sha256("\n".join(features(config, feature_sets)).encode()).hexdigest()
    return whole.with_name(f"{whole.name}-{key[:12]}")


def open_liberty(home: Path, version: str, sha256: str) -> Liberty:
    """Open the server at `home`. Raises: MatrixError when there is none, or it could not run there."""
    if ":" in str(home):  # a class path is split at it
        raise MatrixError(
            f"{home}: Open Liberty cannot run from a folder with ':' in its name; set MATRIX_CACHE to another"
        )
    try:
        options = (home / "lib" / "platform" / "java" / "java9.options").read_text(encoding="utf-8")
    except OSError as error:
        raise MatrixError(f"{error.filename}: {error.strerror}: no Open Liberty in {home}") from None
    return Liberty(home, version, sha256, files_sha256(home), parse_options(options))


def features(config: Path, feature_sets: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all features in `config`/features/FEATURE_SET.xml, sorted."""
    names: set[str] = set()
    for feature_set in feature_sets:
        file = config / "features" / f"{feature_set}.xml"
        with refused(f"{file}: not valid XML", of=ElementTree.ParseError):
            tree = ElementTree.parse(file)
        names.update(element.text or "" for element in tree.iter("feature"))
    return tuple(sorted(names))


def parse_options(text: str) -> tuple[str, ...]:
    """Parse the options in one of Liberty's *.options files: one per line, # begins a comment."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _minify(archive: Path, config: Path, feature_sets: Sequence[str], target: Path) -> None:
    """Fill `target`/wlp with what these feature sets need."""
    jdk = building_jdk()
    # In the target, under whose lock nobody takes it for abandoned; /tmp may be a small file system in memory.
    scratch = target / "scratch"
    scratch.mkdir()
    _unpack(archive, scratch)
    server = scratch / "usr" / "servers" / _SERVER
    server.mkdir(parents=True)
    includes = "".join(f'<include location="features/{name}.xml"/>' for name in feature_sets)
    (server / "server.xml").write_text(f"<server>{includes}</server>", encoding="utf-8")
    shutil.copytree(config / "features", server / "features")
    run_logged(
        [
            "/bin/sh",
            str(scratch / "wlp" / "bin" / "server"),
            "package",
            _SERVER,
            "--include=minify",
            f"--archive={scratch / 'minified.zip'}",
        ],
        what="minifying Open Liberty",
        cwd=scratch,
        env={
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "JAVA_HOME": str(jdk.home),
            "LANG": "C.UTF-8",  # without it a JVM finds no file with an umlaut in its path
            "WLP_USER_DIR": str(scratch / "usr"),
            "WLP_OUTPUT_DIR": str(scratch / "out"),
        },
    )
    _unpack(scratch / "minified.zip", target)
    shutil.rmtree(scratch)
    for note in (target / "wlp" / "lib" / "versions").glob("package_*.txt"):
        note.unlink()  # it is named after the time of day, and equal archives must make equal files


def _unpack(archive: Path, target: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as file:
            file.extractall(target)
    except (OSError, zipfile.BadZipFile) as error:
        raise MatrixError(f"unpacking {archive.name}: {error}") from None
