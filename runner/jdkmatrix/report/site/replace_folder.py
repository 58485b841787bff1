"""Put a finished folder in the place of another in one step."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import partial_dir

MARKER = ".jdk-matrix-site"
_AT_FDCWD = -100  # fcntl.h
_RENAME_EXCHANGE = 2  # linux/fs.h


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a new folder to write to, which takes the place of `target` when the block ends without an error.

    A reader sees the old folder or the new one, never a mixture. On an error `target` stays as it was.

    Raises:
        MatrixError: `target` is something other than a site that this tool wrote, or cannot be written.
    """
    _check_ours(target)
    target = target.resolve()
    try:
        with partial_dir(target) as fresh:
            yield fresh
            (fresh / MARKER).touch()
            if target.exists():
                _exchange(fresh, target)  # so that the old site is the one that is removed
            else:
                fresh.rename(target)
    except OSError as error:
        stays = "; the folder stays as it was" if target.exists() else ""
        raise MatrixError(f"{target}: the site cannot be written: {error.strerror or error}{stays}") from None


def check_replaceable(target: Path) -> None:
    """Check that `target` could be replaced now.

    Raises:
        MatrixError: it is something other than a site that this tool wrote, or nothing can be written beside it.
    """
    _check_ours(target)
    there = next(folder for folder in target.absolute().parents if folder.exists())
    try:
        with partial_dir(there / target.name):
            pass
    except MatrixError as error:
        raise MatrixError(f"{target}: no site can be written there: {error}") from None


def _check_ours(target: Path) -> None:
    if Path(os.path.realpath(target)).is_symlink():
        raise MatrixError(f"{target}: is a link that leads back to itself")
    ours = target.is_dir() and ((target / MARKER).exists() or not any(target.iterdir()))
    if target.exists() and not ours:
        raise MatrixError(
            f"{target}: is not empty and not a site of this tool; name another folder for the site, or empty this one"
        )


def _exchange(one: Path, other: Path) -> None:
    """Swap two folders by renameat2(2) with RENAME_EXCHANGE; by three renames where C library or file system cannot."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)  # glibc has it from 2.28 on
    if renameat2 and renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return
    aside = one.with_name(f"{one.name}.old")
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)


def link_tree(source: Path, target: Path) -> None:
    """Make a folder with the files of another, each as by `link_or_copy`. Raises OSError at the first that fails."""
    for folder, _, names in os.walk(source):
        made = target / os.path.relpath(folder, source)
        made.mkdir()
        for name in names:
            link_or_copy(Path(folder, name), made / name)


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Hard-link a file, or copy it where the file system has no such links: results and finished pages are replaced,
    never written to. A symbolic link is followed."""
    real = Path(source).resolve()
    try:
        os.link(real, target)
    except OSError:
        shutil.copy2(real, target)
