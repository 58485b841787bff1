"""Keep what the tests' Nixes leave in the cache within a limit.

Every run of the tests builds into the stores of both Nixes, and a new release of one leaves the old one behind. Before
tests begin, and so while nobody builds, replaced releases are removed, and a store beyond the limit is collected by its
own Nix.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from jdkmatrix.provision.cache import cache_dir, locked
from tests.nix.install import Installed, Nix, prepared, program_of

LIMIT_BYTES = 2 << 30  # for each store


def tidy(root: Path | None = None) -> None:
    """Tidy up `root`, which is CACHE/nix; do nothing if there is none.

    Raises:
        MatrixError: a Nix does not collect its garbage.
    """
    root = root or cache_dir().resolve() / "nix"
    if not root.is_dir():
        return
    with locked(root / "upkeep"):
        known = list(_installed(root))
        for folder in _replaced(root, known):
            _remove(folder)
        for one in known:
            collect(Nix(program_of(root, one.name), one.version, prepared(root / "var" / one.name)), LIMIT_BYTES)


def collect(nix: Nix, limit_bytes: int) -> int:
    """Collect beyond the limit, leaving half of it so that the next run need not; return the bytes held before."""
    held = sum(_sizes(nix.store))
    if held > limit_bytes:
        nix.run(["--gc", "--max-freed", str(held - limit_bytes // 2)], nix.folder, tool="nix-store")
    return held


def _installed(root: Path) -> Iterator[Installed]:
    for record in sorted(root.glob("*.json")):
        try:
            yield Installed.model_validate_json(record.read_bytes())
        except ValidationError:
            continue  # from another version of these tests, which will write it anew


def _replaced(root: Path, known: list[Installed]) -> Iterator[Path]:
    """Yield the folders of another version of a suite whose present version is known."""
    names, suites = {one.name for one in known}, tuple(f"{one.suite}-" for one in known)
    for below in (root, root / "var"):
        for folder in below.iterdir() if below.is_dir() else ():
            if folder.is_dir() and folder.name.startswith(suites) and folder.name not in names:
                yield folder


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of files, each once however many names it has."""
    seen: set[int] = set()
    for path, _, files in os.walk(folder):
        for name in files:
            status = os.lstat(Path(path, name))
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                yield status.st_blocks * 512


def _remove(folder: Path) -> None:
    """Remove a folder, even a store whose folders their owner may not write to."""
    for path, _, _ in os.walk(folder):
        if not Path(path).is_symlink():
            Path(path).chmod(0o700)
    shutil.rmtree(folder)
