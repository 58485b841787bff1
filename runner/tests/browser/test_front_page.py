"""The front page: what it answers first, what a pick changes, what an address can choose."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from jdkmatrix.domain.cell_key import CellKey
from tests.support.browser import reading
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import site_of
from tests.support.stepped_runs import searched

pytestmark = pytest.mark.real


def picked(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#picker select[name={name}]").select_option(value)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_answer_or_the_map_is_on_the_first_screen(
    browser: Browser, answers: Path, several: Path, width: int
) -> None:
    for file, first in ((answers, "#said .verdict"), (several, "#conditions table")):
        with reading(browser, file, width=width) as page:
            place = page.locator(first).first.bounding_box()
            assert place is not None and place["y"] + place["height"] < 900, file


def test_what_matters_is_answered_or_said_to_be_missing(browser: Browser, several: Path) -> None:
    """The p99 of a closed loop is not judged; a constant rate is itself the throughput."""
    with reading(browser, several) as page:
        said = page.locator("#said .verdict")
        picked(page, load="saturate-50", figure="p99")
        p99 = re.compile(r"p99 is not judged in a closed loop, .*: it was [0-9.]+ ms with virtual")
        expect(said).to_contain_text(p99)
        picked(page, load="rate-2000", figure="throughput")
        expect(said).to_contain_text("No figure for “Throughput” here; this is CPU per request.")
        picked(page, figure="p99")
        expect(said).not_to_contain_text("No figure for")


def test_a_pick_changes_the_answer_and_the_address_which_brings_it_back(browser: Browser, answers: Path) -> None:
    with reading(browser, answers) as page:
        picked(page, jdk="temurin-25", cpus="2", burn_us="100", figure="cpu")
        said = page.locator("#said")
        expect(said.locator(".where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
        expect(said.locator(".verdict b")).to_contain_text("in CPU per request was seen")
        expect(said.locator(".trust a").first).to_have_attribute("href", re.compile("virtual.cpus-2.burn-100us"))
        address = page.url
        assert "cpus=2" in address and "figure=cpu" in address
        with reading(browser, answers) as again:
            again.goto(address)
            expect(again.locator("#said .where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
            assert again.locator("#said").inner_text() == said.inner_text()
        # The map shows the same, and leads from one condition to another.
        current = page.locator("#map button[aria-current=true]")
        expect(current).to_have_count(1)
        page.locator("#map button").first.click()
        expect(said.locator(".where")).to_contain_text("1 CPU, no added work")


def test_the_map_of_a_lone_condition_is_that_of_the_load_with_the_most(browser: Browser, tmp_path: Path) -> None:
    many = synthetic_run(tmp_path / "many", Shape(jdks=("temurin-25",), burn_us=(0, 100), run_id="many"))
    lone = synthetic_run(tmp_path / "lone", Shape(jdks=("temurin-25",), loads=("rate-2000",), run_id="lone"))
    site_of([many, lone], tmp_path / "site")
    with reading(browser, tmp_path / "site" / "index.html", width=390) as page:
        picked(page, load="rate-2000")
        around = page.locator("#map")
        expect(around.locator("h3")).to_contain_text("under saturate-50")
        expect(around).to_contain_text("Under rate-2000, too little was measured for a map")
        expect(around.locator("button")).to_have_count(2)
        expect(around.locator("button[aria-current=true]")).to_have_count(0)
        around.locator("button").last.click()
        expect(page.locator("#said .where")).to_contain_text("tasks of 100 µs")
        expect(around.locator("button[aria-current=true]")).to_have_count(1)
        expect(around).not_to_contain_text("too little")


def test_what_was_not_measured_is_said_so_with_the_command_and_the_nearest(browser: Browser, answers: Path) -> None:
    with reading(browser, answers) as page:
        picked(page, jdk="temurin-26", cpus="2", burn_us="0")
        said = page.locator("#said")
        expect(said.locator(".verdict")).to_have_text("Not measured under this condition.")
        command = said.locator("pre").inner_text()
        assert re.fullmatch(
            r"\.venv/bin/matrix ask --server open-liberty --jdk temurin-26 --cpus 2 .*--load saturate-50", command
        )
        needs = "on a host with 3 CPUs or more, this command says how long the measurement takes, usually 20 to 30 min"
        expect(said).to_contain_text(needs)
        near = re.compile(
            r"temurin-26, 1 CPU, .*, saturate-50, .* virtual .*: Throughput [0-9.]+ \([0-9.]+–[0-9.]+(?: \*)?\)$"
        )
        expect(said.locator(".nearest button").first).to_have_text(near)
        for axis, marked in (("jdk", "temurin-26"), ("cpus", "2")):
            options = page.locator(f"#picker select[name={axis}] option")
            labels = options.evaluate_all("all => all.map(one => one.label).filter(label => label.includes('('))")
            assert labels == [f"{marked} (not measured with this selection)"], (
                "there are others beside all else that is picked"
            )
        said.locator(".nearest button").first.click()
        expect(said.locator(".verdict b")).not_to_have_text("Not measured under this condition.")
        # A condition that no run has can be asked for, too.
        picked(page, jdk="temurin-25", cpus="4", burn_us="200")
        expect(said.locator("pre")).to_contain_text("--jdk temurin-25 --cpus 4 --burn 200us --wait 0us")
        picked(page, workload="banking", burn_us="0", wait_us="2000", load="share-50")
        expect(said.locator("pre")).to_contain_text("--wait 2000us --workload banking --load share-50")
        picked(page, workload="mp-ping")
        expect(said).to_contain_text("mp-ping calls no remote system that could answer late.")
        expect(said.locator("pre")).to_have_count(0)


def test_a_database_picks_a_workload_that_has_it_and_a_workload_its_database(browser: Browser, answers: Path) -> None:
    with reading(browser, answers) as page:
        workload, database = (page.locator(f"#picker select[name={name}]") for name in ("workload", "database"))
        expect(database).to_have_value("none")
        picked(page, database="PostgreSQL, 50 connections by HikariCP")
        expect(workload).to_have_value("bank-sql-50")
        expect(page.locator("#said pre")).to_contain_text("--wait 0us --workload bank-sql-50 --load saturate-50")
        assert "workload=bank-sql-50" in page.url and "database" not in page.url
        picked(page, workload="bank-sql-10")
        expect(database).to_have_value("PostgreSQL, 10 connections by HikariCP")
        picked(page, database="none")
        expect(workload).to_have_value("mp-ping")
        expect(page.locator("#said .where")).to_contain_text("mp-ping on Open Liberty")


@pytest.mark.parametrize(
    ("workload", "what"),
    [
        ("shop-1a2b3c4d", "is not a workload of this project. The page of its run has "),
        ("bank-sql-7", "is a variant that no profile names. The page of its run has "),
    ],
)
def test_what_no_profile_names_is_measured_by_no_command_of_this_page(
    browser: Browser, tmp_path: Path, workload: str, what: str
) -> None:
    def own(key: CellKey) -> CellKey:
        return key.model_copy(update={"workload": workload})

    loaded = synthetic_run(tmp_path / "run", Shape(jdks=("temurin-25",)))
    cells = tuple(cell.model_copy(update={"key": own(cell.key)}) for cell in loaded.cells)
    tables = {"shop-1a2b3c4d": {"own": {"war": "shop.war", "path": "/"}}}
    run = loaded.run.model_copy(
        update={"cells": tuple(map(own, loaded.run.cells)), "matrix": {**loaded.run.matrix, "workloads": tables}}
    )
    site_of([replace(loaded, run=run, cells=cells)], tmp_path / "site")
    with reading(browser, tmp_path / "site" / "index.html") as page:
        picked(page, cpus="2")
        said = page.locator("#said")
        expect(said).to_contain_text(f"{workload} {what}")
        expect(said.locator("pre")).to_have_count(0)


def test_a_jdk_of_the_user_is_measured_by_no_command_of_this_page(browser: Browser, tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path / "run", Shape(jdks=("own-mine",)))
    jdks = tuple(one.model_copy(update={"source": "own" if one.selected else one.source}) for one in loaded.run.jdks)
    site_of([replace(loaded, run=loaded.run.model_copy(update={"jdks": jdks}))], tmp_path / "site")
    with reading(browser, tmp_path / "site" / "index.html") as page:
        picked(page, cpus="2")
        said = page.locator("#said")
        expect(said).to_contain_text("own-mine is not among this project’s JDKs today. The page of its run")
        expect(said.locator("pre")).to_have_count(0)


def test_an_entry_of_the_map_leads_to_the_figure_that_it_shows(browser: Browser, tmp_path: Path) -> None:
    """For a search that is the rate that was held, though tables have throughput first."""
    loaded = searched(synthetic_run(tmp_path / "run", Shape(jdks=("temurin-25",), burn_us=(0, 100), blocks=5)))
    site_of([loaded], tmp_path / "site")
    with reading(browser, tmp_path / "site" / "index.html") as page:
        entry = page.locator("#conditions a").last
        expect(entry).to_contain_text("Rate held: ")
        entry.click()
        expect(page.locator("#picker select[name=figure]")).to_have_value("capacity")
        expect(page.locator("#said .tiles dt").first).to_contain_text("Rate held")


@pytest.mark.parametrize(
    "hostile",
    [
        "#jdk=<img src=x onerror=window.pwned=1>",
        "#constructor=1&__proto__=2&cpus=99",
        "#host=%22%5D&figure=%22%5D,*",
        "#%%%",
    ],
)
def test_an_address_can_only_choose_what_the_page_offers(browser: Browser, answers: Path, hostile: str) -> None:
    with reading(browser, answers, anchor=hostile, settle=False) as page:
        expect(page.locator("#said .verdict b")).to_contain_text("throughput")
        assert page.evaluate("window.pwned ?? null") is None


def test_each_entry_of_the_map_picks_its_condition(browser: Browser, several: Path) -> None:
    with reading(browser, several, width=390, scheme="dark") as page:
        glance = page.locator("#conditions")
        expect(page.locator("#map")).to_be_hidden()
        last = glance.locator("a").last
        last.click()
        expect(page.locator("#said .where")).to_contain_text("tasks of 500 µs: mp-ping on Open Liberty, rate-2000")
        expect(page.locator("#said .verdict")).not_to_contain_text("No figure for")
        expect(glance.locator("a[aria-current=true]")).to_have_count(1)
        expect(last).to_have_attribute("aria-current", "true")
        assert "burn_us=500" in page.url and "load=rate-2000" in page.url
        picked(page, burn_us="0")
        expect(last).not_to_have_attribute("aria-current", "true")


def test_the_map_leads_to_the_answers_without_a_script(browser: Browser, several: Path) -> None:
    with reading(browser, several, settle=False, java_script_enabled=False) as page:
        link = page.locator("#conditions a").last
        row = page.locator(f"tr{link.get_attribute('href')}")
        link.click()
        expect(row).to_be_in_viewport()
        expect(row).to_contain_text("tasks of 500 µs")
