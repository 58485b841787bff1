"""The precision of each ratio, the cost of more, and blocks that are correlated or drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from jdkmatrix.cli.summary import summary_markdown
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.kinds import Notice, Prose, Section
from jdkmatrix.report.blocks.tables import Cell
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.facts import run_facts
from jdkmatrix.report.run_page.precision import precision_section
from jdkmatrix.report.words.numbers import missing
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.experiment_runs import experiments_of, with_seen
from tests.support.judged_pages import PageOfRun, key_of, printed
from tests.support.outcome_runs import scaled
from tests.support.pages import figure_in, found, section_of, table_of
from tests.support.records import altered, altered_run, with_forks
from tests.support.served_runs import Shape, made_up, turned_run, with_stopping

FIVE = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), blocks=5)


def precision_of(loaded: LoadedRun) -> tuple[Section, ...]:
    return precision_section(JudgedRun(loaded))


def rows_of(loaded: LoadedRun) -> list[dict[str, Cell]]:
    return table_of(precision_of(loaded), "Precision of ratios")


@pytest.mark.parametrize(
    ("precision", "max_blocks", "decision"),
    [(0.5, 20, "precise enough"), (0.0001, 5, "limit of blocks"), (0.0001, 20, "not precise enough")],
)
def test_every_ratio_says_how_far_it_is(precision: float, max_blocks: int, decision: str) -> None:
    loaded = with_stopping(made_up(FIVE), precision, max_blocks)
    cells = Cells(loaded.run, loaded.cells)
    rows = rows_of(loaded)
    assert [str(row["Ratio"]).split(" on ")[0] for row in rows] == ["virtual / liberty", "platform / liberty"]
    assert {row["Ended by"] for row in rows} == {decision}
    ratio = cells.over(THROUGHPUT, key_of(loaded)).ratio
    half = (ratio.ci_high / ratio.ci_low) ** 0.5 - 1
    assert figure_in(rows[0], "Known to").sort == pytest.approx(half)


def test_of_forks_that_took_turns_each_protocol_is_charged_with_what_it_lets_cancel() -> None:
    """The forks drift by 2 % a round: the figure of a long fork by itself would include that, rounds do not."""
    loaded = turned_run()
    turns = "Share of their rounds lost: "
    assert f"{turns}liberty 10 %, virtual 10 %." in str(found(precision_of(loaded), Prose))
    assert turns not in str(precision_of(made_up(FIVE)))
    (row,) = rows_of(loaded)
    here, fixed, time = (figure_in(row, name) for name in ("As here", "Fixed length", "Time share of fixed"))
    assert here.sort is not None and "between forks" in (here.title or "")
    assert fixed.sort is None and time.sort is None, "no fork was measured by itself"
    assert "these took turns" in (fixed.title or "")
    cells = Cells(loaded.run, loaded.cells)
    compared = cells.over(THROUGHPUT, key_of(loaded))
    assert compared.ratio.value == pytest.approx(0.7, rel=0.01), "over the rounds that both have"
    own = [cells.get(one.key) for one in loaded.cells]
    above, below = (sum(cell.by_block(THROUGHPUT).values()) for cell in own[::-1] if cell)
    assert above / below == pytest.approx(0.7 * 1.02, rel=0.01), "each fork's own figure has the drift"


def test_more_precision_costs_more_by_either_protocol() -> None:
    loaded = made_up(FIVE)
    rough, fine = (rows_of(with_stopping(loaded, precision))[0] for precision in (0.02, 0.001))
    for name in ("As here", "Fixed length"):
        cheap, dear = figure_in(rough, name).sort, figure_in(fine, name).sort
        assert isinstance(cheap, float) and isinstance(dear, float) and cheap <= dear
    assert figure_in(fine, "Time share of fixed").text.endswith(" %")
    facts = {fact.name: fact.value for fact in run_facts(with_stopping(loaded).run)}
    assert facts["Blocks"] == "5 to 20, until every ratio is known to ± 2 %, near 1 up to twice as precisely"


def test_what_has_no_cost_says_why_and_one_block_has_no_precision() -> None:
    rate = rows_of(made_up(replace(FIVE, loads=("rate-2000",))))[0]
    assert rate["Of"] == "CPU per request"
    assert figure_in(rate, "Fixed length") == missing("worked out for throughput only")
    one_window = figure_in(rows_of(made_up(replace(FIVE, windows=1)))[0], "As here")
    assert one_window.sort is None and "two windows" in (one_window.title or "")
    assert precision_of(made_up(replace(FIVE, blocks=1))) == ()


@pytest.mark.parametrize(("blocks", "ended_by"), [(2, "not complete"), (3, "fixed number")])
def test_what_a_run_that_was_cut_off_did_not_come_to_has_not_ended(blocks: int, ended_by: str) -> None:
    loaded = made_up(replace(FIVE, blocks=3))
    cells = tuple(one.model_copy(update={"forks": one.forks[:blocks]}) for one in loaded.cells)
    cut = replace(loaded, run=altered_run(loaded.run, {"status": "interrupted"}), cells=cells)
    assert {row["Ended by"] for row in rows_of(cut)} == {ended_by}
    for precision in (0.5, 0.0001):  # so few blocks are not looked at
        ends = {row["Ended by"] for row in rows_of(with_stopping(cut, precision))}
        assert (ends == {"not complete"}) == (blocks == 2)


TWELVE = Shape(jdks=("temurin-25",), executors=("liberty", "virtual", "platform"), blocks=12, windows=1)
# Factors of liberty's throughput, block by block.
SCATTERED = (1.01, 0.97, 1.02, 1.03, 0.96, 0.99, 1.04, 0.98, 0.95, 1.06, 1.05, 1.00)
WAVES = (1.00, 1.01, 1.04, 1.06, 1.05, 1.03, 0.99, 0.96, 0.95, 0.94, 0.97, 0.98)
TURNS = (1.10, 0.90, 1.11, 0.91, 1.12, 0.92, 1.08, 0.93, 1.09, 0.89, 1.13, 0.88)
RISING = (0.90, 0.92, 0.91, 0.93, 0.95, 0.94, 0.96, 0.98, 0.97, 0.99, 1.01, 1.00)
LAG, TREND = "Lag 1 correlation", "Trend first to last block"


def with_ratios(**factors: Sequence[float]) -> LoadedRun:
    """Return a run with a throughput of 1000 requests/s times the factor of each block; liberty's is always 1000."""
    cells = (scaled(cell, factors.get(cell.key.executor, [1.0] * 12)) for cell in made_up(TWELVE).cells)
    return replace(made_up(TWELVE), cells=tuple(cells))


