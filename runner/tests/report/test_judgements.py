"""All that a page compares is judged as one family, and every place of the page keeps to the verdict; so does a claim.
Figures of two load drivers never stand in one ratio, chart, map or pooled figure, and each says whose it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.figures.paired import paired_figures
from jdkmatrix.records.claims import ClaimCheck
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Charts, Prose
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.heat import scorecard
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.claims.estimates import Results
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence, together
from jdkmatrix.report.compare.changes import compare_sides
from jdkmatrix.report.compare.sides import ComparedSide
from jdkmatrix.report.exports import COLUMNS, results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.site.conditions import answering
from jdkmatrix.report.site.history import histories
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.judged_pages import PageOfRun, answer_of, judged, key_of, printed, row_of
from tests.support.outcome_runs import all_of, missed, refusing, scaled, with_outcomes, without_driver
from tests.support.pages import figure_in, found, section_of, table_of
from tests.support.records import altered, with_forks, with_forks_of
from tests.support.served_runs import Shape, driven_by, made_up
from tests.support.sites import built, digest_of, later
from tests.support.stepped_runs import searched

FIVE = Shape(executors=("liberty", "virtual", "platform", "liberty-aa"), blocks=5, windows=1)
ONE_JDK = replace(FIVE, jdks=("temurin-25",))
SIX = replace(ONE_JDK, windows=6)

EVEN, DOUBLE = [1, 1.01, 0.99, 1.02, 0.98], [2, 2.01, 2.03, 1.99, 2]
EVERY = (THROUGHPUT, CPU)


def with_throughput(loaded: LoadedRun, factors: dict[str, list[float]]) -> LoadedRun:
    """Scale throughput by the factors of each executor, block by block."""
    return replace(loaded, cells=tuple(scaled(cell, factors[cell.key.executor]) for cell in loaded.cells))


def test_the_family_is_what_the_page_puts_into_words_or_colours() -> None:
    """Two JDKs: virtual in two figures, platform in throughput, no p99 of a closed loop; the A/A check is apart."""
    loaded = made_up(FIVE)
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
def test_tallies_count_verdicts_and_not_intervals(figures: list[list[float]]) -> None:
    """The tally is of eight conditions on one JDK."""
    many = made_up(Shape(jdks=("temurin-25",), cpus=(1, 2), burn_us=(0, 50, 100, 200), blocks=5, windows=1))
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


def test_a_pair_one_of_whose_arms_the_gates_refused_more_often_gets_no_verdict() -> None:
    loaded = with_throughput(made_up(SIX), {"liberty": EVEN, "virtual": DOUBLE, "platform": DOUBLE, "liberty-aa": EVEN})
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
    assert notice.weight == "warn" and told in notice.text and "in the 10 windows that were refused" in notice.text


def test_how_many_forks_did_as_asked_gets_no_verdict_either() -> None:
    shape = replace(ONE_JDK, executors=("liberty", "virtual"), loads=("rate-2000",), windows=6)
    loaded = with_outcomes(made_up(shape), {"virtual": all_of(missed)})
    _, plain = judged(loaded)
    assert plain.outcomes(key_of(loaded)).differs
    _, judgements = judged(with_forks_of(loaded, "virtual", refusing))
    outcomes = judgements.outcomes(key_of(loaded))
    assert not outcomes.differs and outcomes.finding is PairFinding.NOT_JUDGED
    assert "not judged (gates refused 10 of 30 windows" in outcomes.sentence("virtual", "liberty")


def estimate(loaded: LoadedRun, versus: str, **changes: Any) -> Estimate | str:
    """Return what a claim's check takes from the throughput of virtual threads, or why it takes nothing."""
    run = JudgedRun(loaded)
    check = ClaimCheck(says="s", metric="throughput", arm="virtual", versus=versus, low=0.5, inference="i", **changes)
    return Results(run.run, run.cells, run.experiments, run.refusals).estimate(check, key_of(loaded))


def test_refusals_count_in_a_claim_between_arms_that_the_page_does_not_compare() -> None:
    why = estimate(with_forks_of(made_up(SIX), "platform", refusing), "platform")
    assert "gates refused 0 of 30 windows of virtual and 10 of 30 of platform (steal 0 and 10)" in str(why)
    assert isinstance(estimate(made_up(SIX), "platform"), Estimate)


