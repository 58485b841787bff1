"""Forks that fell short, failed or were lost, on the pages: nothing drops out, and no ratio passes it over."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace

import pytest

from jdkmatrix.figures.metrics import CPU, P99, THROUGHPUT
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Prose, Tiles
from jdkmatrix.report.cell_page.fork_windows import window_tables
from jdkmatrix.report.cells.advice import OUTCOME, Side, advise
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.heat import mapped, scorecard
from jdkmatrix.report.cells.shown import state_text
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import count_forks
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.report.run_page.over_time import became
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.words.sentences import PairFinding, State
from jdkmatrix.stats.percentiles import merge_latencies, tail_checked
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_of
from tests.support.judged_pages import PageOfRun, answer_of, cell_of, judged, key_of, page_of, row_of
from tests.support.outcome_runs import (
    Change,
    all_of,
    failed,
    failing,
    hung,
    missed,
    silent,
    spoilt,
    windows_of,
    with_outcomes,
    without_driver,
)
from tests.support.pages import figure_in, found, section_of, table_of, tiles_of
from tests.support.ramped_runs import LEVEL, RISING, ramped
from tests.support.records import with_forks, with_load
from tests.support.served_runs import FIVE, QUICK, made_up
from tests.support.stepped_runs import searched


def test_an_arm_that_never_held_the_rate_is_worse_and_not_absent(under_rate: LoadedRun) -> None:
    loaded = with_outcomes(under_rate, {"virtual": all_of(missed)})
    cells, judgements = judged(loaded)
    assert judgements.comparisons == 1, "no ratio has a pair; the outcomes are judged"
    assert all(judgements.of(metric, key_of(loaded)) is None for metric in (CPU, P99))
    answer = answer_of(loaded)
    assert answer.lead == "temurin-25: liberty ahead of virtual: virtual held the rate in 0 of 5 forks against 5 of 5"
    held = "virtual held the rate in 0 of 5 forks against 5 of 5 with liberty: worse (adjusted p 0.00794)."
    assert answer.sentences == (("Held the rate", held),)
    (part,) = slices(cells)
    heat = scorecard(judgements, mapped(judgements, part, (CPU, P99)), part).rows[0][1]
    assert (heat[0].value, heat[0].interval, heat[0].tone, heat[0].decided) == ("0/5", "against 5/5", "d4", True)
    assert [cell.basis for cell in heat[1:]] == ["no pair", "no pair"]
    row = row_of(loaded, "virtual")
    assert (row.outcome.text, row.outcome.under, row.outcome.amber) == ("0 of 5", "worse", True)
    assert row.state.value == state_text(row.cell) == "fell short" and row.forks == "5/5"
    assert row.throughput.text != "–" and row.cpu.text != "–", "what was measured is shown"
    assert row.cpu.amber and "in no ratio" in (row.cpu.title or "")
    fork = section_of(page_of(loaded), "fork-1")
    assert fork.title == 'Fork 1 <span class="badge fell-short">fell short</span>'
    assert "Window 1 fell short: 6,000 of 8,000 requests that were due were answered" in {
        one.text for one in found([fork], Prose)
    }


def test_p99_of_a_fork_that_missed_the_rate_is_at_least_what_was_seen(under_rate: LoadedRun) -> None:
    loaded = with_outcomes(under_rate, {"virtual": {2: missed}})
    p99 = row_of(loaded, "virtual").percentile("99")
    assert p99.text.startswith("≥ ") and p99.under is None
    due = cell_of(loaded).forks[1].windows[0].load
    count = Cells(loaded.run, loaded.cells).get(key_of(loaded)).latency.count
    assert p99.title == (
        f"at least: 1 of 5 forks fell short; {due.lower_bounds:,} requests of {count:,} had no answer and count "
        "with the time that they had waited"
    )
    assert tiles_of(page_of(loaded))["p99"].text == p99.text
    cells, _ = judged(loaded)
    assert set(cells.get(key_of(loaded)).by_block(P99)) == {1, 3, 4, 5}
    tables = (window_tables(fork.windows, fork.fork) for fork in cell_of(loaded).forks[:2])
    shown = [figure_in(table_of(one, "Latency by window")[0], "p99 ms").text for one in tables]
    assert [text.startswith("≥ ") for text in shown] == [False, True]
    assert not row_of(under_rate, "virtual").percentile("99").text.startswith("≥")


@pytest.mark.parametrize(
    ("forks", "verdict"),
    [
        ({1: missed, 2: silent, 3: hung, 4: hung, 5: missed}, PairFinding.WORSE),
        ({1: missed, 2: missed}, PairFinding.TOO_FEW_FORKS),
        ({}, PairFinding.NO_DIFFERENCE_SEEN),
    ],
)
def test_forks_that_fail_by_themselves_count_with_those_that_fall_short(
    under_rate: LoadedRun, forks: Mapping[int, Change], verdict: PairFinding
) -> None:
    loaded = with_outcomes(under_rate, {"virtual": forks})
    _, judgements = judged(loaded)
    outcomes = judgements.outcomes(key_of(loaded))
    assert outcomes.finding is verdict
    assert (outcomes.contrast.numerator.yes, outcomes.contrast.numerator.told) == (5 - len(forks), 5)


def test_equal_shares_are_no_answer_where_they_leave_a_difference_open(under_rate: LoadedRun) -> None:
    """Neither three forks, of which no test can tell, nor five give an answer."""
    for forks in (3, 5):
        cells = tuple(cell.model_copy(update={"forks": cell.forks[:forks]}) for cell in under_rate.cells)
        fewer = replace(under_rate, cells=cells, run=under_rate.run.model_copy(update={"order": ()}))
        equal = with_outcomes(fewer, {"liberty": {1: missed, 2: missed}, "virtual": {1: missed, 3: missed}})
        _, judgements = judged(equal)
        assert judgements.outcomes(key_of(fewer)).finding is PairFinding.TOO_FEW_FORKS


def test_what_forks_did_leads_only_where_it_differs_or_nothing_is_decided(under_rate: LoadedRun) -> None:
    """The front page and the terminal agree with the page of the run."""
    for virtual, first in (({1: missed}, CPU.id), (all_of(missed), OUTCOME)):
        loaded = with_outcomes(under_rate, {"liberty": {1: missed}, "virtual": virtual})
        _, judgements = judged(loaded)
        advice = advise(judgements, key_of(loaded))
        assert advice[0].figure == first and advice[0].side is not Side.OPEN
        assert OUTCOME in {one.figure for one in advice}, "it is told in any case"


def test_too_few_forks_say_how_many_would_do(under_rate: LoadedRun) -> None:
    """Reference runs have three of three against none of three: Fisher's p is 0.1 at best."""
    cells = tuple(cell.model_copy(update={"forks": cell.forks[:3]}) for cell in under_rate.cells)
    three = replace(under_rate, cells=cells, run=under_rate.run.model_copy(update={"order": ()}))
    loaded = with_outcomes(three, {"liberty": all_of(missed, 3)})
    assert dict(answer_of(loaded).sentences)["Held the rate"] == (
        "virtual held the rate in 3 of 3 forks against 0 of 3 with liberty: too few forks to tell, 4 of each would do."
    )
    told = {"liberty": dict.fromkeys((1, 2, 3, 4), missed), "virtual": {1: missed}}
    _, judgements = judged(with_outcomes(under_rate, told))
    assert judgements.outcomes(key_of(under_rate)).forks_needed == 10, "6 of 7 against 1 of 7 is not what was seen"
    _, judgements = judged(with_outcomes(under_rate, {"virtual": {1: missed}}))
    assert judgements.outcomes(key_of(under_rate)).forks_needed > 5
    _, judgements = judged(under_rate)
    assert judgements.outcomes(key_of(under_rate)).forks_needed is None, "there is nothing to tell"


