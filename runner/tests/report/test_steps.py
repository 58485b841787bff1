"""Loads whose rate changes: steps of rising rates, ramps (one of which ends level), and searches for the highest rate.
The tests cover when they end, what is read from them, and what the report shows, even of a figure that is only a bound
since the knee, the peak or the rate lies beyond what was tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from io import StringIO

import pytest
from rich.console import Console

from jdkmatrix.cli import progress
from jdkmatrix.cli.summary import summary_table
from jdkmatrix.figures.fork_figures import comparable
from jdkmatrix.figures.metrics import CAPACITY, KNEE, LOWEST_CPU, SATURATED, THROUGHPUT, leading_figures
from jdkmatrix.loads.base import is_missed, offered_rps
from jdkmatrix.loads.kinds import kind_of
from jdkmatrix.loads.kinds.ramps import RampedLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Interval
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.advice import Side, advise
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import cpu_scope
from jdkmatrix.report.run_page.cells_table import troubles_section
from jdkmatrix.report.words.sentences import PairFinding
from jdkmatrix.stats.capacity import SearchOutcome
from jdkmatrix.stats.ramps import backlog_until_s, seconds_of, steady_part
from jdkmatrix.stats.verdicts import Verdict
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, answer_of, cell_of, html_of, judged, key_of, page_of, printed, row_of
from tests.support.outcome_runs import STEAL, windows_of
from tests.support.pages import charts_of, figure_in, found, table_of, tiles_of
from tests.support.ramped_runs import JOINING, LEVEL, RISING, STARTED_S, ramped, with_ramp
from tests.support.records import altered, with_forks, with_forks_of, with_load
from tests.support.served_runs import Shape, made_up
from tests.support.stepped_runs import LOAD, climbing, searched, stepped, stepped_at, stepped_run, with_unused_cpus


@pytest.fixture(scope="module")
def run() -> LoadedRun:
    return stepped_run()


def asked(like: Window, capacity_rps: float, load: StepsLoad = LOAD) -> list[float | None]:
    return [offered_rps(window) for window in stepped(like, capacity_rps, load)]


def test_the_series_ends_after_so_many_missed_steps_in_a_row(run: LoadedRun) -> None:
    like = run.cells[0].forks[0].windows[0]
    assert asked(like, 3500) == [1000, 2000, 3000, 4000, 5000]
    assert [is_missed(window) for window in stepped(like, 3500)] == [False, False, False, True, True]
    assert asked(like, 1e6) == list(LOAD.rates_rps), "a server that holds all is asked for all"
    assert asked(like, 1) == [1000, 2000]
    assert asked(like, 3500, LOAD.model_copy(update={"missed_max": 1})) == [1000, 2000, 3000, 4000]


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
    cell = cell_of(run)
    said = "at best 2,801 req/s, 101.0 µs CPU/request at 1,000 req/s (errors, rate-missed)"
    assert progress.figures(cell.forks[0], cell) == said
    kept_up = cell.model_copy(update={"load": LOAD.model_copy(update={"rates_rps": LOAD.rates_rps[:2]})})
    fork = altered(kept_up.forks[0], {"windows": kept_up.forks[0].windows[:2]})
    assert progress.figures(fork, kept_up) == "at least 2,000 req/s, 101.0 µs CPU/request at 1,000 req/s"
    spoilt = fork.windows[0].model_copy(update={"reasons": (Reason(code="steal", message="stolen"),)})
    later = altered(fork, {"windows": (spoilt, *fork.windows[1:])})
    assert progress.figures(later, kept_up) == "at least 2,000 req/s, no CPU/request: no step at 1,000 req/s counts"


def test_a_step_missed_before_steps_that_gates_refused_is_not_the_end_of_what_a_server_can_do(run: LoadedRun) -> None:
    """It may have been missed by chance, and a noisy host ended the series."""
    cell = cell_of(run)
    (*kept_up, first, second) = cell.forks[0].windows
    stolen = (Reason(code="steal", message="stolen"),)
    refused = tuple(second.model_copy(update={"index": second.index + n, "reasons": stolen}) for n in range(3))
    for windows, answer, most in (
        ((*kept_up, first, second), False, "at best"),
        ((*kept_up, first, *refused), None, "at least"),
        ((*kept_up, first, second, *refused), False, "at best"),
    ):
        fork = altered(cell.forks[0], {"windows": windows})
        assert kind_of(cell.load).answer(fork) is answer
        assert progress.figures(fork, cell).startswith(most)


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


def test_a_peak_beyond_the_last_step_is_a_bound_and_told_below_the_table(under_rate: LoadedRun) -> None:
    loaded = stepped_at(under_rate, {"virtual": 1e6, "liberty": 3500.0})
    row = row_of(loaded, "virtual")
    assert (row.throughput.text, row.throughput.title) == ("≥ 6,000", "5 of 5 forks give only a bound")
    assert row_of(loaded, "liberty").throughput.text == "3,500"
    _, judgements = judged(loaded)
    assert judgements.of(SATURATED, key_of(loaded)) is None
    assert "virtual kept up with the highest rate in 5 of 5 forks against 0 of 5" in answer_of(loaded).lead
    page = PageOfRun(loaded)
    told = (
        "its maximum was not seen in 5 of 5 forks, offered up to 6,000 requests/s: it was not saturated, or a gate "
        "refused the step in which it answered most"
    )
    assert f"virtual: {told}" in printed(loaded)
    sentences = page.answers[0].sentences
    assert ("virtual", f"{told}.") in sentences and "liberty" not in dict(sentences)
    notes = [one.note for one in page.charts("Throughput over offered load")]
    most = (f"{most} requests/s in the best step, mean of 5 forks" for most in ("liberty: 3,500", "virtual: ≥ 6,000"))
    assert "; ".join(most) in notes
    assert "fork 1: \\u2265 6,000 requests/s" in page.html, "at the dot of the chart"


def test_a_server_that_falls_behind_with_unused_cpus_is_bounded_by_something_else(run: LoadedRun) -> None:
    def told(executor: str) -> tuple[dict[str, str], str]:
        changed = with_unused_cpus(run, executor)
        return dict(PageOfRun(changed).answers[0].sentences), printed(changed, width=300)

    words = "saturated with 5 % of its CPUs in use, so something else limits it"
    for executor in ("liberty", "virtual"):
        sentences, summary = told(executor)
        assert sentences[executor] == f"{words}.", "on JDK 25 nothing pins"
        assert f"{executor}: {words}" in summary
    sentences, summary = told("none")
    assert not sentences.keys() & {"liberty", "virtual"}, "with its CPUs in use it is bounded by them"
    assert "limits it" not in summary


def test_executors_are_compared_by_the_most_they_reach_and_by_the_cpu_at_the_lowest_rate(run: LoadedRun) -> None:
    virtual = next(cell for cell in Cells(run.run, run.cells) if cell.key.executor == "virtual")
    assert virtual.by_block(SATURATED) == {1: 2801.0, 2: 2802.0} == comparable(leading_figures(virtual.record))
    assert virtual.by_block(LOWEST_CPU) == {1: 101.0, 2: 101.0}
    assert virtual.latency is None, "latencies of several rates together are those of none"


def test_a_step_that_a_gate_refused_is_lost_to_the_host() -> None:
    def without_lowest(cell: CellRecord, fork: Fork) -> Fork:
        lowest, *others = fork.windows
        refused = lowest.model_copy(update={"reasons": (STEAL,)})
        return altered(fork, {"windows": (refused, *others)}) if fork.fork == 1 else fork

    run = with_forks(stepped_run(), without_lowest)
    for cell in Cells(run.run, run.cells):
        assert cell.by_block(LOWEST_CPU).keys() == {2}
        assert cell.arm_forks(LOWEST_CPU).own_doing == {}


def test_the_page_shows_each_figure_over_the_offered_rate(run: LoadedRun) -> None:
    charts = found(PageOfRun(run).page.blocks, Charts)
    groups = [group for group in charts if group.title.endswith(" over offered load")]
    assert [group.title.split(" over")[0] for group in groups] == ["Throughput", "CPU use", "CPU per request", "p99"]
    throughput = groups[0].charts[0]
    assert "virtual: 2,801 requests/s in the best step, mean of 2 forks" in throughput.note
    rows = [row for data in throughput.drawing.datasets.values() for row in data if "fork" in row]
    assert {row["x"] for row in rows} == {1000, 2000, 3000, 4000, 5000}
    assert all(row["y"] <= row["x"] for row in rows)


def test_a_p99_of_few_requests_is_not_drawn() -> None:
    def few_at_first(_: CellRecord, fork: Fork) -> Fork:
        lowest, *others = fork.windows
        assert lowest.load.corrected is not None
        few = lowest.load.corrected.model_copy(update={"count": 999})
        return altered(fork, {"windows": (with_load(lowest, {"corrected": few}), *others)})

    page = PageOfRun(with_forks(stepped_run(), few_at_first)).page
    drawn = (chart.drawing for chart in charts_of(page.blocks, "p99 over offered load"))
    rows = [row for one in drawn for data in one.datasets.values() for row in data if "fork" in row]
    assert {row["x"] for row in rows} == {2000, 3000, 4000, 5000}


def test_steps_of_connections_have_their_charts_and_remarks_too() -> None:
    plain = made_up(Shape(jdks=("temurin-25",), blocks=2))
    page = PageOfRun(with_unused_cpus(climbing(plain, {"virtual": 3500.0, "liberty": 1e6}), "virtual"))
    charts = [group for group in found(page.page.blocks, Charts) if group.title.endswith(" over connections")]
    assert [group.title.split(" over")[0] for group in charts] == ["Throughput", "CPU use", "CPU per request"]
    (chart,) = charts[0].charts
    assert chart.note == "; ".join(
        f"{most} requests/s in the best step, mean of 2 forks" for most in ("liberty: ≥ 6,000", "virtual: 3,500")
    )
    rows = [row for data in chart.drawing.datasets.values() for row in data if "fork" in row]
    assert {row["x"] for row in rows} == {10, 30, 50, 60}
    told = dict(page.answers[0].sentences)
    assert told["liberty"].startswith("its maximum was not seen in 2 of 2 forks, with up to 60 connections: ")
    assert told["virtual"] == "saturated with 5 % of its CPUs in use, so something else limits it."


def with_intervals(fork: Fork, intervals: tuple[Interval, ...]) -> Fork:
    return windows_of(fork, lambda window: with_load(window, {"intervals": intervals}))


def completing(fork: Fork, completed: Mapping[int, int]) -> Fork:
    """Let this many requests be completed in these seconds of the load."""
    seconds = fork.windows[0].load.intervals
    changed = (one.model_copy(update={"completed": completed.get(int(one.t_s), one.completed)}) for one in seconds)
    return with_intervals(fork, tuple(changed))


def test_the_steady_part_is_the_second_half_of_the_level_stretch() -> None:
    """The CPU of the steady part is that of the seconds that samples enclose: they are a second apart and end with the
    server, whose last answer comes right after the load."""
    fork = cell_of(ramped(LEVEL)).forks[0]
    whole = steady_part(fork)
    assert whole.cpu_us_per_request == pytest.approx(1000, rel=0.06)
    ended = altered(fork, {"samples": tuple(one for one in fork.samples if one.t_s < STARTED_S + LEVEL.duration_s)})
    steady, without = steady_part(ended), steady_part(altered(fork, {"samples": ()}))
    assert whole.throughput_rps == steady.throughput_rps == without.throughput_rps == 1000
    assert steady.cpu_us_per_request == pytest.approx(whole.cpu_us_per_request, rel=0.06)
    assert without.cpu_us_per_request is None
    assert steady_part(with_ramp(fork, RISING, lag_s=1, capacity_rps=2000)) is None


def test_a_backlog_that_is_worked_off_is_no_steady_throughput() -> None:
    """A pause across the end of a second is no backlog: what that second lacks is in the next one."""
    fork = cell_of(ramped(LEVEL)).forks[0]
    behind = completing(fork, dict.fromkeys(range(12, 24), 1500))
    assert backlog_until_s(seconds_of(behind)) == 23
    for one in (behind, completing(fork, {28: 940, 29: 1060})):
        assert steady_part(one).throughput_rps == 1000
    assert steady_part(completing(fork, dict.fromkeys(range(1, 31), 1500))) is None


def test_rates_and_throughput_are_per_second_also_where_the_last_interval_is_shorter() -> None:
    fork = cell_of(ramped(LEVEL)).forks[0]
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
    load: RampedLoad, leading: tuple[float, float], note: str
) -> None:
    """The peak is counted from the start of the load."""
    run = ramped(load)
    assert [comparable(leading_figures(cell)) for cell in run.cells] == [{1: figure, 2: figure} for figure in leading]
    groups = found(PageOfRun(run).page.blocks, Charts)
    titles = [group.title for group in groups]
    assert titles[:2] == ["What was asked for", "Throughput second by second"]
    assert "p99 second by second" in titles
    assert note in [chart.note for group in groups for chart in group.charts]


def test_a_closed_loop_has_connections_a_level_of_its_own_and_no_knee() -> None:
    run = ramped(JOINING)
    assert comparable(leading_figures(cell_of(run))) == {1: 11.0, 2: 11.0}
    joined = cell_of(run).forks[0]
    assert Cells(run.run, run.cells).get(key_of(run)).kind.fork_words(joined) == (
        "peak after 11 s, 1,000 req/s at the end, 1000.0 µs CPU/request"
    )
    assert steady_part(cell_of(run).forks[0]).throughput_rps == 1000
    page = PageOfRun(run)
    groups = {group.title: group for group in found(page.page.blocks, Charts)}
    assert [chart.title for chart in groups["What was asked for"].charts] == ["Connections"]
    words = str(groups["Throughput second by second"].words)
    assert "what the last 33 % of the load came to, if it is held for as long" in words
    assert str(groups["p99 second by second"].words).startswith("From when the request was sent")
    assert not any("knee" in chart.note for chart in groups["p99 second by second"].charts)
    told = [words for answer in page.answers for _, words in answer.sentences if "its level" in words]
    assert any("reached its level after 11.0 s; answered 1,000 requests/s at the end" in words for words in told)


def test_readings_that_a_full_pool_did_not_give_are_counted_below_the_chart() -> None:
    def silent(fork: Fork) -> Fork:
        """Leave out gauges from the tenth second of the load on."""
        samples = (one.model_copy(update={"gauges": None}) if one.t_s > STARTED_S + 10 else one for one in fork.samples)
        return altered(fork, {"samples": tuple(samples)})

    run = ramped(LEVEL)

    def note(shown: LoadedRun) -> str:
        (chart,) = charts_of(PageOfRun(shown).page.blocks, "Size of the pool")
        return chart.note

    assert note(run) == "liberty: 16.0"
    full = with_forks_of(run, "liberty", silent)
    assert note(full) == "liberty: 40 of 60 readings missing, the server did not answer in time"


def at_capacities(loaded: LoadedRun, load: RampedLoad, capacities_rps: Mapping[str, tuple[float, ...]]) -> LoadedRun:
    """Put the run under this ramp. `capacities_rps`: of the five forks of each executor."""

    def changed(cell: CellRecord, fork: Fork) -> Fork:
        return with_ramp(fork, load, lag_s=1, capacity_rps=capacities_rps[cell.key.executor][fork.fork - 1])

    return with_forks(loaded, changed, load=load)


def test_no_knee_is_the_best_outcome(under_rate: LoadedRun) -> None:
    none, early = (1e6,) * 5, (2000.0,) * 5
    loaded = at_capacities(under_rate, RISING, {"virtual": none, "liberty": early})
    cells, judgements = judged(loaded)
    assert judgements.outcomes(key_of(loaded)).finding is PairFinding.BETTER
    assert not cells.get(key_of(loaded)).by_block(KNEE)
    answer = answer_of(loaded)
    assert "virtual ahead of liberty: virtual reached the end of the ramp without a knee in 5 of 5 forks" in answer.lead
    assert "a knee is worse" in answer.sentences[0][1]
    said, took = dict(PageOfRun(loaded).answers[0].sentences), "; its median response took up to "
    assert said["virtual"].startswith(f"no knee up to 3,100 requests/s{took}")
    assert said["liberty"].startswith(f"knee at 2,100 requests/s{took}")
    mixed = at_capacities(under_rate, RISING, {"virtual": (*none[:3], *early[:2]), "liberty": early})
    assert dict(PageOfRun(mixed).answers[0].sentences)["virtual"].startswith(
        "no knee up to 3,100 requests/s in 3 of 5 forks; knee at 2,100 requests/s in 2 of 5 forks; "
    )


def test_where_every_server_comes_to_its_knee_nobody_makes_a_story_of_it(under_rate: LoadedRun) -> None:
    loaded = at_capacities(under_rate, RISING, dict.fromkeys(("virtual", "liberty"), (2000.0,) * 5))
    assert [term for term, _ in answer_of(loaded).sentences] == ["Rate at the knee of p99"]
    assert {row_of(loaded, executor).state.value for executor in ("virtual", "liberty")} == {"ok"}


def test_a_peak_that_was_not_reached_counts(under_rate: LoadedRun) -> None:
    loaded = at_capacities(under_rate, LEVEL, {"virtual": (900.0,) * 5, "liberty": (2500.0,) * 5})
    assert "virtual reached the peak of the ramp in 0 of 5 forks against 5 of 5" in answer_of(loaded).lead
    assert row_of(loaded, "virtual").state.value == "fell short"
    _, judgements = judged(loaded)
    assert judgements.of(THROUGHPUT, key_of(loaded)), "what it did answer is a figure"


def ended(loaded: LoadedRun, outcomes: Mapping[int, SearchOutcome]) -> LoadedRun:
    """Let the searches of `virtual` end differently."""

    def search(fork: Fork) -> Fork:
        end = {"outcome": outcomes[fork.fork].value} if fork.fork in outcomes else {}
        return altered(fork, {"capacity": fork.capacity.model_copy(update=end)})

    return with_forks_of(loaded, "virtual", search)


@pytest.mark.parametrize(
    ("outcomes", "shown", "verdict"),
    [
        ({1: SearchOutcome.FLOOR_FAILED}, "< ", PairFinding.TOO_FEW_FORKS),
        ({1: SearchOutcome.CEILING_HELD}, "≥ ", PairFinding.NO_DIFFERENCE_SEEN),
        ({1: SearchOutcome.FLOOR_FAILED, 2: SearchOutcome.CEILING_HELD}, "< .+ – ≥ ", PairFinding.TOO_FEW_FORKS),
        (dict.fromkeys(range(1, 6), SearchOutcome.FLOOR_FAILED), "< ", PairFinding.WORSE),
    ],
)
def test_searches_without_an_end_inside_their_range_are_bounds(
    closed_loop: LoadedRun, outcomes: Mapping[int, SearchOutcome], shown: str, verdict: PairFinding
) -> None:
    loaded = ended(searched(replace(closed_loop, cells=closed_loop.cells[:2])), outcomes)
    assert re.match(shown, row_of(loaded, "virtual").figure(CAPACITY).text)
    _, judgements = judged(loaded)
    key = key_of(loaded)
    assert judgements.outcomes(key).finding is verdict
    capacity = judgements.of(CAPACITY, key)
    assert capacity is None or capacity.verdict is Verdict.NOT_JUDGED
    assert judgements.comparison(CAPACITY, key).losses.numerator == len(outcomes)


def test_no_other_figure_takes_the_place_of_a_leading_one_that_cannot_be_compared(closed_loop: LoadedRun) -> None:
    """Every fork of virtual threads held even the highest rate that was tried."""
    held = dict.fromkeys(range(1, 6), SearchOutcome.CEILING_HELD)
    loaded = ended(searched(replace(closed_loop, cells=closed_loop.cells[:2])), held)
    _, judgements = judged(loaded)
    found = advise(judgements, key_of(loaded))
    assert (found[0].figure, found[0].word) == (CAPACITY.id, "not judged") and found[0].value.startswith("≥ ")
    assert {one.side for one in found} == {Side.OPEN} and THROUGHPUT.id in {one.figure for one in found}
    why = "no block has a figure of both that compares"
    assert f"Rate held is not judged where {why}: it was ≥ " in found[0].sentence
    assert answer_of(loaded).lead.endswith(f": rate held not judged: {why}")


def test_a_cell_that_fell_short_without_a_reason_says_in_what(closed_loop: LoadedRun) -> None:
    failed = dict.fromkeys(range(1, 6), SearchOutcome.FLOOR_FAILED)
    page = JudgedRun(ended(searched(replace(closed_loop, cells=closed_loop.cells[:2])), failed))
    (section,) = troubles_section(page)
    assert "Held a rate in 0 of 5 forks" in str(section) and "no reason was recorded" not in str(section)


@pytest.fixture(scope="module")
def search() -> LoadedRun:
    return searched(made_up(Shape(executors=("liberty", "virtual", "platform"))))


def test_the_rate_that_held_leads(search: LoadedRun) -> None:
    page = PageOfRun(search)
    assert [name for name, _ in page.answers[0].sentences] == ["Rate held", "Throughput", "CPU per request"]
    assert page.maps[0].columns == ("Rate held", "Throughput", "CPU per request")
    assert len(page.charts("Rate held")) == len(page.charts("Latency over rate")) == 2
    assert "to find the highest that keeps p99 within 10.0 ms" in str(page.sections[0].words)
    assert all(row.figure(CAPACITY).sort for row in page.rows)


def test_a_curve_has_every_valid_window_and_says_which_held(search: LoadedRun) -> None:
    chart = PageOfRun(search).charts("Latency over rate")[0]
    marks = chart.drawing.datasets["marks"]
    here = [cell for cell in Cells(search.run, search.cells) if cell.key.jdk == "temurin-21.0.8"]
    searches = [fork.capacity for cell in here for fork in cell.usable]
    valid = [step for one in searches if one for step in one.steps if step.held is not None]
    assert {(mark["x"], mark["hollow"]) for mark in marks} == {(step.rate_rps, not step.held) for step in valid}
    assert all(mark["text"].endswith(": did not hold" if mark["hollow"] else ": held") for mark in marks)
    assert "requests/s held" in chart.note


def test_the_cells_page_has_the_search_of_every_fork(search: LoadedRun) -> None:
    page = html_of(page_of(search, jdk="temurin-21.0.8"))
    assert page.count("Search for the highest rate") == 3
    assert "a rate known to work" in page and "did not hold" in page
    assert "&lt;b&gt;9 %&lt;/b&gt;" in page and "<b>9 %</b>" not in page
    assert "Time to steady" in page


@pytest.mark.parametrize("made", [stepped_run, partial(ramped, LEVEL), partial(ramped, JOINING)])
def test_every_chart_has_its_figures_in_words(made: Callable[[], LoadedRun]) -> None:
    charts = [chart for group in found(PageOfRun(made()).page.blocks, Charts) for chart in group.charts]
    assert len(charts) > 5 and all(chart.note for chart in charts), [chart.title for chart in charts if not chart.note]