def notice_of(loaded: LoadedRun) -> Notice | None:
    return next((notice for notice in PageOfRun(loaded).notices if notice.title == "Correlated blocks"), None)


def words_of(page: PageOfRun) -> str:
    return str(section_of(page.page, "precision").blocks[0])


def test_every_ratio_says_lag_1_and_trend_with_their_p_values_and_the_summary_has_a_line() -> None:
    waves_alone = with_ratios(virtual=WAVES, platform=SCATTERED)
    page = PageOfRun(waves_alone)
    words = words_of(page)
    assert "4 tests on this page" in words and "fewer than 6 blocks cannot show a correlation" in words
    (waves, _), (scattered, trend) = ((figure_in(row, LAG), figure_in(row, TREND)) for row in page.precision)
    assert isinstance(waves.sort, float) and waves.sort > 0.7
    assert waves.under == "adjusted p < 0.001"
    assert (scattered.text, scattered.under) == ("\u22120.11", "adjusted p 1")
    assert trend.text.endswith(" %") and (trend.title or "").endswith(" on its own")
    lines = [line for line in printed(waves_alone, width=300).splitlines() if "blocks are not independent" in line]
    assert len(lines) == 1 and "in 1 of 2 ratios (virtual / liberty on temurin-25" in lines[0]
    assert "blocks are not independent" in summary_markdown(waves_alone)


@pytest.mark.parametrize(
    ("ratios", "said", "consequence"),
    [
        (WAVES, "lag-1 correlation 0.8", "Where neighbours are alike, intervals are too narrow"),
        (TURNS, "lag-1 correlation \u22120.", "alternate up and down, intervals are too wide"),
        (RISING, "% over 12 blocks", "Where a ratio drifts"),
    ],
)
def test_the_page_warns_where_blocks_are_correlated(ratios: Sequence[float], said: str, consequence: str) -> None:
    notice = notice_of(with_ratios(virtual=ratios, platform=SCATTERED))
    assert notice is not None and notice.weight == "warn"
    assert "in 1 of 2 ratios (virtual / liberty on temurin-25, mp-ping" in notice.text
    assert said in notice.text and consequence in notice.text


def test_independent_blocks_and_few_blocks_raise_no_warning() -> None:
    quiet = with_ratios(virtual=SCATTERED, platform=SCATTERED)
    assert notice_of(quiet) is None
    assert "not independent" not in printed(quiet, width=300) + summary_markdown(quiet)
    few = with_ratios(virtual=RISING[:4], platform=RISING[:4])
    assert notice_of(few) is None
    page = PageOfRun(few)
    assert "Fewer than 5 blocks cannot show" in words_of(page)
    assert figure_in(page.precision[0], LAG) == missing("4 blocks: nothing can be said about fewer than 5")


def test_only_some_are_named() -> None:
    waves = with_ratios(virtual=WAVES, platform=WAVES)
    more = [cell.model_copy(update={"key": cell.key.model_copy(update={"burn_us": 100})}) for cell in waves.cells]
    finding = JudgedRun(replace(waves, cells=(*waves.cells, *more))).blocks.finding
    assert finding.startswith("in 4 of 4 ratios (") and finding.endswith("; 1 more)")
    assert finding.count("lag-1 correlation") == 3


def test_forks_that_fall_into_two_groups_are_named() -> None:
    title = "Forks fall into two groups"
    assert title not in {notice.title for notice in PageOfRun(with_ratios(virtual=SCATTERED)).notices}
    factors = [1.0, 1.01, 0.99, 0.92, 1.005, 0.995, 1.0, 0.91, 1.01, 0.925, 1.0, 0.99]
    (found,) = (one for one in PageOfRun(with_ratios(virtual=factors)).notices if one.title == title)
    assert found.weight == "warn"
    assert found.text.startswith("In 1 of 1 cell with at least 8 forks (mp-ping · temurin-25 · virtual · ")
    assert "3 and 9 forks, 8." in found.text and "% apart, adjusted p < 0.001)" in found.text, found.text


def test_so_are_programs_that_end_up_in_one_of_two_states() -> None:
    """Some JVMs borrow eight times as often as others, whatever the version of the pool."""
    title, many = "Forks fall into two groups", experiments_of("borrow", forks=12)
    assert title not in {notice.title for notice in PageOfRun(many).notices}

    def of_two_kinds(cell: CellRecord, fork: Fork) -> Fork:
        if cell.key.workload != "borrow-agroal" or fork.result is None or fork.fork % 3:
            return fork
        faster = with_seen(fork.result, {"throughput_per_s": 8 * fork.result.seen["throughput_per_s"]})
        return altered(fork, {"result": faster})

    (told,) = (one for one in PageOfRun(with_forks(many, of_two_kinds)).notices if one.title == title)
    assert told.text.startswith("In 2 of 6 cells with at least 8 forks (borrow-agroal"), told.text
