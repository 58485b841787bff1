"""What the page of a run shows of each kind of experiment without a server: answers, charts, expectations, table.

Figures are those of the results in samples/standalone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.experiments.kinds import BY_NAME, EXPERIMENTS, name_of
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.experiments.view import view_experiments
from jdkmatrix.report.experiments.views import ExperimentKindView, ExperimentRow, ExperimentsView
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of, vega_lite
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import PageOfRun

OLD, NEW = "temurin-21.0.8", "temurin-25"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    return experiments_run(tmp_path_factory.mktemp("experiments"), accidents=True)


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> PageOfRun:
    return PageOfRun(loaded)


@pytest.fixture(scope="module")
def order(loaded: LoadedRun) -> tuple[str, ...]:
    return executor_order(key.executor for key in loaded.run.cells)


@pytest.fixture(scope="module")
def view(loaded: LoadedRun, order: tuple[str, ...]) -> ExperimentsView:
    return view_experiments(Cells(loaded.run, loaded.experiments, served=False), order)


def block(view: ExperimentsView, kind: str) -> ExperimentKindView:
    return view.blocks[list(BY_NAME).index(kind)]


def row(view: ExperimentsView, kind: str, executor: str, *axes: str) -> ExperimentRow:
    rows = block(view, kind).table.rows
    return next(one for one in rows if one.executor == executor and {*axes} <= {figure.text for figure in one.axes})


def sentences(view: ExperimentsView, kind: str, jdk: str) -> dict[str, str]:
    return dict(next(one.sentences for one in block(view, kind).answers if one.lead == jdk))


def notes(view: ExperimentsView, kind: str, group: str, title: str) -> list[str]:
    """Of the chart with this title: a note for each bar."""
    groups = [one for one in block(view, kind).groups if one.title == group]
    return next(chart.note for one in groups for chart in one.charts if chart.title == title).split("; ")


def test_the_head_counts_arms_jdks_cells_and_forks(page: PageOfRun) -> None:
    assert page.page.heading == "Without a server: burn, spawn, pinning, fan-out"
    assert page.page.summary == (
        '<b class="forks amber">87 of 92 forks usable: 3 lost to faults of the host or of the measurement, 2 without a '
        "readable record.</b> Without a server (burn, spawn, pinning, fan-out): 7 arms on 2 JDKs, 44 of 46 cells ran "
        "to an outcome, from 90 forks, each a fresh process."
    )
    (unknown,) = (one for one in page.troubles if one.status == "not testable")
    assert unknown.label == "burn · semeru-25 · virtual · 2 CPUs, 500 µs of work per task · tasks-8"


def test_cells_that_are_not_ok_are_listed_with_a_link(page: PageOfRun) -> None:
    assert [(one.status, one.status_class) for one in page.troubles[:3]] == [
        ("failed", "failed"), ("some forks", "not-steady"), ("not measured", "none"),
    ]  # fmt: skip
    first = page.troubles[0]
    assert first.label == "burn · temurin-21.0.8 · virtual · 2 CPUs, 500 µs of work per task · tasks-8"
    assert first.href == "cells/burn.temurin-21.0.8.virtual.cpus-2.burn-500us.tasks-8.html"


def test_what_shares_cpus_and_what_was_pinned_by_affinity_is_told(loaded: LoadedRun) -> None:
    def notices(**confinement: object) -> dict[str, tuple[str, str]]:
        records = [
            record.model_copy(
                update={
                    "forks": tuple(
                        fork.model_copy(update={"confinement": fork.confinement.model_copy(update=confinement)})
                        for fork in record.forks
                    )
                }
            )
            if record.key.workload == "fanout-few-files"
            else record
            for record in loaded.experiments
        ]
        changed = replace(loaded, cells=tuple(records))
        found = PageOfRun(changed).notices
        return {notice.title: (notice.weight, notice.text) for notice in found}

    shared = notices(remote_cpus=(1,))["Program and remote system share CPUs"]
    assert shared[0] == "warn" and shared[1].startswith("In 4 of 90 forks without a server")
    loose = notices(method="sched_setaffinity", why_not_cgroup="it is read-only")
    weight, text = loose["Without a server: kept on its CPUs by affinity alone"]
    assert weight == "info" and text.startswith("In 4 of 90 forks ") and text.endswith("not used: it is read-only.")
    assert not {"Program and remote system share CPUs"} & notices().keys()


def test_each_kind_says_what_it_is_and_what_all_its_cells_share(view: ExperimentsView, order: tuple[str, ...]) -> None:
    assert [(one.id, one.title) for one in view.blocks] == [
        ("experiment-burn", "Burn"),
        ("experiment-spawn", "Spawn"),
        ("experiment-pinning", "Pinning"),
        ("experiment-fanout", "Fan-out"),
    ]
    assert [one.constant for one in view.blocks] == ["2 CPUs", "2 CPUs", "100 at once, 2 CPUs", "2 CPUs"]
    assert [one.name for one in block(view, "burn").legend] == ["virtual", "cached", "fixed-2"]
    for one in view.blocks:
        assert [order[entry.slot] for entry in one.legend] == [entry.name for entry in one.legend]
        assert {entry.name for entry in one.legend} == {line.executor for line in one.table.rows}
        assert bool(one.heat) == bool(one.pinned) == (one.title == "Pinning")
        assert bool(one.overhead) == (one.title == "Burn")


def test_the_words_of_a_condition_have_units(loaded: LoadedRun, order: tuple[str, ...]) -> None:
    (one,) = [
        r for r in loaded.experiments if r.key.workload == "burn" and r.key.executor == "fixed-2" and r.key.jdk == NEW
    ]
    run = loaded.run.model_copy(update={"cells": (one.key,)})
    (only,) = view_experiments(Cells(run, [one], served=False), order).blocks
    assert only.constant == "burn, temurin-25, 8 in flight, 2 CPUs, 500 µs of work per task"
    assert only.table.axes == ()


# ------------------------------------------------------------------------------------------------ answers


def test_a_burn_is_set_against_what_is_expected_of_it(view: ExperimentsView) -> None:
    told = sentences(view, "burn", OLD)
    assert told["Throughput"] == (
        "from 87 % of what is expected with fixed-2, burn, 8 in flight, 500 µs (3,460/s of 4,000/s), to 100 % with "
        "virtual, burn, 5,000 per second, 50 µs (4,975/s of 5,000/s)."
    )
    assert told["CPU used"] == "25.0 to 99.2 % of the CPUs that it may use."
    assert told["Parked while tasks were queued"] == (
        "a worker at most for 4.93 ms at a stretch (fixed-2, burn, 8 in flight, 500 µs); together 0.22 to 6.1 % of all "
        "workers’ time."
    )
    assert sentences(view, "burn", NEW)["Parked while tasks were queued"].startswith(
        "a worker at most for 464 ms at a stretch (cached, burn, 8 in flight, 500 µs)"
    )


def test_threads_are_told_by_arm_with_memory_and_time(view: ExperimentsView) -> None:
    told = sentences(view, "spawn", OLD)
    assert told["platform"] == (
        "RSS 25.8 to 53.0 KiB and VIRT 1,023 to 1,024 KiB per thread; of the whole process RSS 107 to 307 MiB and VIRT "
        "9,583 to 18,580 MiB; all started after 0.164 to 5.20 s, over 3 conditions."
    )
    assert told["virtual"].startswith("RSS 2.23 to 3.73 KiB and VIRT 0 KiB per thread; ")
    assert told["threads refused"].startswith("platform, spawn-sleep-boxed, 2,000 at once (at 481: unable to create")


def test_constructs_are_told_by_who_keeps_its_carrier(view: ExperimentsView) -> None:
    told = sentences(view, "pinning", OLD)
    assert told["virtual, 100 at once, 2 CPUs"] == (
        "keeps its carrier: synchronized (39.3/s), class initialiser (39.3/s); free: ReentrantLock (1,940/s); "
        "free, by 99 more carriers: Object.wait (1,987/s)."
    )
    assert told["not on this JDK"].startswith("native frame, virtual (")
    assert "not on this JDK" not in sentences(view, "pinning", NEW)


def test_a_fan_out_is_told_by_arm_with_its_ideal(view: ExperimentsView) -> None:
    told = sentences(view, "fanout", OLD)
    seconds = row(view, "fanout", "fixed-5", OLD, "fanout")
    text = next(text for term, text in told.items() if term.startswith("fixed-5"))
    assert text.startswith(f"all answered after {seconds.figures[0].text} s ({seconds.figures[0].under}), where ")
    assert text.endswith(" s is ideal.")
    assert seconds.expected.text in text


# ------------------------------------------------------------------------------------------------ expectations


def test_every_formula_stands_once_with_its_source_and_the_cells_it_is_for(view: ExperimentsView) -> None:
    for one in view.blocks:
        stated = [(found.figure, found.formula, found.source) for found in one.expectations]
        assert len(set(stated)) == len(stated)
        assert all(found.source and found.about.count("; ") == 2 for found in one.expectations)
    closed, paced = block(view, "burn").expectations
    assert (closed.figure, closed.formula) == ("throughput", "cpus / burn_us * 1e6")
    assert closed.about == f"burn; fixed-2, virtual, cached; {OLD}, {NEW}"
    assert (paced.formula, paced.about) == (
        "min(rate_rps, cpus / burn_us * 1e6)", f"burn, burn-unwatched; virtual; {OLD}, {NEW}",
    )  # fmt: skip
    printed = next(found for found in block(view, "spawn").expectations if found.about.startswith("spawn-print"))
    assert (printed.figure, printed.formula) == ("started s", None)
    assert block(view, "pinning").expectations[0].about == f"synchronized; virtual; {OLD}"


# ------------------------------------------------------------------------------------------------ charts


def test_every_group_of_figures_has_its_charts_beside_each_other(view: ExperimentsView) -> None:
    shown = {one.title: [(g.title, g.columns, g.ticks, g.starred) for g in one.groups] for one in view.blocks}
    assert shown == {
        "Burn": [
            ("Throughput", 2, True, False),
            ("CPU used", 2, False, False),
            ("Parked while tasks were queued", 2, False, False),
        ],
        "Spawn": [("Memory per thread", 2, True, True), ("Time", 2, False, True)],
        "Pinning": [("Throughput", 2, True, False)],
        "Fan-out": [("Until all were answered", 2, True, True)],
    }
    for experiment, one in zip(EXPERIMENTS, view.blocks, strict=True):
        for group, layout in zip(one.groups, experiment.PAGE.groups, strict=True):
            assert group.words == layout.words
            assert [chart.id for chart in group.charts] == [
                f"experiment-{name_of(experiment)}-{layout.id}-{number}" for number in range(len(group.charts))
            ]


def test_charts_of_one_condition_stand_jdk_by_jdk(view: ExperimentsView) -> None:
    throughput, _, parked = block(view, "burn").groups
    assert [chart.title for chart in throughput.charts] == [
        f"{OLD}, 8 in flight, 500 µs", f"{NEW}, 8 in flight, 500 µs",
        f"{OLD}, 5,000 per second, 50 µs", f"{NEW}, 5,000 per second, 50 µs",
    ]  # fmt: skip
    assert [chart.title for chart in parked.charts[:2]] == [
        f"Longest stretch: {OLD}, 8 in flight, 500 µs", f"Share of time: {OLD}, 8 in flight, 500 µs",
    ]  # fmt: skip
    for first, second in zip(throughput.charts[::2], throughput.charts[1::2], strict=True):
        ends = [vega_lite(chart.drawing)["layer"][0]["encoding"]["x"]["scale"]["domain"] for chart in (first, second)]
        assert ends[0] == ends[1], "JDKs are compared on one scale"


def test_notes_tell_every_bar_with_unit_and_expectation(view: ExperimentsView) -> None:
    assert notes(view, "burn", "Throughput", f"{NEW}, 8 in flight, 500 µs") == [
        "virtual: 3,564/s (expected 4,000/s)", "cached: 3,535/s (expected 4,000/s)",
        "fixed-2: 3,516/s (expected 4,000/s)",
    ]  # fmt: skip
    assert notes(view, "burn", "Throughput", f"{OLD}, 5,000 per second, 50 µs") == [
        "virtual, burn: 4,975/s (expected 5,000/s)", "virtual, burn-unwatched: 4,975/s (expected 5,000/s)",
    ]  # fmt: skip
    assert notes(view, "burn", "CPU used", f"{NEW}, 8 in flight, 500 µs")[0] == "virtual: 99.2 %"
    memory = notes(view, "spawn", "Memory per thread", f"VIRT: {OLD}")
    assert memory[0] == "virtual, spawn-sleep-1m, 10,000: 0 KiB"
    assert memory[-1] == "platform, spawn-sleep-boxed, 2,000: 256 KiB * (expected 256 KiB, threads refused)"
    assert notes(view, "spawn", "Time", f"All done: {OLD}")[0] == "virtual, spawn-print, 10,000: 0.336 s"
    assert notes(view, "pinning", "Throughput", OLD)[0] == "synchronized: 39.3/s (expected 40.0/s)"


def test_a_cell_without_a_usable_fork_is_in_no_chart(view: ExperimentsView) -> None:
    assert notes(view, "burn", "Throughput", f"{OLD}, 8 in flight, 500 µs") == ["fixed-2: 3,460/s (expected 4,000/s)"]


def test_a_bar_is_the_median_and_every_fork_is_a_point(view: ExperimentsView) -> None:
    chart = block(view, "pinning").groups[0].charts[0]
    rows = [one for values in chart.drawing.datasets.values() for one in rows_of(values)]
    points = [one["value"] for one in rows if one.get("fork") and one["row"] == "synchronized"]
    (bar,) = [one for one in rows if "median" in one and one["row"] == "synchronized"][:1]
    assert len(set(points)) == 2 and bar["median"] == pytest.approx(sum(points) / 2)
    assert bar["expected"] == pytest.approx(40)


# ------------------------------------------------------------------------------------------------ pinning


def test_the_heat_map_tells_figure_share_and_colour(view: ExperimentsView) -> None:
    (table,) = block(view, "pinning").heat
    pinned, free = dict(table.rows)["synchronized"]
    assert (pinned.value, pinned.basis, pinned.tone) == ("39.3/s", "2.0 % of threads / D", "p5")
    assert (free.value, free.basis, free.tone) == ("1,965/s", "98 % of threads / D", "p1")
    assert pinned.title == f"synchronized on {OLD}: keeps its carrier; median of 2 forks"
    missing, _ = dict(table.rows)["native frame"]
    assert (missing.value, missing.tone, missing.basis) == ("–", "none", "") and missing.title
    assert [text for _, text in view.heat_legend] == ["below 10 %", "10–25 %", "25–50 %", "50–85 %", "85 % and more"]


def test_stacks_stand_under_construct_and_jdk(view: ExperimentsView) -> None:
    pinned = block(view, "pinning").pinned
    assert [one.title for one in pinned] == [
        f"synchronized on {OLD}", f"class initialiser on {OLD}", f"class initialiser on {NEW}",
        f"native frame on {NEW}",
    ]  # fmt: skip
    assert pinned[0].stacks[0].reason is None, "a JDK before 24 does not tell"
    assert (pinned[2].stacks[0].reason or "").startswith("VM call to ")


# ------------------------------------------------------------------------------------------------ the table


def figures(view: ExperimentsView, kind: str, line: ExperimentRow) -> dict[str, Figure]:
    return dict(zip((name for name, _ in block(view, kind).table.figures), line.figures, strict=True))


def test_columns_have_the_axes_that_vary_and_every_figure_with_its_unit(view: ExperimentsView) -> None:
    table = block(view, "burn").table
    assert table.axes == (("JDK", False), ("Experiment", False), ("Load", False), ("Task duration, µs", True))
    assert table.figures == (
        ("throughput", "1/s"), ("CPU used", "%"), ("p50", "ms"), ("p99", "ms"),
        ("parked while tasks were queued", "%"), ("median stretch parked while tasks were queued", "ms"),
        ("longest stretch parked while tasks were queued", "ms"),
        ("such stretches of 10 ms and more", ""),
    )  # fmt: skip
    assert block(view, "pinning").table.axes == (("JDK", False), ("Experiment", False))
    assert block(view, "spawn").table.figures[:2] == (("RSS per thread", "KiB"), ("VIRT per thread", "KiB"))
    for one in view.blocks:
        assert all(len(line.figures) == len(one.table.figures) for line in one.table.rows)
        assert all(len(line.axes) == len(one.table.axes) for line in one.table.rows)


def test_every_planned_cell_has_a_row_with_a_link_where_it_has_a_page(
    loaded: LoadedRun, view: ExperimentsView, order: tuple[str, ...]
) -> None:
    measured = {f"cells/{record.key.cell_id}.html" for record in loaded.experiments}
    rows = [line for one in view.blocks for line in one.table.rows]
    assert len(rows) == len(loaded.run.cells)
    assert {line.href for line in rows} == {*measured, None}
    assert all(order[line.slot] == line.executor for line in rows)


def test_a_row_says_what_it_ran_under_and_what_became_of_its_forks(view: ExperimentsView) -> None:
    failed, partly, missing = block(view, "burn").table.rows[:3]
    assert [figure.text for figure in partly.axes] == [OLD, "burn", "8 in flight", "500"]
    assert partly.axes[2].title == "tasks-8" and partly.axes[3].sort == 500
    assert [(line.status, line.status_class, line.forks) for line in (failed, partly, missing)] == [
        ("failed", "failed", "0/2"), ("ok", "ok", "1/2"), ("not measured", "none", "0/0"),
    ]  # fmt: skip
    assert partly.reasons == ("invalid: the hypervisor took 7 % of the CPU time",)
    assert {figure.title for figure in failed.figures} == {"failed: no fork can be used"}
    assert {figure.title for figure in missing.figures} == {"not measured: no fork can be used"}
    assert len({line.status_title for line in (failed, partly, missing)}) == 3
    unwatched = row(view, "burn", "virtual", OLD, "burn-unwatched")
    assert figures(view, "burn", unwatched)["parked while tasks were queued"].title == (
        "this experiment has no such figure"
    )


def test_a_figure_is_the_median_with_the_least_and_the_most_beneath(view: ExperimentsView) -> None:
    line = row(view, "pinning", "virtual", OLD, "pinning-synchronized")
    throughput = figures(view, "pinning", line)["throughput"]
    assert (throughput.text, throughput.under) == ("39.3", "39.1–39.5")
    assert throughput.title == "throughput: median of 2 forks"
    p50 = figures(view, "pinning", line)["p50"]
    assert (p50.text, p50.under) == ("2,069", None), "both forks have the same"
    thread = row(view, "spawn", "platform", OLD, "spawn-sleep-1m", "1,000 at once")
    memory = figures(view, "spawn", thread)["VIRT per thread"]
    assert (memory.text, memory.title) == ("1,023", "VIRT per thread: median of 2 forks, 0.999 MiB")


def test_a_row_is_set_against_what_is_expected_of_it(view: ExperimentsView) -> None:
    line = row(view, "pinning", "virtual", OLD, "pinning-synchronized")
    assert (line.expected.text, line.expected.under, line.ratio.text) == ("40.0/s", "throughput", "0.983")
    assert line.ratio.title == "throughput: median over forks / expected"
    none = row(view, "spawn", "virtual", OLD, "spawn-sleep-1m", "10,000 at once")
    assert (none.expected.text, none.expected.under) == ("0", "kernel threads per thread")
    assert (none.ratio.text, none.ratio.title) == ("–", "0 is expected: 0 was measured")
    printed = row(view, "spawn", "virtual", OLD, "spawn-print")
    assert printed.expected.title == printed.ratio.title == "nothing is expected of its figures"


def test_what_looking_costs_is_told_by_jdk(view: ExperimentsView) -> None:
    old, new = block(view, "burn").overhead
    assert old.what == f"{OLD}, virtual, 5,000 per second, 50 µs" and new.what.startswith(NEW)
    assert (old.throughput.text, old.cpu.text) == ("1.00", "1.06")
    assert old.throughput.title == "median of 2 blocks"
