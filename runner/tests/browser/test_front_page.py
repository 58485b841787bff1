"""The front page: what it answers first, what a pick changes, what an address may say."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser import (
    CONTRAST,
    WIDER_THAN_THE_PAGE,
    Opened,
    open_all_details,
    open_page,
)
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import site_of

pytestmark = pytest.mark.real


def picked(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#picker select[name={name}]").select_option(value)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_front_page_answers_first_and_fits(browser: Browser, answers: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = open_page(context, answers)
    page = opened.page
    verdict = page.locator("#said .verdict").bounding_box()
    assert verdict is not None and verdict["y"] + verdict["height"] < 900, "the answer is on the first screen"
    open_all_details(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER_THAN_THE_PAGE) == []
    ratios: dict[str, float] = page.evaluate(
        CONTRAST, ["p", "dt", "dd", "td", "th", "a", "b", "span", "small", "button"]
    )
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}
    levels: list[int] = page.eval_on_selector_all("h1, h2, h3, h4, h5", "all => all.map(h => Number(h.tagName[1]))")
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("th:not([scope])").count() == 0
    assert opened.complaints == [] and opened.requests == [answers.as_uri()]
    context.close()


def test_what_matters_is_answered_or_said_to_be_missing(browser: Browser, tmp_path: Path) -> None:
    """Closed loops have a p99 that is not judged; a constant rate is the throughput."""
    loads = ("saturate-50", "rate-2000")
    run = synthetic_run(tmp_path / "run", Shape(jdks=("temurin-25",), loads=loads, blocks=5, windows=1))
    site_of([run], tmp_path / "site")
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, tmp_path / "site" / "index.html")
    page = opened.page
    said = page.locator("#said .verdict")
    picked(page, load="saturate-50", figure="p99")
    expect(said).to_contain_text(re.compile(r"p99 is not judged in a closed loop, .*: it was [0-9.]+ ms with virtual"))
    picked(page, load="rate-2000", figure="throughput")
    expect(said).to_contain_text("This load has no figure for “Throughput”; this is CPU per request.")
    picked(page, figure="p99")
    expect(said).not_to_contain_text("This load has no figure")
    assert opened.complaints == []
    context.close()


def test_a_pick_changes_the_answer_and_the_address_which_brings_it_back(browser: Browser, answers: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, answers)
    page = opened.page
    picked(page, jdk="temurin-25", cpus="2", burn_us="100", figure="cpu")
    said = page.locator("#said")
    expect(said.locator(".where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
    expect(said.locator(".verdict b")).to_contain_text("in CPU per request was seen")
    expect(said.locator(".trust a").first).to_have_attribute("href", re.compile("virtual.cpus-2.burn-100us"))
    address = page.url
    assert "cpus=2" in address and "figure=cpu" in address
    again = open_page(context, answers)
    again.page.goto(address)
    expect(again.page.locator("#said .where")).to_contain_text("temurin-25, 2 CPUs, tasks of 100 µs")
    assert again.page.locator("#said").inner_text() == said.inner_text()
    # The map says the same, and leads from place to place.
    current = page.locator("#map button[aria-current=true]")
    expect(current).to_have_count(1)
    page.locator("#map button").first.click()
    expect(said.locator(".where")).to_contain_text("1 CPU, no added work")
    assert opened.complaints == []
    context.close()


def test_the_map_of_a_lone_condition_is_that_of_the_load_with_the_most(browser: Browser, tmp_path: Path) -> None:
    many = synthetic_run(tmp_path / "many", Shape(jdks=("temurin-25",), burn_us=(0, 100), run_id="many"))
    lone = synthetic_run(tmp_path / "lone", Shape(jdks=("temurin-25",), loads=("rate-2000",), run_id="lone"))
    site_of([many, lone], tmp_path / "site")
    context = browser.new_context(viewport={"width": 390, "height": 900})
    opened = open_page(context, tmp_path / "site" / "index.html")
    page = opened.page
    picked(page, load="rate-2000")
    around = page.locator("#map")
    expect(around.locator("h3")).to_contain_text("under saturate-50")
    expect(around).to_contain_text("Under rate-2000 too little was measured for a map")
    expect(around.locator("button")).to_have_count(2)
    expect(around.locator("button[aria-current=true]")).to_have_count(0)
    around.locator("button").last.click()
    expect(page.locator("#said .where")).to_contain_text("tasks of 100 µs")
    expect(around.locator("button[aria-current=true]")).to_have_count(1)
    expect(around).not_to_contain_text("too little")
    assert opened.complaints == []
    context.close()


def test_what_was_not_measured_is_said_so_with_the_command_and_the_nearest(browser: Browser, answers: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = open_page(context, answers)
    page = opened.page
    picked(page, jdk="temurin-26", cpus="2")
    said = page.locator("#said")
    expect(said.locator(".verdict")).to_have_text("Not measured under this condition.")
    command = said.locator("pre").inner_text()
    assert re.fullmatch(
        r"matrix run --profile \S+ --server open-liberty --jdk temurin-26 --cpus 2 .*--load saturate-50", command
    )
    said.locator(".nearest button").first.click()
    expect(said.locator(".verdict b")).not_to_have_text("Not measured under this condition.")
    # What no run has can be asked for, too.
    picked(page, jdk="temurin-25", cpus="4", burn_us="200")
    expect(said.locator("pre")).to_contain_text("--jdk temurin-25 --cpus 4 --burn-us 200")
    picked(page, workload="banking", burn_us="0", wait_us="2000", load="share-50")
    expect(said.locator("pre")).to_contain_text("--profile matrix ")
    picked(page, burn_us="1000")
    expect(said).to_contain_text("No profile of the project measures it")
    assert opened.complaints == []
    context.close()


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
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = Opened(context.new_page())
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.goto(answers.as_uri() + hostile)
    expect(opened.page.locator("#said .verdict b")).to_contain_text("throughput")
    assert opened.page.evaluate("window.pwned ?? null") is None and opened.complaints == []
    context.close()


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front page of a run with several conditions."""
    folder = tmp_path_factory.mktemp("several")
    shape = Shape(jdks=("temurin-25",), burn_us=(0, 500), loads=("saturate-50", "rate-2000"), blocks=5, windows=1)
    site_of([synthetic_run(folder / "run", shape)], folder / "site")
    return folder / "site" / "index.html"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_map_comes_first_and_each_entry_picks_its_condition(
    browser: Browser, several: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = open_page(context, several)
    page = opened.page
    glance = page.locator("#conditions")
    place = glance.locator("table").first.bounding_box()
    assert place is not None and place["y"] + place["height"] < 900, "the map is on the first screen"
    expect(page.locator("#map")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER_THAN_THE_PAGE) == []
    ratios: dict[str, float] = page.evaluate(CONTRAST, ["td", "th", "a", "b", "span", "small"])
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}
    assert page.locator("th:not([scope])").count() == 0
    last = glance.locator("a").last
    last.click()
    expect(page.locator("#said .where")).to_contain_text("tasks of 500 µs: mp-ping on open-liberty, rate-2000")
    expect(page.locator("#said .verdict")).not_to_contain_text("This load has no figure")
    expect(glance.locator("a[aria-current=true]")).to_have_count(1)
    expect(last).to_have_attribute("aria-current", "true")
    assert "burn_us=500" in page.url and "load=rate-2000" in page.url
    picked(page, burn_us="0")
    expect(last).not_to_have_attribute("aria-current", "true")
    assert opened.complaints == []
    context.close()


def test_the_map_leads_to_the_answers_without_a_script(browser: Browser, several: Path) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    page.goto(several.as_uri())
    link = page.locator("#conditions a").last
    row = page.locator(f"tr{link.get_attribute('href')}")
    link.click()
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text("tasks of 500 µs")
    context.close()
