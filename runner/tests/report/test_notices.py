"""Notices: how far the clock of the host moved, and one executor measured against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files
from jdkmatrix.domain.executors import aa_arm, base_of, check_executor, is_aa_arm, is_virtual, reference
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, CapacityStep, Window
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import detectable_share, run_notices
from jdkmatrix.report.run_page.sessions import clock_notices, moved, speed_words, speeds
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cell, fork, key, window
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import PageOfRun
from tests.support.outcome_runs import windows_of
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import FILES


def measured(number: int, before: Sequence[float | None], after: float | None) -> Fork:
    windows = tuple(window(clock_speed=speed) for speed in before)
    return altered(fork(number), {"windows": windows, "clock_speed_after": after})


def two_cells(*blocks: tuple[list[float], list[float]]) -> list[CellRecord]:
    """Of one group; per block the readings of either, the last of them after its windows."""
    return [
        cell(key(name), tuple(measured(i, block[arm][:-1], block[arm][-1]) for i, block in enumerate(blocks, start=1)))
        for arm, name in enumerate(("liberty", "virtual"))
    ]


def test_a_block_is_what_is_compared() -> None:
    found = moved(two_cells(([100, 101], [102, 101]), ([110, 110], [110, 110])), beyond=0.015)
    assert (found.in_block, found.over_run) == pytest.approx((0.02, 0.1))
    assert (found.blocks, found.blocks_beyond) == (2, 1)


def test_a_notice_comes_where_it_moved_by_more_than_is_promised() -> None:
    assert not list(clock_notices(two_cells(([100, 101], [101, 101])), 0.05))
    between = two_cells(([100, 101], [101, 101]), ([108, 108], [108, 108]))
    (notice,) = clock_notices(between, 0.05)
    assert notice.weight == "info"
    assert "up to 8.0 % faster" in notice.text and "± 5 %" in notice.text
    assert "inside a block by 1.0 % at most" in notice.text
    (notice,) = clock_notices(two_cells(([100, 101], [101, 107])), 0.05)
    assert notice.weight == "warn"
    assert "inside 1 of 1 block it moved by more than that, in one by 7.0 %" in notice.text


def test_nothing_read_is_nothing_told() -> None:
    old = [cell(key(), (measured(1, [None, None], None),))]
    assert moved(old, 0.05) is None
    assert not list(clock_notices(old, 0.05))
    assert speed_words(old[0].forks[0]) == "not read"


def test_cpus_are_not_compared_with_each_other() -> None:
    other = measured(1, [200.0], 200.0)
    other = other.model_copy(update={"confinement": other.confinement.model_copy(update={"sut_cpus": (3,)})})
    cells = [*two_cells(([100, 101], [101, 101])), cell(key(cpus=2), (other,))]
    assert moved(cells, 0.05).over_run == pytest.approx(0.01)


def test_the_windows_of_a_search_are_read_too(tmp_path: Path) -> None:
    step = CapacityStep(rate_rps=1.0, purpose="", held=True, window=window(clock_speed=103.0))
    searched = Capacity(
        outcome="", p99_max_us=1, floor_rps=1, ceiling_rps=1, held_rps=1, failed_rps=None, not_monotonic_rps=(),
        steps=(step,),
    )  # fmt: skip
    one = altered(measured(1, [100.0, None], 101.0), {"capacity": searched})
    assert speeds(one) == (100.0, 103.0, 101.0)
    assert speed_words(one) == "100.0 to 103.0 divisions/µs in 3 readings: moved by 3.0 %"
    assert speeds(experiments_run(tmp_path, ("spawn",)).experiments[0].forks[0]) == (225.0, 225.9)


def test_a_reader_sees_it(quick: LoadedRun) -> None:
    assert "The CPUs’ speed changed" not in {notice.title for notice in PageOfRun(quick).notices}
    first, *others = quick.cells
    slow = first.forks[0].model_copy(update={"clock_speed_after": 200.0})
    cells = (first.model_copy(update={"forks": (slow, *first.forks[1:])}), *others)
    told = {notice.title: notice.weight for notice in PageOfRun(replace(quick, cells=cells)).notices}
    assert told["The CPUs’ speed changed"] == "warn"


@pytest.mark.parametrize("name", ["liberty", "virtual", "fixed-7"])
def test_the_second_arm_is_the_same_executor_under_another_name(name: str) -> None:
    second = aa_arm(name)
    assert second != name
    assert check_executor(second) == second
    assert (is_aa_arm(name), is_aa_arm(second)) == (False, True)
    assert base_of(second) == base_of(name) == name
    assert is_virtual(second) == is_virtual(name)
    assert reference(second, "open-liberty") == name
    assert reference(name, "open-liberty") == "liberty"


def test_a_second_arm_of_no_executor_is_refused() -> None:
    with pytest.raises(ValueError, match='did you mean "virtual-aa"'):
        check_executor("virtal-aa")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options("quick", {"executor": ("virtual",)}, aa="liberty"), "--executor"),
        (Options("quick", {}, aa="jetty"), "--executor jetty --executor jetty-aa: Open Liberty has no executor jetty"),
    ],
)
def test_what_cannot_be_checked_is_said(options: Options, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        options.apply(parse_files(FILES, options.asked))


def test_detectable_share_worked_by_hand() -> None:
    assert detectable_share(Ratio(1.0, 0.8, 1.25, 2)) == pytest.approx(0.25)
    assert detectable_share(Ratio(1.0, None, None, 1)) is None


def page_of(tmp_path: Path, factor: float) -> dict[str, Notice]:
    """A run in which the second arm of "liberty" has all that the first has, at `factor` of its throughput."""
    loaded = synthetic_run(tmp_path, replace(QUICK, executors=("liberty", "liberty-aa")))
    first = {cell.key.jdk: cell.forks for cell in loaded.cells if cell.key.executor == "liberty"}

    def scaled(window: Window) -> Window:
        return with_load(window, {"throughput_rps": window.load.throughput_rps * factor})

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        again = first[cell.key.jdk][fork.fork - 1]
        return again if cell.key.executor == "liberty" else windows_of(again, scaled)

    return {notice.title: notice for notice in run_notices(JudgedRun(with_forks(loaded, changed)))}


def test_the_page_says_what_this_host_can_tell_and_warns_of_a_difference_where_none_should_be(tmp_path: Path) -> None:
    notice = page_of(tmp_path, 1.0)["A/A check"]
    assert notice.weight == "info"
    assert "liberty against itself on" in notice.text
    assert "throughput ratio 1.000" in notice.text
    assert "a single comparison on this host can tell differences above 0.0 %" in notice.text
    notice = page_of(tmp_path, 0.8)["A/A check failed"]
    assert notice.weight == "warn" and "a difference where there is none" in notice.text
