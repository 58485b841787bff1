"""How much the clock of the host moved, and what a reader is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, CapacityStep, Window
from jdkmatrix.report.run_page.clock import clock_notices, moved, speed_words, speeds
from jdkmatrix.store.cells import CellRecord
from tests.support.builders import cell, fork, key, load_result, pressure, sut_usage
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import PageOfRun
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run


def window(speed: float | None) -> Window:
    return Window(index=1, t_s=0.0, load=load_result(), sut=sut_usage(), host=pressure(), clock_speed=speed)


def measured(number: int, before: Sequence[float | None], after: float | None) -> Fork:
    windows = tuple(window(speed) for speed in before)
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
    assert "inside 1 of 1 blocks it moved by more than that, in one by 7.0 %" in notice.text
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
    step = CapacityStep(rate_rps=1.0, purpose="", held=True, window=window(103.0))
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
    (notice,) = [
        notice
        for notice in PageOfRun(replace(loaded, cells=cells)).notices
        if notice.title == "The CPUs’ speed changed"
    ]
    assert notice.weight == "warn"
