"""A ramp that ends level and one that does not: what is read from them, and what the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from jdkmatrix.figures.metrics import leading_by_block
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.stats.ramps import backlog_until_s, seconds_of, steady_part
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, charts_of, found
from tests.support.outcome_runs import windows_of
from tests.support.ramped_runs import JOINING, LEVEL, RISING, STARTED_S, ramped, with_ramp
from tests.support.records import altered, with_forks_of, with_load


def cell_of(run: LoadedRun, executor: str) -> CellRecord:
    return next(cell for cell in run.cells if cell.key.executor == executor)


def with_intervals(fork: Fork, intervals: tuple[Interval, ...]) -> Fork:
    return windows_of(fork, lambda window: with_load(window, {"intervals": intervals}))


def completing(fork: Fork, completed: Mapping[int, int]) -> Fork:
    """So many requests in these seconds of the load."""
    seconds = fork.windows[0].load.intervals
    changed = (one.model_copy(update={"completed": completed.get(int(one.t_s), one.completed)}) for one in seconds)
    return with_intervals(fork, tuple(changed))


def test_the_steady_part_is_the_second_half_of_the_level_stretch(tmp_path: Path) -> None:
    fork = cell_of(ramped(tmp_path, LEVEL), "virtual").forks[0]
    steady = steady_part(fork)
    assert steady.throughput_rps == 1000
    assert steady.cpu_us_per_request == pytest.approx(1000, rel=0.06)
    assert steady_part(with_ramp(fork, RISING, lag_s=1, capacity_rps=2000)) is None


def test_a_backlog_that_is_worked_off_is_no_steady_throughput(tmp_path: Path) -> None:
    """A pause across the end of a second is none: what it lacks is in the next one."""
    fork = cell_of(ramped(tmp_path, LEVEL), "virtual").forks[0]
    behind = completing(fork, dict.fromkeys(range(12, 24), 1500))
    assert backlog_until_s(seconds_of(behind)) == 23
    for one in (behind, completing(fork, {28: 940, 29: 1060})):
        assert steady_part(one).throughput_rps == 1000
    assert steady_part(completing(fork, dict.fromkeys(range(1, 31), 1500))) is None


def test_cpu_is_of_the_seconds_that_samples_enclose(tmp_path: Path) -> None:
    """They are a second apart and end with the server, whose last answer comes right behind the load."""
    fork = cell_of(ramped(tmp_path, LEVEL), "virtual").forks[0]
    whole = steady_part(fork)
    ended = altered(fork, {"samples": tuple(one for one in fork.samples if one.t_s < STARTED_S + LEVEL.duration_s)})
    steady = steady_part(ended)
    assert steady.throughput_rps == whole.throughput_rps
    assert steady.cpu_us_per_request == pytest.approx(whole.cpu_us_per_request, rel=0.06)
    without = steady_part(altered(fork, {"samples": ()}))
    assert (without.throughput_rps, without.cpu_us_per_request) == (1000, None)


def test_rates_and_throughput_are_per_second_also_where_the_last_interval_is_shorter(tmp_path: Path) -> None:
    fork = cell_of(ramped(tmp_path, LEVEL), "virtual").forks[0]
    *first, last = fork.windows[0].load.intervals
    short = last.model_copy(update={"t_s": 29.5, "completed": 500})
    assert seconds_of(with_intervals(fork, (*first, short)))[-1].completed_rps == pytest.approx(1000)


@pytest.mark.parametrize(
    ("load", "leading", "note"),
    [
        (LEVEL, (15.0, 11.0), "liberty: peak after 15.0 s; virtual: peak after 11.0 s"),
        (RISING, (2100.0, 2600.0), "liberty: knee at 2,100 requests/s; virtual: knee at 2,600 requests/s"),
    ],
)
def test_a_level_end_is_read_by_its_peak_and_another_by_its_knee_and_the_page_shows_it_second_by_second(
    tmp_path: Path, load: RampedLoad, leading: tuple[float, float], note: str
) -> None:
    """The peak is counted from the start of the load."""
    run = ramped(tmp_path, load)
    assert [leading_by_block(cell) for cell in run.cells] == [{1: figure, 2: figure} for figure in leading]
    groups = found(PageOfRun(run).page.blocks, Charts)
    titles = [group.title for group in groups]
    assert titles[:2] == ["What was asked for", "Throughput second by second"]
    assert "p99 second by second" in titles
    assert note in [chart.note for group in groups for chart in group.charts]


def test_a_closed_loop_has_connections_a_level_of_its_own_and_no_knee(tmp_path: Path) -> None:
    run = ramped(tmp_path, JOINING)
    assert leading_by_block(cell_of(run, "virtual")) == {1: 11.0, 2: 11.0}
    steady = steady_part(cell_of(run, "virtual").forks[0])
    assert steady is not None and steady.throughput_rps == 1000
    page = PageOfRun(run)
    groups = {group.title: group for group in found(page.page.blocks, Charts)}
    assert [chart.title for chart in groups["What was asked for"].charts] == ["Connections"]
    words = str(groups["Throughput second by second"].words)
    assert "what the last 33% of the load came to, if it is held for as long" in words
    assert str(groups["p99 second by second"].words).startswith("From when the request was sent")
    assert not any(chart.note for chart in groups["p99 second by second"].charts)
    told = [words for answer in page.answers for _, words in answer.sentences if "its level" in words]
    assert any("came to its level after 11.0 s; answered 1,000 requests/s at the end" in words for words in told)


def test_readings_that_a_full_pool_did_not_give_are_counted_below_the_chart(tmp_path: Path) -> None:
    def silent(fork: Fork) -> Fork:
        """From the tenth second of the load on."""
        samples = (one.model_copy(update={"gauges": None}) if one.t_s > STARTED_S + 10 else one for one in fork.samples)
        return altered(fork, {"samples": tuple(samples)})

    run = ramped(tmp_path, LEVEL)

    def note(shown: LoadedRun) -> str:
        (chart,) = charts_of(PageOfRun(shown).page.blocks, "Size of the pool")
        return chart.note

    assert note(run) == ""
    full = with_forks_of(run, "liberty", silent)
    assert note(full) == "liberty: 40 of 60 readings missing, the server did not answer in time"
