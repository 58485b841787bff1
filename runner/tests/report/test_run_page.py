"""The page of a run as a whole: its conditions, its host, every cell in a row, and what went wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import CAPACITY, RSS_PEAK, THREADS_PEAK, THROUGHPUT, TIME_TO_STEADY
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.blocks.kinds import Charts, Disclosure, HowToRead, Prose
from jdkmatrix.report.blocks.tables import DataTable, TableRow
from jdkmatrix.report.cells.shown import state_text
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.cells_table import cells_section
from jdkmatrix.report.words.numbers import missing
from jdkmatrix.report.words.sentences import State, added_work
from jdkmatrix.store.loaded import LoadedRun
from tests.support import builders
from tests.support.builders import fork_with, window
from tests.support.judged_pages import PageOfRun, Trouble, cell_page_of
from tests.support.outcome_runs import run_of
from tests.support.pages import figure_in, found, plain, section_of, table_of, tiles_of
from tests.support.records import altered, altered_run, with_forks_of
from tests.support.served_runs import QUICK, made_up
from tests.support.sites import reference


def test_the_table_has_the_axes_that_vary_as_columns_and_says_the_others_once(page: PageOfRun) -> None:
    cells = section_of(page.page, "cells")
    assert plain(cells.words).endswith("In every cell: mp-ping, open-liberty, saturate-50, driven by loadgen.")
    assert [plain(column.title) for column in found([cells], DataTable)[0].columns] == [
        "JDK", "Executor", "Status usable forks", "CPUs", "Task duration, µs", "Throughput req/s", "vs liberty ratio",
        "CPU µs/req", "p50 service time ms", "p99 service time ms", "p99.9 service time ms", "Time to steady s",
        "RSS MiB", "Threads",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("only", "words"),
    [
        (builders.key(cpus=2, burn_us=100), "mp-ping, open-liberty, temurin-25, virtual, 2 CPUs, tasks of 100 µs"),
        # A user's command is not a server with a name.
        (builders.key("pool", workload="mine", server="command"), "mine, temurin-25, pool, 1 CPU, no added work"),
    ],
)
def test_the_words_of_what_all_cells_share_have_units(only: CellKey, words: str) -> None:
    loaded = run_of([builders.cell(only, (fork_with(window()),))])
    assert plain(cells_section(JudgedRun(loaded)).words).endswith(
        f"In every cell: {words}, saturate-50, driven by made-up."
    )


def test_an_executor_measured_again_is_one(closed_loop: LoadedRun) -> None:
    assert " 3 executors on 1 JDK: 4 of 4 cells " in str(PageOfRun(closed_loop).page.summary)


@pytest.mark.parametrize(
    ("run_id", "words"),
    [
        ("20261130T214400Z-chappe-pollers.small", " 1 executor in 2 arms on 1 JDK: "),
        ("20261124T043223Z-pinning-http.small", " 2 executors on 2 JDKs: "),  # one of them with a tuning alone
    ],
)
def test_a_tuning_of_an_executor_is_another_arm(run_id: str, words: str) -> None:
    assert words in str(PageOfRun(reference(run_id)).page.summary)


def test_every_planned_cell_has_a_row_in_the_order_of_the_run(loaded: LoadedRun, page: PageOfRun) -> None:
    (table,) = found([section_of(page.page, "cells")], DataTable)
    measured = {cell.key for cell in loaded.cells}
    refused = {entry.key for entry in loaded.run.not_testable}
    for key, one in zip([key for key in loaded.run.cells if key not in refused], table.rows, strict=True):
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


def test_the_figures_of_a_row_are_those_of_its_usable_forks(page: PageOfRun) -> None:
    """One of the pool's three forks failed."""
    metrics, shown = (RSS_PEAK, THREADS_PEAK, TIME_TO_STEADY, CAPACITY), {}
    for executor in ("liberty", "virtual"):
        one = page.row(jdk="temurin-21.0.8", executor=executor, cpus=1, burn_us=100)
        for figure in (one.throughput, one.cpu):
            assert figure.sort == pytest.approx(float(figure.text.replace(",", "")), rel=1e-2), "in the same unit"
        shown[executor] = [one.outcome.text, *(f.text for f in (one.throughput, one.cpu, *map(one.figure, metrics)))]
    assert shown == {
        "liberty": ["2 of 2", "7,820", "128", "278", "52", "12.3", "–"],
        "virtual": ["3 of 3", "7,660", "131", "293", "52", "12.2", "–"],
    }
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
    own = cell_page_of(page.judged.loaded, page.row(executor="virtual", **at).key)
    assert tiles_of(own)[TIME_TO_STEADY.title] == some


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
    assert unequal.amber and "not judged: the arms have no figure to compare in 0 and 1 of 3 forks" in (
        unequal.title or ""
    )
    assert (unequal.under or "").endswith(" not judged")
    lost = page.row(jdk="temurin-21.0.8", executor="virtual", cpus=2, burn_us=100).versus
    assert lost.text == "–" and (lost.title or "").startswith(
        "no usable fork of liberty; the arms have no figure to compare in 0 and 3 of 3"
    )


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
    assert notices["Note on this run"][1].startswith("SYNTHETIC")


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
    (throughput, *_), (cpu, *_), latency = map(page.charts, ("Throughput", "CPU per request", "Latency by percentile"))
    arms = ("liberty, no added work", "virtual, no added work", "liberty, 100 µs", "virtual, 100 µs")
    for chart, figures in ((throughput, ("35,130", "29,460", "7,820", "7,660")), (cpu, ("28.4", "34.0", "128", "131"))):
        assert chart.note == "; ".join(f"{arm}: {figure}" for arm, figure in zip(arms, figures, strict=True))
    slow = latency[2]
    assert slow.title == "temurin-21.0.8, 1 CPU, tasks of 100 µs" and len(latency) == 2 * 2 * 2
    assert slow.note == "p99: liberty 9.55 ms; virtual 12.4 ms"


