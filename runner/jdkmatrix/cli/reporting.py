"""`matrix report`: from result folders to the site. `matrix summary`: one of them in words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project, find_project
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.runs import RunStore, latest_run

EXIT_WITH_FAILURES = 3


def report(runs: Sequence[Path], site: Path | None) -> int:
    """Write the site of `runs`, or of the newest run, and say where it is; returns the exit code."""
    project = find_project()
    folders = list(runs) or [latest_run(project.results)]
    for folder in folders:
        _check_run(folder)
    loaded = [RunStore(folder).load() for folder in folders]
    print(f"site: {write_site(project, loaded, site)}")
    return EXIT_WITH_FAILURES if tell_damage(loaded) else 0


def summarise(run: Path | None, *, as_markdown: bool) -> int:
    """Print what `run`, or the newest run, came to; returns the exit code.

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
    return EXIT_WITH_FAILURES if tell_damage([loaded]) else 0


def tell_damage(runs: Sequence[LoadedRun]) -> bool:
    """Say on stderr which result files are damaged or missing; are there any?"""
    damaged = [text for loaded in runs for text in loaded.damaged]
    for text in damaged:
        print(f"matrix: {text}", file=sys.stderr)
    return bool(damaged)


def _check_run(folder: Path) -> None:
    if not (folder / "run.json").is_file():
        raise MatrixError(f"{folder}: not a run: it has no run.json")


def write_site(project: Project, runs: Sequence[LoadedRun], site: Path | None) -> Path:
    """The index page of the site."""
    from jdkmatrix.report.site import build_site

    return build_site(runs, site or project.site, templates=project.templates)
