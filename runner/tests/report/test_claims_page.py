"""What a run of a scenario records of what was published, and what its page and a terminal show of that."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.scenarios import chosen_here, claim_lines
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.summary import summary_markdown
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.records.claims import ClaimCheck, ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import RunRecord, ScenarioRecord
from jdkmatrix.report.blocks.kinds import Container, Prose, Section
from jdkmatrix.report.claims.evidence import asks_for
from jdkmatrix.report.claims.published import claim_in_run
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedClaim
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.hostile_runs import HOSTILE, hostile_run
from tests.support.judged_pages import PageOfRun, found, plain, printed, section_of, table_of
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, synthetic_run, with_scenario
from tests.support.shipped import REGISTRY
from tests.support.sites import site_of


def page_of(loaded: LoadedRun, folder: Path) -> str:
    """Of a site that is written for it."""
    return (site_of([loaded], folder / "site") / "index.html").read_text("utf-8")


def published(page: str) -> str:
    """Its part about what was published."""
    return page.split('id="published"')[1].split('id="cells"', maxsplit=1)[0]


def repeating(folder: Path) -> LoadedRun:
    """A run of a scenario."""
    return with_scenario(synthetic_run(folder / "run", replace(QUICK, blocks=1)))


def test_a_run_of_a_scenario_records_what_was_published(tmp_path: Path) -> None:
    options = Options("quick", {}, scenario="delay-ramp", scale="small")
    scenario = chosen_here(Project(ROOT, tmp_path), options).scenario
    assert [claim.id for claim in scenario.claims] == list(scenario.published) == [
        "delay-ramp-platform", "delay-ramp-virtual", "high-load-switches",
    ]  # fmt: skip
    rates = [(one.arm, one.value, one.unit) for one in scenario.claims[0].figures if one.unit == "requests/s"]
    assert rates == [("platform", 1100, "requests/s"), ("platform", 1200, "requests/s")]
    assert scenario.claims == REGISTRY.records(scenario.published)
    assert ScenarioRecord.model_validate_json(scenario.model_dump_json()) == scenario


def test_a_profile_needs_no_published_source(tmp_path: Path) -> None:
    (tmp_path / "matrix.toml").symlink_to(ROOT / "matrix.toml")
    project = Project(tmp_path, tmp_path)
    assert chosen_here(project, Options("quick", {})).scenario is None
    with pytest.raises(MatrixError, match="delay-ramp"):
        chosen_here(project, Options("quick", {}, scenario="delay-ramp", scale="small"))


def test_the_page_of_a_run_that_repeats_nothing_has_no_such_part(tmp_path: Path) -> None:
    loaded = repeating(tmp_path)
    loaded = replace(loaded, run=loaded.run.model_copy(update={"scenario": None}))
    assert "published" not in {one.id for one in found(PageOfRun(loaded).page.blocks, Section)}
    page = page_of(loaded, tmp_path)
    assert "What was published" not in page and 'href="#published"' not in page


def test_the_page_shows_every_claim_below_its_source_and_sets_apart_what_no_source_says(tmp_path: Path) -> None:
    loaded = repeating(tmp_path)
    section = section_of(PageOfRun(loaded).page, "published")
    sources = [one for one in section.blocks if isinstance(one, Prose) and one.heading]
    assert [plain(one.heading) for one in sources] == ["SYNTHETIC article Nobody, 2024-05", "SYNTHETIC note"]
    claims = [one.id for one in found(section.blocks, Container) if one.css == "claim"]
    assert claims == ["claim-synthetic-a", "claim-synthetic-b"]
    figures = [[plain(cell) for cell in row.values()] for row in table_of([section], "Figures of synthetic-a")]
    assert [row[1] for row in figures] == ["virtual / liberty", "–"]
    assert figures[0][2].startswith("0.6 to 0.9 (10-40 % lower)") and figures[1][2].startswith("1,100 requests/s (")
    assert figures[1][0].endswith(" at its end")
    page = page_of(loaded, tmp_path)
    block = published(page)
    assert page.index('id="answers"') < page.index('id="published"') < page.index('id="cells"')
    assert 'href="#published"' in page
    texts = (
        "synthetic-a", "2 CPUs (synthetic)", "Slower at high load.", "0.6 to 0.9", "10-40 % lower",
        '<a href="https://example.org/a" rel="noopener noreferrer">SYNTHETIC article</a>', "Nobody, 2024-05",
        "On one machine.", "<b>Note.</b> Its unit is wrong.", "<h3>SYNTHETIC note", "No address: A leaflet.",
        "No figure is printed: there is only a graph.",
    )  # fmt: skip
    assert [text for text in texts if text not in block] == [] and "only words" not in block
    assert block.count("<table") == 2, "what was published, and what was measured here"
    inferences = re.findall(r'<(p|small) class="inference"><b>Our inference:</b> (.*?)</\1>', block)
    assert inferences == [("p", "A small one."), ("small", "Read off a graph."), ("p", "It was throttled.")]
    others = re.sub(r'<(p|small) class="inference">.*?</\1>', "", block)
    assert not [text for _, text in inferences if text in others]


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (ClaimVerdict.IN_PART, "reproduced in part by this run alone"),
        (ClaimVerdict.NOT_TESTABLE, "not testable"),
    ],
)
def test_a_verdict_says_where_it_is_that_of_one_run(tmp_path: Path, verdict: ClaimVerdict, told: str) -> None:
    """Those of all runs of the host may say more."""
    loaded = repeating(tmp_path)
    assert loaded.run.scenario is not None
    badge, _ = claim_in_run(JudgedClaim(loaded.run.scenario.claims[0], verdict), None)
    assert plain(badge) == told
    assert "\npublished (this run alone): synthetic-a: " in printed(loaded)


def test_a_run_from_before_the_registry_told_them_apart_is_shown_as_it_was(tmp_path: Path) -> None:
    """Without `only`, `inference` and `no_url`."""
    loaded = repeating(tmp_path)
    data = json.loads(loaded.run.model_dump_json())
    for claim in data["scenario"]["claims"]:
        for table in (claim, claim["source"], *claim["figures"]):
            for name in ("only", "inference", "not_repeated", "no_url", "checks", "not_checked"):
                table.pop(name, None)
    loaded = replace(loaded, run=RunRecord.model_validate(data))
    block = published(page_of(loaded, tmp_path))
    assert "synthetic-b" in block and "SYNTHETIC note" in block
    assert not [text for text in ("Our inference:", "No figure", "No address", "<details", "None") if text in block]


def test_hostile_claims_stay_text(tmp_path: Path) -> None:
    loaded = hostile_run(tmp_path / "run")
    section = section_of(PageOfRun(loaded).page, "published")
    told = [str(one.text) for one in section.blocks if isinstance(one, Prose)]
    assert f"No address: {HOSTILE}" in told and f"claim-{HOSTILE}" in {one.id for one in found([section], Container)}
    block = published(page_of(loaded, tmp_path))
    assert block.count("&lt;img src=x") == 26
    assert "<img" not in block and "<script" not in block and "49" not in block and "javascript:" not in block


TEXTS = st.text(min_size=1)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_terminal_and_a_record_have_every_word(published: str, printed: str, ours: str, why: str) -> None:
    figure = PublishedFigure(quantity="p99", unit="s", value=1, as_printed=printed, inference=f"1 {ours}")
    source = ClaimSource(title="T", date="2024", no_url=why, inference=f"3 {ours}")
    check = ClaimCheck(says=printed, metric="p99", arm="virtual", figure=1, tolerance=0.2, inference=f"4 {ours}")
    claim = ClaimRecord(
        id="x", condition="c", published=published, figures=(figure,), inference=f"2 {ours}", source=source,
        checks=(check,),
    )  # fmt: skip
    text = "\n".join(claim_lines(claim))
    assert published in text and f'1 s, printed as "{printed}"' in text and f"T, 2024 (no address: {why})" in text
    assert f"checked by {printed}: 1 s ± 20 % reproduces it" in text
    for number in (1, 2, 3, 4):
        assert re.search(rf"our inference( about it)?: {number} {re.escape(ours)}", text)
    assert ClaimRecord.model_validate_json(claim.model_dump_json()) == claim


def test_a_terminal_says_what_there_is_in_place_of_figures() -> None:
    source = ClaimSource(title="T", url="https://example.org")
    claim = ClaimRecord(id="x", condition="c", published="p", only="words", source=source)
    line = "  No figure is printed: there are only words."
    assert line in list(claim_lines(claim))
    assert line not in list(claim_lines(claim.model_copy(update={"only": None})))


@pytest.mark.parametrize(
    ("cpus", "load", "more", "as_many"),
    [(2, "count-3", True, False), (4, "count-5", True, False), (2, "count-2", False, True), (4, "count-4", False, True),
     (4, "count-3", False, False), (2, "count-4", False, False)],
)  # fmt: skip
def test_threads_are_counted_against_carriers_before_they_hang(cpus: int, load: str, more: bool, as_many: bool) -> None:
    hang, *_, go_on = REGISTRY.claims["netflix-hang"].checks
    cell = key("virtual", workload="hang-synchronized", server="none", jdk="temurin-21.0.8", cpus=cpus, load=load)
    assert (asks_for(hang, cell), asks_for(go_on, cell)) == (more, as_many)


def test_the_page_and_the_summary_give_the_same_verdict(quick: LoadedRun, tmp_path: Path) -> None:
    loaded = with_scenario(quick)
    block = published(page_of(loaded, tmp_path))
    summary = summary_markdown(loaded).replace("\\", "")
    for one in JudgedRun(loaded).claims:
        assert f">{one.claim.id} <span" in block and one.verdict.value in block
        assert f"{one.claim.id}: {one.verdict.value}" in summary
    assert "a tenth (synthetic)" in block