def test_forks_lost_to_the_host_are_in_no_denominator_and_are_told(under_rate: LoadedRun) -> None:
    loaded = with_outcomes(under_rate, {"virtual": {1: missed, 2: spoilt, 3: without_driver}})
    said = dict(answer_of(loaded).sentences)["Held the rate"]
    assert said.startswith("virtual held the rate in 2 of 3 forks against 5 of 5 with liberty: too few forks to tell")
    assert "2 and 0 more forks were lost to faults of the host or of the measurement" in said
    other = with_outcomes(under_rate, {"virtual": {1: missed}, "liberty": {2: spoilt}})
    assert "0 and 1 more forks were lost" in dict(answer_of(other).sentences)["Held the rate"]


@pytest.mark.parametrize(
    "changes",
    [
        {"virtual": {1: spoilt, 2: spoilt, 4: spoilt}},
        {"virtual": {1: hung, 2: without_driver, 4: spoilt}},
        {"liberty": {1: spoilt, 2: spoilt, 4: spoilt}},
    ],
)
def test_arms_that_lost_different_numbers_of_forks_are_not_judged(
    closed_loop: LoadedRun, changes: Mapping[str, Mapping[int, Change]]
) -> None:
    _, plain = judged(closed_loop)
    loaded = with_outcomes(closed_loop, changes)
    cells, judgements = judged(loaded)
    assert judgements.comparisons < plain.comparisons, "they leave the family"
    key = key_of(loaded)
    for metric in (THROUGHPUT, CPU):
        assert plain.of(metric, key).verdict is Verdict.DIFFERENT
        now = judgements.of(metric, key)
        assert (now.verdict, now.p_adjusted) == (Verdict.NOT_JUDGED, None)
        assert now.ratio.blocks == 2 and now.ratio.p_value is not None, "it could have been"
    one, other = (3, 0) if "virtual" in changes else (0, 3)
    lost = f"there is no figure to compare in {one} of 5 forks of virtual and {other} of 5 of liberty"
    answer = answer_of(loaded)
    assert answer.lead == f"temurin-25: throughput not judged: {lost}" and answer.amber
    assert dict(answer.sentences)["Throughput"].startswith(f"not judged: {lost} (ratio ")
    (part,) = slices(cells)
    heat = scorecard(judgements, (THROUGHPUT,), part).rows[0][1][0]
    assert (heat.tone, heat.basis, heat.decided) == ("unjudged", "not judged", False)
    versus = row_of(loaded, "virtual").versus
    assert versus.amber and (versus.under or "").endswith("not judged")
    assert "not judged: the arms have no figure" in (versus.title or "")
    assert table_of(precision_section(JudgedRun(loaded)), "Precision")[0]["Ended by"] == "not judged"


