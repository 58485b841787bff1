"""How precisely ratios are known, and what more precision costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.records.run import Stopping
from jdkmatrix.report.blocks.kinds import Prose, Section
from jdkmatrix.report.blocks.tables import Cell
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import run_facts
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.words.numbers import missing, span
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import figure_in, found, table_of
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import site_of
from tests.support.turned_runs import turned_run

FIVE = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), blocks=5)


def with_stopping(loaded: LoadedRun, precision: float, max_blocks: int = 20) -> LoadedRun:
    rules = Stopping(precision=precision, min_blocks=5, max_blocks=max_blocks)
    return replace(loaded, run=loaded.run.model_copy(update={"stopping": rules}))


def precision_of(loaded: LoadedRun) -> tuple[Section, ...]:
    return precision_section(JudgedRun(loaded))


def rows_of(loaded: LoadedRun) -> list[dict[str, Cell]]:
    return table_of(precision_of(loaded), "Precision of ratios")


@pytest.mark.parametrize(
    ("precision", "max_blocks", "decision"),
    [(0.5, 20, "precise enough"), (0.0001, 5, "the most blocks"), (0.0001, 20, "not precise enough")],
)
def test_every_ratio_says_how_far_it_is(tmp_path: Path, precision: float, max_blocks: int, decision: str) -> None:
    loaded = with_stopping(synthetic_run(tmp_path, FIVE), precision, max_blocks)
    cells = Cells(loaded.run, loaded.cells)
    rows = rows_of(loaded)
    assert [str(row["Ratio"]).split(" on ")[0] for row in rows] == ["virtual / liberty", "platform / liberty"]
    assert {row["Ended by"] for row in rows} == {decision}
    key = next(cell.key for cell in loaded.cells if cell.key.executor == "virtual")
    compared = cells.compare(THROUGHPUT, key, "liberty")
    ratio = compared.ratio if compared else None
    assert ratio is not None and ratio.ci_high is not None and ratio.ci_low is not None
    half = (ratio.ci_high / ratio.ci_low) ** 0.5 - 1
    assert figure_in(rows[0], "Known to").sort == pytest.approx(half)


def test_of_forks_that_took_turns_each_protocol_is_charged_with_what_it_lets_cancel(tmp_path: Path) -> None:
    """They drift by 2 % a round, which a long fork by itself would have in its figure, and rounds have not."""
    loaded = turned_run(tmp_path)
    turns = "So much of their rounds was lost: "
    assert f"{turns}liberty 10 %, virtual 10 %." in str(found(precision_of(loaded), Prose))
    assert turns not in str(precision_of(synthetic_run(tmp_path / "separate", FIVE)))
    (row,) = rows_of(loaded)
    here, fixed, time = (figure_in(row, name) for name in ("As here", "Fixed length", "Time share of fixed"))
    assert here.sort is not None and "between forks" in (here.title or "")
    assert fixed.sort is None and time.sort is None, "no fork was measured by itself"
    assert "these took turns" in (fixed.title or "")
    cells = Cells(loaded.run, loaded.cells)
    key = next(cell.key for cell in loaded.cells if cell.key.executor == "virtual")
    compared = cells.compare(THROUGHPUT, key, "liberty")
    assert compared is not None and compared.ratio is not None
    assert compared.ratio.value == pytest.approx(0.7, rel=0.01), "over the rounds that both have"
    own = [cells.get(one.key) for one in loaded.cells]
    above, below = (sum(cell.by_block(THROUGHPUT).values()) for cell in own[::-1] if cell)
    assert above / below == pytest.approx(0.7 * 1.02, rel=0.01), "each fork's own figure has the drift"


def test_intervals_of_such_a_run_are_wider(tmp_path: Path) -> None:
    fixed = synthetic_run(tmp_path, FIVE)
    key = next(cell.key for cell in fixed.cells if cell.key.executor == "virtual")
    plain, sequential = (
        compared.ratio
        for run in (fixed, with_stopping(fixed, 0.02))
        if (compared := Cells(run.run, run.cells).compare(THROUGHPUT, key, "liberty"))
    )
    assert plain is not None and sequential is not None
    assert plain.value == sequential.value
    assert plain.half_width_log is not None and sequential.half_width_log is not None
    assert sequential.half_width_log > 1.1 * plain.half_width_log


def test_more_precision_costs_more_by_either_protocol(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, FIVE)
    rough, fine = (rows_of(with_stopping(loaded, precision))[0] for precision in (0.02, 0.001))
    for name in ("As here", "Fixed length"):
        cheap, dear = figure_in(rough, name).sort, figure_in(fine, name).sort
        assert isinstance(cheap, float) and isinstance(dear, float) and cheap <= dear
    assert figure_in(fine, "Time share of fixed").text.endswith(" %")


def test_a_constant_rate_has_a_precision_and_no_cost(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, loads=("rate-2000",)))
    row = rows_of(loaded)[0]
    assert row["Of"] == "CPU per request"
    assert figure_in(row, "Fixed length") == missing("worked out for throughput only")


def test_one_block_has_no_precision(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, blocks=1))
    assert precision_of(loaded) == ()


def test_one_window_per_fork_says_why_there_is_no_cost(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(FIVE, windows=1))
    here = figure_in(rows_of(loaded)[0], "As here")
    assert here.sort is None and "two windows" in (here.title or "")


def test_the_page_has_it(tmp_path: Path) -> None:
    loaded = with_stopping(synthetic_run(tmp_path / "run", FIVE), 0.02)
    page = (site_of([loaded], tmp_path / "site") / "index.html").read_text()
    assert "Precision and its cost" in page
    assert "one such ratio to ± 2.0 %" in page
    facts = {fact.name: fact.value for fact in run_facts(loaded.run)}
    assert facts["Blocks"] == "5 to 20, until every ratio is known to ± 2 %"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(48.2, "48 s"), (730, "12 min"), (12_000, "3 h 20 min"), (500_000, "5 d 19 h"), (1_000_000, "12 days")],
)
def test_spans_in_words(seconds: float, words: str) -> None:
    assert span(seconds) == words
