"""Published and measured: what several runs say of one claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.report.claims.verdicts import ClaimVerdict
from jdkmatrix.report.site.claims_page import verdicts_of, view_claims
from jdkmatrix.report.site.digest import RunDigest, SpokenClaim
from tests.support.served_runs import QUICK, synthetic_run, with_scenario
from tests.support.sites import background, built

CLAIMS = background().claims
REGISTRY = CLAIMS.records(CLAIMS.claims)
CHECKED = next(claim.id for claim in REGISTRY if claim.checks)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDigest:
    """It has no cell that a claim is about."""
    folder = tmp_path_factory.mktemp("claims")
    (found,) = built([synthetic_run(folder / "run", replace(QUICK, blocks=1, windows=1))], folder / "site").runs
    assert found.claims == ()
    return found


@pytest.mark.parametrize(
    ("said", "verdict", "shown"),
    [
        ([], "not measured", []),
        (["not measured"], "not measured", ["not measured"]),
        (["not measured", "reproduced"], "reproduced", ["reproduced"]),
        (["inconclusive", "reproduced"], "inconclusive", ["inconclusive"]),
        (["not testable here"], "not testable here", ["not testable here"]),
        (["not testable here", "not measured"], "not measured", ["not testable here"]),
        (["not testable here", "contradicted"], "contradicted", ["contradicted"]),
    ],
)
def test_a_run_that_tried_in_vain_says_so_and_outweighs_none_that_judged(
    run: RunDigest, said: list[str], verdict: str, shown: list[str]
) -> None:
    runs = [
        replace(run, run_id=str(number), claims=(SpokenClaim(CHECKED, one, ()),)) for number, one in enumerate(said)
    ]
    verdicts = verdicts_of(REGISTRY, runs)
    assert verdicts[CHECKED] is ClaimVerdict(verdict)
    view = view_claims(REGISTRY, runs, verdicts, "../")
    (row,) = (row for row in view.rows if row.id == CHECKED)
    assert (row.verdict, [one.verdict for one in row.spoken]) == (verdict, shown)
    (claim,) = (claim for source in view.sources for claim in source.claims if claim.id == CHECKED)
    assert [one.verdict for one in claim.spoken] == said


def test_a_run_that_repeats_the_experiment_where_it_cannot_be_tested_says_why(tmp_path: Path) -> None:
    claim_id = "infoq-ping-2cpu-old"
    plain = with_scenario(synthetic_run(tmp_path / "run", replace(QUICK, cpus=(2,), blocks=2, windows=1)))
    scenario = plain.run.scenario
    assert scenario is not None
    (claim,) = CLAIMS.records([claim_id])
    of_it = plain.run.model_copy(
        update={"scenario": scenario.model_copy(update={"claims": (claim,), "published": (claim_id,)})}
    )
    site = built([replace(plain, run=of_it)], tmp_path / "site")
    (said,) = site.runs[0].claims
    assert (said.id, said.verdict) == (claim_id, "not testable here")
    assert said.checks[0].why == "the kernel is 6.1.0-synthetic; the claim is about from 4.18 and below 4.19"
    page = (site.index.parent / "claims" / "index.html").read_text("utf-8")
    assert "the claim is about from 4.18 and below 4.19" in page
