"""A page for each server, JDK, executor, workload and host: everything that was measured there and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.cli.comparing import compare
from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.blocks.kinds import Disclosure, Section, WebPage
from jdkmatrix.report.blocks.tables import Sorted
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.site import by_axis
from jdkmatrix.report.site import digest as digest_module
from jdkmatrix.report.site.by_axis import INDEX, KINDS, axis_pages
from jdkmatrix.report.site.digest import ArmFigure, HeldRate, MeasuredCell, RunDigest, host_names, runs_section
from jdkmatrix.report.site.server_costs import RunPart, ServerCost, server_costs
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import Judged, Verdict
from tests.support.experiment_runs import experiments_of
from tests.support.hostile_runs import HOSTILE
from tests.support.outcome_runs import missed, with_outcomes
from tests.support.pages import Elements, figure_in, found, plain, table_of
from tests.support.records import altered, with_forks, with_forks_of
from tests.support.served_runs import QUICK, Shape, made_up
from tests.support.shipped import TEMPLATES
from tests.support.sites import built, digest_of, later, stored

WIDE = Shape(executors=("liberty", "virtual", "platform"), cpus=(1, 2), burn_us=(0, 100), blocks=2, windows=1)


def of_kind(pages: Mapping[str, WebPage], axis: str) -> list[WebPage]:
    return [page for path, page in pages.items() if path.startswith(f"by/{axis}/")]


def entries(page: WebPage) -> list[dict[str, str]]:
    """Return what the executors of each condition came to."""
    rows = table_of(page.blocks, "Table of what was measured")
    return [{title: cell.words for title, cell in row.items() if isinstance(cell, Sorted)} for row in rows]


def test_every_cell_stands_on_a_page_of_every_kind_and_a_ratio_says_over_what_it_is() -> None:
    loaded = made_up(WIDE)
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


def test_a_cell_without_a_fork_that_can_be_used_is_told_as_such_and_hides_no_older_one() -> None:
    def broken(fork: Fork) -> Fork:
        return altered(fork, {"status": Status.INVALID})

    loaded = made_up(replace(QUICK, jdks=("temurin-25",)))
    newer = with_forks_of(later(loaded, "newer", "2025-02-01"), "virtual", broken)
    (alone,) = entries(axis_pages([digest_of(newer)])["by/jdk/temurin-25.html"])
    assert plain(alone["virtual"]).startswith("no usable fork ")
    (both,) = entries(axis_pages([digest_of(newer), digest_of(loaded)])["by/jdk/temurin-25.html"])
    assert re.match(r"0\.[0-9]+ Throughput over liberty: ", plain(both["virtual"]))
    assert plain(both["liberty"]) == "measured what others are compared with"


def test_an_executor_alone_is_nothing_that_others_are_compared_with() -> None:
    """Helidon, for one, has no other executor."""
    alone = made_up(replace(QUICK, executors=("liberty",)))
    (row,) = entries(axis_pages([digest_of(alone)])["by/jdk/temurin-25.html"])
    assert plain(row["liberty"]) == "measured nothing is compared with it"


def test_a_host_keeps_its_own_row_and_an_older_cell_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The older cell is not even put into words."""
    loaded = made_up(replace(QUICK, jdks=("temurin-25",)))
    runs = [later(loaded, "new", "2025-01-01"), later(loaded, "old", "2024-01-01")]
    runs.append(later(loaded, "elsewhere", "2023-01-01", host="another"))
    told: list[str] = []
    in_words = by_axis._entry

    def entry(cell: MeasuredCell, run: RunDigest) -> Sorted:
        told.append(run.run_id)
        return in_words(cell, run)

    monkeypatch.setattr(by_axis, "_entry", entry)
    pages = axis_pages([digest_of(run) for run in runs])
    assert sorted(told) == [run_id for run_id in ("elsewhere", "new") for _ in range(len(loaded.cells) * len(KINDS))]
    page = pages["by/executor/virtual.html"]
    shown = "".join(one for row in entries(page) for one in row.values())
    assert sorted(re.findall(r"/runs/(\w+)/", shown)) == ["elsewhere", "new"]
    assert runs_of(page) == ["new", "old", "elsewhere"]
    assert sorted(runs_of(page) for page in of_kind(pages, "host")) == [["elsewhere"], ["new", "old"]]


