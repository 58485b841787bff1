"""A site to be published: which cells have pages, where it leads for the others, and how large it becomes. The table
of verdicts in the README is what the reference runs say, not something typed by hand."""

from __future__ import annotations

import re
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.reporting import addresses_of, folders_of, write_site
from jdkmatrix.cli.verdict_table import VERDICTS, put_between, verdict_table
from jdkmatrix.config.load import load_matrix
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.report.blocks.inline import cell_page
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence
from jdkmatrix.report.run_page.facts import ForkCount
from jdkmatrix.report.site.claims_page import host_verdicts
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.run.plan import select_cells
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.project import ROOT, called
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.sites import background, later, stored
from tests.support.workflow_steps import shell_step

AT = "https://example.org/runs/"
REFERENCE = ROOT / "results" / "reference"


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    """Make a run of two cells, without logs, as runs are kept."""
    run = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=1, windows=1))
    for log in (tmp_path / "made-up" / "logs").rglob("*.log"):
        log.unlink()
    return run


def written(
    folder: Path, loaded: LoadedRun, *, cell_pages: int | None = None, address: str | None = None
) -> dict[str, set[str]]:
    """Write a site of three days, and return the suffixes of the files below each run's cells."""
    kept = folder / "kept"
    for day in "321":  # names do not tell when a run began
        if not (kept / f"run-{day}").exists():
            stored(kept / f"run-{day}", later(loaded, f"run-{day}", f"2024-01-0{4 - int(day)}"))
    at: dict[Path, str] = {} if address is None else {kept.resolve(): address}
    write_site(Project(ROOT, folder), folders_of([kept]), folder / "site", cell_pages=cell_pages, records_at=at)
    return {
        run.name: {path.suffix for path in (run / "cells").iterdir() if path.is_file()}
        for run in (folder / "site" / "runs").iterdir()
    }


def test_only_the_newest_runs_have_a_page_for_each_cell(tmp_path: Path, loaded: LoadedRun) -> None:
    """A run has pages for all of its cells or for none, whatever was there before. Results are shown for all runs."""
    for cell_pages, in_full in ((None, 3), (6, 3), (5, 2), (3, 1), (1, 0), (0, 0), (None, 3)):
        files = written(tmp_path, loaded, cell_pages=cell_pages)
        for age, run in enumerate(("run-1", "run-2", "run-3")):
            folder = tmp_path / "site" / "runs" / run
            for cell in loaded.cells:
                page = (folder / cell_page(cell.key)).read_text("utf-8")
                assert ("has no page of its own here" in page) == (age >= in_full), (cell_pages, run)
            assert files[run] == ({".html", ".json", ".hgrm"} if age < in_full else {".html", ".json"})
            assert (folder / "results.csv").read_text("utf-8").count("\n") > 2
        front = (tmp_path / "site" / "index.html").read_text("utf-8")
        assert all(run in front for run in files)


@pytest.mark.parametrize("name", ["20261201T233751Z-dotcms-puts.small", "20261127T003859Z-quick"])
def test_without_a_page_a_cell_leads_to_its_figures(tmp_path: Path, name: str) -> None:
    write_site(Project(ROOT, tmp_path), [REFERENCE / name], tmp_path, cell_pages=0)
    page = (tmp_path / "runs" / name / "index.html").read_text("utf-8")
    cells = [*(tmp_path / "runs" / name / "cells").glob("*.html")]
    assert len(cells) > 1
    for cell in cells:
        (section,) = re.findall(r'href="\.\./index\.html#([^"]+)"', cell.read_text("utf-8"))
        assert f' id="{section}"' in page


@pytest.mark.parametrize("cell_pages", [None, 0])
def test_records_elsewhere_are_linked_and_not_copied(tmp_path: Path, loaded: LoadedRun, cell_pages: int | None) -> None:
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


def test_a_folder_has_one_address(tmp_path: Path) -> None:
    assert addresses_of([f"{tmp_path}=https://a.example/"] * 2) == {tmp_path.resolve(): "https://a.example/"}
    with pytest.raises(MatrixError, match=r"=https://b\.example/: .* is already at https://a\.example/$"):
        addresses_of([f"{tmp_path}=https://a.example/", f"{tmp_path}=https://b.example/"])


def test_the_published_site_is_no_larger_than_pages_allows(tmp_path: Path) -> None:
    """https://docs.github.com/en/pages/getting-started-with-github-pages/github-pages-limits: 1 GB. A reference run
    with cells like those of the profile matrix shows how large a page is, one of many made-up cells how much all else
    takes per cell."""
    fetched = int(shell_step("Fetch the newest runs").raw["env"]["SITE_CELLS"])
    in_full = int(shell_step("Write the site of these runs").raw["env"]["CELL_PAGES"])
    a_week = len(select_cells(load_matrix(ROOT / "matrix.toml"), "matrix"))
    assert in_full >= a_week, "the newest run of the matrix must have its pages"
    page_bytes = sum(bytes_of_cells(tmp_path / "full", REFERENCE / "20261202T093444Z-mission", pages=True))
    loads = ("saturate-50", "rate-2000")
    many = replace(QUICK, cpus=(1, 2, 3, 4), burn_us=(0, 50, 200), loads=loads, blocks=5, windows=2)
    stored(tmp_path / "many", synthetic_run(tmp_path / "made-up", many))
    cell_bytes = sum(bytes_of_cells(tmp_path / "brief", tmp_path / "many", pages=False))
    assert fetched * cell_bytes + in_full * page_bytes < 0.9e9, "and there is room for the scenarios"