def test_bounds_of_two_vendors_are_not_compared_as_if_they_were_exact() -> None:
    """Where every search held the highest rate that it tried, in all forks of one JDK."""
    exact = searched(made_up(replace(SIX, jdks=("semeru-21", "temurin-21"))))
    held = {"outcome": SearchOutcome.CEILING_HELD.value}

    def bounded(cell: CellRecord, fork: Fork) -> Fork:
        at_least = cell.key.jdk == "semeru-21" and fork.capacity
        return altered(fork, {"capacity": fork.capacity.model_copy(update=held)}) if at_least else fork

    def beside_vendor(loaded: LoadedRun) -> Estimate | str:
        run, mine = JudgedRun(loaded), next(c.key for c in loaded.cells if c.key.executor == "virtual")
        of_vendor = {"versus": "liberty", "versus_vendor": "semeru", "low": 0.5, "inference": "i"}
        check = ClaimCheck(says="s", metric="capacity", arm="virtual", **of_vendor)
        key = mine.model_copy(update={"jdk": "temurin-21"})
        return Results(run.run, run.cells, run.experiments, run.refusals).estimate(check, key)

    assert isinstance(beside_vendor(exact), Estimate)
    found = beside_vendor(with_forks(exact, bounded))
    assert found == "some forks have only a bound, and two ratios of bounds cannot be compared"


@pytest.mark.parametrize("versus", ["liberty", "platform"])
def test_a_difference_in_a_claim_is_of_arms_that_lost_as_many_forks(versus: str) -> None:
    """A difference is treated like a ratio."""
    one_arm = with_outcomes(made_up(SIX), {"virtual": {1: without_driver}})
    for difference in (False, True):
        why = estimate(one_arm, versus, difference=difference)
        assert why == "the two lost different numbers of forks, so they are not compared"
    both = estimate(with_outcomes(one_arm, {versus: {2: without_driver}}), versus, difference=True)
    assert isinstance(both, Estimate) and both.blocks == 3


BOTH = Shape(jdks=("temurin-25",), burn_us=(0, 100, 500), blocks=5, windows=1)


@pytest.fixture
def mixed() -> LoadedRun:
    """Return a run in which wrk2 drove the tasks of 500 µs."""
    return driven_by(made_up(BOTH), "wrk2", lambda key: key.burn_us == 500)


def test_two_drivers_never_stand_in_one_ratio(mixed: LoadedRun) -> None:
    by_key = {cell.key: cell for cell in mixed.cells}
    virtual, liberty = (by_key[key(executor)] for executor in ("virtual", "liberty"))
    assert len(paired_figures(THROUGHPUT, virtual, liberty)[0]) == 5
    (other,) = driven_by(replace(mixed, cells=(liberty,)), "wrk2").cells
    assert paired_figures(THROUGHPUT, virtual, other) == ({}, {})


def test_tables_and_charts_are_apart_by_driver_and_every_row_names_its_own(mixed: LoadedRun) -> None:
    """Therefore no heat map holds, and no line joins, points of two drivers."""
    cells = Cells(mixed.run, mixed.cells)
    assert [(piece.driver, {key.burn_us for key in piece.keys}) for piece in slices(cells)] == [
        ("loadgen", {0, 100}), ("wrk2", {500}),
    ]  # fmt: skip
    page = PageOfRun(mixed)
    assert [str(section.words).rpartition(", by ")[2].split(";")[0] for section in page.sections] == ["loadgen", "wrk2"]
    told = [f"{one.title} {one.note}" for group in found(page.page.blocks, Charts) for one in group.charts]
    assert told and not [words for words in told if "500 µs" in words and "100" in words]
    shown = section_of(page.page, "cells")
    table = table_of([shown], "Table of cells")
    assert {(figure_in(row, "Task duration, µs").sort, row["Driver"]) for row in table} == {
        (0, "loadgen"), (100, "loadgen"), (500, "wrk2"),
    }  # fmt: skip
    assert "driven by" not in str(shown.words)
    rows = list(results(page.judged))
    assert "driver" in COLUMNS and {(row["burn_us"], row["driver"]) for row in rows if row["burn_us"]} == {
        (100, "loadgen"), (500, "wrk2"),
    }  # fmt: skip
    summary = printed(mixed)
    assert "tasks of 500 µs, saturate-50, by wrk2" in summary
    assert "no added work, saturate-50, by loadgen" in summary


