"""Steps of rising rates: when the series ends, what counts, and what the report shows of them."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from jdkmatrix.cli import progress
from jdkmatrix.cli.summary import print_summary, summary_table
from jdkmatrix.figures.metrics import LOWEST_CPU, SATURATED, leading_by_block
from jdkmatrix.loads.base import is_missed, offered_rps
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import cpu_scope
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of
from tests.support.judged_pages import PageOfRun, figure_in, found, page_of, table_of, tiles_of
from tests.support.records import altered
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
    sink = StringIO()
    changed = stepped_at(run, {"virtual": 1e6, "liberty": 3500.0})
    print_summary(changed, Console(file=sink, width=200))
    told = "not seen saturated in 2 of 2 forks, offered up to 6,000 requests/s: the most that it can do was not reached"
    assert f"virtual {told}" in sink.getvalue()
    sentences = PageOfRun(changed).answers[0].sentences
    assert ("virtual", f"{told}.") in sentences and "liberty" not in dict(sentences)


def test_a_server_that_falls_behind_with_unused_cpus_is_bounded_by_something_else(run: LoadedRun) -> None:
    def told(executor: str) -> tuple[dict[str, str], str]:
        sink = StringIO()
        changed = with_unused_cpus(run, executor)
        print_summary(changed, Console(file=sink, width=300))
        return dict(PageOfRun(changed).answers[0].sentences), sink.getvalue()

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
