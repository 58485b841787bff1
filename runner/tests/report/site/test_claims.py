"""Published and measured: what several runs say of one claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.report.blocks.kinds import Disclosure, Prose, Section
from jdkmatrix.report.blocks.tables import DataTable
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence
from jdkmatrix.report.claims.verdicts import ClaimVerdict, JudgedCell, JudgedCheck, JudgedClaim, rests_on
from jdkmatrix.report.site import claims_page as claims_module
from jdkmatrix.report.site.claims_page import claims_page, host_verdicts, verdicts
from jdkmatrix.report.site.digest import RunDigest
from jdkmatrix.stats.bands import Band, Estimate
from tests.support.builders import key
from tests.support.judged_pages import found, table_of
from tests.support.served_runs import QUICK, synthetic_run, with_scenario
from tests.support.sites import background, built

CLAIMS = background().claims
REGISTRY = CLAIMS.records(CLAIMS.claims)
CHECKED = next(claim for claim in REGISTRY if claim.id == "spawn-time")


FULL = Estimate(0.1, 0.09, 0.11, 5, of_ratio=True)
OPEN = Estimate(0.11, 0.01, 1.21, 5, of_ratio=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDigest:
    """It has no cell that a claim is about."""
    folder = tmp_path_factory.mktemp("claims")
    (found,) = built([synthetic_run(folder / "run", replace(QUICK, blocks=1, windows=1))], folder / "site").runs
    assert found.claims == ()
    return found


def saying(run: RunDigest, what: Estimate | str, *, host: str = "h", name: str = "r", kernel: str = "6.1") -> RunDigest:
    """An estimate of the one cell, or why there is none; "nowhere" says why there is no cell."""
    estimate, why = (None, what) if isinstance(what, str) else (what, None)
    of_check = CheckEvidence("", (CellEvidence(key("virtual"), "25", estimate, why),))
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
def test_a_run_that_tried_in_vain_outweighs_none_that_judged(
    run: RunDigest, said: list[Estimate | str], verdict: str
) -> None:
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
    claim = next(one for one in REGISTRY if one.not_repeated)
    told = host_verdicts((claim,), ())
    page = claims_page((claim,), told, {})
    texts = [str(cell) for row in table_of(page.blocks, "Claims that no run") for cell in row.values()]
    texts += [str(one.text) for one in found(page.blocks, Prose)]
    said = [text for text in texts if str(escape(claim.not_repeated)) in text]
    assert len(said) == 2 and "<b>Not repeated.</b>" in said[1]


def test_why_a_claim_has_no_check_is_said_where_a_run_repeats_its_experiment_too(run: RunDigest) -> None:
    claim = next(one for one in REGISTRY if one.not_checked)
    told = host_verdicts((claim,), [replace(run, claims=(ClaimEvidence(claim.id, ()),))])
    page = claims_page((claim,), told, {})
    (row,) = table_of(page.blocks, "Claims that no run")
    assert str(escape(claim.not_checked)) in str(row["Measured"])


def test_links_of_all_claims_lead_to_the_newest_run_and_its_cells_are_gathered_once(
    run: RunDigest, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = (CHECKED, CHECKED.model_copy(update={"id": "again"}))
    gathered: list[str] = []
    cells_seen = claims_module._cells_seen

    def gather(one: RunDigest) -> Iterator[CellKey]:
        gathered.append(one.run_id)
        return cells_seen(one)

    runs = [saying(run, FULL, name=name) for name in ("new", "old")]
    both = [
        replace(one, folder=f"{one.run_id}/", claims=(*one.claims, replace(one.claims[0], id="again"))) for one in runs
    ]
    monkeypatch.setattr(claims_module, "_cells_seen", gather)
    told = host_verdicts(claims, both)
    page = str(claims_page(claims, told, {}).blocks)
    assert gathered == ["new", "old"]
    assert "../new/cells/" in page and "../old/cells/" not in page


def test_forks_of_a_cell_in_two_groups_are_a_warning(run: RunDigest) -> None:
    """Beside the verdicts that rest on it."""
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
    told = host_verdicts(REGISTRY, [saying(run, FULL)])
    page = claims_page(REGISTRY, told, {})
    blocks = (one for one in page.blocks if isinstance(one, Section | Disclosure))
    places = [one.id if isinstance(one, Section) else "folded" for one in blocks]
    assert places == ["decided", "open", "folded", "claims"]


def test_a_host_that_could_judge_speaks_before_a_newer_one_that_could_not(run: RunDigest) -> None:
    told = host_verdicts((CHECKED,), [saying(run, "no fork", host="a"), saying(run, FULL, host="b")])
    assert [one.judged.verdict.value for one in told[CHECKED.id]] == ["reproduced", "not measured"]


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
    plain = with_scenario(synthetic_run(tmp_path / "run", replace(QUICK, cpus=(2,), blocks=2, windows=1)))
    assert plain.run.scenario is not None
    of_it = {"claims": CLAIMS.records([claim_id]), "published": (claim_id,)}
    run = plain.run.model_copy(update={"scenario": plain.run.scenario.model_copy(update=of_it)})
    site = built([replace(plain, run=run)], tmp_path / "site")
    (said,) = host_verdicts(REGISTRY, site.runs)[claim_id]
    assert said.judged.verdict is ClaimVerdict.NOT_TESTABLE_HERE
    about = "the claim is about Linux from 4.18 and below 4.19"
    assert said.judged.checks[0].why == f"the kernel is 6.1.0-synthetic; {about}"
    assert about in (site.index.parent / "claims" / "index.html").read_text("utf-8")