def test_a_cell_that_was_not_measured_stands_with_its_peers(mixed: LoadedRun) -> None:
    gone = key("virtual", burn_us=500)
    cells = Cells(mixed.run, [cell for cell in mixed.cells if cell.key != gone])
    (piece,) = [piece for piece in slices(cells) if piece.driver == "wrk2"]
    assert gone in piece.keys
    assert [len(piece.keys) for piece in slices(Cells(mixed.run, []))] == [
        len(mixed.run.cells) - len(mixed.run.not_testable)
    ]


def test_runs_of_two_drivers_are_not_pooled_and_make_no_series(tmp_path: Path) -> None:
    one = made_up(replace(BOTH, burn_us=(0,)))
    runs = [later(one, name, f"2025-01-0{day}") for day, name in enumerate(("a", "b"), start=1)]
    alike = [digest_of(run) for run in reversed(runs)]
    assert answering([(run, run.conditions[0]) for run in alike]).together is not None
    assert [len(one.runs) for one in histories(alike)[0]] == [2]
    apart = built([runs[0], driven_by(runs[1], "wrk2")], tmp_path / "site").runs
    answered = answering([(run, run.conditions[0]) for run in apart])
    assert (answered.run.run_id, answered.condition.driver, answered.together) == ("b", "wrk2", None)
    assert histories(apart) == ((), 2)
    front = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert ", by wrk2." in front and ", by loadgen." not in front
    by_load = "".join(path.read_text("utf-8") for path in (tmp_path / "site" / "by" / "jdk").glob("*.html"))
    assert "saturate-50, by wrk2" in by_load and "saturate-50, by loadgen" in by_load
    kept = json.loads((tmp_path / "site" / "data" / "runs.json").read_text())
    assert [run["conditions"][0]["driver"] for run in kept] == ["wrk2", "loadgen"]


def test_runs_of_two_drivers_are_not_compared(mixed: LoadedRun) -> None:
    sides = (ComparedSide(run.run, Cells(run.run, run.cells)) for run in (driven_by(mixed, "loadgen"), mixed))
    compared = compare_sides(*sides, threshold=0.05)
    assert {change.key.burn_us for change in compared.changes} == {0, 100}
    assert len(compared.left_out) == 2
    assert all(text.endswith("driven by loadgen before, by wrk2 after") for text in compared.left_out)


def test_evidence_on_a_claim_is_put_together_by_driver_protocol_and_release_of_the_server() -> None:
    def said(
        driver: str | None, value: float | None, release: str = "26.0.0.3", protocol: str | None = None
    ) -> ClaimEvidence:
        estimate = None if value is None else Estimate(value, value * 0.9, value * 1.1, 5, of_ratio=True)
        cell: CellKey = key(load="ping-steps-6s")
        told = CellEvidence(cell, "25", estimate, driver=driver, release=release, protocol=protocol)
        return ClaimEvidence("c", (CheckEvidence("", (told,)),))

    (check,) = together([said("wrk2", 1.2), said(None, None), said("loadgen", 0.8), said("wrk2", 1.1)]).checks
    assert [(cell.driver, len(cell.alone)) for cell in check.cells] == [("wrk2", 2), ("loadgen", 0)]
    (check,) = together([said("wrk2", 1.2), said("wrk2", 0.8, "25.0.0.12"), said("wrk2", 1.1)]).checks
    assert [(cell.release, len(cell.alone)) for cell in check.cells] == [("26.0.0.3", 2), ("25.0.0.12", 0)]
    turns, alone = (said("wrk2", 1.2, protocol=protocol) for protocol in ("interleaved", "separate"))
    (check,) = together([turns, alone, said("wrk2", None), turns]).checks
    assert [(cell.protocol, len(cell.alone)) for cell in check.cells] == [("interleaved", 2), ("separate", 0)]
