"""The table of verdicts in the README is what the reference runs say, and nothing that was typed."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.reporting import folders_of, write_site
from jdkmatrix.cli.verdict_table import VERDICTS, put_between, verdict_table
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence
from jdkmatrix.report.run_page.facts import ForkCount
from jdkmatrix.report.site.claims_page import host_verdicts
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.stats.bands import Estimate
from tests.support.builders import key
from tests.support.project import ROOT
from tests.support.sites import background

REFERENCE = ROOT / "results" / "reference"
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
    assert verdict_table(host_verdicts(REGISTRY, [replace(RUN, claims=())])) == "No run speaks to a published claim."


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
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # as a disk that is full
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
