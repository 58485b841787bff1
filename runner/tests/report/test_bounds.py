"""A search for the highest rate, and figures that are only bounds: a knee, a peak or a searched rate that lies beyond
what was tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.figures.metrics import CAPACITY, KNEE, SATURATED, THROUGHPUT, leading_by_block, metrics_of
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of
from tests.support.judged_pages import PageOfRun, answer_of, judged, key_of, row_of
from tests.support.ramped_runs import LEVEL, RISING, with_ramp
from tests.support.records import altered, with_forks, with_forks_of
from tests.support.searched_runs import searched
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import site_of
from tests.support.stepped_runs import stepped_at


def ramped(loaded: LoadedRun, load: RampedLoad, capacities_rps: Mapping[str, tuple[float, ...]]) -> LoadedRun:
    """`capacities_rps`: of the five forks of each executor."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        return with_ramp(fork, load, lag_s=1, capacity_rps=capacities_rps[cell.key.executor][fork.fork - 1])

    return with_forks(loaded, changed, load=load)


def test_no_knee_is_the_best_outcome(under_rate: LoadedRun) -> None:
    none, early = (1e6,) * 5, (2000.0,) * 5
    loaded = ramped(under_rate, RISING, {"virtual": none, "liberty": early})
    cells, found = judged(loaded)
    outcomes = found.outcomes(key_of(loaded))
    assert outcomes is not None and outcomes.finding is PairFinding.BETTER
    answer = answer_of(loaded)
    assert "virtual ahead of liberty: virtual got to the end of the ramp without a knee in 5 of 5 forks" in answer.lead
    assert "to have a knee is worse" in answer.sentences[0][1]
    virtual = cells.get(key_of(loaded))
    assert virtual is not None and not virtual.by_block(KNEE)
    seen = PageOfRun(loaded).answers[0].sentences
    took = "; its median response took up to "
    said = {name: text.partition(took)[0] for name, text in seen}
    assert (said["virtual"], said["liberty"]) == ("no knee up to 3,100 requests/s", "knee at 2,100 requests/s")
    assert all(took in text for name, text in seen if name in ("virtual", "liberty"))
    mixed = ramped(under_rate, RISING, {"virtual": (*none[:3], *early[:2]), "liberty": early})
    seen = PageOfRun(mixed).answers[0].sentences
    assert dict(seen)["virtual"].startswith(
        "no knee up to 3,100 requests/s in 3 of 5 forks; knee at 2,100 requests/s in 2 of 5 forks; "
    )


def test_where_every_server_comes_to_its_knee_nobody_makes_a_story_of_it(under_rate: LoadedRun) -> None:
    early = (2000.0,) * 5
    loaded = ramped(under_rate, RISING, {"virtual": early, "liberty": early})
    assert [term for term, _ in answer_of(loaded).sentences] == ["Rate at the knee of p99"]
    assert {row_of(loaded, executor).state.value for executor in ("virtual", "liberty")} == {"ok"}


def test_a_peak_that_was_not_reached_counts(under_rate: LoadedRun) -> None:
    loaded = ramped(under_rate, LEVEL, {"virtual": (900.0,) * 5, "liberty": (2500.0,) * 5})
    assert "virtual reached the peak of the ramp in 0 of 5 forks against 5 of 5" in answer_of(loaded).lead
    assert row_of(loaded, "virtual").state.value == "fell short"
    _, found = judged(loaded)
    assert found.of(THROUGHPUT, key_of(loaded)) is not None, "what it did answer is a figure"


def test_a_peak_beyond_the_last_step_is_shown_as_a_bound(under_rate: LoadedRun, tmp_path: Path) -> None:
    loaded = stepped_at(under_rate, {"virtual": 1e6, "liberty": 3500.0})
    row = row_of(loaded, "virtual")
    assert (row.throughput.text, row.throughput.title) == ("≥ 6,000", "5 of 5 forks give a bound only")
    assert row_of(loaded, "liberty").throughput.text == "3,500"
    _, found = judged(loaded)
    assert found.of(SATURATED, key_of(loaded)) is None
    assert "virtual kept up with the highest rate in 5 of 5 forks against 0 of 5" in answer_of(loaded).lead
    notes = [one.note for one in PageOfRun(loaded).charts("Throughput over offered load")]
    assert "liberty: 3,500 requests/s at most; virtual: ≥ 6,000 requests/s" in notes
    text = (site_of([loaded], tmp_path / "site") / "index.html").read_text("utf-8")
    assert "fork 1: \\u2265 6,000 requests/s" in text, "at the dot of the chart"