def us_of(work: str) -> int:
    return 0 if work == added_work(0) else int(work.removesuffix(" µs"))


def test_bars_are_shares_of_the_highest_under_the_same_work(page: PageOfRun) -> None:
    """With no work a server answers five times as often as with 100 µs: side by side, only shares can be read."""
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


def test_a_condition_that_a_run_has_not_is_no_trouble() -> None:
    """A profile may include a task on one number of CPUs only."""
    whole = made_up(replace(QUICK, cpus=(1, 2), burn_us=(0, 100)))
    cells = tuple(cell for cell in whole.cells if (cell.key.cpus, cell.key.burn_us) != (2, 100))
    run = whole.run.model_copy(update={"cells": tuple(cell.key for cell in cells)})
    (table, *_) = PageOfRun(replace(whole, run=run, cells=cells)).maps
    assert [[cell.title == "not a condition of this run" for cell in row] for _, row in table.rows] == [
        [False, False],
        [False, True],
    ]


def test_a_pair_that_is_judged_by_its_leading_figure_has_a_map_of_no_other() -> None:
    usual, other = (
        PageOfRun(made_up(replace(QUICK, executors=("liberty", name)))) for name in ("virtual", "virtual-bounded-200")
    )
    assert usual.maps[0].columns == ("Throughput", "CPU per request") and other.maps[0].columns == ("Throughput",)
    (how,) = found(other.page.blocks, HowToRead)
    assert how.pairs == ""


def test_a_ratio_over_another_pool_is_not_told_as_one_over_the_servers_own() -> None:
    """An `include` may replace the server's own pool on some CPUs."""
    whole = made_up(replace(QUICK, jdks=("temurin-25",), executors=("liberty", "fixed-50", "virtual"), cpus=(1, 2)))
    gone = {(1, "fixed-50"), (2, "liberty")}
    cells = tuple(cell for cell in whole.cells if (cell.key.cpus, cell.key.executor) not in gone)
    run = whole.run.model_copy(update={"cells": tuple(cell.key for cell in cells)})
    page = PageOfRun(replace(whole, run=run, cells=cells))
    assert page.row(cpus=2, executor="virtual").versus.sort is not None, "it is in the table"
    (answer,) = page.answers
    assert "conditions" not in dict(answer.sentences)["Throughput"] and "2 CPUs" not in str(answer.sentences)


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
    assert words.values == {"asked": "± 5 %", "fixed": "180 s after a ramp of 10 s"}
    judged = page.judged.judgements
    virtual = [key for key in loaded.run.cells if key.executor == "virtual" and judged.of(THROUGHPUT, key)]
    assert len(page.precision) == len(virtual)
    for one in page.precision:
        ended_by = "fixed number" if figure_in(one, "Blocks").sort == 3 else "not judged"
        assert (one["Of"], one["Ended by"]) == ("Throughput", ended_by)
    first = "virtual / liberty on temurin-21.0.8, mp-ping, 1 CPU, no added work, saturate-50"
    assert page.precision[0]["Ratio"] == first