def test_arms_that_lost_as_many_are_judged_by_the_blocks_that_are_left(closed_loop: LoadedRun) -> None:
    loaded = with_outcomes(closed_loop, {"virtual": {1: spoilt}, "liberty": {5: spoilt}})
    _, judgements = judged(loaded)
    one = judgements.of(THROUGHPUT, key_of(loaded))
    assert (one.verdict, one.ratio.blocks) == (Verdict.DIFFERENT, 3)
    assert ", paired in blocks 2, 3, 4; " in dict(answer_of(loaded).sentences)["Throughput"]


def test_a_check_of_an_executor_against_itself_is_not_judged_either(closed_loop: LoadedRun) -> None:
    loaded = with_outcomes(closed_loop, {"liberty-aa": {1: spoilt}})
    told = {notice.title: notice for notice in run_notices(JudgedRun(loaded))}
    assert told["A/A check not judged"].weight == "warn"
    assert told["A/A check not judged"].text.endswith("the arms have no figure to compare in 1 and 0 of 5 forks.")


def test_a_check_whose_forks_miss_their_rate_is_one_of_outcomes() -> None:
    plain = made_up(replace(FIVE, loads=("rate-2000",), executors=("liberty", "liberty-aa")))

    def noticed(loaded: LoadedRun, title: str) -> str:
        (text,) = (notice.text for notice in run_notices(JudgedRun(loaded)) if notice.title == title)
        return text

    loaded = with_outcomes(plain, {"liberty-aa": all_of(missed)})
    _, judgements = judged(loaded)
    assert (judgements.comparisons, judgements.checks) == (0, 1)
    assert "held the rate in 0 of 5 forks against 5 of 5" in noticed(loaded, "A/A check failed")
    # Usable forks without the figure are not called unusable: their CPU per request is that of another load.
    both = with_outcomes(loaded, {"liberty": all_of(missed)})
    text = noticed(both, "No A/A check")
    assert text.endswith("rate-2000, no ratio of CPU per request: no block has this figure for both.")
    assert (row_of(both, "liberty-aa").versus.title or "").startswith("no block has this figure for both; the arms")