def bytes_of_cells(folder: Path, run: Path, *, pages: bool) -> Iterator[float]:
    """Yield the size of each file of a site of this run, divided by its number of cells: with `pages` only of those in
    `cells`, else of all but the library that draws."""
    cells = len(list((run / "cells").iterdir()))
    write_site(
        Project(ROOT, folder), [run], folder, cell_pages=cells if pages else 0, records_at={run.resolve().parent: AT}
    )
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "assets" and (path.parent.name == "cells" or not pages):
            yield path.stat().st_size / cells


REGISTRY = background().claims.records(background().claims.claims)
ENDS = (Estimate(0.1, 0.09, 0.11, 5, of_ratio=True), Estimate(0.4, 0.39, 0.41, 5, of_ratio=True))
CELLS = tuple(CellEvidence(key("virtual", cpus=n), "25", one) for n, one in enumerate(ENDS, 1))
TIME = next(claim for claim in REGISTRY if claim.id == "spawn-time")
RUN = RunDigest(
    run_id="r", folder="runs/r/", started_at="2025-01-01T00:00:00Z", about="scenario spawn, small",
    repeats_published=True, title="t", host="CPU | 2", host_id="h", kernel="6.1", jdks=(("temurin-25", "25"),),
    servers=(), status="complete", forks=ForkCount("all", 1, amber=False), aa=None, damaged=(), conditions=(), cells=(),
    claims=(ClaimEvidence("spawn-time", (CheckEvidence("", CELLS),)),),
)  # fmt: skip


def test_the_readme_says_what_the_reference_runs_say(tmp_path: Path) -> None:
    built = write_site(Project(ROOT, tmp_path), folders_of([REFERENCE]), tmp_path / "site", cell_pages=0)
    assert not built.unreadable and not [run.run_id for run in built.runs if run.damaged]
    told = (ROOT / "README.md").read_text("utf-8").partition(f"<!-- {VERDICTS} -->\n")[2]
    assert told.startswith(f"{verdict_table(host_verdicts(REGISTRY, built.runs))}\n<!-- /{VERDICTS} -->")


def test_a_row_says_what_the_verdict_rests_on_and_text_of_results_stays_text() -> None:
    table, _, hosts = verdict_table(host_verdicts(REGISTRY, [RUN])).partition("\n\n")
    *_, row = table.splitlines()
    assert row == (
        f"| `spawn-time`: {TIME.published} | **contradicted** | "
        "time to start all, virtual threads over platform threads: 0.400 (0.390–0.410) in 1 of 2 cells; "
        "at most 0.2 would reproduce it (ours) | r |"
    )
    assert hosts == "- CPU \\| 2, Linux 6.1: r"
    assert verdict_table(host_verdicts(REGISTRY, [replace(RUN, claims=())])) == "No run bears on a published claim."


@pytest.mark.parametrize(("cells", "said"), [(CELLS[:1], " (another host: reproduced)"), (CELLS, ""), ((), "")])
def test_a_row_says_where_another_host_disagrees(cells: tuple[CellEvidence, ...], said: str) -> None:
    evidence = (ClaimEvidence("spawn-time", (CheckEvidence("", cells),)),)
    other = replace(RUN, run_id="older", host_id="other", claims=evidence)
    *_, row = verdict_table(host_verdicts(REGISTRY, [RUN, other])).partition("\n\n")[0].splitlines()
    assert f" | **contradicted**{said} | " in row


def test_a_table_is_put_between_its_marks(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("a\n<!-- t -->\nold\n<!-- /t -->\nb\n")
    put_between(file, "t", "new")
    put_between(file, "t", "newer")
    assert file.read_text() == "a\n<!-- t -->\nnewer\n<!-- /t -->\nb\n"


def test_a_table_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file, text = tmp_path / "x.md", "a\n<!-- t -->\nold\n<!-- /t -->\nb\n"
    file.write_text(text)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # like a full disk
    try:
        with pytest.raises(MatrixError, match="cannot be written"):
            put_between(file, "t", "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == text


@pytest.mark.parametrize(
    "text", ["", "<!-- t -->\n", "<!-- /t -->\n<!-- t -->\n", "<!-- t -->\n<!-- t -->\n<!-- /t -->"]
)
def test_a_file_without_both_marks_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.md"
    file.write_text(text)
    with pytest.raises(MatrixError, match="each once"):
        put_between(file, "t", "new")
    assert file.read_text() == text
    with pytest.raises(MatrixError, match="cannot be read"):
        put_between(tmp_path / "none.md", "t", "new")
