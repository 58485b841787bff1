"""A page for each server, JDK, executor, workload and host: everything that was measured there and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.comparing import compare
from jdkmatrix.report.blocks.kinds import Disclosure, Section, WebPage
from jdkmatrix.report.site import by_axis
from jdkmatrix.report.site import digest as digest_module
from jdkmatrix.report.site.by_axis import INDEX, KINDS, axis_pages
from jdkmatrix.report.site.digest import MeasuredCell, RunDigest, runs_section
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Judged, Verdict
from tests.support.experiment_runs import experiments_run
from tests.support.hostile_runs import hostile_run
from tests.support.judged_pages import found, plain, table_of
from tests.support.pages import Elements
from tests.support.served_runs import QUICK, Shape, synthetic_run, with_scenario
from tests.support.sites import built, digest_of, later, stored

WIDE = Shape(executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=2, windows=1)


def of_kind(pages: Mapping[str, WebPage], axis: str) -> list[WebPage]:
    return [page for path, page in pages.items() if path.startswith(f"by/{axis}/")]


def entries(page: WebPage) -> list[dict[str, str]]:
    """Of each condition, what its executors came to."""
    rows = table_of(page.blocks, "Table of what was measured")
    return [{title: str(cell) for title, cell in row.items() if "href=" in str(cell)} for row in rows]


def test_every_cell_stands_on_a_page_of_every_kind_and_a_ratio_says_over_what_it_is(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, WIDE)
    pages = axis_pages([digest_of(loaded)])
    assert [section.title for section in found(pages[INDEX].blocks, Section)] == list(KINDS.values())
    for axis in KINDS:
        shown = [one for page in of_kind(pages, axis) for row in entries(page) for one in row.values()]
        assert len(shown) == len(set(shown)) == len(loaded.cells)
    assert {page.heading for page in of_kind(pages, "jdk")} == set(WIDE.jdks)
    page = pages["by/jdk/temurin-25.html"]
    row = entries(page)[0]
    assert list(row) == ["liberty", "virtual", "platform"]
    assert plain(row["liberty"]) == "measured what others are compared with"
    assert re.match(r"0\.[0-9]+ Throughput over liberty: ", plain(row["virtual"]))
    assert plain(row["platform"])[0].isdigit() and str(page.summary).startswith("JDK: 25.")


def test_an_interval_that_excludes_nothing_is_told_from_no_difference() -> None:
    verdicts = {Verdict.CANNOT_TELL: "0.80–1.40, cannot tell", Verdict.NO_DIFFERENCE_SEEN: "0.80–1.40"}
    for verdict, words in verdicts.items():
        assert digest_module._under(Judged(Ratio(1.05, 0.8, 1.4, 5), 0.5, 1, verdict)) == words


def test_an_executor_alone_is_nothing_that_others_are_compared_with(tmp_path: Path) -> None:
    """As Helidon, which has no other."""
    alone = synthetic_run(tmp_path, replace(QUICK, executors=("liberty",)))
    (row,) = entries(axis_pages([digest_of(alone)])["by/jdk/temurin-25.html"])
    assert plain(row["liberty"]) == "measured nothing is compared with it"


def test_an_older_cell_that_gives_way_is_not_put_into_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = synthetic_run(tmp_path, replace(QUICK, jdks=("temurin-25",)))
    runs = [digest_of(later(loaded, "new", "2025-01-01")), digest_of(later(loaded, "old", "2024-01-01"))]
    told: list[str] = []
    in_words = by_axis._entry

    def entry(cell: MeasuredCell, run: RunDigest) -> str:
        told.append(run.run_id)
        return in_words(cell, run)

    monkeypatch.setattr(by_axis, "_entry", entry)
    axis_pages(runs)
    assert told == ["new"] * len(loaded.cells) * len(KINDS)


def test_a_host_keeps_its_own_row_and_an_older_cell_gives_way(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(QUICK, jdks=("temurin-25",)))
    runs = [later(loaded, "new", "2025-01-01"), later(loaded, "old", "2024-01-01")]
    runs.append(later(loaded, "elsewhere", "2023-01-01", host="another"))
    pages = axis_pages([digest_of(run) for run in runs])
    page = pages["by/executor/virtual.html"]
    shown = "".join(one for row in entries(page) for one in row.values())
    assert sorted(re.findall(r"/runs/(\w+)/", shown)) == ["elsewhere", "new"]
    assert runs_of(page) == ["new", "old", "elsewhere"]
    assert sorted(runs_of(page) for page in of_kind(pages, "host")) == [["elsewhere"], ["new", "old"]]


def runs_of(page: WebPage) -> list[str]:
    return [plain(row["Run"]) for row in table_of(page.blocks, "Table of runs")]


def test_of_many_runs_the_oldest_are_folded(tmp_path: Path) -> None:
    one = digest_of(synthetic_run(tmp_path, replace(QUICK, blocks=1, windows=1)))
    ids = [f"run-{number}" for number in range(22)]
    runs, hosts = [replace(one, run_id=run_id) for run_id in ids], {one.host_id: one.host}
    table, folded = runs_section(runs, hosts, "").blocks
    assert isinstance(folded, Disclosure) and folded.summary == "2 older runs"
    newest, oldest = (table_of(blocks, "Table of ") for blocks in ([table], folded.blocks))
    assert [[plain(row["Run"]) for row in rows] for rows in (newest, oldest)] == [ids[:20], ids[20:]]
    assert len(runs_section(runs[:20], hosts, "").blocks) == 1


def test_what_only_experiments_measured_has_a_page_of_its_jdk(tmp_path: Path) -> None:
    pages = axis_pages(built([experiments_run(tmp_path / "run", forks=1)], tmp_path / "site").runs)
    assert {path.split("/")[1] for path in pages if path != INDEX} == {"jdk", "host"}
    assert all(runs_of(page) for path, page in pages.items() if path != INDEX)
    page = next((tmp_path / "site" / "by" / "jdk").glob("*.html")).read_text("utf-8")
    assert "No cell with a server" in page


def test_hostile_results_stay_text_and_inside_the_site_on_the_pages_of_all_runs(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built([hostile_run(tmp_path / "run"), with_scenario(synthetic_run(tmp_path / "other", QUICK))], site)
    for page in (site / "index.html", site / "claims" / "index.html", *(site / "by").rglob("*.html")):
        elements = Elements(page)
        assert not {"img", "iframe", "object", "embed"} & set(elements.tags)
        for target in elements.targets:
            path = (page.parent / target.partition("#")[0]).resolve()
            assert not target.startswith("javascript:")
            assert path.is_relative_to(site.resolve()) or target.startswith(("#", "https://"))


def test_two_runs_are_compared_on_a_page_of_one_file(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=4))
    for run_id in ("before", "after"):
        stored(tmp_path / run_id, replace(loaded, run=loaded.run.model_copy(update={"run_id": run_id})))
    target = tmp_path / "pages" / "compared.html"
    runs = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert compare(runs, {}, 0.05, as_json=True, as_markdown=False, html=target) == 0
    page = Elements(target)
    assert "after (after) over before (before)" in page.text and "Both were measured on one host." in page.text
    assert "No regression" in page.text and "After / before" in page.text
    assert page.targets == ["#main"]
