"""Where the project's files are, and tables that stand in its folders: read before anything else is known."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from jdkmatrix.errors import MatrixError

HOME = "MATRIX_HOME"
PARTS = "MATRIX_PARTS"  # what a package hands over: the file of provision/nix_parts.py
_Model = TypeVar("_Model", bound=BaseModel)


def candidates() -> tuple[Path, ...]:
    """Folders that may be the project: `MATRIX_HOME`; else what a package hands over; else the working directory and
    those above it. One that cannot be read is left to whoever needs it."""
    if home := os.environ.get(HOME):
        return (Path(home),)
    if parts := os.environ.get(PARTS):
        try:
            return (Path(json.loads(Path(parts).read_text("utf-8"))["source"]["root"]),)
        except (OSError, ValueError, LookupError, TypeError):
            return ()
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


def validated(model: type[_Model], table: Any, where: str) -> _Model:
    """Raises: MatrixError: the first key of `table`, which is called `where`, that is not as `model` has it."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        ours = first.get("ctx", {}).get("error")
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        message = str(ours) if ours else f"{first['msg']}{found}"
        raise MatrixError(": ".join(filter(None, (where, key, message)))) from None
