"""A site that is to be published: what it has of cells, where it leads for the rest, and how large it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.reporting import folders_of, write_site
from jdkmatrix.config.load import load_matrix
from jdkmatrix.provision.project import Project
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.run.plan import select_cells
from jdkmatrix.store.loaded import LoadedRun
from tests.support.project import ROOT, called
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import later, stored
from tests.support.workflow_steps import shell_step

AT = "https://example.org/runs/"


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    """Two cells, without logs, as runs are kept."""
    run = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))
    for log in (tmp_path / "made-up" / "logs").rglob("*.log"):
        log.unlink()
    return run


def written(
    folder: Path, loaded: LoadedRun, *, cell_pages: int | None = None, address: str | None = None
) -> dict[str, set[str]]:
    """Of a site of three days, the files below each run's cells by the ending of their names."""
    kept = folder / "kept"
    for day in "321":  # names say nothing of when a run began
        if not (kept / f"run-{day}").exists():
            stored(kept / f"run-{day}", later(loaded, f"run-{day}", f"2024-01-0{4 - int(day)}"))
    at: dict[Path, str] = {} if address is None else {kept.resolve(): address}
    write_site(Project(ROOT, folder), folders_of([kept]), folder / "site", cell_pages=cell_pages, records_at=at)
    return {
        run.name: {path.suffix for path in (run / "cells").iterdir() if path.is_file()}
        for run in (folder / "site" / "runs").iterdir()
    }


def is_brief(page: Path) -> bool:
    return "has no page of its own here" in page.read_text("utf-8")


@pytest.mark.parametrize(("cell_pages", "in_full"), [(None, 3), (6, 3), (5, 2), (3, 1), (1, 0), (0, 0)])
def test_only_the_newest_runs_have_a_page_for_each_cell(
    tmp_path: Path, loaded: LoadedRun, cell_pages: int | None, in_full: int
) -> None:
    """A run has them for all of its cells or for none. What a run comes to is told of all."""
    written(tmp_path, loaded)  # which must not be taken over
    files = written(tmp_path, loaded, cell_pages=cell_pages)
    for age, run in enumerate(("run-1", "run-2", "run-3")):
        folder = tmp_path / "site" / "runs" / run
        for cell in loaded.cells:
            assert is_brief(folder / cell_page(cell.key)) == (age >= in_full), run
        assert files[run] == ({".html", ".json", ".hgrm"} if age < in_full else {".html", ".json"})
        assert (folder / "results.csv").read_text("utf-8").count("\n") > 2
    front = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert all(run in front for run in files)


@pytest.mark.parametrize("cell_pages", [None, 0])
def test_records_that_are_elsewhere_are_linked_and_not_copied(
    tmp_path: Path, loaded: LoadedRun, cell_pages: int | None
) -> None:
    written(tmp_path, loaded)
    files = written(tmp_path, loaded, cell_pages=cell_pages, address=AT)
    assert all(".json" not in suffixes for suffixes in files.values())
    for run in files:
        page = (tmp_path / "site" / "runs" / run / cell_page(loaded.cells[0].key)).read_text("utf-8")
        assert re.findall(r'href="(https:[^"]+)"', page) == [f"{AT}{run}"]


@pytest.mark.parametrize("asked", ["kept", "kept=", "nowhere=https://example.org/", "kept=javascript:alert(1)"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.chdir(tmp_path)
    done = called(ROOT, "report", "kept", "--records-at", asked)
    assert done.returncode == 1
    assert done.stderr.startswith(f"matrix: --records-at {asked}: must be FOLDER=URL")
    assert len(done.stderr.splitlines()) == 1


def test_the_published_site_is_no_larger_than_pages_allows(tmp_path: Path) -> None:
    """https://docs.github.com/en/pages/getting-started-with-github-pages/github-pages-limits: 1 GB. The reference run
    of the profile matrix says how large a page of a cell is, one of many made-up cells what all else takes for each."""
    fetched = int(shell_step("Fetch the newest runs").raw["env"]["SITE_CELLS"])
    in_full = int(shell_step("Write the site of these runs").raw["env"]["CELL_PAGES"])
    a_week = len(select_cells(load_matrix(ROOT / "matrix.toml"), "matrix"))
    assert in_full >= a_week, "the newest run of the matrix must have its pages"
    (measured,) = (ROOT / "results" / "reference").glob("*-matrix")
    page_bytes = sum(bytes_of_cells(tmp_path / "full", measured, pages=True))
    many = replace(
        QUICK, cpus=(1, 2, 3, 4), burn_us=(0, 50, 200), loads=("saturate-50", "rate-2000"), blocks=5, windows=3
    )
    stored(tmp_path / "many", synthetic_run(tmp_path / "made-up", many))
    cell_bytes = sum(bytes_of_cells(tmp_path / "brief", tmp_path / "many", pages=False))
    assert fetched * cell_bytes + in_full * page_bytes < 0.9e9, "and there is room for the scenarios"


def bytes_of_cells(folder: Path, run: Path, *, pages: bool) -> Iterator[float]:
    """Of the files of a site of this run, for each of its cells; with `pages` only those of the cells, else of all but
    the library that draws."""
    cells = len(list((run / "cells").iterdir()))
    write_site(
        Project(ROOT, folder), [run], folder, cell_pages=cells if pages else 0, records_at={run.resolve().parent: AT}
    )
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "assets" and (path.parent.name == "cells" or not pages):
            yield path.stat().st_size / cells