def runs_of(page: WebPage) -> list[str]:
    return [plain(row["Run"]) for row in table_of(page.blocks, "Table of runs")]


def test_of_many_runs_the_oldest_are_folded() -> None:
    one = digest_of(made_up(replace(QUICK, blocks=1, windows=1)))
    ids = [f"run-{number}" for number in range(22)]
    runs, hosts = [replace(one, run_id=run_id) for run_id in ids], {one.host_id: one.host}
    table, folded = runs_section(runs, hosts, "").blocks
    assert isinstance(folded, Disclosure) and folded.summary == "2 older runs"
    newest, oldest = (table_of(blocks, "Table of ") for blocks in ([table], folded.blocks))
    assert [[plain(row["Run"]) for row in rows] for rows in (newest, oldest)] == [ids[:20], ids[20:]]
    assert len(runs_section(runs[:20], hosts, "").blocks) == 1


def test_what_only_experiments_measured_has_a_page_of_its_jdk(tmp_path: Path) -> None:
    pages = axis_pages(built([experiments_of(forks=1)], tmp_path / "site").runs)
    assert {path.split("/")[1] for path in pages if path != INDEX} == {"jdk", "host"}
    assert all(runs_of(page) for path, page in pages.items() if path != INDEX)
    page = next((tmp_path / "site" / "by" / "jdk").glob("*.html")).read_text("utf-8")
    assert "No cell with a server" in page


def test_two_runs_are_compared_on_a_page_of_one_file(tmp_path: Path) -> None:
    loaded = made_up(replace(QUICK, jdks=("temurin-25",), blocks=4))
    for run_id in ("before", "after"):
        stored(tmp_path / run_id, replace(loaded, run=loaded.run.model_copy(update={"run_id": run_id})))
    target = tmp_path / "pages" / "compared.html"
    runs = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert compare(runs, {}, 0.05, as_json=True, as_markdown=False, html=target) == 0
    page = Elements(target)
    assert "after (after) over before (before)" in page.text and "Both were measured on one host." in page.text
    assert "No regression" in page.text and "After / before" in page.text
    assert page.targets == ["#main"]


AT_RATE = Shape(jdks=("temurin-25",), loads=("rate-2000",), windows=1)
PAGE = "by/workload/mp-ping.html"


@pytest.fixture
def run() -> RunDigest:
    return digest_of(made_up(AT_RATE))


def on_servers(run: RunDigest, *servers: str) -> RunDigest:
    """Return the run as if each of these servers had come to what Open Liberty did."""
    cells = [
        replace(cell, server=server, executor=(virtual_of if cell.executor == "virtual" else own_pool)(server))
        for server in servers
        for cell in run.cells
    ]
    return replace(run, cells=tuple(cells), servers=tuple((server, f"{server} 1.0") for server in servers))


def test_only_a_rate_that_every_fork_held_has_a_cost() -> None:
    loaded = made_up(replace(AT_RATE, loads=("saturate-50", "rate-2000")))
    run = digest_of(loaded)
    held = {(cell.executor, cell.load): cell.rate for cell in run.cells if cell.rate}
    assert held.keys() == {("liberty", "rate-2000"), ("virtual", "rate-2000")}
    (condition,) = (one for one in run.conditions if one.load == "rate-2000")
    assert [rate.cpu for rate in held.values()] == list(condition.arms)
    assert {rate.words for rate in held.values()} == {condition.load_words}
    one_missed = digest_of(with_outcomes(loaded, {"virtual": {1: missed}}))
    assert [cell.executor for cell in one_missed.cells if cell.rate] == ["liberty"]


def costs(parts: Sequence[RunPart]) -> list[tuple[RunDigest, Mapping[str, ServerCost]]]:
    return [*server_costs(parts, host_names(run for run, _ in parts)).values()]


@pytest.mark.parametrize(
    "other",
    [
        *({"jdk": "temurin-21"}, {"cpus": 2}, {"burn_us": 100}, {"wait_us": 100}, {"driver": "wrk2"}, {"rate": None}),
        {"rate": HeldRate("another rate", ArmFigure("tomcat", "cpu", 30.0, None, None), 0)},
    ],
    ids=str,
)
def test_servers_that_were_not_loaded_alike_are_not_side_by_side(run: RunDigest, other: dict[str, Any]) -> None:
    alike = on_servers(run, "jetty", "tomcat")
    ((_, servers),) = costs([(alike, alike.cells)])
    assert list(servers) == ["jetty", "tomcat"]
    cells = [replace(cell, **other) if cell.server == "tomcat" else cell for cell in alike.cells]
    assert costs([(alike, cells)]) == []


