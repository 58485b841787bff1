"""A page for each server, JDK, executor, workload and host: everything that was measured there and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from jdkmatrix.cli.comparing import compare
from jdkmatrix.report.site.by_axis import KINDS, Group, ValuePage, view_axes
from tests.support.experiment_runs import experiments_run
from tests.support.hostile_runs import hostile_run
from tests.support.pages import Elements
from tests.support.served_runs import QUICK, Shape, synthetic_run
from tests.support.sites import built, later, stored

WIDE = Shape(executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=2, windows=1)


def page_of(groups: tuple[Group, ...], kind: str, title: str) -> ValuePage:
    return next(page for group in groups if group.title == kind for page in group.pages if page.title == title)


def test_every_cell_stands_on_a_page_of_every_kind(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", WIDE)
    groups = view_axes(built([loaded], tmp_path / "site").runs)
    assert [group.title for group in groups] == list(KINDS.values())
    for group in groups:
        shown = [one.page for page in group.pages for row in page.rows for one in row.entries if one]
        assert len(shown) == len(set(shown)) == len(loaded.cells)
    assert {page.title for group in groups if group.title == "JDK" for page in group.pages} == set(WIDE.jdks)


def test_a_ratio_says_over_what_it_is_and_the_reference_has_none(tmp_path: Path) -> None:
    groups = view_axes(built([synthetic_run(tmp_path / "run", WIDE)], tmp_path / "site").runs)
    page = page_of(groups, "JDK", "temurin-25")
    assert page.executors == ("liberty", "virtual", "platform")
    pool, virtual, platform = page.rows[0].entries
    assert pool is not None and virtual is not None and platform is not None
    assert (pool.value, pool.under) == (None, "what others are compared with")
    assert virtual.value is not None and virtual.under.startswith("Throughput over liberty, ")
    assert platform.value is not None and page.facts[0][0]


def test_a_host_keeps_its_own_row_and_an_older_cell_gives_way(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", replace(QUICK, jdks=("temurin-25",)))
    runs = [
        later(loaded, "old", "2024-01-01"),
        later(loaded, "new", "2025-01-01"),
        later(loaded, "elsewhere", "2023-01-01", host="another"),
    ]
    groups = view_axes(built(runs, tmp_path / "site").runs)
    page = page_of(groups, "Executor", "virtual")
    shown = [one.page for row in page.rows for one in row.entries if one]
    assert sorted(part.split("/")[3] for part in shown) == ["elsewhere", "new"]
    assert [run.run_id for run in page.runs] == ["new", "old", "elsewhere"]
    hosts = next(group for group in groups if group.title == "Host").pages
    assert [len(page.runs) for page in hosts] == [2, 1]


def test_what_only_experiments_measured_has_a_page_of_its_jdk(tmp_path: Path) -> None:
    groups = view_axes(built([experiments_run(tmp_path / "run", forks=1)], tmp_path / "site").runs)
    assert {group.title for group in groups} == {"JDK", "Host"}
    assert all(not page.rows and page.runs for group in groups for page in group.pages)
    page = next((tmp_path / "site" / "by" / "jdk").glob("*.html")).read_text("utf-8")
    assert "No cell with a server" in page


def test_hostile_names_stay_text_and_inside_the_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    built([hostile_run(tmp_path / "run")], site)
    for page in (site / "by").rglob("*.html"):
        elements = Elements(page)
        for target in elements.targets:
            assert (page.parent / target.partition("#")[0]).resolve().is_relative_to(site.resolve()) or target[0] == "#"


def test_two_runs_are_compared_on_a_page_of_one_file(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "made-up", replace(QUICK, jdks=("temurin-25",), blocks=4))
    for run_id in ("before", "after"):
        stored(tmp_path / run_id, replace(loaded, run=loaded.run.model_copy(update={"run_id": run_id})))
    target = tmp_path / "pages" / "compared.html"
    runs = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert compare(runs, {}, 0.05, as_json=True, as_markdown=False, html=target) == 0
    page = Elements(target)
    assert "after over before" in page.text and "Both were measured on one host." in page.text
    assert "No regression" in page.text and "After / before" in page.text
    assert page.targets == ["#main"]
