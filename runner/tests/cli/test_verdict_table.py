"""The table of verdicts in the README is what the reference runs say, and nothing that was typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.reporting import folders_of, write_site
from jdkmatrix.cli.verdict_table import VERDICTS, put_between, verdict_table
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.report.claims.published import rests_on
from jdkmatrix.report.claims.views import CheckedCellView, CheckView
from jdkmatrix.report.site.digest import RunDigest, SpokenClaim
from jdkmatrix.report.views import ForkCount
from jdkmatrix.report.words.numbers import Figure
from tests.support.project import ROOT

REFERENCE = ROOT / "results" / "reference"


def check(says: str, band: str, verdict: str, *measured: float, why: str | None = None) -> CheckView:
    return CheckView(says, band, None, verdict, "none", why, tuple(cell(verdict, one) for one in measured))


def cell(verdict: str, seconds: float) -> CheckedCellView:
    return CheckedCellView("cell", None, Figure(f"{seconds:g} s", seconds), verdict, "none", None)


RUN = RunDigest(
    run_id="r",
    folder="runs/r/",
    started_at="2025-01-01T00:00:00Z",
    about="scenario spawn, small",
    repeats_published=True,
    title="t",
    host="CPU | 2",
    host_id="h",
    kernel="6.1",
    jdks=(("temurin-25", "25"),),
    status="complete",
    forks=ForkCount("all", amber=False),
    warnings=(),
    aa=None,
    damaged=(),
    conditions=(),
    cells=(),
    claims=(
        SpokenClaim(
            "spawn-time",
            "contradicted",
            (
                check("time", "at most 1 | 2 s", "contradicted", 4, 3),
                check("of the first", "at most 1 s", "contradicted", 7, 5, 6),
                check("of the last", "at most 9 s", "reproduced", 8),
                check("of all", "at most 9 s", "contradicted", why="no fork"),
            ),
        ),
    ),
)


def test_the_readme_says_what_the_reference_runs_say(tmp_path: Path) -> None:
    built = write_site(Project(ROOT, tmp_path), folders_of([REFERENCE]), tmp_path / "site")
    assert not built.unreadable and not [run.run_id for run in built.runs if run.damaged]
    told = (ROOT / "README.md").read_text("utf-8").partition(f"<!-- {VERDICTS} -->\n")[2]
    assert told.startswith(f"{verdict_table(built.runs)}\n<!-- /{VERDICTS} -->")


def test_the_newest_run_speaks_and_text_of_results_stays_text() -> None:
    older = replace(RUN, run_id="o", claims=(SpokenClaim("spawn-time", "reproduced", ()),))
    other = replace(RUN, run_id="a", claims=(SpokenClaim("spawn-memory", "reproduced", ()),))
    table, _, hosts = verdict_table([RUN, other, older]).partition("\n\n")
    *_, memory, time = table.splitlines()
    assert memory == "| `spawn-memory` | **reproduced** |  | temurin-25 | a |"
    assert time == (
        "| `spawn-time` | **contradicted** | time: 3 s and 4 s; at most 1 \\| 2 s would reproduce it"
        "<br>of the first: 5 s to 7 s in 3 cells; at most 1 s would reproduce it<br>no fork | temurin-25 | r |"
    )
    assert hosts == "- CPU \\| 2, Linux 6.1: a, r"
    assert verdict_table([replace(RUN, claims=())]) == "No run speaks to a published claim."


def test_a_line_says_in_how_many_cells_where_not_in_all() -> None:
    some = check("time", "at most 1 s", "contradicted", 3)
    some = replace(some, cells=(*some.cells, cell("reproduced", 1), cell("inconclusive", 2)))
    assert rests_on("contradicted", [some]) == ("time: 3 s in 1 of 3 cells; at most 1 s would reproduce it",)


def test_a_table_is_put_between_its_marks(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("a\n<!-- t -->\nold\n<!-- /t -->\nb\n")
    put_between(file, "t", "new")
    put_between(file, "t", "newer")
    assert file.read_text() == "a\n<!-- t -->\nnewer\n<!-- /t -->\nb\n"


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
