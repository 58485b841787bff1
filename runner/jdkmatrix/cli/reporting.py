"""`matrix report`: from result folders to the site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.project import Project, find_project
from jdkmatrix.store.runs import RunStore, latest_run


def report(runs: Sequence[Path], site: Path | None) -> None:
    """Write the site of `runs`, or of the newest run, and say where it is."""
    project = find_project()
    folders = list(runs) or [latest_run(project.results)]
    for folder in folders:
        if not (folder / "run.json").is_file():
            raise MatrixError(f"{folder}: not a run: it has no run.json")
    print(f"site: {write_site(project, folders, site)}")


def write_site(project: Project, runs: Sequence[Path], site: Path | None) -> Path:
    """The index page of the site."""
    from jdkmatrix.report.site import build_site

    loaded = [RunStore(folder).load() for folder in runs]
    return build_site(loaded, site or project.site, templates=project.templates)