def test_a_server_that_never_answers_has_no_figure_and_is_told(under_rate: LoadedRun) -> None:
    loaded = with_outcomes(under_rate, {"virtual": all_of(silent)})
    row = row_of(loaded, "virtual")
    assert row.throughput.text == row.cpu.text == row.percentile("99").text == "–"
    assert (row.state.value, row.outcome.text) == ("fell short", "0 of 5")
    cells, _ = judged(loaded)
    assert cells.get(key_of(loaded)).state is State.FELL_SHORT
    assert PageOfRun(loaded).troubles[0].reasons == ("forks 1-5: no request was answered",)


def test_failed_requests_of_a_closed_loop_are_counted_and_in_no_throughput(closed_loop: LoadedRun) -> None:
    loaded = with_outcomes(closed_loop, {"virtual": {3: failing}})
    row, before = row_of(loaded, "virtual"), row_of(closed_loop, "virtual")
    assert (row.throughput.under or "").endswith("; 50 failed") and row.throughput.amber
    assert row.throughput.sort < before.throughput.sort, "10 answers of another status are gone"
    assert row.state.value == "fell short" and "failed" not in (before.throughput.under or "")
    assert (tiles_of(page_of(loaded))["Throughput"].under or "").endswith("5 forks; 50 failed")


def test_what_the_first_line_of_a_page_counts(closed_loop: LoadedRun) -> None:
    assert count_forks(closed_loop).text == "20 of 20 forks usable" and not count_forks(closed_loop).amber
    loaded = with_outcomes(closed_loop, {"virtual": {1: spoilt, 2: hung, 3: failing}, "platform": {4: without_driver}})
    first = loaded.cells[0]
    forks = (first.forks[0].model_copy(update={"attempt": 3}), *first.forks[1:])
    again = first.model_copy(update={"forks": forks, "attempts": (spoilt(first.forks[0]), spoilt(first.forks[0]))})
    loaded = replace(loaded, cells=(again, *loaded.cells[1:3]))
    count = count_forks(loaded)
    assert count.amber
    assert count.text == (
        "12 of 20 forks usable: 2 lost to faults of the host or of the measurement, 1 lost to the server’s own doing, "
        "5 without a readable record; 1 measured again"
    )
    assert count.usable == 12
    ended = failed(Reason(code="program", message="ended with status 1"))
    alone = with_forks(experiments_of(forks=2), lambda cell, fork: ended(fork) if fork.fork == 1 else fork)
    assert count_forks(alone).text.endswith(" lost to the program’s own doing")


def test_a_block_without_its_partner_is_in_no_ratio_and_a_planned_fork_without_a_record_is_lost() -> None:
    """The order of the forks in the file does not matter."""
    loaded = made_up(replace(QUICK, blocks=3, jdks=("temurin-25",)))
    pool, virtual = loaded.cells
    turned = virtual.model_copy(update={"forks": virtual.forks[:0:-1]})
    compared = Cells(loaded.run, [pool, turned]).over(THROUGHPUT, virtual.key)
    assert (compared.ratio.blocks, set(compared.pairs)) == (2, {2, 3})
    assert (compared.losses.numerator, compared.losses.denominator) == (1, 0)


def test_the_pairs_behind_a_ratio_are_told(under_rate: LoadedRun) -> None:
    """p99 of a cell is that of all its requests, its ratio is one of the forks' own p99: the sentence says of which."""
    said = dict(answer_of(under_rate).sentences)
    assert "paired in" not in said["CPU per request"], "that is what the cells' own figures say"
    _, judgements = judged(under_rate)
    compared = judgements.comparison(P99, key_of(under_rate))
    mean_us = statistics.geometric_mean(above for above, _ in compared.pairs.values())
    assert f", {mean_us / 1000:.3g} against " in said["p99 latency"]
    assert "as the mean of the forks’ own p99" in said["p99 latency"]
    of_cell = page_of(under_rate).blocks
    assert [len(table_of(of_cell, f"Blocks of {one}")) for one in ("CPU per request", "p99 latency")] == [5, 5]
    title = row_of(under_rate, "virtual").versus.title or ""
    assert all(f"block {block}: " in title for block in range(1, 6))


