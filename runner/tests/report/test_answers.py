"""The answer first: from which delay on one executor is ahead, what may be why one is behind, and what tunings gain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.report.blocks.kinds import Charts, Items
from jdkmatrix.report.cells.advice import advise, likely_cause
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.charts.shapes import dash_of
from jdkmatrix.report.run_page.answers import crossover_sentence
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.intervals import CONFIDENCE, SEQUENTIAL_CONFIDENCE
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, cell_page_of, found, judged, key_of, plain, printed
from tests.support.served_runs import Shape, synthetic_run, with_stopping
from tests.support.sites import reference

BETTER, WORSE, SAME = PairFinding.BETTER, PairFinding.WORSE, PairFinding.NO_DIFFERENCE_SEEN


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ({0: WORSE, 2000: SAME, 20_000: BETTER, 1_000_000: BETTER},
         "virtual is ahead from a delay of 20 ms on; it is not shown to be at 0 ms and 2 ms; liberty is ahead at 0 ms; "
         "nothing is shown at 2 ms. Measured: 0 ms, 2 ms, 20 ms and 1 s."),
        ({0: BETTER, 2000: BETTER}, "virtual is ahead at every delay that was measured. Measured: 0 ms and 2 ms."),
        ({0: WORSE, 2000: WORSE},
         "virtual is not shown to be ahead at any delay that was measured; liberty is ahead at 0 ms and 2 ms. "
         "Measured: 0 ms and 2 ms."),
        ({0: SAME, 2000: BETTER, 20_000: WORSE},
         "virtual is ahead at 2 ms, but not at every longer delay; liberty is ahead at 20 ms; nothing is shown at "
         "0 ms. Measured: 0 ms, 2 ms and 20 ms."),
        ({0: SAME, 2000: BETTER, 20_000: None, 200_000: BETTER},
         "virtual is ahead at 2 ms and from a delay of 200 ms on; it is not shown to be at 0 ms; nothing is shown at "
         "0 ms; no verdict at 20 ms. Measured: 0 ms, 2 ms, 20 ms and 200 ms."),
    ],
)  # fmt: skip
def test_what_the_page_says(findings: dict[int, PairFinding | None], expected: str) -> None:
    assert crossover_sentence(findings, "virtual", "liberty") == expected


def test_the_figures_of_a_run_that_looked_at_its_intervals_know_their_confidence(tmp_path: Path) -> None:
    """Pooled with those of other runs, they would else count for less than they are."""
    fixed = synthetic_run(tmp_path, Shape(jdks=("temurin-25",), blocks=4))
    for run, confidence in ((fixed, CONFIDENCE), (with_stopping(fixed), SEQUENTIAL_CONFIDENCE)):
        _, judgements = judged(run)
        estimate = advise(judgements, key_of(run))[0].estimate()
        assert (estimate.blocks, estimate.confidence) == (4, confidence)


def cells_of(loaded: LoadedRun, workload: str) -> dict[str, CellStats]:
    return {cell.key.executor: cell for cell in Cells(loaded.run, loaded.cells) if cell.key.workload == workload}


def test_context_switches_are_a_likely_cause_where_the_cpu_is_what_one_is_behind_in() -> None:
    def cause(cells: dict[str, CellStats], virtual: str, pool: str, ahead: str | None = None) -> str | None:
        return likely_cause({name: cells[name] for name in (virtual, pool)}, ahead)

    quick = cells_of(reference("20261124T182303Z-quick"), "mp-ping")
    assert cause(quick, "virtual", "liberty", "liberty") is not None
    assert cause(quick, "virtual", "liberty", "virtual") is None, "fewer are no reason to be behind"
    assert cause(quick, "virtual", "liberty") is None, "none is behind"
    bank = cells_of(reference("20261128T125116Z-quick"), "banking")
    assert cause(bank, "virtual", "liberty", "liberty") is None, "twice as many, on CPUs that idle"
    pinned = cells_of(reference("20261124T043223Z-pinning-http.small"), "pinning-http-synchronized")
    assert cause(pinned, "virtual+carriers-max-4", "fixed-60", "fixed-60") is None, "they wait for a carrier"


def test_a_likely_cause_stands_below_the_ratio_and_two_figures_for_one_thing_say_why() -> None:
    """37,500 in the sentence and 37,540 in the table: forks that took turns are compared in the rounds of both."""
    page = PageOfRun(reference("20261124T182303Z-quick"))
    said = page.answers[0].sentences
    assert said[-1] == ("A likely cause", "context switches per request: 2.04 with virtual, 0.172 with liberty.")
    assert dict(said)["Throughput"].endswith("37,500 against 58,840 requests/s in the rounds that count in both).")
    assert {row.throughput.text for row in page.rows if row.key.executor == "virtual"} != {"37,500"}


@pytest.mark.parametrize(
    ("run_id", "cause"),
    [
        ("20261124T182303Z-quick", "context switches per request: 2.04 with virtual, 0.172 with liberty."),
        (
            "20261128T125116Z-quick",
            "with virtual the server was held up with 17 to 19 % of its CPUs in use: probably pinned carriers (before "
            "JDK 24, waiting inside synchronized pins them).",
        ),
    ],
)
def test_run_and_cell_say_what_may_be_why_one_is_behind(run_id: str, cause: str) -> None:
    run = reference(run_id)
    assert ("A likely cause", cause) in PageOfRun(run).answers[0].sentences
    (behind,) = (one.key for one in run.cells if one.key.executor == "virtual")
    (against,) = (one for one in found(cell_page_of(run, behind).blocks, Items) if one.css == "against")
    assert plain(against.items[-1]) == f"A likely cause: {cause}"


def test_the_strongest_figure_of_a_ramp_is_told() -> None:
    said = dict(PageOfRun(reference("20261128T045823Z-infoq-rampup.small")).answers[0].sentences)
    assert "its median response took up to 9.31 s in the worst second" in said["liberty"]
    assert "its median response took up to 1.12 s in the worst second" in said["virtual"]


TUNED = "virtual+carriers-4"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    shape = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", TUNED), blocks=4)
    return synthetic_run(tmp_path_factory.mktemp("run"), shape)


def test_the_answer_says_what_each_tuning_gains_and_cells_and_summary_over_what(run: LoadedRun) -> None:
    page = PageOfRun(run)
    (answer,) = page.answers
    sentences = dict(answer.sentences)
    assert f"with {TUNED} than with virtual" in sentences[TUNED] or f"between {TUNED} and virtual" in sentences[TUNED]
    assert list(sentences)[-1] == TUNED, "after what the run is about"
    assert page.judged.cells.references == "liberty or virtual"
    under = {row.key.executor: row.versus.under for row in page.rows}
    assert (under[TUNED] or "").endswith("of virtual")
    assert " of " not in (under["virtual"] or "")
    summary = printed(run)
    assert "× liberty or virtual" in summary
    assert "a tuned executor over itself without the tuning" in " ".join(summary.split())


def test_no_two_executors_have_the_same_colour_and_dash() -> None:
    assert len({(place % 8, *dash_of(place)) for place in range(64)}) == 64


def test_the_legend_has_what_was_measured(run: LoadedRun) -> None:
    absent = next(key for key in run.run.cells if key.executor == TUNED)
    less = replace(run, cells=tuple(cell for cell in run.cells if cell.key != absent))
    for loaded, names in ((run, ["liberty", "virtual", TUNED]), (less, ["liberty", "virtual"])):
        groups = found(PageOfRun(loaded).page.blocks, Charts)
        assert groups and all([plain(one) for one in group.key] == names for group in groups)


def test_of_several_conditions_what_each_tuning_gains_is_a_tally(tmp_path: Path) -> None:
    shape = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", TUNED), burn_us=(0, 100), blocks=2)
    (answer,) = PageOfRun(synthetic_run(tmp_path, shape)).answers
    assert " in all 2 conditions. The largest difference: " in dict(answer.sentences)[TUNED]
