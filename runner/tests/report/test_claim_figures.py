"""The figures that claims are judged by: those of the page, and no fork that is left out silently."""

from __future__ import annotations

import pytest

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.fork_figures import gc_ms_per_s
from jdkmatrix.figures.metrics import P99
from jdkmatrix.records.claims import ClaimCheck, Precondition
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.report.cells.shown import of_metric
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.store.cells import CellRecord
from tests.report.test_claim_verdicts import claim, ours, told
from tests.support.judged_pages import key_of
from tests.support.outcome_runs import windows_of
from tests.support.records import with_forks
from tests.support.served_runs import Shape, made_up
from tests.support.served_windows import latency

RUN = made_up(Shape(jdks=("temurin-25",), blocks=4, windows=2))
NO_BACKLOG = Precondition(says="no backlog", metric="p99", high=2000)


def test_a_p99_that_is_required_is_that_of_the_page() -> None:
    """The geometric mean of the forks' own is 0.7 s; of all requests together, one in twenty took half a minute."""

    def slow(_: CellRecord, fork: Fork) -> Fork:
        p99_us = (200_000, 210_000, 190_000, 30_000_000)[fork.fork - 1]

        def changed(window: Window) -> Window:
            load = window.load.model_copy(update={"uncorrected": latency(p99_us, 0.3, 5000)})
            return window.model_copy(update={"load": load})

        return windows_of(fork, changed)

    run = with_forks(RUN, slow)
    ((cell, *_),) = (one.cells for one in told(run, claim(ours(high=2.0, requires=(NO_BACKLOG,)))).checks)
    page = of_metric(P99, JudgedRun(run).cells.get(key_of(run)), why="").text
    assert [one.holds for one in cell.seen] == [False, False]
    assert [one.value and digits(one.value, 3) for one in cell.seen] == [page, page]


@pytest.mark.parametrize(("gauged_s", "ms_per_s"), [(None, 100.0), (2.5, 40.0)])
def test_time_in_collections_is_divided_by_the_time_in_which_it_was_counted(
    gauged_s: float | None, ms_per_s: float
) -> None:
    """It is counted until the last answers are there, which takes longer where many wait."""
    fork = RUN.cells[0].forks[0]

    def changed(window: Window) -> Window:
        gc_ms = round(100 * window.load.duration_s)
        counted_s = gauged_s and gauged_s * window.load.duration_s
        sut = window.sut.model_copy(update={"gc_ms": gc_ms, "gauged_s": counted_s})
        return window.model_copy(update={"sut": sut})

    found = gc_ms_per_s(windows_of(fork, changed), RUN.cells[0].load)
    assert found is not None and found.value == pytest.approx(ms_per_s)


@pytest.mark.parametrize("difference", [False, True])
def test_a_figure_of_zero_is_no_lost_fork(*, difference: bool) -> None:
    def collecting(cell: CellRecord, fork: Fork) -> Fork:
        gc_ms = {"liberty": (0, 10, 11, 12), "virtual": (20, 22, 21, 23)}[cell.key.executor][fork.fork - 1]

        def changed(window: Window) -> Window:
            return window.model_copy(update={"sut": window.sut.model_copy(update={"gc_ms": gc_ms})})

        return windows_of(fork, changed)

    check = ClaimCheck(says="s", metric="gc-time", arm="virtual", versus="liberty", low=1.1, inference="i")
    asked = check.model_copy(update={"difference": difference})
    ((cell, *_),) = (one.cells for one in told(with_forks(RUN, collecting), claim(asked)).checks)
    if difference:
        assert isinstance(cell.estimate, Estimate) and cell.estimate.blocks == 4
    else:
        assert (cell.estimate, cell.why) == (None, "the figure of a fork is 0, which has no ratio")
