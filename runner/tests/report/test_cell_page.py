"""What the page of a cell shows of its forks: figures in their units, with their intervals, beside the other arms."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts, Items, Notices, PageBlock, Pre, Prose, Section, Tiles, WebPage
from jdkmatrix.report.blocks.tables import DataTable, TableRow
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_note
from jdkmatrix.report.cell_page.forks import for_a_shell, reason_words
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.words.numbers import missing
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cpu_use
from tests.support.judged_pages import (
    cell_page_of,
    charts_of,
    facts_of,
    figure_in,
    found,
    page_in,
    plain,
    section_of,
    table_of,
    tiles_of,
    window_figures,
)
from tests.support.outcome_runs import refusing
from tests.support.records import altered, with_forks, with_forks_of, with_load
from tests.support.served_runs import Shape, synthetic_run

SHAPE = Shape(jdks=("temurin-21.0.8", "temurin-25"), burn_us=(0, 100), blocks=3)
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("cell"), SHAPE)


def test_figures_of_a_reason_have_no_exponents() -> None:
    figures = {"completed": 0, "sent": 1_234_567, "rate": 12_345.6, "share": 0.00002}
    assert reason_words([Reason(code="lost", message="lost", figures=figures)]) == (
        "lost (completed 0, sent 1,234,567, rate 12,350, share 0.0000200)",
    )


def cell_of(loaded: LoadedRun, executor: str) -> CellRecord:
    """On the first JDK, with work."""
    return next(cell for cell in loaded.cells if (cell.key.executor, cell.key.burn_us) == (executor, 100))


def forks_of(loaded: LoadedRun, executor: str) -> tuple[Fork, ...]:
    return cell_of(loaded, executor).forks


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> WebPage:
    return cell_page_of(loaded, cell_of(loaded, "virtual").key)


@pytest.fixture(scope="module")
def first(page: WebPage) -> Section:
    return section_of(page, "fork-1")


def mean(loaded: LoadedRun, executor: str, of: Callable[[Window], float]) -> float:
    """The geometric mean over forks of the mean over windows."""
    forks = forks_of(loaded, executor)
    return statistics.geometric_mean(statistics.fmean(map(of, fork.windows)) for fork in forks)


def rate(window: Window) -> float:
    return window.load.throughput_rps


def test_it_says_which_cell_it_is(page: WebPage) -> None:
    assert page.title == "virtual on temurin-21.0.8 · mp-ping, 1 CPU, tasks of 100 µs"
    badge = '<span class="badge ok" title="measured in the steady state">ok</span>'
    assert page.heading == f"virtual on temurin-21.0.8 {badge}"
    assert str(page.summary).startswith("mp-ping, 1 CPU, tasks of 100 µs. Closed loop: 50 connections")
    (note,) = (one.text for one in page.lede if isinstance(one, Prose))
    assert str(note).startswith("Latency is service time in a closed loop")
    parts = [section_of(page, "parts")]
    assert facts_of(parts)["Task duration"] == "4,100 rounds, meant to take 100 µs"
    assert facts_of(parts)["JDK"].startswith("temurin-21.0.8: ")
    assert {row["Flag"]: row["Value"] for row in table_of(parts, "Final flags")} == {
        "CICompilerCount": "2", "MaxHeapSize": "1073741824", "UseG1GC": "true",
    }  # fmt: skip
    assert found(parts, Pre)[-1].text == '{\n  "cpus": 1,\n  "jdk": "temurin-21.0.8"\n}'


def test_tiles_stand_in_order_with_their_units_and_intervals(loaded: LoadedRun, page: WebPage) -> None:
    assert [(one.name, one.unit) for tiles in found(page.lede, Tiles) for one in tiles.tiles] == [
        ("Throughput", "requests/s"), ("CPU per request", "µs"), ("p50", "ms"), ("p99", "ms"), ("p99.9", "ms"),
        ("95 % of steady state after", "s"), ("RSS, peak", "MiB"), ("Threads, peak", ""),
        ("Context switches per request", ""), ("Allocated per request", "KiB"),
    ]  # fmt: skip
    tiles = tiles_of(page)
    windows = [window for fork in forks_of(loaded, "virtual") for window in fork.windows]
    assert tiles["Throughput"].text == f"{mean(loaded, 'virtual', rate):,.0f}"
    assert tiles["Throughput"].under.endswith(", 3 forks")
    cpu_us = mean(loaded, "virtual", lambda one: one.sut.cpu_us_per_request)
    assert tiles["CPU per request"].sort == pytest.approx(cpu_us, rel=1e-3)
    assert tiles["CPU per request"].under.startswith("± ")
    assert tiles["RSS, peak"].text == f"{max(window.sut.rss_peak_bytes for window in windows) / MIB:.0f}"
    assert tiles["Threads, peak"].text == "52"
    assert 12 < (tiles["95 % of steady state after"].sort or 0) < 13
    for name in ("p50", "p99", "p99.9"):
        interval, _, of = tiles[name].under.partition(" ")
        low, high = map(float, interval.split("–"))
        assert of == "over forks"
        assert low < float(tiles[name].text) < high
    # 50 connections at some 7,700 requests per second: a request takes 6.5 ms on average.
    assert 4 < float(tiles["p50"].text) < float(tiles["p99"].text) < float(tiles["p99.9"].text) < 25


def test_every_arm_of_the_condition_stands_beside_it(loaded: LoadedRun, page: WebPage) -> None:
    (shown,) = (one for one in found(page.blocks, DataTable) if one.label == "Executors under the same conditions")
    assert [row.css for row in shown.rows if isinstance(row, TableRow)] == ["", "current"]
    other, this = table_of(page.blocks, "Executors under the same conditions")
    assert 'href="mp-ping.temurin-21.0.8.liberty.cpus-1.burn-100us.saturate-50.html"' in str(other["Executor"])
    assert "href" not in str(this["Executor"])
    order = executor_order(("liberty", "virtual"))
    for name, one in (("liberty", other), ("virtual", this)):
        assert f'swatch e{order.index(name)}"' in str(one["Executor"])
        assert figure_in(one, "Throughput req/s").sort == pytest.approx(mean(loaded, name, rate), rel=1e-3)
    tiles = tiles_of(page)
    assert this["p99 service time ms"] != other["p99 service time ms"]
    assert figure_in(this, "p99 service time ms").text == tiles["p99"].text
    assert figure_in(this, "CPU µs/req") == tiles["CPU per request"], "with its interval"


def test_both_arms_of_a_pair_are_warned_where_gates_refused_one_more_often(tmp_path: Path) -> None:
    arms = ("liberty", "virtual", "platform")
    run = synthetic_run(tmp_path, replace(SHAPE, jdks=("temurin-25",), executors=arms, blocks=5, windows=6))
    refused = JudgedRun(with_forks_of(run, "virtual", refusing))
    for key in refused.cells.keys:
        notices = [notice for one in found(page_in(refused, key).lede, Notices) for notice in one.notices]
        assert [(one.weight, one.title) for one in notices] == (
            [] if key.executor == "platform" else [("warn", "Gates refused one arm more often")]
        )
        assert all("10 of 30 windows of virtual and 0 of 30 of liberty" in one.text for one in notices)


def test_the_blocks_behind_its_ratios_are_shown(loaded: LoadedRun, page: WebPage) -> None:
    against = section_of(page, "Compared with liberty")
    (said,) = found([against], Items)
    assert [plain(one).partition(": ")[0] for one in said.items] == ["Throughput", "CPU per request"]
    heads = ["CPU per request µs", "virtual", "liberty", "Ratio"]
    assert list(table_of([against], "Blocks of CPU per request")[0]) == heads
    rows = table_of([against], "Blocks of Throughput")
    assert [row["Throughput requests/s"] for row in rows] == ["block 1", "block 2", "block 3"]
    for row, above, below in zip(rows, forks_of(loaded, "virtual"), forks_of(loaded, "liberty"), strict=True):
        one, other = (statistics.fmean(map(rate, fork.windows)) for fork in (above, below))
        assert float(str(row["virtual"]).replace(",", "")) == pytest.approx(one, rel=1e-3)
        assert float(str(row["liberty"]).replace(",", "")) == pytest.approx(other, rel=1e-3)
        assert float(str(row["Ratio"])) == pytest.approx(one / other, abs=0.006)


def test_a_fork_says_where_when_and_on_what_it_ran(loaded: LoadedRun, first: Section) -> None:
    fork = forks_of(loaded, "virtual")[0]
    facts = facts_of([first])
    assert first.title == 'Fork 1 <span class="badge ok">ok</span>'
    assert facts["Order"] == f"2 in block 1, {fork.sequence} in the run"
    assert facts["Started"] == f"2025-01-01 12:{fork.sequence:02d} UTC, 30 s"
    assert facts["CPUs"] == "server 0, driver 1: no CPU in common"
    assert facts["First answer"] == f"{fork.first_response_s:.1f} s after the start"
    assert facts["Proof of executor"] == (
        "200 requests over one connection: executor virtual, 200 virtual threads; names: “1”, “2”, “3”"
    )
    assert facts["Work check"] == (
        "4,100 rounds took 101.0 µs at best, 100 µs asked, 100.4 expected at the CPU’s speed of then"
    )
    assert facts["CPU speed"] == "224.9 to 225.8 divisions/µs in 3 readings: moved by 0.4 %"


def test_what_a_fork_did_not_come_to_is_said(loaded: LoadedRun) -> None:
    one = cell_of(loaded, "virtual")
    shared = one.forks[0].confinement.model_copy(update={"overlapped": True})
    nothing = {"first_response_s": None, "proof": None, "burn_check": None, "confinement": shared}
    changed = with_forks(loaded, lambda cell, fork: altered(fork, nothing) if cell.key == one.key else fork)
    facts = facts_of([section_of(cell_page_of(changed, one.key), "fork-1")])
    assert facts["First answer"] == "none came"
    assert facts["Proof of executor"] == facts["Work check"] == "none: the fork ended before it, or was overloaded"
    assert facts["CPUs"].endswith(": they share CPUs")


def test_command_lines_can_be_pasted_into_a_shell(first: Section) -> None:
    server = "/jdks/SYNTHETIC/bin/java -Xms1g -Xmx1g -XX:+UseG1GC -jar 'ws server.jar' defaultServer"
    assert [(one.label, one.text) for one in found([first], Pre) if one.label] == [
        ("Server’s command line", server),
        ("Driver’s command line", "/jdks/SYNTHETIC/bin/java -jar loadgen.jar --label 'it'\"'\"'s a test'"),
    ]


@pytest.mark.parametrize(
    ("argument", "read"),
    [("~/a b/java", "/h/a b/java"), ("-agent:~/a.jar=~/b,~/c", "-agent:/h/a.jar=/h/b,/h/c"), ("old~", "old~"),
     ('-D="$PATH`\\~/a~/b:~', '-D="$PATH`\\~/a~/b:/h')],
)  # fmt: skip
def test_a_shell_reads_the_home_in_a_command_line(argument: str, read: str) -> None:
    shell = ("/bin/sh", "-c", f"printf %s {for_a_shell([argument])}")
    assert subprocess.run(shell, env={"HOME": "/h"}, capture_output=True, text=True, check=True).stdout == read


WINDOW_FIGURES: tuple[tuple[str, str, Callable[[Window], float | None]], ...] = (
    ("Start", "s", lambda w: w.t_s),
    ("Duration", "s", lambda w: w.load.duration_s),
    ("Throughput", "req/s", lambda w: w.load.throughput_rps),
    ("Sent", "requests", lambda w: w.load.sent),
    ("Completed", "requests", lambda w: w.load.completed),
    ("Answered after the end", "requests", lambda w: w.load.answered_late),
    ("Not 2xx", "answers", lambda w: w.load.non_2xx),
    ("Reconnects", "", lambda w: w.load.reconnects),
    ("p50", "ms", lambda w: w.load.uncorrected.percentiles_us["50"] / 1e3),
    ("p90", "ms", lambda w: w.load.uncorrected.percentiles_us["90"] / 1e3),
    ("p99", "ms", lambda w: w.load.uncorrected.percentiles_us["99"] / 1e3),
    ("p99.9", "ms", lambda w: w.load.uncorrected.percentiles_us["99.9"] / 1e3),
    ("Maximum", "ms", lambda w: w.load.uncorrected.max_us / 1e3),
    ("CPU per request", "µs", lambda w: w.sut.cpu_us_per_request),
    ("Share of its CPUs", "%", lambda w: w.sut.cpu_share * 100),
    ("Run-queue wait", "s", lambda w: w.sut.run_queue_wait_s),
    ("Switches, voluntary", "", lambda w: w.sut.voluntary_switches),
    ("Switches, forced", "", lambda w: w.sut.involuntary_switches),
    ("RSS, peak", "MiB", lambda w: w.sut.rss_peak_bytes / MIB),
    ("Virtual size", "MiB", lambda w: w.sut.virt_bytes / MIB),
    ("Heap used", "MiB", lambda w: (w.sut.heap_used_bytes or 0) / MIB),
    ("Direct buffers", "MiB", lambda w: (w.sut.direct_buffer_bytes or 0) / MIB),
    ("Threads, peak", "", lambda w: w.sut.threads_peak),
    ("In flight, peak", "requests", lambda w: w.sut.in_flight_peak),
    ("JIT", "ms", lambda w: w.sut.jit_ms),
    ("JIT, share of one CPU", "%", lambda w: w.sut.jit_share * 100),
    ("Speed of the server’s CPUs before it", "divisions/µs", lambda w: w.clock_speed),
    ("Driver's share of its CPUs", "%", lambda w: w.load.driver_cpu_share * 100),
)


@pytest.mark.parametrize(("name", "unit", "expected"), WINDOW_FIGURES, ids=lambda one: one if one else "")
def test_a_figure_of_a_window_is_what_was_recorded_in_its_unit(
    loaded: LoadedRun, name: str, unit: str, expected: Callable[[Window], float | None]
) -> None:
    windows = forks_of(loaded, "virtual")[0].windows
    percent = unit == "%"  # stands with the figure
    figures = window_figures(*windows)[name if percent else f"{name} {unit}".strip()]
    for figure, window in zip(figures, windows, strict=True):
        assert figure.text.endswith(" %") is percent
        assert float(figure.text.removesuffix(" %").replace(",", "")) == pytest.approx(expected(window), rel=0.013)


def test_the_figures_of_a_window_under_a_rate(tmp_path_factory: pytest.TempPathFactory) -> None:
    under_rate = replace(SHAPE, loads=("rate-2000",), blocks=1, burn_us=(100,), jdks=("temurin-25",))
    window = synthetic_run(tmp_path_factory.mktemp("rate"), under_rate).cells[0].forks[0].windows[0]
    late = window.load.send_lateness
    figures = window_figures(window)
    assert figures["Due requests"][0].text == f"{window.load.due:,}"
    assert figures["Due, not sent requests"][0].text == "0"
    late_ms = float(figures["Send lateness, p99 ms"][0].text)
    assert late_ms == pytest.approx(late.percentiles_us["99"] / 1e3, rel=0.013)
    # Due counts from when a request should have been sent.
    p99_ms = window.load.corrected.percentiles_us["99"] / 1e3
    assert float(figures["p99 ms"][0].text) == pytest.approx(p99_ms, rel=0.013)
    few = f"fewer than 10 of {window.load.corrected.count:,} requests were slower: too few to say"
    assert figures["p99.9 ms"][0] == missing(few)


def test_a_driver_that_says_less_leaves_dashes_with_reasons(tmp_path: Path, quick: LoadedRun) -> None:
    less = synthetic_run(tmp_path, replace(SHAPE, loads=("rate-2000",), driver="wrk2"))
    cell = less.cells[0]
    figures = window_figures(cell.forks[0].windows[0])
    for name in ("Sent requests", "Reconnects", "Send lateness, p99 ms"):
        assert figures[name][0].text == "–" and figures[name][0].title == "this driver does not say"
    assert tiles_of(cell_page_of(less, cell.key))["p99"].under == "no interval: this driver writes no histograms"
    figures = window_figures(quick.cells[0].forks[0].windows[0])
    assert figures["Due requests"][0].title == "a closed loop has no schedule"
    assert figures["p99 ms"][0].text != "–"


def test_the_busiest_event_loop_of_several_is_told(loaded: LoadedRun) -> None:
    one = forks_of(loaded, "virtual")[0].windows[0]
    load = one.load.model_copy(update={"driver_loop_cpu_share": 0.87})
    shown = window_figures(one, one.model_copy(update={"load": load}))["Driver's busiest event loop, of one CPU"]
    assert shown[0] == missing("the driver has one event loop, or does not say") and shown[1].text == "87 %"


def test_whose_cpus_were_disturbed_is_told_apart(loaded: LoadedRun) -> None:
    uses = (cpu_use("sut", foreign=0.01, steal=0.02), cpu_use("driver", busy=0.55, foreign=0.03, steal=0.04))
    host = Pressure(
        steal_share=0.0, foreign_cpu_share=0.0, psi_cpu_some_share=0.08, runner_cpu_share=0.09, cpu_use=uses
    )
    window = forks_of(loaded, "virtual")[0].windows[0].model_copy(update={"host": host})
    shown = {name: figures[0].text for name, figures in window_figures(window).items() if figures}
    assert shown["Foreign CPU, on the server’s CPUs"] == "1.0 %"
    assert shown["Foreign CPU, on the driver’s CPUs"] == "3.0 %"
    assert shown["Steal, from the server’s CPUs"] == "2.0 %"
    assert shown["Steal, from the driver’s CPUs"] == "4.0 %"
    assert shown["Busy, the driver’s CPUs"] == "55 %"
    assert (shown["CPU pressure"], shown["This tool, of one CPU"]) == ("8.0 %", "9.0 %")


def test_errors_and_collections_are_counted(loaded: LoadedRun) -> None:
    window = forks_of(loaded, "virtual")[0].windows[0]
    assert window_figures(window)["Errors"][0].text == "0"
    assert window_figures(window)["Garbage collections"][0].text == "1 in 7 ms"
    broken = with_load(window, {"errors": Errors(connect=1000, read=2, write=0, timeout=30)})
    figure = window_figures(broken)["Errors"][0]
    assert (figure.text, figure.title) == ("1,032", "1,000 connect, 2 read, 30 timeout")


def test_windows_stand_in_lines_of_a_table_for_each_group(first: Section) -> None:
    groups = ("Load", "Latency", "Server", "Driver and host")
    assert [one.label for one in found([first], DataTable)] == [f"{group} by window of fork 1" for group in groups]
    for group in groups:
        assert [row[group] for row in table_of([first], group)] == ["window 1", "window 2"]


def noted(fork: PageBlock, id_prefix: str) -> tuple[str, str]:
    charts = (chart for group in found([fork], Charts) for chart in group.charts)
    chart = next(chart for chart in charts if chart.id == f"fork-1-{id_prefix}")
    return chart.title, chart.note


def spread_words(values: Sequence[float]) -> str:
    low, high, middle = (f"{value:.3g}" for value in (min(values), max(values), statistics.median(values)))
    return f"{low} to {high}, median {middle}"


def test_the_series_of_a_fork_have_units_and_tell_their_range(loaded: LoadedRun, first: Section) -> None:
    fork = forks_of(loaded, "virtual")[0]
    samples, seconds = fork.samples, [one for window in fork.windows for one in window.load.intervals]
    assert [chart.title for chart in charts_of([first], "Second by second")] == [
        "Throughput in requests/s", "p99 latency in ms", "Server’s CPU in CPUs", "In flight in requests", "RSS in MiB",
        "Heap used in MiB", "Threads", "JIT in ms per s",
    ]  # fmt: skip
    assert noted(first, "rss") == ("RSS in MiB", spread_words([one.rss_bytes / MIB for one in samples]))
    heap = [one.gauges.heap_used_bytes / MIB for one in samples if one.gauges]
    assert noted(first, "heap")[1].split(", ")[0] == f"{min(heap):.1f} to {max(heap):.0f}"
    assert noted(first, "in-flight")[1] == spread_words([one.gauges.in_flight for one in samples if one.gauges])
    assert noted(first, "threads")[1] == spread_words([one.threads for one in samples])
    per_s = [one.completed for one in seconds]
    low, high, middle = (f"{round(value, -1):,}" for value in (min(per_s), max(per_s), round(statistics.median(per_s))))
    assert noted(first, "throughput")[1] == f"{low} to {high}, median {middle}"
    assert noted(first, "p99")[1] == spread_words([one.p99_us / 1e3 for one in seconds if one.p99_us])


def test_a_pool_has_a_series_only_where_there_is_one(loaded: LoadedRun, first: Section) -> None:
    assert not [chart for chart in charts_of([first], "Second by second") if chart.id.endswith("-pool")]
    _, same = fork_charts(forks_of(loaded, "liberty")[0])
    assert same == ("Pool size in threads always 16",), "no chart of what never changes"


def test_the_series_of_the_warm_up(loaded: LoadedRun, first: Section) -> None:
    warmup = forks_of(loaded, "virtual")[0].warmup
    assert [chart.title for chart in charts_of([first], "Warm-up")] == [
        "CPU per request in µs", "JIT, share of one CPU in %", "p99 latency in ms",
    ]  # fmt: skip
    assert noted(first, "warm-cpu")[1] == spread_words([one.cpu_us_per_request for one in warmup.windows])
    low, high = min(one.jit_share for one in warmup.windows), max(one.jit_share for one in warmup.windows)
    assert noted(first, "warm-jit")[1].startswith(f"{low * 100:.3g} to {high * 100:.3g}, ")
    p99_ms = [one.p99_us / 1e3 for one in warmup.windows if one.p99_us is not None]
    assert noted(first, "warm-p99")[1].startswith(f"{min(p99_ms):.3f} to {max(p99_ms):.2f}, ")


def test_the_warm_up_says_how_steady_it_was(loaded: LoadedRun) -> None:
    fork = forks_of(loaded, "virtual")[0]
    warmup = fork.warmup
    note = warmup_note(fork)
    assert "; 12 s, steady; 95 % of the steady performance 12.1 s after the process's start." in note
    assert f"a request took {warmup.windows[-1].cpu_us_per_request:.0f} µs of CPU, and the JIT 1.6 % of one CPU" in note
    assert "Meanwhile the JIT ran on CPUs 0-1." in note
    assert (
        "drifted by −0.040 % a second in the last 5 s: −0.20 % over the next 5 s. "
        "Over all 5 s that is −1.1 % at worst, where −1.25 % is allowed."
    ) in note
    assert "1 settling window went unmeasured" in note
    rising = warmup.series[0].model_copy(update={"drift_per_s": 0.002, "drift_ahead": None})
    note = warmup_note(altered(fork, {"warmup": warmup.model_copy(update={"series": (rising,), "settling": ()})}))
    assert "drifted by +0.20 % a second in the last 5 s: – over" in note and "settling" not in note
    empty = warmup.model_copy(update={"windows": ()})
    assert warmup_note(altered(fork, {"warmup": empty})) == "No window was recorded in 12 s."
    assert warmup_note(altered(fork, {"warmup": None})) == "The fork ended before its warm-up did."
