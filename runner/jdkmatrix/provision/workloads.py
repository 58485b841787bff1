"""The workloads, built from source once per state of the sources."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import RootModel

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts, maven
from jdkmatrix.provision.cache import kept
from jdkmatrix.provision.seal import digest_of_files, sha256_of
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.validation import validated

_OUTPUTS = "outputs.json"


class _Outputs(RootModel[dict[str, str]]):
    """The place below workloads/ where the build leaves a file, by the file's name."""


@dataclass(frozen=True)
class Workloads:
    """`files`: what the build made, by name. `servers`: the folder of the sources that has a folder for each server;
    `sha256`: by the name of a file, or below `servers` by the path from there."""

    files: Mapping[str, Path]
    servers: Path
    sha256: Mapping[str, str]

    def file(self, name: str) -> Path:
        """Return the file. Raises: MatrixError: the build makes nothing that is called so."""
        if name not in self.files:
            raise MatrixError(f"the build of the workloads makes no {name} (it makes: {', '.join(self.files)})")
        return self.files[name]

    def digests(self, files: Iterable[Path]) -> dict[str, str]:
        """Return the entries of `sha256` for these files of ours."""
        names = (self._name(path) for path in files)
        return {name: self.sha256[name] for name in sorted(names)}

    def changed(self, names: Iterable[str]) -> list[str]:
        """Return those of these configuration files of servers that no longer match `sha256`; the build's own files are
        where nobody writes."""
        return [name for name in names if name not in self.files and _digest(self.servers / name) != self.sha256[name]]

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.servers)) if path.is_relative_to(self.servers) else path.name


def build_workloads(root: Path, *, say: Callable[[str], None]) -> Workloads:
    """Build the sources under `root`/workloads when they or the toolchain lock have changed.

    Results are collected in `root`/.build/workloads/KEY, where KEY is a hash of everything they are made from; those
    of older keys are deleted. Unit tests do not run here. `say` gets a line before the build.

    Raises:
        MatrixError: the build failed, with the end of Maven's output.
    """
    sources = root / "workloads"
    target = built_folder(root)

    def make(folder: Path) -> None:
        say("building the workloads")
        # Clean: classes whose source is gone would stay in the jar, and the same sources would make other bytes.
        maven.build(root, ["-DskipTests", "clean", "package"])
        for name, source in _outputs(root).items():
            if not (sources / source).is_file():
                raise MatrixError(
                    f"the build made no workloads/{source}: does workloads/pom.xml name its module, and does the "
                    "module give that name to what it builds?"
                )
            shutil.copyfile(sources / source, folder / name)
        _remove_others(folder)

    kept(target, make, say=say, alone_in=target.parent)
    return open_workloads(root, target)


def built_folder(root: Path) -> Path:
    """Return the folder for what the build of these sources makes."""
    return root / ".build" / "workloads" / digest_of_files(root, sorted(_inputs(root)))[:16]


def open_workloads(root: Path, built: Path) -> Workloads:
    """Open the workloads in the folder `built`, with the servers' configuration of the sources at `root`.

    Raises:
        MatrixError: one is not there.
    """
    files = {name: built / name for name in _outputs(root)}
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise MatrixError(f"the workloads are incomplete: {', '.join(missing)} is missing")
    servers = root / "workloads" / "servers"
    return Workloads(
        files=files,
        servers=servers,
        sha256={
            **{name: sha256_of(path) for name, path in files.items()},
            **{str(path.relative_to(servers)): sha256_of(path) for path in sorted(_configuration(servers))},
        },
    )


def _digest(path: Path) -> str | None:
    try:
        return sha256_of(path)
    except OSError:
        return None


def _configuration(servers: Path) -> Iterator[Path]:
    """Yield the files in the servers' folders from which servers are laid out and started, except their modules'."""
    for path in servers.glob("*/**/*"):
        if path.is_file() and path.relative_to(servers).parts[1] not in ("src", "target", "pom.xml"):
            yield path


def _outputs(root: Path) -> dict[str, str]:
    """Return where the build leaves its files, below workloads/: what outputs.json names, a war for each application
    and a jar for each server and library."""
    sources = root / "workloads"
    path = sources / _OUTPUTS
    found = validated(_Outputs, parse_json(read_text(path), str(path)), path).root
    applications = sorted(file.stem for file in sources.glob("applications/*.toml"))
    servers = sorted(pom.parent.name for pom in sources.glob("servers/*/pom.xml"))
    libraries = sorted(pom.parent.name for pom in sources.glob("libraries/*/pom.xml"))
    return {
        **{f"{name}.war": f"{name}/target/{name}.war" for name in applications},
        **found,
        **{f"{name}-server.jar": f"servers/{name}/target/{name}-server.jar" for name in servers},
        **{f"{name}.jar": f"libraries/{name}/target/{name}.jar" for name in libraries},
    }


def _inputs(root: Path) -> list[Path]:
    sources = root / "workloads"
    poms = (path for below in ("*", "servers/*", "libraries/*") for path in sources.glob(f"{below}/pom.xml"))
    modules = [path.parent for path in poms if path.parent.name != "servers"]  # whose pom.xml the build writes
    if not modules:
        raise MatrixError(f"{sources}: no modules with a pom.xml here")
    folders = [sources / ".mvn", sources / "executors", *(module / "src" / "main" for module in modules)]
    return [
        root / artefacts.LOCK_FILE,
        sources / _OUTPUTS,
        sources / "pom.xml",
        *sources.glob("applications/*.toml"),
        *(module / "pom.xml" for module in modules),
        *(path for folder in folders for path in folder.rglob("*") if path.is_file()),
    ]


def _remove_others(current: Path) -> None:
    for folder in current.parent.iterdir():
        if folder.is_dir() and folder != current:
            shutil.rmtree(folder, ignore_errors=True)
