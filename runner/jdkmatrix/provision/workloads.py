"""The workloads, built from source once per state of the sources."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.config.explain import parse_json, read_text
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision import artefacts, maven
from jdkmatrix.provision.cache import kept

_OUTPUTS = "outputs.json"  # name in the build folder -> where the build leaves it, below workloads/


@dataclass(frozen=True)
class Workloads:
    """`files`: by name. `liberty_config` is a folder of the sources; `sha256` is by file name, of what lies in that
    folder by the path that begins with its name."""

    files: Mapping[str, Path]
    liberty_config: Path
    sha256: Mapping[str, str]

    def file(self, name: str) -> Path:
        """The artefact that is called so in workloads/outputs.json."""
        return self.files[name]

    def digests(self, files: Iterable[Path]) -> dict[str, str]:
        """The entries of `sha256` for these files of ours."""
        names = (self._name(path) for path in files)
        return {name: self.sha256[name] for name in sorted(names)}

    def _name(self, path: Path) -> str:
        config = self.liberty_config
        return str(path.relative_to(config.parent)) if path.is_relative_to(config) else path.name


def build_workloads(root: Path, *, say: Callable[[str], None]) -> Workloads:
    """What the sources under `root`/workloads make, built when they or the toolchain lock have changed.

    Results are collected in `root`/.build/workloads/KEY, where KEY is a hash of everything they are made from; those
    of older keys are deleted. Unit tests do not run here. `say` gets a line before the build.

    Raises:
        MatrixError: the build failed, with the end of Maven's output.
    """
    sources = root / "workloads"
    target = root / ".build" / "workloads" / _digest_of(root, _inputs(root))[:16]

    def make(folder: Path) -> None:
        say("building the workloads")
        # Clean: classes whose source is gone would stay in the jar, and the same sources make other bytes.
        maven.build(root, ["-DskipTests", "clean", "package"])
        for name, source in _outputs(root).items():
            shutil.copyfile(sources / source, folder / name)
        _remove_others(folder)

    kept(target, make, say=say, alone_in=target.parent)
    return open_workloads(root, target)


def open_workloads(root: Path, built: Path) -> Workloads:
    """The workloads that lie in the folder `built`, with the server's configuration of the sources at `root`.

    Raises:
        MatrixError: one is not there.
    """
    files = {name: built / name for name in _outputs(root)}
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise MatrixError(f"the workloads are not complete: {', '.join(missing)} is not there")
    config = root / "workloads" / "liberty"
    return Workloads(
        files=files,
        liberty_config=config,
        sha256={
            **{name: artefacts.sha256_of(path) for name, path in files.items()},
            **{
                str(path.relative_to(config.parent)): artefacts.sha256_of(path)
                for path in sorted(config.rglob("*"))
                if path.is_file()
            },
        },
    )


def _outputs(root: Path) -> dict[str, str]:
    path = root / "workloads" / _OUTPUTS
    found: dict[str, str] = parse_json(read_text(path), str(path))
    return found


def _inputs(root: Path) -> list[Path]:
    sources = root / "workloads"
    modules = [path.parent for path in sources.glob("*/pom.xml")]
    if not modules:
        raise MatrixError(f"{sources}: no modules with a pom.xml here")
    folders = [sources / ".mvn", *(module / "src" / "main" for module in modules)]
    return [
        root / artefacts.LOCK_FILE,
        sources / _OUTPUTS,
        sources / "pom.xml",
        *(module / "pom.xml" for module in modules),
        *(path for folder in folders for path in folder.rglob("*") if path.is_file()),
    ]


def _digest_of(base: Path, files: list[Path]) -> str:
    """One hash over the names (below `base`) and contents of `files`, in any order."""
    digest = hashlib.sha256()
    for path in sorted(files):
        content = artefacts.sha256_of(path)
        digest.update(f"{path.relative_to(base)}\0{content}\n".encode())
    return digest.hexdigest()


def _remove_others(current: Path) -> None:
    for folder in current.parent.iterdir():
        if folder.is_dir() and folder != current:
            shutil.rmtree(folder, ignore_errors=True)
