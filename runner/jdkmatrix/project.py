"""Where the parts of the project are. A checkout has them together; a package hands them over by environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError


@dataclass(frozen=True)
class Project:
    """`root` holds matrix.toml, jdks.json, workloads and report-templates."""

    root: Path

    @property
    def matrix(self) -> Path:
        return self.root / "matrix.toml"

    @property
    def jdks(self) -> Path:
        return self.root / "jdks.json"

    @property
    def templates(self) -> Path:
        return self.root / "report-templates"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def site(self) -> Path:
        return self.root / "site"


def find_project() -> Project:
    """`MATRIX_HOME`, else the working directory or the nearest folder above it with a matrix.toml, else the checkout
    that this package runs from.

    Raises:
        MatrixError: none of them has a matrix.toml.
    """
    home = os.environ.get("MATRIX_HOME")
    if home:
        candidates = [Path(home)]
    else:
        here = Path.cwd()
        candidates = [here, *here.parents, Path(__file__).resolve().parents[2]]
    for folder in candidates:
        if (folder / "matrix.toml").is_file():
            return Project(folder.resolve())
    where = f"MATRIX_HOME = {home}" if home else "this folder, and those above it"
    raise MatrixError(f"no matrix.toml in {where}: run this in a checkout of the project, or set MATRIX_HOME")
