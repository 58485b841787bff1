"""Parts that a Nix package hands over, so that nothing has to be looked for: `MATRIX_PARTS` names the file that lists
them (of nix/parts.nix)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from jdkmatrix.domain.record import Record
from jdkmatrix.project_files import PARTS
from jdkmatrix.reading import parse_json, read_text
from jdkmatrix.records.provenance import FlakeInput
from jdkmatrix.validation import validated

VARIABLE = PARTS
EVERYTHING = ".#everything"  # the app of the flake with all parts that can be selected and that last


class SourceTree(Record):
    """The sources that everything was built from. `rev`: the commit; if `dirty`, the one below the changes."""

    root: Path
    rev: str | None
    dirty: bool


class HandedServer(Record):
    """`home` is a minified wlp; `version` and `sha256` are of the archive it was made from."""

    home: Path
    version: str
    sha256: str


class NixParts(Record):
    """Absolute paths. `jdks`: Java home by catalogue id; `servers`: by artefact of toolchain.lock.json; `workloads`: a
    folder with the files that provision/workloads.py names, or None if nothing is to be measured; `wrk2`: None if the
    system has none, or nothing that the package is for needs it; `postgres`: likewise."""

    schema_version: Literal[1]
    source: SourceTree
    inputs: tuple[FlakeInput, ...]
    jdks: dict[str, Path]
    servers: dict[str, HandedServer]
    workloads: Path | None
    wrk2: Path | None
    postgres: Path | None = None


def handed_over() -> NixParts | None:
    """Return the parts that were handed over; None if the variable is not set: then this runs from a checkout.

    Raises:
        MatrixError: it is set, and its file is not what it should be.
    """
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    where = f"{VARIABLE}={name}"
    return validated(NixParts, parse_json(read_text(Path(name), where), where), where)
