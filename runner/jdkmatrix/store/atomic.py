"""Write a file so that it is there whole or not at all, even after a crash of the host."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from jdkmatrix.errors import MatrixError


class StoreError(MatrixError):
    """A result cannot be saved."""


def write_atomic(path: Path, text: str) -> None:
    """Write to a temporary name beside `path`, flush to the disk, rename, flush the directory.

    Raises:
        StoreError: that cannot be done, for want of space, say; what was there before is still there.
    """
    try:
        _write(path, text)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}; what was written earlier is kept") from error


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems sync no folder
            raise
    finally:
        os.close(directory)