@pytest.mark.parametrize(
    ("server", "executors", "pool", "virtual"),
    [
        ("jetty", ["jetty-aa", "jetty-no-reserved", "virtual+carriers-2", "jetty", "virtual"], "jetty", "virtual"),
        ("tomcat", ["virtual", "tomcat-virtual"], None, "tomcat-virtual"),
        ("tomcat", ["tomcat", "virtual"], "tomcat", "virtual"),
        ("open-liberty", ["liberty", "liberty-virtual"], "liberty", None),
        ("helidon", ["helidon"], None, "helidon"),
    ],
)
def test_a_server_is_told_by_its_pool_as_it_comes_and_by_what_stands_for_virtual_threads(
    run: RunDigest, server: str, executors: list[str], pool: str | None, virtual: str | None
) -> None:
    cells = [replace(run.cells[0], server=server, executor=executor) for executor in executors]
    ((_, servers),) = costs([(run, [*cells, *on_servers(run, "undertow").cells])])
    assert [cell and cell.executor for cell in servers[server]] == [pool, virtual]


def test_servers_are_of_one_run_the_newest_of_each_host(run: RunDigest) -> None:
    both, jetty, tomcat = (on_servers(run, *names) for names in (("jetty", "tomcat"), ("jetty",), ("tomcat",)))
    assert costs([(jetty, jetty.cells), (tomcat, tomcat.cells)]) == []
    new, old = replace(both, run_id="new"), replace(both, run_id="old")
    runs = [jetty, new, old, replace(both, run_id="elsewhere", host_id="another")]
    assert [one.run_id for one, _ in costs([(one, one.cells) for one in runs])] == ["new", "elsewhere"]


def test_the_page_of_a_workload_shows_it_and_every_text_of_it_stays_text(tmp_path: Path, run: RunDigest) -> None:
    told = replace(on_servers(run, "jetty", HOSTILE), servers=(("jetty", HOSTILE),))
    pages = axis_pages([told])
    shown = [path for path, page in pages.items() if any(one.id == "servers" for one in found(page.blocks, Section))]
    assert shown == [PAGE]
    jetty, other = table_of(pages[PAGE].blocks, "Table of CPU per request on each server")
    assert (jetty["What differs"], other["What differs"]) == (server_kinds()["jetty"].differs, "–")
    for title, cell in zip(("Own pool µs", "Virtual threads µs"), told.cells[:2], strict=True):
        assert cell.rate
        figure = figure_in(jetty, title)
        assert float(plain(figure.text)) == pytest.approx(cell.rate.cpu.value, rel=0.01) and figure.under
        assert f"{told.folder}{cell.page}" in figure.text
    own = axis_pages([replace(told, own=(("mp-ping", "an application, 1 file"),))])[PAGE].blocks
    rows = table_of(own, "Table of CPU per request on each server")
    assert [row["What differs"] for row in rows] == ["–", "–"], "what answers in an application not ours nobody knows"
    alone = axis_pages([on_servers(run, "jetty")])[PAGE]
    assert [one.id for one in found(alone.blocks, Section)] == ["measured", "runs"]
    file = tmp_path / "page.html"
    file.write_text(pages_of(TEMPLATES).render(pages[PAGE]), "utf-8")
    elements = Elements(file)
    assert "does not say which server is better in general" in elements.text and HOSTILE in elements.text
    assert "img" not in elements.tags and "#servers" in elements.targets


def test_forks_that_were_not_steady_are_told_beside_the_figure() -> None:
    loaded = with_forks(
        made_up(AT_RATE),
        lambda cell, fork: fork.model_copy(update={"status": Status.NOT_STEADY} if fork.fork == 1 else {}),
    )
    rows = table_of(
        axis_pages([on_servers(digest_of(loaded), "jetty", "tomcat")])[PAGE].blocks, "Table of CPU per request on each"
    )
    assert all("1 fork not steady" in plain(figure_in(row, "Own pool µs").under) for row in rows)
