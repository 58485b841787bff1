"""Notices: how far the clock of the host moved, and one executor measured against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.cli.selecting import Options
from jdkmatrix.config.load import parse_files, read_files
from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.executors import aa_arm, base_of, check_executor, is_aa_arm, is_virtual, reference
from jdkmatrix.errors import MatrixError
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, CapacityStep, Window
from jdkmatrix.report.blocks.kinds import Notice
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.notices import detectable_share, run_notices
from jdkmatrix.report.run_page.sessions import clock_notices, moved, speed_words, speeds
from jdkmatrix.run.plan import order_forks, select_cells
from jdkmatrix.stats.ratios import Ratio, paired_ratio
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, fork, key, window
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import PageOfRun
from tests.support.outcome_runs import windows_of
from tests.support.project import ROOT
from tests.support.records import altered, with_forks, with_load
from tests.support.served_runs import QUICK, synthetic_run
from tests.support.shipped import MATRIX


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
    assert found is not None
    assert found.in_block == pytest.approx(0.02)
    assert found.over_run == pytest.approx(0.1)
    assert (found.blocks, found.blocks_beyond) == (2, 1)


def test_a_notice_comes_where_it_moved_by_more_than_is_promised() -> None:
    steady = two_cells(([100, 101], [101, 101]))
    assert not list(clock_notices(steady, 0.05))
    between = two_cells(([100, 101], [101, 101]), ([108, 108], [108, 108]))
    (notice,) = clock_notices(between, 0.05)
    assert notice.weight == "info"
    assert "up to 8.0 % faster" in notice.text and "± 5 %" in notice.text
    assert "inside a block by 1.0 % at most" in notice.text
    (notice,) = clock_notices(two_cells(([100, 101], [101, 107])), 0.05)
    assert notice.weight == "warn"
    assert "inside 1 of 1 block it moved by more than that, in one by 7.0 %" in notice.text
    assert not list(clock_notices(between, None)), "a run from before says nothing of what it promised"


def test_nothing_read_is_nothing_told() -> None:
    old = [cell(key(), (measured(1, [None, None], None),))]
    assert moved(old, 0.05) is None
    assert not list(clock_notices(old, 0.05))
    assert speed_words(old[0].forks[0]) == "not read"


def test_cpus_are_not_compared_with_each_other() -> None:
    other = measured(1, [200.0], 200.0)
    other = other.model_copy(update={"confinement": other.confinement.model_copy(update={"sut_cpus": (3,)})})
    cells = [*two_cells(([100, 101], [101, 101])), cell(key(cpus=2), (other,))]
    found = moved(cells, 0.05)
    assert found is not None and found.over_run == pytest.approx(0.01)


def test_the_windows_of_a_search_are_read_too(tmp_path: Path) -> None:
    step = CapacityStep(rate_rps=1.0, purpose="", held=True, window=window(clock_speed=103.0))
    searched = Capacity(
        outcome="", p99_max_us=1, floor_rps=1, ceiling_rps=1, held_rps=1, failed_rps=None, not_monotonic_rps=(),
        steps=(step,),
    )  # fmt: skip
    one = altered(measured(1, [100.0, None], 101.0), {"capacity": searched})
    assert speeds(one) == (100.0, 103.0, 101.0)
    assert speed_words(one) == "100.0 to 103.0 divisions/µs in 3 readings: moved by 3.0 %"
    experiment = experiments_run(tmp_path, ("spawn",)).experiments[0].forks[0]
    assert isinstance(experiment, Fork)
    assert speeds(experiment) == (225.0, 225.9)


@given(st.lists(st.lists(st.floats(50, 500), min_size=2, max_size=5), min_size=1, max_size=5))
def test_a_block_never_moves_more_than_the_run(blocks: list[list[float]]) -> None:
    cells = [cell(key(), tuple(measured(i, block[:-1], block[-1]) for i, block in enumerate(blocks)))]
    found = moved(cells, 0.01)
    assert found is not None
    assert 0 <= found.in_block <= found.over_run
    assert found.blocks_beyond <= found.blocks == len(blocks)


def test_a_reader_sees_it(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, QUICK)
    titles = {notice.title for notice in PageOfRun(loaded).notices}
    assert "The CPUs’ speed changed" not in titles
    first, *others = loaded.cells
    slow = first.forks[0].model_copy(update={"clock_speed_after": 200.0})
    cells = (first.model_copy(update={"forks": (slow, *first.forks[1:])}), *others)
    told = {notice.title: notice.weight for notice in PageOfRun(replace(loaded, cells=cells)).notices}
    assert told["The CPUs’ speed changed"] == "warn"


FILES = read_files(ROOT / "matrix.toml")


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


def with_aa(arm: str, **values: tuple[str, ...]) -> Options:
    return Options("quick", values, blocks=3, windows=None, window_s=None, seed=None, aa=arm)


def asked(options: Options) -> Matrix:
    return options.apply(parse_files(FILES, options.asked))


def test_aa_runs_one_executor_as_both_arms_of_every_block() -> None:
    matrix = asked(with_aa("virtual"))
    cells = select_cells(matrix, "quick")
    assert {cell.executor for cell in cells} == {"virtual", "virtual-aa"}
    assert {cell.jdk for cell in cells} == set(MATRIX.profiles["quick"].select.jdk or ())
    forks = order_forks(dict.fromkeys(cells, 3), seed=1)
    for first, second in zip(forks[::2], forks[1::2], strict=True):
        assert first.key.group == second.key.group
        assert {first.key.executor, second.key.executor} == {"virtual", "virtual-aa"}
    older = select_cells(asked(with_aa("liberty", jdk=("temurin-21",))), "quick")
    assert {(cell.jdk, cell.executor) for cell in older} == {("temurin-21", "liberty"), ("temurin-21", "liberty-aa")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (with_aa("liberty", executor=("virtual",)), "--executor"),
        (with_aa("jetty"), "--executor jetty --executor jetty-aa: Open Liberty has no executor jetty"),
    ],
)
def test_what_cannot_be_checked_is_said(options: Options, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        asked(options)


def test_detectable_share_worked_by_hand() -> None:
    assert detectable_share(Ratio(1.0, 0.8, 1.25, 2)) == pytest.approx(0.25)
    assert detectable_share(Ratio(1.0, None, None, 1)) is None


@given(st.lists(st.floats(0.5, 2), min_size=2, max_size=12), st.floats(1.01, 3))
def test_a_ratio_that_is_farther_from_one_than_detectable_leaves_one_out(ratios: list[float], beyond: float) -> None:
    """The same scatter around a larger effect: moved by more than the half-width, the interval leaves 1 out."""
    plain = paired_ratio(dict(enumerate(ratios)), dict.fromkeys(range(len(ratios)), 1.0))
    assert plain is not None
    share = detectable_share(plain)
    assert share is not None
    factor = (1 + share) * beyond / plain.value
    moved = paired_ratio({i: ratio * factor for i, ratio in enumerate(ratios)}, dict.fromkeys(range(len(ratios)), 1.0))
    assert moved is not None and moved.ci_low is not None
    assert moved.ci_low > 1


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


def test_the_page_says_what_this_host_can_tell(tmp_path: Path) -> None:
    notice = page_of(tmp_path, 1.0)["A/A check"]
    assert notice.weight == "info"
    assert "liberty against itself on" in notice.text
    assert "throughput ratio 1.000" in notice.text
    assert "a single comparison on this host can tell differences above 0 %" in notice.text


def test_the_page_warns_where_there_is_a_difference_and_should_be_none(tmp_path: Path) -> None:
    notice = page_of(tmp_path, 0.8)["A/A check failed"]
    assert notice.weight == "warn"
    assert "a difference where there is none" in notice.text
