"""The page of a cell shows its forks: figures in their units, with their intervals, beside the other arms."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest

from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.load_results import Errors
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import DATABASE_CPU_US, WindowReading
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts, Items, Notices, Pre, Prose, Section, Tiles, WebPage
from jdkmatrix.report.blocks.tables import DataTable, TableRow
from jdkmatrix.report.cell_page.fork_series import fork_charts, warmup_charts, warmup_note
from jdkmatrix.report.cell_page.fork_windows import window_tables
from jdkmatrix.report.cell_page.forks import for_a_shell, reason_words
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.charts.shapes import Row, executor_order
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import cpu_scope
from jdkmatrix.report.words.numbers import missing
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import cpu_use
from tests.support.judged_pages import cell_of, cell_page_of, page_in, page_of, window_figures
from tests.support.outcome_runs import refusing, windows_of
from tests.support.pages import charts_of, facts_of, figure_in, found, plain, section_of, table_of, tiles_of
from tests.support.records import altered, with_forks, with_forks_of, with_load
from tests.support.served_runs import FIVE, Shape, made_up
from tests.support.stepped_runs import stepped_run

SHAPE = Shape(jdks=("temurin-21.0.8", "temurin-25"), burn_us=(0, 100), blocks=3)


@pytest.fixture(scope="module")
def loaded() -> LoadedRun:
    return made_up(SHAPE)


def test_figures_of_a_reason_have_no_exponents() -> None:
    figures = {"completed": 0, "sent": 1_234_567, "rate": 12_345.6, "share": 0.00002}
    assert reason_words([Reason(code="lost", message="lost", figures=figures)]) == (
        "lost (completed 0, sent 1,234,567, rate 12,350, share 0.0000200)",
    )


def forks_of(loaded: LoadedRun, executor: str) -> tuple[Fork, ...]:
    """Return the forks on the first JDK, with work."""
    return cell_of(loaded, executor, burn_us=100).forks


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> WebPage:
    return page_of(loaded, burn_us=100)


@pytest.fixture(scope="module")
def first(page: WebPage) -> Section:
    return section_of(page, "fork-1")


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


def test_tiles_stand_in_order_with_their_units_and_intervals(page: WebPage) -> None:
    """50 connections at some 7,800 requests per second: a request takes 6.4 ms on average."""
    tiles = [one for group in found(page.lede, Tiles) for one in group.tiles]
    assert [(one.name, one.figure.text, one.unit, one.figure.under) for one in tiles] == [
        ("Throughput", "7,778", "requests/s", "± 1.8 %, 3 forks"), ("CPU per request", "129", "µs", "± 1.2 %"),
        ("p50", "4.65", "ms", "4.59–4.75 over forks"), ("p99", "12.2", "ms", "12.0–12.3 over forks"),
        ("p99.9", "18.4", "ms", "18.0–18.8 over forks"), ("Time to steady", "12.2", "s", "± 2.5 %"),
        ("RSS, peak", "293", "MiB", None), ("Threads, peak", "52", "", None),
        ("Context switches per request", "1.34", "", "± 1.8 %"), ("Allocated per request", "–", "KiB", None),
    ]  # fmt: skip


def test_every_arm_of_the_condition_stands_beside_it(page: WebPage) -> None:
    (shown,) = (one for one in found(page.blocks, DataTable) if one.label == "Executors under the same conditions")
    assert [row.css for row in shown.rows if isinstance(row, TableRow)] == ["", "current"]
    other, this = table_of(page.blocks, "Executors under the same conditions")
    assert 'href="mp-ping.temurin-21.0.8.liberty.cpus-1.burn-100us.saturate-50.html"' in str(other["Executor"])
    assert "href" not in str(this["Executor"])
    order = executor_order(("liberty", "virtual"))
    for name, one, throughput in (("liberty", other, "7,910"), ("virtual", this, "7,778")):
        assert f'swatch e{order.index(name)}"' in str(one["Executor"])
        assert figure_in(one, "Throughput req/s").text == throughput
    tiles = tiles_of(page)
    assert this["p99 service time ms"] != other["p99 service time ms"]
    assert figure_in(this, "p99 service time ms").text == tiles["p99"].text
    assert figure_in(this, "CPU µs/req") == tiles["CPU per request"], "with its interval"


def test_both_arms_of_a_pair_are_warned_where_gates_refused_one_more_often() -> None:
    arms = ("liberty", "virtual", "platform")
    run = made_up(replace(SHAPE, jdks=("temurin-25",), executors=arms, blocks=5, windows=6))
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
    assert list(rows[0]) == ["Throughput requests/s", *heads[1:]]
    assert [tuple(row.values()) for row in rows] == [
        ("block 1", "7,716", "7,869", "0.98"), ("block 2", "7,821", "8,008", "0.98"),
        ("block 3", "7,798", "7,854", "0.99"),
    ]  # fmt: skip
    of_pool = page_of(loaded, "liberty").blocks
    assert not [one for one in found(of_pool, DataTable) if one.label.startswith("Blocks of")]


def test_a_fork_says_where_when_and_on_what_it_ran(loaded: LoadedRun, first: Section) -> None:
    assert first.title == 'Fork 1 <span class="badge ok">ok</span>'
    sequence = forks_of(loaded, "virtual")[0].sequence
    assert facts_of([first]).items() >= {
        ("Order", f"no. 2 in block 1, no. {sequence} in the run"),
        ("Started", f"2025-01-01 12:{sequence:02d} UTC, 30 s"),
        ("CPUs", "server 0, driver 1: no CPU in common"), ("First answer", "3.0 s after the start"),
        ("Proof of executor",
         "200 requests over one connection: executor virtual, 200 virtual threads; names: “1”, “2”, “3”"),
        ("Work check",
         "4,100 rounds took 101.0 µs at best, 100 µs asked, 100.4 expected at the CPU’s speed at the time"),
        ("CPU speed", "224.9 to 225.8 divisions/µs in 3 readings: moved by 0.4 %"),
    }  # fmt: skip


def test_what_a_fork_did_not_come_to_is_said(loaded: LoadedRun) -> None:
    shared = forks_of(loaded, "virtual")[0].confinement.model_copy(update={"overlapped": True})
    nothing = {"first_response_s": None, "proof": None, "burn_check": None, "confinement": shared}
    changed = with_forks_of(loaded, "virtual", lambda fork: altered(fork, nothing))
    facts = facts_of([section_of(page_of(changed, burn_us=100), "fork-1")])
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


def test_a_figure_of_a_window_is_what_was_recorded_in_its_unit(loaded: LoadedRun) -> None:
    shown = window_figures(*forks_of(loaded, "virtual")[0].windows)
    assert {title: figures[0].text for title, figures in shown.items() if figures and figures[0].text != "–"} == {
        "Start s": "17.0", "Duration s": "4.00", "Throughput req/s": "7,731", "Sent requests": "30,936",
        "Completed requests": "30,924", "Answered after the end requests": "12", "Not 2xx answers": "0", "Errors": "0",
        "Reconnects": "0", "Kind": "service time", "Recorded from s": "0", "p50 ms": "4.65", "p90 ms": "7.57",
        "p99 ms": "12.2", "p99.9 ms": "18.5", "Maximum ms": "46.6", "CPU per request µs": "129",
        "Share of its CPUs, or of its quota": "99 %", "Run-queue wait s": "0.310", "Switches, voluntary": "40,000",
        "Switches, forced": "1,600", "RSS, peak MiB": "293", "Virtual size MiB": "4,670", "Heap used MiB": "172",
        "Direct buffers MiB": "4.10", "Threads, peak": "52", "In flight, peak requests": "50",
        "Garbage collections": "1 in 7 ms", "JIT ms": "12", "JIT, share of one CPU": "0.3 %",
        "Speed of the server’s CPUs beforehand divisions/µs": "225.4", "Driver's share of its CPUs": "41 %",
    }  # fmt: skip
    assert [figure.text for figure in shown["Throughput req/s"]] == ["7,731", "7,702"]


def test_the_figures_of_a_window_under_a_rate() -> None:
    """Requests are due from the time at which they should have been sent."""
    under_rate = replace(SHAPE, loads=("rate-2000",), blocks=1, burn_us=(100,), jdks=("temurin-25",))
    one = made_up(under_rate).cells[0].forks[0].windows[0]
    shown = window_figures(one)
    assert {title: figures[0].text for title, figures in shown.items() if figures}.items() >= {
        ("Due requests", "8,000"), ("Due, not sent requests", "0"), ("Send lateness, p99 ms", "0.0346"),
        ("Kind", "response time"), ("p99 ms", "1.03"),
    }  # fmt: skip
    few = f"fewer than 10 of {one.load.corrected.count:,} requests were slower: too few to say"
    assert shown["p99.9 ms"][0] == missing(few)


def test_a_driver_that_says_less_leaves_dashes_with_reasons(quick: LoadedRun) -> None:
    less = made_up(replace(SHAPE, loads=("rate-2000",), driver="wrk2"))
    cell = less.cells[0]
    figures = window_figures(cell.forks[0].windows[0])
    for name in ("Sent requests", "Reconnects", "Send lateness, p99 ms"):
        assert figures[name][0].text == "–" and figures[name][0].title == "this driver does not report it"
    assert tiles_of(cell_page_of(less, cell.key))["p99"].under == "no interval: this driver writes no histograms"
    figures = window_figures(quick.cells[0].forks[0].windows[0])
    assert figures["Due requests"][0].title == "a closed loop has no schedule"
    assert figures["p99 ms"][0].text != "–"


def test_the_busiest_event_loop_of_several_is_told(loaded: LoadedRun) -> None:
    one = forks_of(loaded, "virtual")[0].windows[0]
    load = one.load.model_copy(update={"driver_loop_cpu_share": 0.87})
    shown = window_figures(one, one.model_copy(update={"load": load}))["Driver's busiest event loop, of one CPU"]
    assert shown[0] == missing("the driver has one event loop, or does not report it") and shown[1].text == "87 %"


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


def test_what_our_own_readings_took_is_said_where_memory_was_read(quick: LoadedRun) -> None:
    def scope_of(loaded: LoadedRun) -> str | None:
        return cpu_scope(slices(Cells(loaded.run, loaded.cells))[0])

    def read(window: Window, *, failing: bool = False) -> Window:
        sut = window.sut.model_copy(update={"probe_cpu_s": window.load.answers * 4e-6})
        return with_load(window, {"non_2xx": window.load.completed // 2 if failing else 0}, sut=sut)

    assert scope_of(quick) is None
    assert len(window_tables(quick.cells[0].forks[0].windows, 1)) == 4
    # Answers of status 2xx count, here as in CPU per request.
    for failing, us in ((False, "4.0"), (True, "8.0")):
        change = partial(windows_of, change=partial(read, failing=failing))
        loaded = with_forks_of(with_forks_of(quick, "virtual", change), "liberty", change)
        told = f"Not counted: what our own readings of its memory took, {us} µs per request, fork by fork."
        assert scope_of(loaded) == told
        rows = table_of([section_of(page_of(loaded), "fork-1")], "Reading the server’s memory")
        assert [figure_in(row, "Left out of CPU per request µs").text for row in rows] == [f"{us}0"] * 2
    stepping = with_forks(stepped_run(), lambda _, fork: windows_of(fork, read))
    assert scope_of(stepping) == "At the lowest rate, 1,000 requests/s.", "over all steps it would be another figure"


def test_a_database_has_no_cpu_per_request_where_nothing_was_answered(loaded: LoadedRun) -> None:
    used = {
        "readings": (WindowReading(metric=DATABASE_CPU_US, value=2e5),),
        "database": DatabaseUse(cpu_s=0.2, span_s=2.0),
    }
    window = forks_of(loaded, "virtual")[0].windows[0]
    silent = {"completed": 0, "answered_late": None}
    figures = window_figures(window.model_copy(update=used), with_load(window, silent, **used))[
        "Its CPU per request µs"
    ]
    assert figures[0].sort is not None and figures[1] == missing("no answer had status 2xx")


def test_what_stands_beneath_a_percentile_is_told_where_it_does(quick: LoadedRun) -> None:
    beneath = "beneath it is the 95 % interval"
    for loaded, told in ((quick, True), (made_up(replace(FIVE, blocks=1)), False)):
        (note,) = (str(one.text) for one in page_of(loaded).lede if isinstance(one, Prose))
        assert note.startswith("Latency is service time") and (beneath in note) is told


def test_errors_are_counted_by_their_kind(loaded: LoadedRun) -> None:
    window = forks_of(loaded, "virtual")[0].windows[0]
    broken = with_load(window, {"errors": Errors(connect=1000, read=2, write=0, timeout=30)})
    figure = window_figures(broken)["Errors"][0]
    assert (figure.text, figure.title) == ("1,032", "1,000 connect, 2 read, 30 timeout")
    refusing = with_load(window, {"non_2xx": window.load.completed})
    assert window_figures(refusing)["CPU per request µs"][0] == missing("no answer had status 2xx"), "it has answered"


def test_windows_stand_in_lines_of_a_table_for_each_group(first: Section) -> None:
    groups = ("Load", "Latency", "Server", "Driver and host")
    assert [one.label for one in found([first], DataTable)] == [f"{group} by window of fork 1" for group in groups]
    for group in groups:
        assert [row[group] for row in table_of([first], group)] == ["window 1", "window 2"]


def noted(fork: Section, group: str) -> dict[str, str]:
    return {chart.title: chart.note for chart in charts_of([fork], group)}


def test_the_series_of_a_fork_have_units_and_tell_their_range(first: Section) -> None:
    assert noted(first, "Second by second") == {
        "Throughput in requests/s": "7,590 to 7,770, median 7,720", "p99 latency in ms": "17.6 to 19.2, median 18.6",
        "Server’s CPU in CPUs": "0.531 to 1.02, median 0.558", "In flight in requests": "24 to 34, median 30",
        "RSS in MiB": "251 to 276, median 271", "Heap used in MiB": "85.8 to 238, median 162",
        "Threads": "45 to 49, median 49", "JIT in ms per s": "10.1 to 368, median 51.3",
    }  # fmt: skip
    assert noted(first, "Warm-up") == {
        "CPU per request in µs": "131 to 443, median 150", "JIT, share of one CPU in %": "1.65 to 64.5, median 10.5",
        "p99 latency in ms": "0.950 to 8.26, median 1.50",
    }  # fmt: skip


def drawn(fork: Fork) -> dict[str, Sequence[Row]]:
    """Return the rows of each series, by its title."""
    return {chart.title: chart.drawing.datasets["rows"] for chart in fork_charts(fork)[0]}


def test_throughput_second_by_second_counts_what_throughput_counts(quick: LoadedRun) -> None:
    window = quick.cells[0].forks[0].windows[0]
    refusing = tuple(one.model_copy(update={"completed": 100, "non_2xx": 30}) for one in window.load.intervals)
    fork = altered(quick.cells[0].forks[0], {"windows": (with_load(window, {"intervals": refusing}),)})
    (told,) = (text for text in fork_charts(fork)[1] if text.startswith("Throughput"))
    assert told == "Throughput in requests/s always 70"


def test_series_are_rates_of_counters_and_break_where_the_server_gave_no_answer(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    series = drawn(fork)
    first, second = fork.samples[:2]
    cpu = series["Server’s CPU in CPUs"][0]
    assert cpu["t"] == pytest.approx(second.t_s, abs=1e-3)
    assert cpu["v"] == pytest.approx((second.cpu_s - first.cpu_s) / (second.t_s - first.t_s))
    silent = [sample.t_s for sample in fork.samples if sample.gauges is None]
    assert silent
    assert [row["t"] for row in series["Heap used in MiB"] if row["v"] is None] == pytest.approx(silent, abs=1e-3)
    window, throughput = fork.windows[0], series["Throughput in requests/s"]
    assert throughput[0] == {"t": window.t_s + 1, "v": pytest.approx(window.load.intervals[0].completed)}
    assert any(row["t"] < window.t_s for row in series["RSS in MiB"])
    assert all(row["t"] >= window.t_s for row in throughput)
    (group,) = (one for one in found(section_of(page_of(quick), "fork-1").blocks, Charts) if "Second" in one.title)
    assert str(group.words).endswith(
        "measured windows are shaded. Throughput and p99 cover these alone, and no line crosses a time in which "
        "nothing was read."
    )


def test_a_line_breaks_where_nothing_was_read_for_long(quick: LoadedRun) -> None:
    """Another server of the block had its turn meanwhile; one missed reading is no break."""
    fork = quick.cells[0].forks[0]

    def breaks_s(left_out: int) -> list[float]:
        samples = (*fork.samples[:10], *fork.samples[10 + left_out :])
        return [row["t"] for row in drawn(altered(fork, {"samples": samples}))["RSS in MiB"] if row["v"] is None]

    assert breaks_s(1) == [] and breaks_s(4) == pytest.approx([fork.samples[9].t_s], abs=1e-3)


def test_what_a_server_used_in_the_turns_of_others_is_no_rate_of_its_own(quick: LoadedRun) -> None:
    """A turn has three readings; then two are left out for the turn of another server."""
    plain = quick.cells[0].forks[0]
    samples = tuple(sample for place, sample in enumerate(plain.samples) if place % 5 < 3)
    fork = altered(plain, {"samples": samples, "together": (1, 2)})
    rows = drawn(fork)["Server’s CPU in CPUs"]
    turns = sum(one.t_s - before.t_s > 1.5 for before, one in pairwise(samples))
    assert turns > 2 and len([row for row in rows if row["v"] is not None]) == len(samples) - 1 - turns


def test_a_pool_has_a_series_only_where_there_is_one(loaded: LoadedRun, first: Section) -> None:
    assert not [chart for chart in charts_of([first], "Second by second") if chart.id.endswith("-pool")]
    _, same = fork_charts(forks_of(loaded, "liberty")[0])
    assert same == ("Pool size in threads always 16",), "no chart of what never changes"


def test_the_warm_up_shows_where_the_measured_load_began(quick: LoadedRun) -> None:
    fork = quick.cells[0].forks[0]
    last_moderate = max(w.t_s for w in fork.warmup.windows if w.stage == "moderate")
    bands = warmup_charts(fork)[0].drawing.datasets["bands"]
    assert bands == [{"start": last_moderate, "end": fork.warmup.windows[-1].t_s}]
    assert "6 windows at a moderate rate, then 6 under the load" in warmup_note(fork)
    unsteady = altered(fork, {"warmup": fork.warmup.model_copy(update={"steady": False})})
    assert "not steady when the cap was reached" in warmup_note(unsteady)


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
    drifting, *others = warmup.series
    scattered = drifting.model_copy(update={"drift_tail_least": -0.12})
    waited = altered(fork, {"warmup": warmup.model_copy(update={"series": (scattered, *others)})})
    assert "Over all 5 s that is −0.20 %, where −1.25 % is allowed; −12 % cannot be excluded" in warmup_note(waited)
    uncertain = scattered.model_copy(update={"finding": "uncertain", "warm": False})
    cut = altered(fork, {"warmup": warmup.model_copy(update={"series": (uncertain, *others)})})
    assert "Over all 5 s that is −12 % at worst, where −1.25 % is allowed." in warmup_note(cut), "no slope has decided"
    assert "1 settling window went unmeasured" in note
    rising = warmup.series[0].model_copy(update={"drift_per_s": 0.002, "drift_ahead": None})
    note = warmup_note(altered(fork, {"warmup": warmup.model_copy(update={"series": (rising,), "settling": ()})}))
    assert "drifted by +0.20 % a second in the last 5 s: – over" in note and "settling" not in note
    empty = warmup.model_copy(update={"windows": ()})
    assert warmup_note(altered(fork, {"warmup": empty})) == "No window was recorded in 12 s."
    assert warmup_note(altered(fork, {"warmup": None})) == "The fork ended before its warm-up did."
