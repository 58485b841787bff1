"""Folders that keep downloaded and built things between runs: they are complete or absent, and stay as they are."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.provision.seal import changed, is_sealed, seal


def cache_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Return `$MATRIX_CACHE`, else `$XDG_CACHE_HOME/jdk-matrix`, else `~/.cache/jdk-matrix`; it need not exist yet.

    Raises:
        MatrixError: the variable that decides holds a relative path, or there is none, and no home.
    """
    for variable, below in (("MATRIX_CACHE", ""), ("XDG_CACHE_HOME", "jdk-matrix")):
        if value := env.get(variable):
            if not Path(value).is_absolute():
                raise MatrixError(f"{variable}={value}: expected an absolute path")
            return Path(value) / below
    with refused("there is no folder for the cache; set MATRIX_CACHE to one", of=RuntimeError):
        return Path.home() / ".cache" / "jdk-matrix"


def kept(
    target: Path, make: Callable[[Path], None], *, say: Callable[[str], None], alone_in: Path | None = None
) -> None:
    """Make sure that `target` holds what `make(folder)` puts into an empty folder beside it, made if it is missing or
    was changed since; `say` is told of a change. Meanwhile nothing else is made in `alone_in`, if that is given.

    Raises:
        MatrixError: from `make`; or the cache cannot be read or written.
    """
    if is_sealed(target) and changed(target) is None:
        return
    with refused(f"{target} cannot be made"), locked(alone_in or target, say):
        if is_sealed(target):
            why = changed(target)
            if why is None:
                return
            say(f"{why}; making it again")
        clear(target)
        with atomic_dir(target) as partial:
            make(partial)
            seal(partial)


def clear(target: Path) -> None:
    """Remove `target`, or if it is a link, the link: anything left would be taken for part of what is made there next.

    Raises:
        OSError: something stays.
    """
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        shutil.rmtree(target)


@contextmanager
def atomic_dir(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target` that becomes `target` if the block ends without an exception.

    After an exception nothing is left. A `target` that another process made in the meantime is kept and ours is
    dropped: the name of a target must say what is in it, so that both are equal.
    """
    with partial_dir(target) as partial:
        yield partial
        if not target.exists():
            partial.rename(target)


@contextmanager
def partial_dir(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target` that is removed at the end. What a killed process left behind is removed by
    the next one that asks for the same target: nobody holds a lock on it. Process ids would not tell, since a container
    has its own.

    Raises:
        MatrixError: it cannot be made.
    """
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    with ExitStack() as working:
        try:
            with refused(f"{target} cannot be written"):
                target.parent.mkdir(parents=True, exist_ok=True)
                with _folder_lock(target.parent):
                    _remove_abandoned(target)
                    partial.mkdir()
                    working.enter_context(_folder_lock(partial))
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def locked(target: Path, say: Callable[[str], None] | None = None) -> Iterator[None]:
    """Wait until no other process works on `target`, which `say` is told of, then keep others waiting for the length of
    the block.

    The lock is a file beside `target`; the kernel frees it when the process ends, however it ends. Not reentrant.

    Raises:
        MatrixError: the lock cannot be made.
    """
    lock = target.with_name(f".{target.name}.lock")
    with refused(f"{lock} cannot be written"):
        lock.parent.mkdir(parents=True, exist_ok=True)
        opened = lock.open("w")
    with opened as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if say:
                say(f"waiting for another process that is at work on {target}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Keep other processes from locking the folder for the length of the block, on file systems that can."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove_abandoned(target: Path) -> None:
    left = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part")  # `thing` is not `thing.0`
    for partial in target.parent.iterdir():
        if left.fullmatch(partial.name) and _is_abandoned(partial):
            shutil.rmtree(partial, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # it is gone, or another user's
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # somebody works in it, or the file system has no locks
        return False
    finally:
        os.close(handle)
    return True
