"""One run measures at a time on a host, and what else there is to do waits."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.cache import cache_dir

_LOCKS = Path("/proc/locks")


@contextmanager
def alone_on_this_host() -> Iterator[None]:
    """Two runs at once would measure each other.

    Raises:
        MatrixError: another one is measuring.
    """
    lock = _lock()
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise MatrixError("another run is measuring on this host; two at once would measure each other") from None
        yield


def is_measuring() -> bool:
    """Is a run? Asked of the kernel: trying the lock would refuse a run that starts at that moment."""
    try:
        inode = _lock().stat().st_ino
        held = _LOCKS.read_text("ascii")
    except (OSError, ValueError):
        return False
    return f":{inode} " in held


def _lock() -> Path:
    return cache_dir() / "measuring.lock"
