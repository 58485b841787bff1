"""What a page compares is judged as one family, and every place of the page keeps to the verdict; so does a claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.records.claims import ClaimCheck
from jdkmatrix.report.blocks.kinds import Prose
from jdkmatrix.report.cells.heat import scorecard
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.claims.estimates import Results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, answer_of, found, judged, key_of, row_of
from tests.support.outcome_runs import all_of, missed, refusing, scaled, with_outcomes, without_driver
from tests.support.records import with_forks_of
from tests.support.served_runs import QUICK, Shape, synthetic_run

FIVE = Shape(executors=("liberty", "virtual", "platform", "liberty-aa"), blocks=5, windows=1)
ONE_JDK = replace(FIVE, jdks=("temurin-25",))

EVEN, DOUBLE = [1, 1.01, 0.99, 1.02, 0.98], [2, 2.01, 2.03, 1.99, 2]
EVERY = (THROUGHPUT, CPU)


def with_throughput(loaded: LoadedRun, factors: dict[str, list[float]]) -> LoadedRun:
    """Factors of each executor, block by block."""
    return replace(loaded, cells=tuple(scaled(cell, factors[cell.key.executor]) for cell in loaded.cells))


def test_the_family_is_what_the_page_puts_into_words_or_colours(tmp_path: Path) -> None:
    """Two JDKs: virtual in two figures, platform in throughput; the A/A check apart. p99 of a closed loop: nowhere."""
    loaded = synthetic_run(tmp_path, FIVE)
    figures = {"virtual": {*EVERY}, "platform": {THROUGHPUT}, "liberty-aa": {THROUGHPUT}}
    _, judgements = judged(loaded)
    assert (judgements.comparisons, judgements.checks) == (2 * (2 + 1), 2)
    for cell in loaded.cells:
        compared = {metric for metric in (*EVERY, P99) if judgements.of(metric, cell.key)}
        assert compared == figures.get(cell.key.executor, set())
        for metric in compared:
            assert judgements.of(metric, cell.key).family == (2 if cell.key.executor == "liberty-aa" else 6)
    (family,) = (str(one.text) for one in found(PageOfRun(loaded).page.blocks, Prose) if one.css == "family")
    assert family.startswith("6 comparisons on this page") and "2 A/A checks" in family


BLOCKS = st.lists(st.floats(0.5, 2), min_size=5, max_size=5)


# Student's interval of five such blocks leaves 1 out: p is 0.04, which one more comparison takes above 0.05.
FAINT = [1.02, 1.10, 1.05, 1.01, 1.09]


def test_an_interval_without_1_that_is_no_evidence_is_called_so_everywhere(closed_loop: LoadedRun) -> None:
    level, even = [1.0] * 5, [1.0, 1.3, 0.8, 1.1, 0.9]
    factors = {"liberty": level, "virtual": FAINT, "platform": even, "liberty-aa": level}
    loaded = with_throughput(closed_loop, factors)
    cells, judgements = judged(loaded)
    one = judgements.of(THROUGHPUT, key_of(loaded))
    assert one.ratio.ci_low > 1 and one.ratio.p_value < 0.05 < one.p_adjusted
    assert one.verdict is Verdict.NO_EVIDENCE_YET
    (part,) = slices(cells)
    answer = answers(judgements, part, EVERY, {})[0]
    assert answer.lead.endswith("no evidence yet of a difference in throughput")
    assert answer.sentences[0][1].startswith("no evidence yet of a difference between virtual and liberty (ratio 1.05,")
    heat = scorecard(judgements, EVERY, part).rows[0][1][0]
    assert (heat.tone, heat.decided) == ("leans-n", False)
    assert heat.interval.endswith(" *") and "no evidence yet" in heat.title
    row = row_of(loaded, "virtual")
    assert row.versus.under == heat.interval and "no evidence yet" in (row.versus.title or "")


def test_a_clear_difference_is_called_so_everywhere(closed_loop: LoadedRun) -> None:
    level, clear = [1.0] * 5, [0.50, 0.51, 0.49, 0.50, 0.50]
    factors = {"liberty": level, "virtual": clear, "platform": clear, "liberty-aa": level}
    loaded = with_throughput(closed_loop, factors)
    cells, judgements = judged(loaded)
    (part,) = slices(cells)
    assert answers(judgements, part, EVERY, {})[0].lead.endswith("liberty ahead of virtual in throughput")
    heat = scorecard(judgements, EVERY, part).rows[0][1][0]
    assert heat.tone in ("d5", "d6") and heat.decided
    assert "liberty better, adjusted p < 0.001" in heat.title
    rows = {row.key.executor: row.versus for row in PageOfRun(loaded).rows}
    assert (rows["virtual"].under or "").endswith(" less") and rows["platform"].under == rows["virtual"].under
    said, _, pairs = (rows["virtual"].title or "").partition(". ")
    assert said == "Throughput: less than liberty, adjusted p < 0.001"
    assert pairs.startswith("block 1: 500.0 / 1,000 = 0.50; block 2: 510.0 / 1,000 = 0.51; ")
    assert rows["liberty"].under is None


@given(st.lists(BLOCKS, min_size=8, max_size=8))
@settings(max_examples=15)
def test_tallies_count_verdicts_and_not_intervals(many: LoadedRun, figures: list[list[float]]) -> None:
    factors = iter(figures)
    cells = tuple(scaled(cell, [1.0] * 5 if cell.key.executor == "liberty" else next(factors)) for cell in many.cells)
    found_cells, judgements = judged(replace(many, cells=cells))
    (part,) = slices(found_cells)
    verdicts = [one.verdict for key in part.keys if (one := judgements.of(THROUGHPUT, key))]
    said = dict(answers(judgements, part, EVERY, {})[0].sentences)["Throughput"]
    tally = said.split(".")[0].replace("in all ", "in ")
    for verdict in (Verdict.NO_EVIDENCE_YET, Verdict.NO_DIFFERENCE_SEEN, Verdict.CANNOT_TELL):
        assert (f"{verdict.value} in {verdicts.count(verdict)}" in tally) == (verdict in verdicts)
    assert ("better in" in tally) == (Verdict.DIFFERENT in verdicts)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """Eight conditions on one JDK."""
    shape = replace(QUICK, jdks=("temurin-25",), cpus=(1, 2), burn_us=(0, 50, 100, 200), blocks=5, windows=1)
    return synthetic_run(tmp_path_factory.mktemp("many"), shape)


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """Five forks of six windows in each arm."""
    return synthetic_run(tmp_path_factory.mktemp("six"), replace(ONE_JDK, windows=6))


def test_a_pair_one_of_whose_arms_the_gates_refused_more_often_gets_no_verdict(six: LoadedRun) -> None:
    loaded = with_throughput(six, {"liberty": EVEN, "virtual": DOUBLE, "platform": DOUBLE, "liberty-aa": EVEN})
    _, plain = judged(loaded)
    key = key_of(loaded)
    assert plain.of(THROUGHPUT, key).verdict is Verdict.DIFFERENT
    refused = with_forks_of(loaded, "virtual", refusing)
    _, judgements = judged(refused)
    after = judgements.of(THROUGHPUT, key)
    assert (after.verdict, after.p_adjusted) == (Verdict.NOT_JUDGED, None)
    assert judgements.comparisons == plain.comparisons - 2, "the others are judged without it"
    assert judgements.of(THROUGHPUT, key_of(loaded, "platform")).verdict is Verdict.DIFFERENT
    told = "gates refused 10 of 30 windows of virtual and 0 of 30 of liberty (steal 10 and 0)"
    answer = answer_of(refused)
    assert answer.lead == f"temurin-25: throughput not judged: {told}" and answer.amber
    versus = row_of(refused, "virtual").versus
    assert versus.amber and (versus.under or "").endswith("not judged") and "gates refused" in (versus.title or "")
    (notice,) = (one for one in PageOfRun(refused).notices if one.title == "Gates refused one arm more often")
    assert notice.weight == "warn" and told in notice.text and "in the 10 windows that they refused" in notice.text


def test_how_many_forks_did_as_asked_gets_no_verdict_either(tmp_path: Path) -> None:
    shape = replace(ONE_JDK, executors=("liberty", "virtual"), loads=("rate-2000",), windows=6)
    loaded = with_outcomes(synthetic_run(tmp_path, shape), {"virtual": all_of(missed)})
    _, plain = judged(loaded)
    assert plain.outcomes(key_of(loaded)).differs
    _, judgements = judged(with_forks_of(loaded, "virtual", refusing))
    outcomes = judgements.outcomes(key_of(loaded))
    assert not outcomes.differs and outcomes.finding is PairFinding.NOT_JUDGED
    assert "not judged (gates refused 10 of 30 windows" in outcomes.sentence("virtual", "liberty")


def estimate(loaded: LoadedRun, versus: str, **changes: Any) -> Estimate | str:
    """What a check of a claim takes from the throughput of virtual threads, or why it takes nothing."""
    run = JudgedRun(loaded)
    check = ClaimCheck(says="s", metric="throughput", arm="virtual", versus=versus, low=0.5, inference="i", **changes)
    return Results(run.run, run.cells, run.experiments, run.refusals).estimate(check, key_of(loaded))


def test_refusals_count_in_a_claim_between_arms_that_the_page_does_not_compare(six: LoadedRun) -> None:
    why = estimate(with_forks_of(six, "platform", refusing), "platform")
    assert "gates refused 0 of 30 windows of virtual and 10 of 30 of platform (steal 0 and 10)" in str(why)
    assert isinstance(estimate(six, "platform"), Estimate)


@pytest.mark.parametrize("versus", ["liberty", "platform"])
def test_a_difference_in_a_claim_is_of_arms_that_lost_as_many_forks(six: LoadedRun, versus: str) -> None:
    """As a ratio is."""
    one_arm = with_outcomes(six, {"virtual": {1: without_driver}})
    for difference in (False, True):
        why = estimate(one_arm, versus, difference=difference)
        assert why == "the two lost different numbers of forks, so that they are not compared"
    both = estimate(with_outcomes(one_arm, {versus: {2: without_driver}}), versus, difference=True)
    assert isinstance(both, Estimate) and both.blocks == 3