def test_many_conditions_are_tallied_with_the_widest_gap() -> None:
    shape = replace(FIVE, loads=("rate-2000",), cpus=(1, 2), burn_us=(0, 100))
    plain = made_up(shape)
    worst = key_of(plain, cpus=2)

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        number = 5 if cell.key == worst else 1
        return missed(fork) if cell.key.executor == "virtual" and fork.fork <= number else fork

    loaded = with_forks(plain, changed)
    assert dict(answer_of(loaded).sentences)["Held the rate"] == (
        "liberty better in 1 of 4 conditions, too few forks to tell in 3. The largest difference: 0 of 5 forks with "
        "virtual, 5 of 5 with liberty, with 2 CPUs, no added work."
    )
    assert [one.title for one in PageOfRun(loaded).maps] == ["Held the rate", "CPU per request", "p99 latency"]
    both = with_outcomes(plain, {"virtual": all_of(missed), "liberty": all_of(missed)})
    assert dict(answer_of(both).sentences)["Held the rate"] == (
        "no difference seen in all 4 conditions. For example: 0 of 5 forks with virtual, 0 of 5 with liberty, "
        "with 1 CPU, no added work."
    ), "no difference is called the largest"


@pytest.mark.parametrize("changes", [{}, {1: missed}, {1: silent, 2: spoilt}, {1: failing, 3: hung, 4: missed}])
def test_p99_is_that_of_all_requests_of_the_usable_forks(under_rate: LoadedRun, changes: Mapping[int, Change]) -> None:
    """The expected p99 is worked out as one would by hand, without the report."""
    loaded = with_outcomes(under_rate, {"virtual": changes})
    record = cell_of(loaded)
    usable = [fork for fork in record.forks if fork.status is Status.OK]
    windows = [window for fork in usable for window in fork.windows if window.load.completed]
    p99_us = tail_checked(merge_latencies([w.load.corrected for w in windows if w.load.corrected]), "99")
    p99 = row_of(loaded, "virtual").percentile("99")
    assert p99_us is not None and p99.sort == p99_us
    assert float(p99.text.removeprefix("≥ ").replace(",", "")) == pytest.approx(p99_us / 1000, rel=0.005)


def test_words_for_few_forks_are_those_of_a_few() -> None:
    three = made_up(replace(FIVE, blocks=3))
    answer = answer_of(with_outcomes(three, {"virtual": {1: spoilt}, "liberty": {2: spoilt}}))
    assert answer.lead == "temurin-25: one block has both, only a hint", "of several that were measured"
    one = made_up(replace(FIVE, blocks=1, loads=("rate-2000",)))
    tiles = (
        tile
        for group in found(page_of(with_outcomes(one, {"virtual": {1: missed}})).lede, Tiles)
        for tile in group.tiles
    )
    assert [(tile.figure.text, tile.unit) for tile in tiles if tile.name == "Held the rate"] == [("0 of 1", "fork")]


def test_an_arm_without_a_usable_fork_is_not_said_to_have_missed_peak_knee_or_rate() -> None:
    for loaded, title in (
        (ramped(LEVEL), "Throughput second by second"),
        (ramped(RISING), "p99 second by second"),
        (searched(made_up(replace(FIVE, blocks=2))), "Latency over rate"),
    ):
        failed = with_outcomes(loaded, {"virtual": all_of(hung, 2)})
        (note,) = (chart.note for chart in PageOfRun(failed).charts(title))
        assert "virtual: no usable fork" in note.split("; "), title


def test_a_backlog_that_is_left_at_the_end_was_not_worked_off() -> None:
    """The server stands still for 15 s, and then answers more than it is asked for until the ramp ends."""

    def late(one: Window) -> Window:
        intervals = (
            second.model_copy(update={"completed": 0 if second.t_s <= 15 else 1200}) for second in one.load.intervals
        )
        return with_load(one, {"intervals": tuple(intervals)})

    loaded = with_forks(ramped(LEVEL), lambda _, fork: windows_of(fork, late))
    (said,) = became(CellStats(loaded.cells[0]))
    assert said.startswith("did not reach 1,000 requests/s; its median response took")
