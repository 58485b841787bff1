"""What the page of a run shows as a whole: its conditions, its host, every cell in a row, and what went wrong."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from jdkmatrix.figures.metrics import CAPACITY, RSS_PEAK, THREADS_PEAK, THROUGHPUT, TIME_TO_STEADY
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.blocks.tables import DataTable, TableRow
from jdkmatrix.report.cells.shown import state_text
from jdkmatrix.report.words.sentences import added_work
from jdkmatrix.store.loaded import LoadedRun
from tests.support.judged_pages import PageOfRun, Trouble, figure_in, found, plain, section_of
from tests.support.records import altered, with_forks_of

MIB = 1024 * 1024


def test_the_table_has_the_axes_that_vary_as_columns_and_says_the_others_once(page: PageOfRun) -> None:
    cells = section_of(page.page, "cells")
    assert plain(cells.words).endswith("In every cell: mp-ping, open-liberty, saturate-50, driven by loadgen.")
    assert [plain(column.title) for column in found([cells], DataTable)[0].columns] == [
        "JDK", "Executor", "Status usable forks", "CPUs", "Task duration, µs", "Throughput req/s", "vs liberty ratio",
        "CPU µs/req", "p50 service time ms", "p99 service time ms", "p99.9 service time ms", "Time to steady s",
        "RSS MiB", "Threads",
    ]  # fmt: skip


def test_the_words_of_what_all_cells_share_have_units(loaded: LoadedRun) -> None:
    one = [c for c in loaded.cells if (c.key.cpus, c.key.burn_us, c.key.executor) == (2, 100, "virtual")][:1]
    run = loaded.run.model_copy(update={"cells": tuple(cell.key for cell in one)})
    cells = section_of(PageOfRun(replace(loaded, run=run, cells=tuple(one))).page, "cells")
    assert plain(cells.words).endswith(
        "mp-ping, open-liberty, temurin-21.0.8, virtual, 2 CPUs, tasks of 100 µs, saturate-50, driven by loadgen."
    )


def test_every_planned_cell_has_a_row_in_the_order_of_the_run(loaded: LoadedRun, page: PageOfRun) -> None:
    (table,) = found([section_of(page.page, "cells")], DataTable)
    measured = {cell.key for cell in loaded.cells}
    for key, one in zip(loaded.run.cells, table.rows, strict=True):
        assert isinstance(one, TableRow)
        assert {"jdk": key.jdk, "cpus": str(key.cpus)}.items() <= dict(one.data).items()
        assert (f'href="cells/{key.cell_id}.html"' in str(one.cells[1])) is (key in measured)
        assert f"swatch e{page.judged.cells.order.index(key.executor)}" in str(one.cells[1])


def test_rows_say_how_many_forks_can_be_used_and_what_became_of_the_others(page: PageOfRun) -> None:
    assert plain(section_of(page.page, "cells").words).startswith(
        "11 ok 1 not steady 1 partly usable 1 invalid 1 failed 1 not measured "
    )
    seen = {one.state.value: (one.forks, state_text(one.cell), one.state.css) for one in page.rows}
    assert seen["ok"] == ("3/3", "ok", "ok")
    assert seen["not steady"] == ("3/3", "not steady", "not-steady")
    assert seen["partly usable"] == ("2/3", "2 of 3 forks usable", "partly")
    assert seen["invalid"] == ("0/3", "invalid", "invalid")
    assert seen["failed"] == ("0/3", "failed", "failed")
    assert seen["not measured"] == ("0/0", "not measured", "none")
    for one in page.rows:
        if one.state.value in ("failed", "invalid", "not measured"):
            assert one.throughput.text == one.percentile("99").text == "–" and one.versus.sort in (None, 1.0)
    titles = {one.state.value: one.state.meaning for one in page.rows}
    assert len(set(titles.values())) == len(titles) and "read with care" in titles["not steady"]


def test_the_figures_of_a_row_are_those_of_its_usable_forks(loaded: LoadedRun, page: PageOfRun) -> None:
    def forks(executor: str) -> tuple[Fork, ...]:
        key = ("temurin-21.0.8", executor, 1, 100)
        (cell,) = [c for c in loaded.cells if (c.key.jdk, c.key.executor, c.key.cpus, c.key.burn_us) == key]
        return tuple(fork for fork in cell.forks if fork.usable)

    for executor, usable in (("liberty", 2), ("virtual", 3)):
        one = page.row(jdk="temurin-21.0.8", executor=executor, cpus=1, burn_us=100)
        windows = [window for fork in forks(executor) for window in fork.windows]
        assert len(windows) == usable
        rates = [window.load.throughput_rps for window in windows]
        assert one.throughput.sort == pytest.approx(statistics.geometric_mean(rates), rel=1e-3)
        cpu_us = [window.sut.cpu_us_per_request for window in windows]
        assert one.cpu.sort == pytest.approx(statistics.geometric_mean(cpu_us), rel=1e-3)
        assert one.figure(RSS_PEAK).text == f"{max(window.sut.rss_peak_bytes for window in windows) / MIB:.0f}"
        assert one.figure(THREADS_PEAK).text == f"{max(window.sut.threads_peak for window in windows)}"
        warm_s = [fork.warmup.time_to_steady_s for fork in forks(executor) if fork.warmup]
        assert one.figure(TIME_TO_STEADY).sort == pytest.approx(statistics.geometric_mean([s for s in warm_s if s]))
        assert one.outcome.text == f"{usable} of {usable}"
        assert one.figure(CAPACITY).text == "–"
    liberty = page.row(jdk="temurin-21.0.8", executor="liberty", cpus=1, burn_us=100)
    assert liberty.outcome.title == "Answered in 2 of 2 forks"
    compared = page.row(jdk="temurin-21.0.8", executor="virtual", cpus=1, burn_us=100).outcome
    assert (compared.title or "").startswith("virtual answered in 3 of 3 forks against 2 of 2 with liberty: no diff")


def test_a_figure_that_a_fork_lacks_says_of_how_many_it_is(loaded: LoadedRun) -> None:
    def change(fork: Fork) -> Fork:
        if fork.fork > 1 or fork.warmup is None:
            return fork
        return altered(fork, {"warmup": fork.warmup.model_copy(update={"time_to_steady_s": None})})

    page = PageOfRun(with_forks_of(loaded, "virtual", change))
    at: dict[str, object] = {"jdk": "temurin-25", "cpus": 2, "burn_us": 0}
    some, every = (page.row(executor=executor, **at).time_to_steady for executor in ("virtual", "liberty"))
    assert (some.under or "").endswith(", 2 of 3 forks") and some.amber
    assert "fork" not in (every.under or "") and not every.amber


def test_a_row_says_how_it_compares_and_why_it_does_not(page: PageOfRun) -> None:
    base = page.row(jdk="temurin-25", executor="liberty", cpus=2, burn_us=0).versus
    assert (base.text, base.sort) == ("1", 1.0)
    clear = page.row(jdk="temurin-25", executor="virtual", cpus=2, burn_us=0)
    assert clear.versus.sort is not None and 0.8 < clear.versus.sort < 0.85
    assert clear.versus.under == "0.807–0.837 less" and not clear.versus.amber
    assert (clear.versus.title or "").startswith("Throughput: less than liberty, adjusted p 0.00")
    even = page.row(jdk="temurin-25", executor="virtual", cpus=2, burn_us=100).versus
    assert "no difference seen" in (even.title or "") and not even.amber
    unequal = page.row(jdk="temurin-21.0.8", executor="virtual", cpus=1, burn_us=100).versus
    assert unequal.amber and "not judged: the arms lost 0 and 1 of 3 forks" in (unequal.title or "")
    assert (unequal.under or "").endswith(" not judged")
    lost = page.row(jdk="temurin-21.0.8", executor="virtual", cpus=2, burn_us=100).versus
    assert lost.text == "–" and (lost.title or "").startswith("no usable fork of liberty; the arms lost 0 and 3 of 3")


def test_every_cell_that_is_not_ok_is_listed_with_a_link(page: PageOfRun) -> None:
    first = page.troubles[0]
    assert first.label == "mp-ping · temurin-21.0.8 · liberty · 1 CPU, tasks of 100 µs · saturate-50"
    assert first.href == "cells/mp-ping.temurin-21.0.8.liberty.cpus-1.burn-100us.saturate-50.html"
    assert [(one.status, one.status_class) for one in page.troubles[:5]] == [
        ("2 of 3 forks usable", "partly"), ("failed", "failed"), ("invalid", "invalid"), ("not steady", "not-steady"),
        ("not measured", "none"),
    ]  # fmt: skip
    reasons = [one.reasons[0] for one in page.troubles[:5]]
    assert reasons[0].startswith("fork 1: ") and reasons[1].startswith("forks 1-3: ") and "opened no port" in reasons[1]
    assert "measured itself" in reasons[2] and reasons[3] == "forks 1-3: CPU per request was not flat after 45 s"
    assert page.troubles[4].href is None
    assert reasons[4].startswith("the run is complete and has no readable record of this cell")
    cell, why = "mp-ping · semeru-25 · liberty · 1 CPU, no added work · saturate-50", "semeru-25 is not available here"
    assert Trouble(cell, None, "not testable", "none", (why,)) in page.troubles


def test_notices_count_what_they_are_about(page: PageOfRun) -> None:
    notices = {notice.title: (notice.weight, notice.text) for notice in page.notices}
    assert notices["Not steady"][0] == "warn" and notices["Not steady"][1].startswith("In 1 cell the warm-up reached")
    assert notices["Not bare metal"][0] == "info" and "a virtual machine (KVM)" in notices["Not bare metal"][1]
    assert notices["JDKs not available here"] == ("info", "semeru-25: reasons are in the table of JDKs.")
    assert notices["Not testable here"] == ("info", "1 cell: reasons are listed below.")
    two = notices["Two blocks"]
    assert two[0] == "info" and two[1].startswith("1 cell of 15 has two usable forks")
    assert notices["Note of the run"][1].startswith("SYNTHETIC")


def test_the_section_has_charts_for_each_jdk_side_by_side(page: PageOfRun) -> None:
    (section,) = page.sections
    assert (section.id, plain(section.title)) == ("s1-mp-ping-saturate-50", "mp-ping under saturate-50")
    assert str(section.words).startswith("closed loop: 50 connections")
    titles = ["temurin-21.0.8, 1 CPU", "temurin-25, 1 CPU", "temurin-21.0.8, 2 CPUs", "temurin-25, 2 CPUs"]
    for group in found([section], Charts)[:2]:
        assert group.css == "by-2" and [chart.title for chart in group.charts] == titles
        assert [plain(one) for one in group.key] == ["liberty", "virtual"]
        for one in group.key:
            assert f'swatch e{page.judged.cells.order.index(plain(one))}"' in one


def test_the_notes_of_charts_tell_the_figures_of_the_table(page: PageOfRun) -> None:
    for title, figure in (("Throughput", "throughput"), ("CPU per request", "cpu")):
        chart = page.charts(title)[0]
        parts = []
        for burn_us in (0, 100):
            for executor in ("liberty", "virtual"):
                one = page.row(jdk="temurin-21.0.8", executor=executor, cpus=1, burn_us=burn_us)
                parts.append(f"{executor}, {added_work(burn_us)}: {getattr(one, figure).text}")
        assert chart.note == "; ".join(parts)
    latency = page.charts("Latency by percentile")
    slow = latency[2]
    assert slow.title == "temurin-21.0.8, 1 CPU, tasks of 100 µs"
    rows = (page.row(jdk="temurin-21.0.8", executor=one, cpus=1, burn_us=100) for one in ("liberty", "virtual"))
    p99 = [f"{row.key.executor} {row.percentile('99').text} ms" for row in rows]
    assert slow.note == f"p99: {'; '.join(p99)}"
    assert len(latency) == 2 * 2 * 2


def us_of(work: str) -> int:
    return 0 if work == added_work(0) else int(work.removesuffix(" µs"))


def test_bars_are_shares_of_the_highest_under_the_same_work(page: PageOfRun) -> None:
    """With no work a server answers five times as often as with 100 µs: beside each other only shares can be read."""
    for chart in page.charts("Throughput"):
        rows = [one for values in chart.drawing.datasets.values() for one in values]
        means = [one["mean"] for one in rows if one.get("mean") is not None]
        assert means and all(0.7 < mean <= 1 for mean in means)
        points = [one["value"] for one in rows if "value" in one]
        assert max(points) <= 1 and len(points) >= 2 * len(means)


def test_a_cell_without_a_figure_has_a_dash_where_its_bar_would_be(page: PageOfRun) -> None:
    rows = [(one.key, one.throughput.text) for one in page.rows if one.throughput.sort is None and one.cell]
    lost = {(key.jdk, key.cpus, key.executor, key.burn_us, text) for key, text in rows}
    assert len(lost) == 2
    told = set()
    for chart in page.charts("Throughput"):
        jdk, cpus = chart.title.split(", ")
        for one in chart.drawing.datasets["means"]:
            if one["mean"] is None:
                burn_us = us_of(one["work"])
                told.add((jdk, int(cpus.split()[0]), one["executor"], burn_us, one["label"]))
                assert f"{one['executor']}, {one['work']}: {one['label']}" in chart.note
    assert told == lost


def test_the_heat_map_of_a_jdk_is_that_of_its_cells(page: PageOfRun) -> None:
    assert [(one.title, one.corner) for one in page.maps] == [("Throughput", "CPUs"), ("CPU per request", "CPUs")] * 2
    for one in page.maps[::2]:
        jdk = one.of.partition(", ")[0]
        for cpus, cells in one.rows:
            for column, cell in zip(one.columns, cells, strict=True):
                if cell.href is None:
                    assert (cell.value, cell.tone, cell.basis) == ("–", "none", "no pair")
                    assert cell.title.startswith("no usable fork of ")
                    continue
                numerator = page.row(jdk=jdk, executor="virtual", cpus=int(cpus), burn_us=us_of(column))
                assert (cell.href, cell.value) == (numerator.href, numerator.versus.text)
                assert (numerator.versus.under or "").startswith(cell.interval or "?")


def test_who_is_ahead_has_one_colour_whichever_way_the_figure_goes(page: PageOfRun) -> None:
    throughput, cpu = (table.rows[1][1][0] for table in page.maps[2:])
    assert float(throughput.value) < 1 < float(cpu.value)
    assert throughput.tone == cpu.tone == "d4" and throughput.decided and cpu.decided
    assert throughput.title.startswith("Throughput, virtual / liberty: liberty better, adjusted p 0.00")
    assert cpu.title.startswith("CPU per request, virtual / liberty: liberty better, adjusted p 0.00")
    assert "block 1: " in throughput.title and throughput.title.count("block ") == 3
    assert (throughput.basis, cpu.basis) == ("n 3", "n 3")


def test_an_answer_counts_its_conditions_and_names_the_farthest(page: PageOfRun) -> None:
    assert [answer.lead for answer in page.answers] == ["temurin-21.0.8", "temurin-25"]
    sentences = dict(page.answers[1].sentences)
    assert list(sentences) == ["Throughput", "CPU per request"]
    assert sentences["Throughput"].startswith(
        "liberty better in 1 of 4 conditions, no difference seen in 1, cannot tell in 1, no pair in 1. The largest "
        "difference: 18 % lower with virtual than with liberty (ratio 0.822, 0.807–0.837), with "
    )
    assert sentences["Throughput"].endswith("0.807–0.837), with 2 CPUs, no added work.")
    assert dict(page.answers[0].sentences)["Throughput"].startswith(
        "liberty better in 1 of 4 conditions, not judged in 1, no pair in 2."
    )


def test_the_page_says_how_precise_each_ratio_is(loaded: LoadedRun, page: PageOfRun) -> None:
    words = section_of(page.page, "precision").words
    assert isinstance(words, Wording)
    assert words.values == {"asked": "± 2.0 %", "fixed": "180 s after a ramp of 10 s"}
    judged = page.judged.judgements
    virtual = [key for key in loaded.run.cells if key.executor == "virtual" and judged.of(THROUGHPUT, key)]
    assert len(page.precision) == len(virtual)
    for one in page.precision:
        ended_by = "fixed number" if figure_in(one, "Blocks").sort == 3 else "not judged"
        assert (one["Of"], one["Ended by"]) == ("Throughput", ended_by)
    first = "virtual / liberty on temurin-21.0.8, mp-ping, 1 CPU, no added work, saturate-50"
    assert page.precision[0]["Ratio"] == first
