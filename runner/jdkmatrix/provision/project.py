"""The folders and files of the project. A checkout has them together; a package hands them over."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from jdkmatrix.errors import MatrixError, refused
from jdkmatrix.project_files import HOME, candidates, working_directory
from jdkmatrix.provision.nix_parts import handed_over


@dataclass(frozen=True)
class Project:
    """`root` holds matrix.toml, profiles, published, jdks.json, workloads and report-templates; results and site go
    below `work`."""

    root: Path
    work: Path

    @property
    def matrix(self) -> Path:
        return self.root / "matrix.toml"

    @property
    def published(self) -> Path:
        """The folder with one folder for each published source."""
        return self.root / "published"

    @property
    def jdks(self) -> Path:
        return self.root / "jdks.json"

    @property
    def templates(self) -> Path:
        return self.root / "report-templates"

    @property
    def results(self) -> Path:
        return self.work / "results"

    @property
    def site(self) -> Path:
        return self.work / "site"


def find_project() -> Project:
    """Return the first of `candidates` with a matrix.toml; for one that a package hands over, results go below the
    working directory.

    Raises:
        MatrixError: none of them has a matrix.toml, or what is handed over cannot be read.
    """
    home = os.environ.get(HOME)
    handed = None if home else handed_over()
    for folder in candidates():
        with refused(f"{folder} cannot be looked into"):  # up to Python 3.13, is_file() may not answer that
            found = (folder / "matrix.toml").is_file()
        if found:
            root = folder.resolve()
            return Project(root, working_directory() if handed else root)
    where = f"{HOME} = {home}" if home else "this folder, and those above it"
    raise MatrixError(f"no matrix.toml in {where}: run this in a checkout of the project, or set {HOME}")