@pytest.mark.parametrize(
    ("executors", "absent", "versus"),
    [
        (("liberty",), "virtual", "nothing is compared with it"),
        (("virtual",), "liberty", "it would be compared with liberty, which has no cell here"),
        (("virtual", "liberty-virtual"), "liberty", "it would be compared with liberty, which has no cell here"),
    ],
)
def test_a_page_without_one_of_the_pair_compares_nothing(executors: tuple[str, ...], absent: str, versus: str) -> None:
    page = PageOfRun(made_up(replace(QUICK, jdks=("temurin-25",), executors=executors)))
    (answer,) = page.answers
    assert answer.lead == "temurin-25: no answer"
    assert answer.sentences == (("", f"There is no ratio virtual / liberty: {absent} has no cell here."),)
    texts = [one.text for one in found(page.page.blocks, Prose)]
    no_map = f"No heat map: it would compare virtual with liberty, but {absent} has no cell here."
    assert no_map in texts and not page.maps
    assert page.rows[0].versus == missing(versus)
    assert page.charts("Throughput") and page.charts("Latency by percentile")


def test_how_to_read_a_page_names_no_pair_of_one_arm_and_what_answers_on_each_server() -> None:
    loaded = made_up(replace(QUICK, executors=("liberty",)))
    page = PageOfRun(loaded)
    assert [one.pairs for one in found(page.page.blocks, HowToRead)] == [""]
    text = " ".join(page.html.split())
    assert "each counted once: every executor over liberty in the leading figure of its load, and how many" in text
    assert all(f"What answers a request: {kind.differs}." in text for kind in server_kinds().values())


def test_one_block_has_no_interval_and_the_page_warns(quick: LoadedRun) -> None:
    page = PageOfRun(made_up(replace(QUICK, blocks=1)))
    assert "One block only" in [notice.title for notice in page.notices if notice.weight == "warn"]
    (single,) = page.maps
    assert single.corner == "JDK" and [head for head, _ in single.rows] == list(QUICK.jdks), "of a single condition"
    assert all(one.interval is None and one.basis == "n 1" for _, cells in single.rows for one in cells)
    assert all("hint" in text for answer in page.answers for _, text in answer.sentences)
    assert all(row.throughput.under is None and row.throughput.title for row in page.rows)
    assert {row.versus.under for row in page.rows if row.key.executor == "virtual"} == {"one block"}
    for one, within in ((PageOfRun(quick), " and shown with its 95 % interval"), (page, "")):
        assert f"Every ratio is paired within blocks{within}." in [told.text for told in found(one.page.blocks, Prose)]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("interrupted", "had its turn"),
        ("running", "this cell has had no turn: the run has not ended, or was killed"),
    ],
)
def test_a_run_without_a_cell_still_has_a_page(quick: LoadedRun, status: str, why: str) -> None:
    page = PageOfRun(replace(quick, run=altered_run(quick.run, {"status": status}), cells=()))
    assert {row.state for row in page.rows} == {State.NOT_MEASURED} and not page.page.charts
    assert all(why in one.reasons[0] for one in page.troubles if one.status == "not measured")
    assert "No block has a usable fork of both" in page.answers[0].sentences[0][1]
    states = [plain(row["State"]) for row in table_of([section_of(page.page, "jdks")], "Table of JDKs")]
    assert states == ["selected, no fork of it has run"] * 2 + ["not available here"]
    assert "Planned order of execution (8 forks)" in {one.summary for one in found(page.page.blocks, Disclosure)}
