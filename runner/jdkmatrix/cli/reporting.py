"""`matrix report`: from result folders to the site. `matrix summary`: one of them in words."""

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
        _check_run(folder)
    print(f"site: {write_site(project, folders, site)}")


def summarise(run: Path | None, *, as_markdown: bool) -> None:
    """Print what `run`, or the newest run, came to.

    Raises:
        MatrixError: no run is there, or its run.json cannot be read.
    """
    from rich.console import Console

    from jdkmatrix.cli.summary import print_summary, summary_markdown

    folder = run or latest_run(find_project().results)
    _check_run(folder)
    loaded = RunStore(folder).load()
    if as_markdown:
        print(summary_markdown(loaded))
    else:
        print_summary(loaded, Console())


def _check_run(folder: Path) -> None:
    if not (folder / "run.json").is_file():
        raise MatrixError(f"{folder}: not a run: it has no run.json")


def write_site(project: Project, runs: Sequence[Path], site: Path | None) -> Path:
    """The index page of the site."""
    from jdkmatrix.report.site import build_site

    loaded = [RunStore(folder).load() for folder in runs]
    return build_site(loaded, site or project.site, templates=project.templates)
