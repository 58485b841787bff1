"""Steps of rising rates: when the series ends, what counts, and what the report shows of them. Ramps, one of which ends
level: what is read from them, and what the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from jdkmatrix.cli import progress
from jdkmatrix.cli.summary import summary_table
from jdkmatrix.figures.metrics import LOWEST_CPU, SATURATED, leading_by_block
from jdkmatrix.loads.base import is_missed, offered_rps
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import cpu_scope
from jdkmatrix.stats.ramps import backlog_until_s, seconds_of, steady_part
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of
from tests.support.judged_pages import PageOfRun, charts_of, figure_in, found, page_of, printed, table_of, tiles_of
from tests.support.outcome_runs import windows_of
from tests.support.ramped_runs import JOINING, LEVEL, RISING, STARTED_S, ramped, with_ramp
from tests.support.records import altered, with_forks_of, with_load
from tests.support.stepped_runs import LOAD, stepped, stepped_at, stepped_run, with_unused_cpus


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return stepped_run(tmp_path_factory.mktemp("run"))


def asked(like: Window, capacity_rps: float, load: StepsLoad = LOAD) -> list[float | None]:
    return [offered_rps(window) for window in stepped(like, capacity_rps, load)]


def test_the_series_ends_after_so_many_missed_steps_in_a_row(run: LoadedRun) -> None:
    like = run.cells[0].forks[0].windows[0]
    assert asked(like, 3500) == [1000, 2000, 3000, 4000, 5000]
    assert [is_missed(window) for window in stepped(like, 3500)] == [False, False, False, True, True]
    assert asked(like, 1e6) == list(LOAD.rates_rps), "a server that holds all is asked for all"
    assert asked(like, 1) == [1000, 2000]
    once = LOAD.model_copy(update={"missed_max": 1})
    assert asked(like, 3500, once) == [1000, 2000, 3000, 4000]


FURTHER = LOAD.model_copy(update={"further_factor": 1.25, "further_max": 3})


def test_behind_the_written_rates_it_goes_on_until_the_server_is_saturated(run: LoadedRun) -> None:
    like = run.cells[0].forks[0].windows[0]
    assert FURTHER.every_rate_rps == (*LOAD.rates_rps, 7500, 9375, 11_719)
    assert asked(like, 7000, FURTHER) == [*LOAD.rates_rps, 7500, 9375]
    assert asked(like, 3500, FURTHER) == [1000, 2000, 3000, 4000, 5000], "saturated before"
    assert asked(like, 1e6, FURTHER) == list(FURTHER.every_rate_rps), "and no further than that"
    slow = StepsLoad(rates_rps=(1, 1.5), connections=1, step_s=1, warmup_rps=1, further_factor=1.01, further_max=2)
    assert slow.every_rate_rps == (1, 1.5, 2, 3), "whole rates that rise"


def test_what_a_fork_says_while_it_is_measured_is_what_the_table_says(run: LoadedRun) -> None:
    cell = next(one for one in run.cells if one.key.executor == "virtual")
    said = "2,801 req/s at most, 101.0 µs CPU/request at 1,000 req/s (errors, rate-missed)"
    assert progress.figures(cell.forks[0], cell) == said
    kept_up = cell.model_copy(update={"load": LOAD.model_copy(update={"rates_rps": LOAD.rates_rps[:2]})})
    fork = altered(kept_up.forks[0], {"windows": kept_up.forks[0].windows[:2]})
    assert progress.figures(fork, kept_up) == "at least 2,000 req/s, 101.0 µs CPU/request at 1,000 req/s"
    spoilt = fork.windows[0].model_copy(update={"reasons": (Reason(code="steal", message="stolen"),)})
    later = altered(fork, {"windows": (spoilt, *fork.windows[1:])})
    assert progress.figures(later, kept_up) == "at least 2,000 req/s, no CPU/request: no step at 1,000 req/s counts"


def test_cpu_per_request_says_of_which_step_it_is(run: LoadedRun) -> None:
    cells = Cells(run.run, run.cells)
    assert {(row.cpu.text, row.cpu.under) for row in PageOfRun(run).rows} == {("101", "at 1,000/s")}
    assert cpu_scope(slices(cells)[0]) == "At the lowest rate, 1,000 requests/s."
    page = page_of(run)
    assert tiles_of(page)["CPU per request at 1,000/s"].text == "101"
    siblings = table_of(page.blocks, "Executors under the same conditions")
    assert {figure_in(one, "CPU µs/req").under for one in siblings} == {"at 1,000/s"}
    sink = StringIO()
    Console(file=sink, width=80).print(summary_table(JudgedRun(run)))
    lines = sink.getvalue().splitlines()
    assert sum("101 at 1,000/s" in line for line in lines) == 2
    assert all(len(line) <= 80 for line in lines)


def test_who_was_not_saturated_is_told_below_the_table(run: LoadedRun) -> None:
    changed = stepped_at(run, {"virtual": 1e6, "liberty": 3500.0})
    told = "not seen saturated in 2 of 2 forks, offered up to 6,000 requests/s: the most that it can do was not reached"
    assert f"virtual {told}" in printed(changed)
    sentences = PageOfRun(changed).answers[0].sentences
    assert ("virtual", f"{told}.") in sentences and "liberty" not in dict(sentences)


def test_a_server_that_falls_behind_with_unused_cpus_is_bounded_by_something_else(run: LoadedRun) -> None:
    def told(executor: str) -> tuple[dict[str, str], str]:
        changed = with_unused_cpus(run, executor)
        return dict(PageOfRun(changed).answers[0].sentences), printed(changed, width=300)

    words = "saturated with 5 % of its CPUs in use, so something else bounds it"
    for executor in ("liberty", "virtual"):
        sentences, summary = told(executor)
        assert sentences[executor] == f"{words}.", "on JDK 25 nothing pins"
        assert f"{executor} {words}" in summary
    sentences, summary = told("none")
    assert not sentences.keys() & {"liberty", "virtual"}, "with its CPUs in use it is bounded by them"
    assert "bounds it" not in summary


def test_executors_are_compared_by_the_most_they_reach_and_by_the_cpu_at_the_lowest_rate(run: LoadedRun) -> None:
    cells = Cells(run.run, run.cells)
    virtual = next(cell for cell in cells if cell.key.executor == "virtual")
    assert virtual.by_block(SATURATED) == {1: 2801.0, 2: 2802.0} == leading_by_block(virtual.record)
    assert virtual.by_block(LOWEST_CPU) == {1: 101.0, 2: 101.0}
    assert virtual.latency is None, "latencies of several rates together are those of none"


def test_the_page_shows_each_figure_over_the_offered_rate(run: LoadedRun) -> None:
    charts = found(PageOfRun(run).page.blocks, Charts)
    groups = [group for group in charts if group.title.endswith(" over offered load")]
    assert [group.title.split(" over")[0] for group in groups] == ["Throughput", "CPU use", "CPU per request", "p99"]
    throughput = groups[0].charts[0]
    assert "virtual: 2,801 requests/s at most" in throughput.note
    rows = [row for data in throughput.drawing.datasets.values() for row in rows_of(data) if "fork" in row]
    assert {row["x"] for row in rows} == {1000, 2000, 3000, 4000, 5000}
    assert all(row["y"] <= row["x"] for row in rows)


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
