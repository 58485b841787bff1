"""What the same answer cost on each server: side by side stand only servers that one run loaded alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.servers import own_pool, virtual_of
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.blocks.kinds import Section
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.site.by_axis import axis_pages
from jdkmatrix.report.site.digest import ArmFigure, HeldRate, RunDigest, host_names
from jdkmatrix.report.site.server_costs import RunPart, ServerCost, server_costs
from tests.support.hostile_runs import HOSTILE
from tests.support.judged_pages import figure_in, found, plain, table_of
from tests.support.outcome_runs import missed, with_outcomes
from tests.support.pages import Elements
from tests.support.records import with_forks
from tests.support.served_runs import QUICK, Shape, synthetic_run
from tests.support.shipped import TEMPLATES
from tests.support.sites import digest_of, site_of

AT_RATE = Shape(jdks=("temurin-25",), loads=("rate-2000",), windows=1)
PAGE = "by/workload/mp-ping.html"


@pytest.fixture
def run(tmp_path: Path) -> RunDigest:
    return digest_of(synthetic_run(tmp_path, AT_RATE))


def on_servers(run: RunDigest, *servers: str) -> RunDigest:
    """As if each of them had come to what Open Liberty did."""
    cells = [
        replace(cell, server=server, executor=(virtual_of if cell.executor == "virtual" else own_pool)(server))
        for server in servers
        for cell in run.cells
    ]
    return replace(run, cells=tuple(cells), servers=tuple((server, f"{server} 1.0") for server in servers))


def test_only_a_rate_that_every_fork_held_has_a_cost(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(AT_RATE, loads=("saturate-50", "rate-2000")))
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
    file = tmp_path / "page.html"
    file.write_text(pages_of(TEMPLATES).render(pages[PAGE]), "utf-8")
    elements = Elements(file)
    assert "not which server is better in general" in elements.text and HOSTILE in elements.text
    assert "img" not in elements.tags and "#servers" in elements.targets


def test_of_an_application_that_is_not_ours_nobody_knows_what_answers(run: RunDigest) -> None:
    own = replace(on_servers(run, "jetty", "tomcat"), own=(("mp-ping", "an application, 1 file"),))
    rows = table_of(axis_pages([own])[PAGE].blocks, "Table of CPU per request on each server")
    assert [row["What differs"] for row in rows] == ["–", "–"]


def test_forks_that_were_not_steady_are_told_beside_the_figure(tmp_path: Path) -> None:
    loaded = with_forks(
        synthetic_run(tmp_path, AT_RATE),
        lambda cell, fork: fork.model_copy(update={"status": Status.NOT_STEADY} if fork.fork == 1 else {}),
    )
    rows = table_of(
        axis_pages([on_servers(digest_of(loaded), "jetty", "tomcat")])[PAGE].blocks, "Table of CPU per request on each"
    )
    assert all("1 fork not steady" in plain(figure_in(row, "Own pool µs").under) for row in rows)


def test_a_page_of_one_server_is_as_before(run: RunDigest) -> None:
    page = axis_pages([on_servers(run, "jetty")])[PAGE]
    assert [one.id for one in found(page.blocks, Section)] == ["measured", "runs"]


def test_how_to_read_a_run_says_what_answers_on_each_server(tmp_path: Path) -> None:
    page = (site_of([synthetic_run(tmp_path / "run", QUICK)], tmp_path / "site") / "index.html").read_text("utf-8")
    for kind in server_kinds().values():
        assert f"What answers a request: {kind.differs}." in page