def ended(loaded: LoadedRun, outcomes: Mapping[int, SearchOutcome]) -> LoadedRun:
    """The searches of `virtual` with other ends."""

    def search(fork: Fork) -> Fork:
        assert isinstance(fork.capacity, Capacity)
        outcome = outcomes.get(fork.fork)
        changed = fork.capacity.model_copy(update={"outcome": outcome.value} if outcome else {})
        return altered(fork, {"capacity": changed})

    return with_forks_of(loaded, "virtual", search)


@pytest.mark.parametrize(
    ("outcomes", "shown", "verdict"),
    [
        ({1: SearchOutcome.FLOOR_FAILED}, "< ", PairFinding.TOO_FEW_FORKS),
        ({1: SearchOutcome.CEILING_HELD}, "≥ ", PairFinding.NO_DIFFERENCE_SEEN),
        ({1: SearchOutcome.FLOOR_FAILED, 2: SearchOutcome.CEILING_HELD}, "< .+ – ≥ ", PairFinding.TOO_FEW_FORKS),
        (dict.fromkeys(range(1, 6), SearchOutcome.FLOOR_FAILED), "< ", PairFinding.WORSE),
    ],
)
def test_searches_without_an_end_inside_their_range_are_bounds(
    closed_loop: LoadedRun, outcomes: Mapping[int, SearchOutcome], shown: str, verdict: PairFinding
) -> None:
    pair = replace(closed_loop, cells=closed_loop.cells[:2])
    loaded = ended(searched(pair), outcomes)
    assert re.match(shown, row_of(loaded, "virtual").figure(CAPACITY).text)
    _, found = judged(loaded)
    outcomes_of = found.outcomes(key_of(loaded))
    assert outcomes_of is not None and outcomes_of.finding is verdict
    capacity = found.of(CAPACITY, key_of(loaded))
    assert capacity is None or capacity.verdict is Verdict.NOT_JUDGED
    compared = found.comparison(CAPACITY, key_of(loaded))
    assert compared is not None and compared.losses.numerator == len(outcomes)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return searched(synthetic_run(tmp_path_factory.mktemp("run"), Shape(executors=("liberty", "virtual", "platform"))))


def test_the_rate_that_held_leads(run: LoadedRun) -> None:
    page = PageOfRun(run)
    assert [name for name, _ in page.answers[0].sentences] == ["Rate held", "Throughput", "CPU per request"]
    assert page.maps[0].columns == ("Rate held", "Throughput", "CPU per request")
    assert len(page.charts("Rate held")) == len(page.charts("Latency over rate")) == 2
    assert "to find the highest that keeps p99 within 10.0 ms" in str(page.sections[0].words)
    assert all(row.figure(CAPACITY).sort for row in page.rows)


def test_a_curve_has_every_valid_window_and_says_which_held(run: LoadedRun) -> None:
    cells = Cells(run.run, run.cells)
    chart = PageOfRun(run).charts("Latency over rate")[0]
    marks = rows_of(chart.drawing.datasets["marks"])
    here = [cell for cell in cells if cell.key.jdk == "temurin-21.0.8"]
    searches = [fork.capacity for cell in here for fork in cell.usable]
    valid = [step for search in searches if search for step in search.steps if step.held is not None]
    assert {(mark["x"], mark["hollow"]) for mark in marks} == {(step.rate_rps, not step.held) for step in valid}
    assert all(mark["text"].endswith(": did not hold" if mark["hollow"] else ": held") for mark in marks)
    assert "requests/s held" in chart.note


def test_the_cells_page_has_the_search_of_every_fork(run: LoadedRun, tmp_path: Path) -> None:
    site = site_of([run], tmp_path / "site")
    page = next(path for path in sorted(site.rglob("*.html")) if "virtual" in path.name).read_text()
    assert page.count("Search for the highest rate") == 3
    assert "a rate known to work" in page and "did not hold" in page
    assert "&lt;b&gt;9 %&lt;/b&gt;" in page and "<b>9 %</b>" not in page
    assert "95 % of steady state after" in page


def test_the_page_leads_with_what_the_stopping_rule_looks_at(run: LoadedRun, tmp_path: Path) -> None:
    both = Shape(loads=("saturate-50", "rate-2000"))
    for loaded in (run, synthetic_run(tmp_path / "others", both)):
        for cell in loaded.cells:
            assert CellStats(cell).by_block(metrics_of(cell.load)[0]) == leading_by_block(cell)
