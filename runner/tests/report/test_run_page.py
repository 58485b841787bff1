"""What the page of a run shows as a whole: its conditions, its host, every cell in a row, and what went wrong."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import judge_run
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.report.views import CellRow, RunView
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of
from tests.support.served_runs import QUICK, Shape, synthetic_run

MATRIX = Shape(cpus=(1, 2), burn_us=(0, 100), blocks=3, windows=1, accidents=True)
COLOURS = executor_order(MATRIX.executors)
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return synthetic_run(tmp_path_factory.mktemp("run"), MATRIX)


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> RunView:
    return view_run(JudgedRun(loaded))


def row(page: RunView, **axes: object) -> CellRow:
    (found,) = [one for one in page.rows if all(getattr(one, axis) == value for axis, value in axes.items())]
    return found


# ------------------------------------------------------------------------------------------------ the table


def test_the_table_has_the_axes_that_vary_as_columns_and_says_the_others_once(page: RunView) -> None:
    assert page.varying == {"burn_us", "cpus", "executor", "jdk"}
    assert page.constant == "mp-ping, open-liberty, saturate-50, driven by loadgen"
    assert page.latency_head == "service time"
    assert not page.searched and page.outcomes is None


def test_the_words_of_what_all_cells_share_have_units(loaded: LoadedRun) -> None:
    one = [c for c in loaded.cells if (c.key.cpus, c.key.burn_us, c.key.executor) == (2, 100, "virtual")][:1]
    run = loaded.run.model_copy(update={"cells": tuple(cell.key for cell in one)})
    page = view_run(JudgedRun(replace(loaded, run=run, cells=tuple(one))))
    assert page.constant == (
        "mp-ping, open-liberty, temurin-21.0.8, virtual, 2 CPUs, tasks of 100 µs, saturate-50, driven by loadgen"
    )


def test_every_planned_cell_has_a_row_in_the_order_of_the_run(loaded: LoadedRun, page: RunView) -> None:
    keys = [
        CellKey(
            workload=one.workload, server=one.server, jdk=one.jdk, executor=one.executor, cpus=one.cpus,
            burn_us=one.burn_us, wait_us=one.wait_us, load=one.load,
        )
        for one in page.rows
    ]  # fmt: skip
    assert keys == list(loaded.run.cells)
    measured = {cell.key for cell in loaded.cells}
    for key, one in zip(keys, page.rows, strict=True):
        assert one.href == (f"cells/{key.cell_id}.html" if key in measured else None)
        assert one.slot == COLOURS.index(key.executor)


def test_rows_say_how_many_forks_can_be_used_and_what_became_of_the_others(page: RunView) -> None:
    assert page.statuses == (
        ("ok", "ok", 11),
        ("not steady", "not-steady", 1),
        ("partly usable", "partly", 1),
        ("invalid", "invalid", 1),
        ("failed", "failed", 1),
        ("not measured", "none", 1),
    )
    seen = {one.status: (one.forks, one.status_text, one.status_class) for one in page.rows}
    assert seen["ok"] == ("3/3", "ok", "ok")
    assert seen["not steady"] == ("3/3", "not steady", "not-steady")
    assert seen["partly usable"] == ("2/3", "2 of 3 forks usable", "partly")
    assert seen["invalid"] == ("0/3", "invalid", "invalid")
    assert seen["failed"] == ("0/3", "failed", "failed")
    assert seen["not measured"] == ("0/0", "not measured", "none")
    titles = {one.status: one.status_title for one in page.rows}
    assert len(set(titles.values())) == len(titles) and "read with care" in titles["not steady"]


def test_the_figures_of_a_row_are_those_of_its_usable_forks(loaded: LoadedRun, page: RunView) -> None:
    def forks(executor: str) -> tuple[Fork, ...]:
        key = ("temurin-21.0.8", executor, 1, 100)
        (cell,) = [c for c in loaded.cells if (c.key.jdk, c.key.executor, c.key.cpus, c.key.burn_us) == key]
        return tuple(fork for fork in cell.forks if fork.usable)

    for executor, usable in (("liberty", 2), ("virtual", 3)):
        one = row(page, jdk="temurin-21.0.8", executor=executor, cpus=1, burn_us=100)
        windows = [window for fork in forks(executor) for window in fork.windows]
        assert len(windows) == usable
        rates = [window.load.throughput_rps for window in windows]
        assert one.throughput.sort == pytest.approx(statistics.geometric_mean(rates), rel=1e-3)
        cpu_us = [window.sut.cpu_us_per_request for window in windows]
        assert one.cpu.sort == pytest.approx(statistics.geometric_mean(cpu_us), rel=1e-3)
        assert one.rss.text == f"{max(window.sut.rss_peak_bytes for window in windows) / MIB:.0f}"
        assert one.threads.text == f"{max(window.sut.threads_peak for window in windows)}"
        warm_s = [fork.warmup.time_to_steady_s for fork in forks(executor) if fork.warmup]
        assert one.warm.sort == pytest.approx(statistics.geometric_mean([s for s in warm_s if s]))
        assert one.outcome.text == f"{usable} of {usable}"
        assert one.held.text == "–"
    assert row(page, jdk="temurin-21.0.8", executor="liberty", cpus=1, burn_us=100).outcome.title == (
        "Answered in 2 of 2 forks"
    )
    compared = row(page, jdk="temurin-21.0.8", executor="virtual", cpus=1, burn_us=100).outcome
    assert (compared.title or "").startswith("virtual answered in 3 of 3 forks against 2 of 2 with liberty: no diff")


def test_percentiles_of_a_row_are_in_order_with_an_interval_beneath(page: RunView) -> None:
    one = row(page, jdk="temurin-21.0.8", executor="virtual", cpus=1, burn_us=100)
    for figure in (one.p50, one.p99, one.p999):
        low, high = map(float, (figure.under or "").split("–"))
        assert low < float(figure.text) < high
    assert float(one.p50.text) < float(one.p99.text) < float(one.p999.text)


def test_how_far_the_interval_of_a_throughput_reaches(page: RunView) -> None:
    three = row(page, jdk="temurin-25", executor="virtual", cpus=2, burn_us=0).throughput_half
    assert three.text.startswith("± ") and three.text.endswith(" %")
    assert three.title == "95 % interval of the geometric mean over 3 forks"
    two = row(page, jdk="temurin-21.0.8", executor="liberty", cpus=1, burn_us=100).throughput_half
    assert two.text.startswith("−") and "/+" in two.text, "over two forks it is too wide to be even"


def test_a_row_says_how_it_compares_and_why_it_does_not(page: RunView) -> None:
    base = row(page, jdk="temurin-25", executor="liberty", cpus=2, burn_us=0).versus
    assert (base.text, base.sort) == ("1", 1.0)
    clear = row(page, jdk="temurin-25", executor="virtual", cpus=2, burn_us=0)
    assert clear.versus.sort is not None and 0.8 < clear.versus.sort < 0.85
    assert clear.versus.under == "0.807–0.837 less" and not clear.versus.amber
    assert (clear.versus.title or "").startswith("Throughput: less than liberty, adjusted p 0.00")
    even = row(page, jdk="temurin-25", executor="virtual", cpus=2, burn_us=100).versus
    assert "no difference seen" in (even.title or "") and not even.amber
    unequal = row(page, jdk="temurin-21.0.8", executor="virtual", cpus=1, burn_us=100).versus
    assert unequal.amber and "not judged: the arms lost 0 and 1 of 3 forks" in (unequal.title or "")
    assert (unequal.under or "").endswith(" not judged")
    lost = row(page, jdk="temurin-21.0.8", executor="virtual", cpus=2, burn_us=100).versus
    assert lost.text == "–" and (lost.title or "").startswith("no block has this cell and liberty both usable")


def test_an_unpaired_cell_compares_with_none(tmp_path_factory: pytest.TempPathFactory) -> None:
    loaded = synthetic_run(tmp_path_factory.mktemp("one"), replace(QUICK, blocks=1))
    one = view_run(JudgedRun(loaded)).rows
    assert {one.versus.under for one in one if one.executor == "virtual"} == {"one block"}


# ------------------------------------------------------------------------------------------------ what went wrong


def test_every_cell_that_is_not_ok_is_listed_with_a_link(page: RunView) -> None:
    first = page.troubles[0]
    assert first.label == "mp-ping · temurin-21.0.8 · liberty · 1 CPU, tasks of 100 µs · saturate-50"
    assert first.href == "cells/mp-ping.temurin-21.0.8.liberty.cpus-1.burn-100us.saturate-50.html"
    assert [(one.status, one.status_class) for one in page.troubles] == [
        ("2 of 3 forks usable", "partly"),
        ("failed", "failed"),
        ("invalid", "invalid"),
        ("not steady", "not-steady"),
        ("not measured", "none"),
    ]
    assert page.troubles[3].reasons == ("forks 1-3: CPU per request was not flat after 45 s",)
    assert page.troubles[4].href is None
    assert page.troubles[4].reasons[0].startswith("the run is complete and has no readable record of this cell")


def test_notices_count_what_they_are_about(page: RunView) -> None:
    notices = {notice.title: (notice.weight, notice.text) for notice in page.notices}
    assert notices["Not steady"][0] == "warn" and notices["Not steady"][1].startswith("In 1 cell the warm-up reached")
    assert notices["Not bare metal"][0] == "info" and "a virtual machine (KVM)" in notices["Not bare metal"][1]
    assert notices["JDKs not available here"] == ("info", "semeru-25: reasons are in the table of JDKs.")
    assert notices["Not testable here"] == ("info", "1 cell: reasons are listed below.")
    two = notices["Two blocks"]
    assert two[0] == "info" and two[1].startswith("1 cell of 15 has two usable forks")
    assert notices["Note of the run"][1].startswith("SYNTHETIC")


# ------------------------------------------------------------------------------------------------ its section


def test_the_section_has_charts_for_each_jdk_side_by_side(page: RunView) -> None:
    (section,) = page.sections
    assert (section.id, section.served, section.load) == ("s1-mp-ping-saturate-50", "mp-ping", "saturate-50")
    assert section.load_words.startswith("closed loop: 50 connections")
    assert section.columns == 2 and section.shares
    titles = ["temurin-21.0.8, 1 CPU", "temurin-25, 1 CPU", "temurin-21.0.8, 2 CPUs", "temurin-25, 2 CPUs"]
    for group in (section.throughput, section.cpu):
        assert [chart.title for chart in group] == titles
    assert [one.name for one in section.legend] == ["liberty", "virtual"]
    assert [one.slot for one in section.legend] == [COLOURS.index("liberty"), COLOURS.index("virtual")]


def test_the_notes_of_charts_tell_the_figures_of_the_table(page: RunView) -> None:
    (section,) = page.sections
    for chart, figure in ((section.throughput[0], "throughput"), (section.cpu[0], "cpu")):
        parts = []
        for burn_us in (0, 100):
            for executor in ("liberty", "virtual"):
                one = row(page, jdk="temurin-21.0.8", executor=executor, cpus=1, burn_us=burn_us)
                parts.append(f"{executor}, {burn_us} µs: {getattr(one, figure).text}")
        assert chart.note == "; ".join(parts)
    slow = section.latency[2]
    assert slow.title == "temurin-21.0.8, 1 CPU, tasks of 100 µs"
    p99 = [
        f"{executor} {row(page, jdk='temurin-21.0.8', executor=executor, cpus=1, burn_us=100).p99.text} ms"
        for executor in ("liberty", "virtual")
    ]
    assert slow.note == f"p99: {'; '.join(p99)}"
    assert len(section.latency) == 2 * 2 * 2


def test_bars_are_shares_of_the_highest_under_the_same_work(page: RunView) -> None:
    """With no work a server answers five times as often as with 100 µs: beside each other only shares can be read."""
    for chart in page.sections[0].throughput:
        rows = [one for values in chart.drawing.datasets.values() for one in rows_of(values)]
        means = [one["mean"] for one in rows if one.get("mean") is not None]
        assert means and all(0.7 < mean <= 1 for mean in means)
        points = [one["value"] for one in rows if "value" in one]
        assert max(points) <= 1 and len(points) >= 2 * len(means)


def test_a_cell_without_a_figure_has_a_dash_where_its_bar_would_be(page: RunView) -> None:
    lost = {
        (one.jdk, one.cpus, one.executor, one.burn_us, one.throughput.text)
        for one in page.rows
        if one.throughput.sort is None and one.status != "not measured"
    }
    assert len(lost) == 2
    told = set()
    for chart in page.sections[0].throughput:
        jdk, cpus = chart.title.split(", ")
        for one in rows_of(chart.drawing.datasets["means"]):
            if one["mean"] is None:
                burn_us = int(one["work"].split()[0])
                told.add((jdk, int(cpus.split()[0]), one["executor"], burn_us, one["label"]))
                assert f"{one['executor']}, {one['work']}: {one['label']}" in chart.note
    assert told == lost


def test_the_heat_map_of_a_jdk_is_that_of_its_cells(page: RunView) -> None:
    (section,) = page.sections
    for one in section.heat:
        assert [table.title for table in one.tables] == ["Throughput", "CPU per request"]
        assert all(table.corner == "CPUs" for table in one.tables)
        for cpus, cells in one.tables[0].rows:
            for column, cell in zip(one.tables[0].columns, cells, strict=True):
                burn_us = int(column.removesuffix(" µs"))
                if cell.key is None:
                    assert (cell.value, cell.tone, cell.basis) == ("–", "none", "no pair")
                    assert cell.title.startswith("no usable fork of ")
                    continue
                key = cell.key
                assert (key.jdk, key.executor, key.cpus, key.burn_us) == (one.jdk, "virtual", int(cpus), burn_us)
                versus = row(page, jdk=one.jdk, executor="virtual", cpus=int(cpus), burn_us=burn_us).versus
                assert cell.value == versus.text
                assert (versus.under or "").startswith(cell.interval or "?")


def test_who_is_ahead_has_one_colour_whichever_way_the_figure_goes(page: RunView) -> None:
    (section,) = page.sections
    throughput, cpu = (table.rows[1][1][0] for table in section.heat[1].tables)
    assert float(throughput.value) < 1 < float(cpu.value)
    assert throughput.tone == cpu.tone == "d4" and throughput.decided and cpu.decided
    assert throughput.title.startswith("Throughput, virtual / liberty: liberty better, adjusted p 0.00")
    assert cpu.title.startswith("CPU per request, virtual / liberty: liberty better, adjusted p 0.00")
    assert "block 1: " in throughput.title and throughput.title.count("block ") == 3
    assert (throughput.basis, cpu.basis) == ("n 3", "n 3")


def test_what_is_not_judged_has_no_colour_and_makes_the_answer_amber(page: RunView) -> None:
    (section,) = page.sections
    cell = section.heat[0].tables[0].rows[0][1][1]
    assert (cell.tone, cell.basis, cell.decided) == ("unjudged", "not judged", False)
    assert [answer.amber for answer in section.answers] == [True, False]


def test_an_answer_counts_its_conditions_and_names_the_farthest(page: RunView) -> None:
    (section,) = page.sections
    assert [answer.lead for answer in section.answers] == ["temurin-21.0.8", "temurin-25"]
    sentences = dict(section.answers[1].sentences)
    assert list(sentences) == ["Throughput", "CPU per request"]
    assert sentences["Throughput"].startswith(
        "liberty better in 1 of 4 conditions, no difference seen in 1, cannot tell in 1, no pair in 1. The largest "
        "difference: 18 % lower with virtual than with liberty (ratio 0.822, 0.807–0.837), with "
    )
    assert sentences["Throughput"].endswith("0.807–0.837), with 2 CPUs, no added work.")
    assert dict(section.answers[0].sentences)["Throughput"].startswith(
        "liberty better in 1 of 4 conditions, not judged in 1, no pair in 2."
    )


def test_the_family_is_counted_and_how_precise_each_ratio_is(loaded: LoadedRun, page: RunView) -> None:
    assert page.family is not None and page.family.startswith("8 comparisons on this page")
    assert page.precision is not None
    assert page.precision.asked == "± 2.0 %" and page.precision.fixed == "180 s after a ramp of 10 s"
    judged = judge_run(Cells(loaded.run, loaded.cells))
    virtual = [key for key in loaded.run.cells if key.executor == "virtual" and judged.of(THROUGHPUT, key)]
    assert len(page.precision.rows) == len(virtual)
    assert [one.decision for one in page.precision.rows] == [
        "fixed number" if one.blocks == 3 else "not judged" for one in page.precision.rows
    ]
    assert page.precision.rows[0].what == (
        "virtual / liberty on temurin-21.0.8, mp-ping, 1 CPU, no added work, saturate-50"
    )
    assert {one.figure for one in page.precision.rows} == {"Throughput"}


def test_a_ratio_is_known_to_half_of_its_interval(page: RunView) -> None:
    assert page.precision is not None
    known = next(
        one.known for one in page.precision.rows if "temurin-25" in one.what and "2 CPUs, no added work" in one.what
    )
    versus = row(page, jdk="temurin-25", executor="virtual", cpus=2, burn_us=0).versus
    low, high = map(float, (versus.under or "").removesuffix(" less").split("–"))
    half = float(known.text.removeprefix("± ").removesuffix(" %")) / 100
    assert half == pytest.approx((high / low) ** 0.5 - 1, abs=0.001)
    assert known.sort == pytest.approx(half, abs=0.001)
