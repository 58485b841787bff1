"""The latency of a cell: all its forks as one distribution, with what the forks say of each percentile."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.domain.loads import JoinLoad
from jdkmatrix.figures.fork_figures import chosen, distribution_of, fork_latency, p99_us
from jdkmatrix.figures.metrics import P99
from jdkmatrix.loads.base import Bound, ForkFigure
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.report.cell_page.fork_windows import window_tables
from jdkmatrix.report.cell_page.logs import publish
from jdkmatrix.report.cells.advice import advise
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.pooled import MAX_CURVE_POINTS, Pooled, pool
from jdkmatrix.report.cells.shown import KIND_WORDS, NO_BOUND, few_beyond, percentile, percentile_figure
from jdkmatrix.report.exports import results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.words.numbers import Figure, milliseconds, missing
from jdkmatrix.stats.forks import Summary
from jdkmatrix.stats.percentiles import Percentile
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from jdkmatrix.store.outline import outline
from tests.support.judged_pages import PageOfRun, judged, key_of, row_of, window_figures
from tests.support.outcome_runs import failing, windows_of, with_outcomes
from tests.support.pages import figure_in, table_of
from tests.support.ramped_runs import recorded_ramps
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import FIVE, Shape, made_up, synthetic_run
from tests.support.served_windows import latency
from tests.support.sites import site_of

RATE = Shape(loads=("rate-2000",), jdks=("temurin-25",), executors=("liberty",))


def pooled(forks: Shape | tuple[Fork, ...]) -> Pooled:
    """Pool the latency of these forks, or of those of the first cell of that shape."""
    forks = made_up(forks).cells[0].forks if isinstance(forks, Shape) else forks
    own = [(fork, latency) for fork in forks if (latency := fork_latency(fork))]
    assert len(own) == len(forks)
    return pool("corrected", own)


def test_the_windows_of_a_fork_are_merged_exactly(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    merged = fork_latency(fork)
    assert merged.histogram is not None
    assert merged.count == sum(w.load.uncorrected.count for w in fork.windows if w.load.uncorrected)
    assert fork_latency(altered(fork, {"windows": fork.windows[:1]})) == fork.windows[0].load.uncorrected
    assert fork_latency(altered(fork, {"windows": ()})) is None
    none = fork.windows[0].load.uncorrected.model_copy(update={"count": 0})
    assert fork_latency(windows_of(fork, lambda window: with_load(window, {"uncorrected": none}))) is None


def test_a_fork_may_keep_one_histogram_for_all_its_windows(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    bare = (one.load.uncorrected.model_copy(update={"histogram": None, "spectrum": ()}) for one in fork.windows)
    windows = tuple(with_load(one, {"uncorrected": less}) for one, less in zip(fork.windows, bare, strict=True))
    kept = altered(fork, {"windows": windows, "latency": fork_latency(fork)})
    assert pooled((kept,)) == pooled((fork,))
    (less,) = outline(quick.cells[0].model_copy(update={"forks": (kept,)})).forks
    assert less.latency.spectrum == ()
    assert pooled((less,)).percentiles == pooled((fork,)).percentiles


def test_a_rate_load_stands_by_its_corrected_latency() -> None:
    for driver in ("loadgen", "wrk2"):
        cell = CellStats(made_up(replace(RATE, driver=driver)).cells[0])
        assert cell.latency.kind == "corrected"
        assert (cell.latency.histogram is not None) is (driver == "loadgen")
        assert cell.latency.count == sum(
            w.load.corrected.count for fork in cell.usable for w in fork.windows if w.load.corrected
        )
        assert len(cell.latency.spectrum) <= MAX_CURVE_POINTS


def test_the_interval_is_told_where_every_fork_has_the_percentile() -> None:
    """A fork has 16,000 requests: 16 beyond p99.9, and 1.6 beyond p99.99, too few even in three forks together."""
    found = pooled(replace(RATE, blocks=3, windows=2))
    figure = percentile_figure(found, "99.9")
    summary = found.percentiles["99.9"].forks
    assert summary and summary.n == 3 and figure.under and "over 3 forks" in (figure.title or "")
    few = f"fewer than 10 of {found.count:,} requests were slower: too few to say"
    assert percentile_figure(found, "99.99") == missing(few)


def test_why_there_is_no_interval() -> None:
    few = pooled(replace(RATE, blocks=3, windows=1))
    assert few.percentiles["99.9"].forks is None
    assert percentile_figure(few, "99.9").title == "no interval: a fork has too few slower requests"
    alone = pooled(replace(RATE, blocks=1))
    assert percentile_figure(alone, "50").title == "1 fork: no interval"
    assert percentile(None, "50", why="no usable fork") == missing("no usable fork")


def test_too_few_answers_for_a_percentile() -> None:
    assert few_beyond(1) == missing("1 request: too few to say")
    assert few_beyond(10) == missing("fewer than 10 of 10 requests were slower: too few to say")

    def few(one: Window) -> Window:
        return with_load(one, {"uncorrected": latency(5000.0, 1.0, 500)})

    loaded = made_up(replace(FIVE, blocks=1))
    page = PageOfRun(with_forks(loaded, lambda _, fork: windows_of(fork, few)))
    assert [chart.note for chart in page.charts("Latency by percentile")] == [""], "none has a p99"


def one(percentile: Percentile, overstated: dict[str, int] | None = None) -> Pooled:
    return Pooled(
        "corrected", 1000, {"50": percentile}, spectrum=(), histogram="of all requests", forks=2,
        fell_short=0, lower_bounds=0, overstated=overstated or {}, bounded={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low_us", "high_us", "under"),
    [(1234.0, 1345.6, "1.23–1.35"), (1234.0, 13_456.0, "1.2–13"), (12.0, float("inf"), "0.012–∞")],
)
def test_an_interval_has_the_digits_that_it_carries(low_us: float, high_us: float, under: str) -> None:
    percentile = Percentile(merged_us=1300.0, forks=Summary(2, 1290.0, low_us, high_us))
    assert percentile_figure(one(percentile), "50") == Figure(
        "1.30",
        1300.0,
        "all requests together; beneath: the 95 % interval over 2 forks, of the geometric mean of their own p50 "
        "(1.29 ms)",
        under,
    )


def test_a_driver_that_leaves_unanswered_requests_out_is_told_apart() -> None:
    percentile = Percentile(merged_us=1300.0, forks=None)
    counted = replace(one(percentile), fell_short=1, lower_bounds=1234)
    assert percentile_figure(counted, "50") == Figure(
        "≥ 1.30",
        1300.0,
        "at least: 1 of 2 forks fell short; 1,234 requests of 1,000 had no answer and count with the time that "
        "they had waited",
    )
    lone = percentile_figure(replace(counted, lower_bounds=1), "50").title or ""
    assert lone.endswith("; 1 request of 1,000 had no answer and counts with the time that it had waited")
    left_out = percentile_figure(replace(counted, lower_bounds=None), "50").title or ""
    assert left_out.endswith("; this driver leaves out requests without an answer")


@pytest.mark.parametrize(("bounds", "percent", "bound"), [(10, "50", False), (11, "50", True), (2, "99.9", True)])
def test_where_many_requests_were_under_way_at_the_end_percentiles_are_at_least_what_they_say(
    bounds: int, percent: str, bound: bool
) -> None:
    """In a closed loop of slow answers, an executor that falls behind leaves many: it did all that it was asked for."""
    pooled = replace(one(Percentile(merged_us=1300.0, forks=None)), lower_bounds=bounds)
    pooled = replace(pooled, percentiles={percent: pooled.percentiles["50"]})
    figure = percentile_figure(pooled, percent)
    assert (figure.text == "≥ 1.30") is bound
    said = f"at least: {bounds} requests of 1,000 had no answer and count with the time that they had waited"
    assert (figure.title == said) is bound


def test_a_ramp_has_a_schedule_and_a_closed_loop_has_none_however_its_connections_join(quick: LoadedRun) -> None:
    """The first fork of the pool in an earlier reference run of infoq-rampup has a p99 of 18.6 s, of which requests
    took 16.5 s once they were sent."""
    (window,) = next(fork for _, executor, fork in recorded_ramps() if executor == "liberty").windows
    assert distribution_of(window) == "corrected"
    latency = chosen(window)
    assert latency.percentiles_us["99"] == pytest.approx(18.6e6, rel=0.01)
    figures = {name: figures[0] for name, figures in window_figures(window).items() if figures}
    assert figures["p99 ms"] == milliseconds(latency.percentiles_us["99"], why="")
    assert (figures["Kind"].text, figures["Kind"].title) == ("response time", KIND_WORDS["corrected"])
    closed = quick.cells[0].forks[0].windows[0]
    for one in (closed, with_load(closed, {"load": JoinLoad(connections=50, join_s=30)})):
        assert distribution_of(one) == "uncorrected"


def test_the_site_offers_it_where_a_driver_writes_histograms(tmp_path: Path) -> None:
    for driver, offered in (("loadgen", True), ("wrk2", False)):
        site = site_of([made_up(replace(RATE, driver=driver))], tmp_path / f"site-{driver}")
        pages = list((site / "cells").glob("*.html"))
        files = [page.with_suffix(".hgrm") for page in pages]
        assert [file.is_file() for file in files] == [offered] * len(pages)
        for page, file in zip(pages, files, strict=True):
            assert (f'href="{file.name}"' in page.read_text("utf-8")) is offered


def test_a_log_by_interval_is_listed_once(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, replace(RATE, blocks=1, windows=2))
    fork = loaded.cells[0].forks[0]
    tenth = fork.windows[1].model_copy(update={"index": 10})
    fork = altered(fork, {"windows": (tenth, *fork.windows)})
    fork = windows_of(fork, lambda window: with_load(window, {"hlog": f"../logs/w{window.index}.hlog"}))
    fork = altered(fork, {"logs": {"window-1.hlog": "../logs/w1.hlog", "server": "../logs/server"}})
    root = loaded.directory.resolve()
    (tmp_path / "logs").mkdir(exist_ok=True)
    (tmp_path / "logs" / "w2.hlog").write_text("#[StartTime]")
    views = publish(root, loaded.cells[0], fork, tmp_path / "page")
    assert [view.title for view in views] == [
        *(f"latency by interval, window {number}" for number in (1, 2, 10)), "server",
    ]  # fmt: skip
    assert (views[1].problem, views[1].tail) == (None, None) and views[1].href, "it is no text to read"


def test_a_percentile_is_an_upper_bound_where_the_driver_was_late_by_more_than_half_of_it() -> None:
    percentile = Percentile(merged_us=1300.0, forks=Summary(2, 1290.0, 1234.0, 1345.6))
    told = percentile_figure(one(percentile, {"50": 1}), "50")
    assert told == Figure(
        "< 1.30", 1300.0, "less than this: in 1 of 2 forks the driver was late to send, by more than half of it"
    )


def late_by(share: float, shape: Shape = RATE, executor: str = "liberty", forks: Collection[int] = (1,)) -> LoadedRun:
    """Return a run whose driver was late by this share of each percentile of latency, in the first window of forks."""

    def late(window: Window) -> Window:
        corrected = window.load.corrected
        lateness = {name: share * value_us for name, value_us in corrected.percentiles_us.items()}
        return with_load(window, {"send_lateness": corrected.model_copy(update={"percentiles_us": lateness})})

    def change(cell: CellRecord, fork: Fork) -> Fork:
        if cell.key.executor != executor or fork.fork not in forks:
            return fork
        return altered(fork, {"windows": (late(fork.windows[0]), *fork.windows[1:])})

    return with_forks(made_up(shape), change)


@pytest.mark.parametrize(("share", "bound"), [(0.49, Bound.NONE), (0.51, Bound.BELOW)])
def test_a_driver_that_is_late_refuses_no_fast_executor_but_bounds_its_latency(share: float, bound: Bound) -> None:
    """Refusing it instead would have left windows of the slower one only."""
    (cell,) = late_by(share).cells
    assert p99_us(cell.forks[0], cell.load) == ForkFigure(fork_latency(cell.forks[0]).percentiles_us["99"], bound)
    assert [p99_us(fork, cell.load).bound for fork in cell.forks[1:]] == [Bound.NONE] * (len(cell.forks) - 1)
    assert {pooled(forks).bound(name) for forks in (cell.forks, outline(cell).forks) for name in ("50", "99")} == {
        bound
    }


def test_there_is_no_interval_of_forks_one_of_which_has_a_bound() -> None:
    """Of all requests together, the driver was on time enough; of the fork with short answers alone, it was not."""
    forks = late_by(0.3).cells[0].forks
    own = [(fork, latency(4000.0, 1.0, 100_000)) for fork in forks]
    told = pool("corrected", own)
    assert told.percentiles["99"].forks is not None and not any(told.bounded.values())
    lateness = own[0][0].windows[0].load.send_lateness
    assert lateness is not None
    short = latency(4000.0 * 1.5 * lateness.percentiles_us["99"] / own[0][1].percentiles_us["99"], 1.0, 100_000)
    told = pool("corrected", [(forks[0], short), *own[1:]])
    assert told.bound("99") is Bound.NONE and told.bounded["99"] == 1
    assert percentile_figure(told, "99").title == f"no interval: in 1 of {len(forks)} forks its own p99 is only a bound"


def test_rows_and_windows_show_that_bound() -> None:
    run = late_by(0.51)
    assert row_of(run, "liberty").percentile("99").text.startswith("< ")
    (first, *others) = (window_tables(fork.windows, fork.fork) for fork in run.cells[0].forks)
    shown = [
        [figure_in(row, "p99 ms").text[0] for row in table_of(one, "Latency by window")] for one in (first, *others)
    ]
    assert shown[0][0] == "<" and not any("<" in text for one in (shown[0][1:], *shown[1:]) for text in one)


def test_a_percentile_that_may_be_too_low_and_too_high_is_none() -> None:
    """Where a few answers have another status, a fork falls short though latencies are as they were."""
    told = one(Percentile(merged_us=1300.0, forks=None), {"50": 1})
    assert [told.bound("50"), replace(told, fell_short=1).bound("50")] == [Bound.BELOW, None]
    assert percentile_figure(replace(told, fell_short=1), "50") == NO_BOUND
    run = with_outcomes(late_by(0.6), {"liberty": {1: failing}})
    assert p99_us(run.cells[0].forks[0], run.cells[0].load) is None
    assert row_of(run, "liberty").percentile("99") == NO_BOUND
    assert not [row for row in results(JudgedRun(run)) if row["figure"] == "p99-of-all"]


def test_a_p99_that_is_a_bound_in_every_block_is_told_and_not_judged() -> None:
    shape = replace(RATE, executors=("liberty", "virtual"))
    run = late_by(0.51, shape, "virtual", range(1, 9))
    _, judgements = judged(run)
    *others, p99 = advise(judgements, key_of(run))
    assert others and all(one.figure != P99.id for one in others) and (p99.figure, p99.judged) == (P99.id, False)
    assert p99.sentence.startswith("p99 is not judged where no block has a figure of both that compares: it was < ")
