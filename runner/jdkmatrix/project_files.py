"""Locate the project's files, before anything else is known."""

from __future__ import annotations

import json
import os
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused

HOME = "MATRIX_HOME"
PARTS = "MATRIX_PARTS"  # what a package hands over: the file that provision/nix_parts.py reads
PROGRAM = "MATRIX_PROGRAM"  # likewise: the command that calls it


def program() -> str:
    """Return what the user types to call this program."""
    return os.environ.get(PROGRAM) or ".venv/bin/matrix"


def candidates() -> tuple[Path, ...]:
    """Return the folders that may be the project: `MATRIX_HOME`; else what a package hands over; else the working
    directory and its parents. What is handed over but unreadable is left to whoever needs it.

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
    here = working_directory()
    return (here, *here.parents)


def working_directory() -> Path:
    """Raises: MatrixError: it was removed."""
    with refused("the working directory cannot be determined"):
        return Path.cwd()


def workloads_folder() -> Path:
    """Return `workloads` of the project, or else of the checkout that this package runs from.

    Raises:
        MatrixError: there is none.
    """
    for root in (*candidates(), Path(__file__).parents[2]):
        if (root / "workloads" / "servers").is_dir():
            return root / "workloads"
    raise MatrixError(f"no workloads/servers in this folder or above it: run this in a checkout, or set {HOME}")
