"""Published claims: what a run that repeats one records, what its page and a terminal show, what several runs say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from jdkmatrix.cli.scenarios import chosen_here, claim_lines
from jdkmatrix.cli.selecting import Options
from jdkmatrix.cli.summary import summary_markdown
from jdkmatrix.errors import MatrixError
from jdkmatrix.provision.project import Project
from jdkmatrix.records.claims import ClaimCheck, ClaimRecord, ClaimSource, PublishedFigure
from jdkmatrix.records.run import RunRecord, ScenarioRecord
from jdkmatrix.report.blocks.kinds import Container, Disclosure, Prose, Section
from jdkmatrix.report.blocks.tables import DataTable
from jdkmatrix.report.claims.evidence import CellEvidence, CellForks, CheckEvidence, ClaimEvidence, asks_for
from jdkmatrix.report.claims.published import claim_in_run
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim, rests_on
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.site.claims_page import claims_page, host_verdicts, verdicts
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.stats.bands import Band, Estimate
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.hostile_runs import HOSTILE, hostile_run
from tests.support.judged_pages import PageOfRun, printed
from tests.support.pages import Elements, found, plain, section_of, table_of
from tests.support.project import ROOT
from tests.support.served_runs import QUICK, Shape, made_up, with_scenario
from tests.support.shipped import REGISTRY
from tests.support.sites import built, digest_of, site_of

EVERY = REGISTRY.records(REGISTRY.claims)
CHECKED = next(claim for claim in EVERY if claim.id == "spawn-time")


FULL = Estimate(0.1, 0.09, 0.11, 5, of_ratio=True)
OPEN = Estimate(0.11, 0.01, 1.21, 5, of_ratio=True)


@pytest.fixture(scope="module")
def run() -> RunDigest:
    """Return a run without a cell that a claim is about."""
    return digest_of(made_up(replace(QUICK, blocks=1, windows=1)))


def saying(
    run: RunDigest, what: Estimate | str, *, host: str = "h", name: str = "r", kernel: str = "6.1", build: str = "25"
) -> RunDigest:
    """Return the run with an estimate of the one cell, or why there is none; for "nowhere", why there is no cell."""
    estimate, why = (None, what) if isinstance(what, str) else (what, None)
    behind = (CellForks(name, key("virtual").cell_id, 5, 0),) if estimate else ()
    of_check = CheckEvidence("", (CellEvidence(key("virtual"), build, estimate, why, behind=behind),))
    if what == "nowhere":
        of_check = CheckEvidence("", why="the kernel is another one")
    return replace(run, run_id=name, host_id=host, kernel=kernel, claims=(ClaimEvidence(CHECKED.id, (of_check,)),))


def test_what_a_run_knows_as_a_bound_only_is_told_as_one() -> None:
    seen, later = Estimate(14.6, 12.3, 16.9, 5), Estimate(13.5, 11.3, None, 5, one_sided=True)
    sooner, open_ = Estimate(9.0, None, 9.5, 5, one_sided=True), ClaimVerdict.INCONCLUSIVE
    cell = JudgedCell(key=key("liberty"), build="25", estimate=seen, alone=(seen, later, sooner), verdict=open_)
    assert cell.remark("s") == "3 runs: 14.6 s, at least 11.3 s, at most 9.50 s"
    assert cell.measured("s").text == "14.6 s (12.3–16.9)"
    assert replace(cell, estimate=later).measured("s").text == "at least 11.3 s"


def test_nobody_is_sent_to_measure_thousands_of_blocks() -> None:
    cell = JudgedCell(key=key("liberty"), build="25", estimate=None, verdict=ClaimVerdict.INCONCLUSIVE)
    told = [replace(cell, blocks=blocks).remark("") for blocks in (None, 1000, 6181)]
    assert told == ["", "1,000 blocks would decide it", "not even 1,000 blocks would decide it"]


@pytest.mark.parametrize(
    ("value", "blocks", "one_is_enough", "told"),
    [
        (100, (60, 31), False, 60), (100, (31, None), False, None), (100, (60, 31, None), True, 31),
        (100, (None,), True, None), (99, (60, 31), True, 60),
    ],
)  # fmt: skip
def test_as_many_blocks_would_decide_a_check_as_every_cell_of_it_needs(
    value: float, blocks: tuple[int | None, ...], one_is_enough: bool, told: int | None
) -> None:
    """Where one cell is enough, it takes as many as one that lies in the range."""
    (first, *_), open_, some = CHECKED.checks, ClaimVerdict.INCONCLUSIVE, Estimate(value, 90.0, 110.0, 5)
    cells = [JudgedCell(key=key("virtual"), build="25", estimate=some, verdict=open_, blocks=one) for one in blocks]
    asked = first.model_copy(update={"one_is_enough": one_is_enough})
    check = JudgedCheck(asked, Band(100.0, None), "ours", "%", open_, tuple(cells))
    assert check.blocks == told
    (line,) = rests_on(JudgedClaim(CHECKED, open_, (check,)))
    assert line.endswith(f"; {told} blocks would decide it" if told else "(ours)")


def test_many_cells_that_came_to_the_same_are_told_once() -> None:
    (first, *_), reproduced, every = CHECKED.checks, ClaimVerdict.REPRODUCED, Estimate(100.0, 100.0, 100.0, 5)
    cells = tuple(
        JudgedCell(key=key("virtual", cpus=cpus), build="25", estimate=every, verdict=reproduced) for cpus in (1, 2, 4)
    )
    check = JudgedCheck(first, Band(100.0, None), "ours", "%", reproduced, cells)
    assert rests_on(JudgedClaim(CHECKED, reproduced, (check,))) == (
        f"{first.says}: 100 % in every block in 3 cells; at least 100 % would reproduce it (ours)",
    )


def test_runs_with_bounds_that_exclude_each_other_decide_nothing(run: RunDigest) -> None:
    least = Estimate(0.5, 0.45, None, 5, of_ratio=True, one_sided=True)
    most = Estimate(0.01, None, 0.02, 5, of_ratio=True, one_sided=True)
    (told,) = host_verdicts((CHECKED,), [saying(run, least, name="a"), saying(run, most, name="b")])[CHECKED.id]
    assert told.judged.verdict is ClaimVerdict.INCONCLUSIVE
    (cell,) = told.judged.checks[0].cells
    assert cell.measured("").text == "–"
    assert cell.remark("") == "2 runs: at least 0.450, at most 0.0200; bounds that exclude each other"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ([], "not measured"), (["no fork"], "not measured"), (["nowhere", "no fork"], "not measured"),
        (["nowhere"], "not testable here"),
        (["no fork", FULL], "reproduced"), ([OPEN, FULL], "reproduced"), (["nowhere", FULL], "reproduced"),
    ],
)  # fmt: skip
def test_a_run_in_vain_outweighs_none_that_judged(run: RunDigest, said: list[Estimate | str], verdict: str) -> None:
    runs = [saying(run, one, name=str(number)) for number, one in enumerate(said)]
    told = host_verdicts((CHECKED,), runs)
    all_of_them = verdicts((CHECKED,), told)
    assert all_of_them[CHECKED.id] is ClaimVerdict(verdict)
    page = claims_page((CHECKED,), told, {CHECKED.id: ("spawn",)})
    (table,) = (one for one in found(page.blocks, DataTable) if one.label.startswith("Claims that "))
    kind = {"reproduced": "were decided", "not testable here": "no run here can judge"}.get(verdict, "are open")
    assert table.label == f"Claims that {kind}"
    (row,) = table_of([table], table.label)
    assert ("<code>.venv/bin/matrix run -s spawn</code>" in str(row["Measured"])) == (kind == "are open")
    assert ("/index.html" in str(row["Measured"])) == bool(runs)


def test_why_a_claim_is_not_repeated_is_said_once_in_its_table_and_once_below_its_source() -> None:
    claim = next(one for one in EVERY if one.not_repeated)
    told = host_verdicts((claim,), ())
    page = claims_page((claim,), told, {})
    texts = [str(cell) for row in table_of(page.blocks, "Claims that no run") for cell in row.values()]
    texts += [str(one.text) for one in found(page.blocks, Prose)]
    said = [text for text in texts if str(escape(claim.not_repeated)) in text]
    assert len(said) == 2 and "<b>Not repeated.</b>" in said[1]


def test_why_a_claim_has_no_check_is_said_where_a_run_repeats_its_experiment_too(run: RunDigest) -> None:
    claim = next(one for one in EVERY if one.not_checked)
    told = host_verdicts((claim,), [replace(run, claims=(ClaimEvidence(claim.id, ()),))])
    page = claims_page((claim,), told, {})
    (row,) = table_of(page.blocks, "Claims that no run")
    assert str(escape(claim.not_checked)) in str(row["Measured"])


def test_a_cell_is_linked_in_the_newest_run_that_its_estimate_rests_on(run: RunDigest) -> None:
    """A run without a record of it is not linked, nor one with another build of the JDK, which is a row of its own."""
    runs = [
        replace(saying(run, what, name=name, build=build), folder=f"{name}/")
        for what, name, build in (
            *(("no fork", "begun", "25"), (FULL, "new", "25")),
            *((OPEN, "patched", "25.0.2"), (FULL, "old", "25")),
        )
    ]
    page = claims_page((CHECKED,), host_verdicts((CHECKED,), runs), {})
    rows = [str(row["Cell"]) for row in table_of(page.blocks, "Cells that speak to")]
    assert [re.findall(r'href="../([a-z]+)/cells/', row) for row in rows] == [["new"], ["patched"]]
    assert ["JDK 25.0.2" in row for row in rows] == [False, True] and "JDK 25" in rows[0]


def test_forks_of_a_cell_in_two_groups_are_a_warning(run: RunDigest) -> None:
    """The warning stands beside the verdicts that rest on the cell."""
    for two_modes, warnings in (((key("virtual"),), 1), ((key("virtual", cpus=2),), 0)):
        told = host_verdicts((CHECKED,), [saying(replace(run, two_modes=two_modes), FULL)])
        page = claims_page((CHECKED,), told, {})
        said = [str(one.text) for one in found(page.blocks, Prose) if one.css == "warned"]
        assert len(said) == warnings
        assert all("two groups" in text and "mp-ping · temurin-25 · virtual" in text for text in said)


def test_of_many_runs_the_newest_are_named_and_the_others_counted(run: RunDigest) -> None:
    told = host_verdicts((CHECKED,), [saying(run, FULL, name=f"run-{number}") for number in range(7)])
    page = claims_page((CHECKED,), told, {})
    said = str(table_of(page.blocks, "Claims that ")[0]["Measured"])
    assert said.count("/index.html") == 5 and ") and 2 older runs</p>" in said


def test_what_is_decided_stands_first_then_what_is_open_and_the_rest_is_folded(run: RunDigest) -> None:
    told = host_verdicts(EVERY, [saying(run, FULL)])
    page = claims_page(EVERY, told, {})
    blocks = (one for one in page.blocks if isinstance(one, Section | Disclosure))
    places = [one.id if isinstance(one, Section) else "folded" for one in blocks]
    assert places == ["decided", "open", "folded", "claims"]


def test_a_host_that_could_judge_speaks_before_a_newer_one_that_could_not(run: RunDigest) -> None:
    told = host_verdicts((CHECKED,), [saying(run, "no fork", host="a"), saying(run, FULL, host="b")])
    assert [one.judged.verdict.value for one in told[CHECKED.id]] == ["reproduced", "not measured"]
    told = host_verdicts((CHECKED,), [saying(run, OPEN, host="a"), saying(run, FULL, host="b")])
    assert [one.judged.verdict.value for one in told[CHECKED.id]] == ["reproduced", "inconclusive"]


def test_kernels_of_one_host_are_told_apart(run: RunDigest) -> None:
    runs = [saying(run, FULL, name="a", kernel="6.2-x"), saying(run, OPEN, name="b")]
    page = claims_page((CHECKED,), host_verdicts((CHECKED,), runs), {})
    (row,) = table_of(list(found(page.blocks, DataTable)), "Claims that were decided")
    assert [", Linux 6.2: " in str(row["Measured"]), ", Linux 6.1: " in str(row["Measured"])] == [True, True]
    alone = claims_page((CHECKED,), host_verdicts((CHECKED,), runs[:1]), {})
    assert "Linux" not in str(table_of(list(found(alone.blocks, DataTable)), "Claims that were decided"))


def test_runs_of_a_host_are_pooled_and_hosts_are_not(run: RunDigest) -> None:
    low, high = Estimate(0.4, 0.39, 0.41, 5, of_ratio=True), Estimate(0.6, 0.59, 0.61, 5, of_ratio=True)
    same = [saying(run, low, name="a"), saying(run, high, name="b", kernel="6.1")]
    (told,) = host_verdicts((CHECKED,), same)[CHECKED.id]
    (cell,) = told.judged.checks[0].cells
    assert cell.estimate is not None and cell.estimate.blocks == 10
    assert cell.estimate.low is not None and cell.estimate.low < 0.39, "they disagree, and the interval says so"
    for other in ({"host": "other"}, {"kernel": "6.2-x"}):
        apart = [same[0], saying(run, high, name="b", **other)]
        assert [one.runs[0].run_id for one in host_verdicts((CHECKED,), apart)[CHECKED.id]] == ["a", "b"]
    build = [saying(run, low, name="a", kernel="6.1-1"), saying(run, high, name="b", kernel="6.1-2")]
    assert len(host_verdicts((CHECKED,), build)[CHECKED.id]) == 1, "a build of the same kernel is no other host"


def test_a_run_that_repeats_the_experiment_where_it_cannot_be_tested_says_why(tmp_path: Path) -> None:
    claim_id = "infoq-ping-2cpu-old"
    plain = with_scenario(made_up(replace(QUICK, cpus=(2,), blocks=2, windows=1)))
    assert plain.run.scenario is not None
    of_it = {"claims": REGISTRY.records([claim_id]), "published": (claim_id,)}
    run = plain.run.model_copy(update={"scenario": plain.run.scenario.model_copy(update=of_it)})
    site = built([replace(plain, run=run)], tmp_path / "site")
    (said,) = host_verdicts(EVERY, site.runs)[claim_id]
    assert said.judged.verdict is ClaimVerdict.NOT_TESTABLE_HERE
    about = "the claim is about Linux from 4.18 and below 4.19"
    assert said.judged.checks[0].why == f"the kernel is 6.2.0-synthetic; {about}"
    assert about in (site.index.parent / "claims" / "index.html").read_text("utf-8")


def published(page: str) -> str:
    """Return the part of the page about what was published."""
    return page.split('id="published"')[1].split('id="cells"', maxsplit=1)[0]


def repeating() -> LoadedRun:
    """Return a run of a scenario."""
    return with_scenario(made_up(replace(QUICK, blocks=1)))


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
    for name in ("matrix.toml", "jdks.json"):
        (tmp_path / name).symlink_to(ROOT / name)
    project = Project(tmp_path, tmp_path)
    assert chosen_here(project, Options("quick", {})).scenario is None
    with pytest.raises(MatrixError, match="delay-ramp"):
        chosen_here(project, Options("quick", {}, scenario="delay-ramp", scale="small"))


def test_the_page_shows_every_claim_below_its_source_and_sets_apart_what_no_source_says() -> None:
    loaded = repeating()
    section = section_of(PageOfRun(loaded).page, "published")
    sources = [one for one in section.blocks if isinstance(one, Prose) and one.heading]
    assert [plain(one.heading) for one in sources] == ["SYNTHETIC article Nobody, 2024-05", "SYNTHETIC note"]
    claims = [one.id for one in found(section.blocks, Container) if one.css == "claim"]
    assert claims == ["claim-synthetic-a", "claim-synthetic-b"]
    figures = [[plain(cell) for cell in row.values()] for row in table_of([section], "Figures of synthetic-a")]
    assert [row[1] for row in figures] == ["virtual / liberty", "–"] and figures[1][0].endswith(" at its end")
    page = PageOfRun(loaded).html
    block = published(page)
    assert page.index('id="answers"') < page.index('id="published"') < page.index('id="cells"')
    assert 'href="#published"' in page
    texts = (
        "synthetic-a", "2 CPUs (synthetic)", "Slower at high load.", "0.6 to 0.9", "10-40 % lower",
        "virtual / liberty", "at its end", "1,100 requests/s",
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
def test_a_verdict_says_where_it_is_that_of_one_run(verdict: ClaimVerdict, told: str) -> None:
    """The verdicts of all runs of the host may say more."""
    loaded = repeating()
    assert loaded.run.scenario is not None
    badge, _ = claim_in_run(JudgedClaim(loaded.run.scenario.claims[0], verdict), None)
    assert plain(badge) == told
    assert "\npublished (this run alone): synthetic-a: " in printed(loaded)


def test_a_run_from_before_the_registry_told_them_apart_is_shown_as_it_was() -> None:
    """The record of such a run has no `only`, `inference` and `no_url`."""
    loaded = repeating()
    data = json.loads(loaded.run.model_dump_json())
    for claim in data["scenario"]["claims"]:
        for table in (claim, claim["source"], *claim["figures"]):
            for name in ("only", "inference", "not_repeated", "no_url", "checks", "not_checked"):
                table.pop(name, None)
    loaded = replace(loaded, run=RunRecord.model_validate(data))
    block = published(PageOfRun(loaded).html)
    assert "synthetic-b" in block and "SYNTHETIC note" in block
    assert not [text for text in ("Our inference:", "No figure", "No address", "<details", "None") if text in block]


def test_every_text_of_a_claim_is_shown_as_text(tmp_path: Path) -> None:
    loaded = hostile_run(tmp_path / "run")
    section = section_of(PageOfRun(loaded).page, "published")
    told = [str(one.text) for one in section.blocks if isinstance(one, Prose)]
    assert f"No address: {HOSTILE}" in told and f"claim-{HOSTILE}" in {one.id for one in found([section], Container)}
    block = published(PageOfRun(loaded).html)
    assert block.count("&lt;img src=x") == 26 and "49" not in block


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


def test_the_page_and_the_summary_give_the_same_verdict(quick: LoadedRun) -> None:
    loaded = with_scenario(quick)
    block = published(PageOfRun(loaded).html)
    summary = summary_markdown(loaded).replace("\\", "")
    for one in JudgedRun(loaded).claims:
        assert f">{one.claim.id} <span" in block and one.verdict.value in block
        assert f"{one.claim.id}: {one.verdict.value}" in summary
    assert "a tenth (synthetic)" in block


def test_claims_are_judged_by_every_run_that_measured_them(tmp_path: Path) -> None:
    site_of([made_up(Shape(cpus=(2,), blocks=5, windows=1))], tmp_path / "site")
    elements = Elements(tmp_path / "site" / "claims" / "index.html")
    assert {f"claim-{claim}" for claim in REGISTRY.claims} <= set(elements.ids)
    assert "No run here decides a claim." not in elements.text, "its kernel is one of those that were published"
    assert "throughput on kernels 6.x, virtual threads over the pool: 0.8" in elements.text
