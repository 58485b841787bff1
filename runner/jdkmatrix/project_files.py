"""Where the project's files are: known before anything else is."""

from __future__ import annotations

import json
import os
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused

HOME = "MATRIX_HOME"
PARTS = "MATRIX_PARTS"  # what a package hands over: the file of provision/nix_parts.py
PROGRAM = "MATRIX_PROGRAM"  # likewise: how it is called


def program() -> str:
    """What the user types to call this program."""
    return os.environ.get(PROGRAM) or ".venv/bin/matrix"


def candidates() -> tuple[Path, ...]:
    """Folders that may be the project: `MATRIX_HOME`; else what a package hands over; else the working directory and
    those above it. One that cannot be read is left to whoever needs it.

    Raises:
        MatrixError: the working directory was removed.
    """
    if home := os.environ.get(HOME):
        return (Path(home),)
    if parts := os.environ.get(PARTS):
        try:
            return (Path(json.loads(Path(parts).read_text("utf-8"))["source"]["root"]),)
        except (OSError, ValueError, LookupError, TypeError):
            return ()
    with refused("the working directory, in which the project is looked for, cannot be had"):
        here = Path.cwd()
    return (here, *here.parents)


def workloads_folder() -> Path:
    """`workloads` of the project, or else of the checkout that this package runs from.

    Raises:
        MatrixError: there is none.
    """
    for root in (*candidates(), Path(__file__).parents[2]):
        if (root / "workloads" / "servers").is_dir():
            return root / "workloads"
    raise MatrixError(f"no workloads/servers in this folder or above it: run this in a checkout, or set {HOME}")
