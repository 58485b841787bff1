"""Seal cache folders: a file is trusted by the hash that it had when it was unpacked or built, not by its name.

So a list of a folder's files is written into the folder, last of all. Whoever uses the folder compares it first. There
is also one hash over several files, for whatever is made from them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.store.atomic import write_atomic

SEAL = "matrix-seal.json"
_NAMED_AT_MOST = 3


def seal(folder: Path) -> None:
    """Write the list of everything that is in `folder` now."""
    write_atomic(folder / SEAL, json.dumps(_listed(folder), indent=0, sort_keys=True))


def is_sealed(folder: Path) -> bool:
    return (folder / SEAL).is_file()


def changed(folder: Path) -> str | None:
    """Return which files differ from the seal, in words; None: none does. Reads every byte: about a second for 1.3 GB.

    Raises:
        MatrixError: a file cannot be read, so that nobody knows.
    """
    try:
        sealed = json.loads((folder / SEAL).read_bytes())
        if not isinstance(sealed, dict):
            raise ValueError
    except ValueError:
        return f"{folder}: changed since it was made: {SEAL}"
    except OSError as error:
        raise _unreadable(error) from None
    found = _listed(folder)
    differing = sorted(name for name in {*sealed, *found} if sealed.get(name) != found.get(name))
    if not differing:
        return None
    more = len(differing) - _NAMED_AT_MOST
    named = ", ".join(differing[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
    return f"{folder}: changed since it was made: {named}"


def sha256_of(path: Path) -> str:
    """Return the digest of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_sha256(folder: Path) -> str:
    """Return one hash over the names and contents of all files in `folder`, and over which of them are executable.

    Raises:
        MatrixError: a file cannot be read.
    """
    return _digest(_listed(folder))


def sealed_sha256(folder: Path, below: Path) -> str:
    """Return `files_sha256(below)` from the seal of `folder`, which was just compared with it; `below`: a folder in it,
    or itself."""
    sealed = json.loads((folder / SEAL).read_bytes())
    path = os.path.relpath(below, folder)
    prefix = "" if path == "." else f"{path}/"
    return _digest({name.removeprefix(prefix): what for name, what in sealed.items() if name.startswith(prefix)})


def _digest(listed: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


def digest_of_files(base: Path, files: Iterable[Path], read: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """Return one hash over the files' names, relative to `base`, and their contents, in this order."""
    digest = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(read(path)).hexdigest()
        digest.update(f"{path.relative_to(base)}\0{content}\n".encode())
    return digest.hexdigest()


def _listed(folder: Path) -> dict[str, str]:
    try:
        return {name: _what(folder / name) for name in _names(folder) if name != SEAL}
    except OSError as error:
        raise _unreadable(error) from None


def _unreadable(error: OSError) -> MatrixError:
    return MatrixError(f"{error.filename}: cannot be read: {error.strerror}")


def _names(folder: Path) -> Iterator[str]:
    def stop(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=stop):
        links = (name for name in folders if Path(parent, name).is_symlink())
        yield from (os.path.relpath(Path(parent, name), folder) for name in (*files, *links))


def _what(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if not path.is_file():
        return "neither file nor link"
    digest = sha256_of(path)
    return f"program {digest}" if os.access(path, os.X_OK) else digest
