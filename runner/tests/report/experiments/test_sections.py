"""The page of a run, with a section for each kind of experiment: answers, charts, expectations, table.

Figures are those of the results in samples/standalone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.reasons import Status
from jdkmatrix.report.blocks.kinds import (
    AnswerBoxes,
    Charts,
    ColourScale,
    Disclosure,
    FactList,
    HeatMap,
    Pre,
    Prose,
    Section,
)
from jdkmatrix.report.blocks.tables import Cell, DataTable, Sorted
from jdkmatrix.report.charts.shapes import executor_order
from jdkmatrix.report.experiments.sections import experiment_sections
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import reasons
from tests.support.experiment_runs import NEW, OLD, Sections, experiments_of, mixed, sections_of, with_seen
from tests.support.judged_pages import PageOfRun
from tests.support.pages import facts_of, figure_in, found, plain, section_of, table_of
from tests.support.records import altered, with_forks
from tests.support.served_runs import QUICK, made_up

Row = dict[str, Cell]


@pytest.fixture(scope="module")
def page(loaded: LoadedRun) -> PageOfRun:
    return PageOfRun(loaded)


def rows_in(section: Section) -> list[Row]:
    return table_of([section], "Table of ")


def row(sections: Sections, kind: str, executor: str, *axes: str) -> Row:
    def texts(one: Row) -> set[str]:
        return {
            cell.text if isinstance(cell, Figure) else plain(cell.words) if isinstance(cell, Sorted) else cell
            for cell in one.values()
        }

    of_arm = (one for one in rows_in(sections[kind]) if plain(one["Arm"]).strip() == executor)
    return next(one for one in of_arm if {*axes} <= texts(one))


def forks_in(one: Row) -> tuple[str, str]:
    """Return its status, and how many of the forks that ran can be used."""
    cell = one["Forks usable/ran"]
    assert isinstance(cell, Sorted)
    status, _, counts = cell.key.rpartition(" ")
    return status, counts


def sentences(section: Section, jdk: str) -> dict[str, str]:
    (boxes,) = found([section], AnswerBoxes)
    return dict(next(one.sentences for one in boxes.answers if one.lead == jdk))


def expected_in(section: Section) -> list[tuple[str, str]]:
    return [
        (plain(fact.name), plain(fact.value))
        for one in found([section], FactList)
        if one.css == "expected"
        for fact in one.facts
    ]


def test_the_head_counts_arms_jdks_cells_and_forks(page: PageOfRun) -> None:
    kinds = "burn, spawn, pinning, hang, fan-out, thread-local buffers, connections, writes to files"
    assert page.page.heading == f"Without a server: {kinds}"
    assert page.page.summary == (
        '<b class="forks amber">123 of 128 forks usable: 3 lost to faults of the host or of the measurement, 2 without '
        f"a readable record.</b> Without a server ({kinds}): 9 arms on 2 JDKs, 62 of 64 cells ran to an outcome, from "
        "126 forks, each a fresh process."
    )
    (unknown,) = (one for one in page.troubles if one.status == "not testable")
    assert unknown.label == "burn · semeru-25 · virtual · 2 CPUs, 500 µs of work per task · tasks-8"


def test_cells_that_are_not_ok_are_listed_with_a_link_and_reasons(page: PageOfRun) -> None:
    failed, some, missing = page.troubles[:3]
    assert [(one.status, one.status_class) for one in (failed, some, missing)] == [
        ("failed", "failed"), ("some forks", "not-steady"), ("not measured", "none"),
    ]  # fmt: skip
    assert failed.label == "burn · temurin-21.0.8 · virtual · 2 CPUs, 500 µs of work per task · tasks-8"
    assert failed.href == "cells/burn.temurin-21.0.8.virtual.cpus-2.burn-500us.tasks-8.html"
    assert failed.reasons == ("forks 1-2: the program had not ended after 90 s",)
    assert some.reasons == ("fork 1: the hypervisor took 7 % of the CPU time",)
    assert missing.href is None


def test_what_shares_cpus_and_what_was_pinned_by_affinity_is_told(loaded: LoadedRun) -> None:
    def notices(**confinement: object) -> dict[str, tuple[str, str]]:
        def confined(record: CellRecord, fork: Fork) -> Fork:
            if record.key.workload != "fanout-few-files":
                return fork
            return fork.model_copy(update={"confinement": fork.confinement.model_copy(update=confinement)})

        changed = with_forks(loaded, confined)
        return {notice.title: (notice.weight, notice.text) for notice in PageOfRun(changed).notices}

    shared = notices(remote_cpus=(1,))["Program and remote system share CPUs"]
    assert shared[0] == "warn" and shared[1].startswith("In 4 of 126 forks without a server")
    loose = notices(method="sched_setaffinity", why_not_cgroup="it is read-only")
    weight, text = loose["Without a server: kept on its CPUs by affinity alone"]
    assert weight == "info" and text.startswith("In 4 of 126 forks ") and text.endswith("not used: it is read-only.")
    assert not {"Program and remote system share CPUs"} & notices().keys()


def test_a_run_of_experiments_only_speaks_of_nothing_else() -> None:
    judged = JudgedRun(experiments_of("pinning"))
    page = run_page(judged, experiment_sections(judged.experiments), (), "")
    assert "Without a server (pinning): 1 arm on 2 JDKs, 10 of 10 cells ran to an outcome" in str(page.summary)
    parts = ["experiment-pinning", "troubles", "jdks", "host", "reproduce"]
    assert [one.id for one in found(page.blocks, Section)] == parts
    assert "Driver" not in facts_of(page.lede)


def test_a_run_of_both_keeps_them_apart() -> None:
    loaded = mixed()
    before = PageOfRun(made_up(replace(QUICK, blocks=1)))
    page = PageOfRun(loaded)
    assert page.page.heading == "Thread pool or virtual threads: mp-ping, without a server: pinning"
    assert section_of(page.page, "cells") == section_of(before.page, "cells")
    assert [plain(section.title) for section in page.sections] == ["mp-ping under saturate-50"]
    assert "Without a server (pinning)" in str(page.page.summary)
    assert list(sections_of(loaded)) == ["pinning"]
    assert not sections_of(made_up(QUICK))


def test_each_kind_says_what_it_is_and_what_all_its_cells_share(loaded: LoadedRun, sections: Sections) -> None:
    turned = replace(loaded, run=loaded.run.model_copy(update={"cells": tuple(reversed(loaded.run.cells))}))
    assert list(sections) == list(sections_of(turned)) == list(BY_NAME)
    shared = (
        "2 CPUs", "2 CPUs", "100 at once, 2 CPUs", "hang-synchronized, 2 CPUs", "2 CPUs",
        "json-thread-local, 100 at once, 2 CPUs", "20 at once, 2 CPUs", "puts-4k, 3,000 at once, 2 CPUs",
    )  # fmt: skip
    for one, told in zip(sections.values(), shared, strict=True):
        assert str(one.words).endswith(f" In every cell: {told}.")
        is_pinning, is_burn = one.id == "experiment-pinning", one.id == "experiment-burn"
        assert bool(found([one], HeatMap)) == bool(found([one], Pre)) == is_pinning
        assert any(table.label == "Cost of recording" for table in found([one], DataTable)) == is_burn
        assert found([one], AnswerBoxes) and expected_in(one)


def test_the_words_of_a_condition_have_units(loaded: LoadedRun) -> None:
    cell = ("burn", "fixed-2", NEW)
    (one,) = (r for r in loaded.experiments if (r.key.workload, r.key.executor, r.key.jdk) == cell)
    alone = replace(loaded, run=loaded.run.model_copy(update={"cells": (one.key,)}), cells=(one,))
    (only,) = sections_of(alone).values()
    assert str(only.words).endswith(": burn, temurin-25, 8 in flight, 2 CPUs, 500 µs of work per task.")
    assert list(rows_in(only)[0])[:2] == ["Arm", "Outcome"]


def test_an_interrupted_run_has_a_page_before_its_first_cell(loaded: LoadedRun) -> None:
    sections = sections_of(replace(loaded, cells=()))
    assert list(sections) == list(BY_NAME)
    assert not found(sections.values(), Charts)
    assert {forks_in(line) for one in sections.values() for line in rows_in(one)} == {("not measured", "0/0")}
    assert "No cell of this JDK" in sentences(sections["burn"], OLD)[""]


def test_a_record_that_names_no_experiment_is_still_a_cell() -> None:
    loaded = experiments_of("spawn")
    run = loaded.run.model_copy(update={"matrix": {"experiments": "nonsense"}})
    records = [record.model_copy(update={"parameters": {"experiment": ["spawn"]}}) for record in loaded.experiments]
    loaded = replace(loaded, cells=tuple(records), run=run)
    assert not sections_of(loaded)
    assert PageOfRun(loaded).page.heading == "Without a server: experiments"


def test_a_burn_is_set_against_what_is_expected_of_it(sections: Sections) -> None:
    told = sentences(sections["burn"], OLD)
    assert told["Throughput"] == (
        "from 87 % of the expected throughput with fixed-2, burn, 8 in flight, 500 µs (3,460/s of 4,000/s) to 100 % "
        "with virtual, burn, 5,000 per second, 50 µs (4,975/s of 5,000/s)."
    )
    assert told["CPU used"] == "25.0 to 99.2 % of the CPUs that it may use."
    assert told["Parked while tasks were queued"] == (
        "one worker for at most 4.93 ms at a stretch (fixed-2, burn, 8 in flight, 500 µs); all stretches together "
        "0.22 to 6.1 % of all workers’ time."
    )
    assert sentences(sections["burn"], NEW)["Parked while tasks were queued"].startswith(
        "one worker for at most 464 ms at a stretch (cached, burn, 8 in flight, 500 µs)"
    )


def test_threads_are_told_by_arm_with_memory_and_time(sections: Sections) -> None:
    told = sentences(sections["spawn"], OLD)
    assert told["platform"] == (
        "RSS 25.8 to 53.0 KiB and VIRT 1,023 to 1,024 KiB per thread (in 2 conditions); RSS 107 to 307 MiB and VIRT "
        "9,583 to 18,580 MiB for the whole process (in 2 conditions); "
        "all started after 0.164 to 5.20 s, over 3 conditions."
    )
    assert told["virtual"].startswith("RSS 2.23 to 3.73 KiB and VIRT 0 KiB per thread (in 2 conditions); ")
    assert told["threads refused"].startswith("platform, spawn-sleep-boxed, 2,000 at once (at 481: unable to create")


def test_constructs_are_told_by_who_keeps_its_carrier(sections: Sections) -> None:
    told = sentences(sections["pinning"], OLD)
    assert told["virtual, 100 at once, 2 CPUs"] == (
        "keeps its carrier: synchronized (39.3/s), class initialiser (39.3/s); free: ReentrantLock (1,940/s); "
        "free, by 99 more carriers: Object.wait (1,987/s)."
    )
    assert told["not on this JDK"].startswith("native frame, virtual (")
    assert "not on this JDK" not in sentences(sections["pinning"], NEW)


def test_a_fan_out_is_told_by_arm_with_its_ideal(sections: Sections) -> None:
    told = sentences(sections["fanout"], OLD)["fixed-5, fanout, 20 at once"]
    assert told == "all answered after 0.875 s (0.870–0.879), where 0.400 s is ideal."
    # 200 requests of which most were refused are done soon: that is no time of a fan-out.
    for jdk in (OLD, NEW):
        figures = [term for term, text in sentences(sections["fanout"], jdk).items() if "answered after" in text]
        assert figures and not any("few-files" in term for term in figures)


def test_every_formula_stands_once_with_its_source_and_the_cells_it_is_for(sections: Sections) -> None:
    for one in sections.values():
        stated = expected_in(one)
        assert len(set(stated)) == len(stated) and all(about.count("; ") >= 2 for _, about in stated)
    (closed, cells), (paced, others) = expected_in(sections["burn"])
    assert closed == "throughput = cpus / burn_us * 1e6" and cells.endswith(
        f"burn; fixed-2, virtual, cached; {OLD}, {NEW}"
    )
    assert paced == "throughput = min(rate_rps, cpus / burn_us * 1e6)"
    assert others.endswith(f"burn, burn-unwatched; virtual; {OLD}, {NEW}")
    told = expected_in(sections["spawn"])
    assert any(name == "No figure is expected" and "spawn-print" in about for name, about in told)
    assert expected_in(sections["pinning"])[0][1].endswith(f"synchronized; virtual; {OLD}")


def test_the_colours_of_the_heat_map_have_a_scale(sections: Sections) -> None:
    (scale,) = found([sections["pinning"]], ColourScale)
    assert [text for _, text in scale.steps] == ["below 10 %", "10–25 %", "25–50 %", "50–85 %", "85 % and more"]


def test_a_cell_of_which_gates_refused_every_fork_is_not_called_complete() -> None:
    loaded = experiments_of("pinning")
    refused = with_forks(loaded, lambda _, fork: altered(fork, {"status": Status.INVALID, "reasons": reasons("steal")}))
    heat = [one for group in found([sections_of(refused)["pinning"]], HeatMap) for _, row in group.rows for one in row]
    told = {(one.value, one.interval, one.title) for one in heat if one.href}
    assert told == {("–", "invalid", "its page says why")}


def test_stacks_stand_under_construct_and_jdk(sections: Sections) -> None:
    (pinned,) = found([sections["pinning"]], Disclosure)
    assert str(pinned.summary).endswith(" jdk.VirtualThreadPinned events in 4 cells")
    told = [one for one in pinned.blocks if isinstance(one, Prose)]
    assert [one.heading for one in told if one.heading] == [
        f"synchronized on {OLD}", f"class initialiser on {OLD}", f"class initialiser on {NEW}",
        f"native frame on {NEW}",
    ]  # fmt: skip
    assert str(told[1].text).endswith(" events"), "a JDK before 24 does not tell a reason"
    assert any(" events: VM call to " in str(one.text) for one in told)


def test_columns_have_the_axes_that_vary_and_every_figure_with_its_unit(sections: Sections) -> None:
    def titles(kind: str) -> list[str]:
        return list(rows_in(sections[kind])[0])

    assert titles("burn") == [
        "Arm", "JDK", "Experiment", "Load", "Task duration, µs", "Outcome", "Expected", "Measured / expected",
        "throughput 1/s", "CPU used %", "p50 ms", "p99 ms", "parked while tasks were queued %",
        "median stretch parked while tasks were queued ms", "longest stretch parked while tasks were queued ms",
        "such stretches of 10 ms and more 1/s", "Forks usable/ran",
    ]  # fmt: skip
    assert titles("pinning")[:4] == ["Arm", "JDK", "Experiment", "Outcome"]
    assert {"RSS per thread KiB", "VIRT per thread KiB"} <= set(titles("spawn"))


def test_every_planned_cell_has_a_row_with_a_link_where_it_has_a_page(loaded: LoadedRun, sections: Sections) -> None:
    arms = [str(line["Arm"]) for one in sections.values() for line in rows_in(one)]
    order = executor_order(key.executor for key in loaded.run.cells)
    assert len(arms) == len(loaded.run.cells) - len(loaded.run.not_testable)
    for record in loaded.experiments:
        (arm,) = (arm for arm in arms if f'href="cells/{record.key.cell_id}.html"' in arm)
        assert f"swatch e{order.index(record.key.executor) % 8}" in arm


def test_a_row_says_what_it_ran_under_and_what_became_of_its_forks(sections: Sections) -> None:
    failed, partly, missing = rows_in(sections["burn"])[:3]
    assert (partly["JDK"], partly["Experiment"]) == (OLD, "burn"), "which a table can be sorted by"
    load, work = partly["Load"], figure_in(partly, "Task duration, µs")
    assert isinstance(load, Sorted) and (plain(load.words), load.key) == ("8 in flight", "tasks-8")
    assert 'title="tasks-8"' in load.words and "missing" not in load.words
    assert (work.text, work.sort) == ("500", 500)
    assert [forks_in(line) for line in (failed, partly, missing)] == [
        ("failed", "0/2"), ("ok", "1/2"), ("not measured", "0/0"),
    ]  # fmt: skip
    assert "invalid: the hypervisor took 7 % of the CPU time" in plain(partly["Outcome"])
    assert plain(failed["Outcome"]) == "failed: the program had not ended after 90 s"
    assert figure_in(failed, "p50 ms").title == "failed: no usable fork"
    assert figure_in(missing, "p50 ms").title == "not measured: no usable fork"
    assert "href" not in str(missing["Arm"]) and figure_in(partly, "p50 ms").under is None
    unwatched = row(sections, "burn", "virtual", OLD, "burn-unwatched")
    assert figure_in(unwatched, "parked while tasks were queued %").title == "this experiment has no such figure"


def test_an_outcome_says_how_far_it_came_and_what_helps(sections: Sections) -> None:
    lines = [line for one in sections.values() for line in rows_in(one)]

    def outcome(cell: str) -> str:
        return plain(next(line["Outcome"] for line in lines if cell in str(line["Arm"])))

    boxed = outcome("spawn-sleep-boxed")
    assert boxed.startswith("threads refused at 4") and "pids.max" in boxed
    assert outcome("few-files").startswith("files refused ") and "ulimit -n" in outcome("few-files")
    assert outcome("native.temurin-21").startswith("not on this JDK ")


def test_a_program_that_this_jdk_cannot_run_came_to_its_end() -> None:
    """The first line of the page counts it so."""

    def refused(fork: Fork) -> Fork:
        nothing = {"outcome": "not-on-this-jdk", "seen": None, "expected": None}
        return altered(fork, {"result": fork.result.model_copy(update=nothing) if fork.result else None})

    loaded = experiments_of("spawn")
    first, *others = loaded.cells
    cells = (first.model_copy(update={"forks": tuple(map(refused, first.forks))}), *others)
    first_row = rows_in(sections_of(replace(loaded, cells=cells))["spawn"])[0]
    assert forks_in(first_row) == ("ok", "2/2")
    assert "no fork has a figure" in {one.title for one in first_row.values() if isinstance(one, Figure)}


def test_a_figure_is_the_median_with_the_least_and_the_most_beneath(sections: Sections) -> None:
    line = row(sections, "pinning", "virtual", OLD, "pinning-synchronized")
    throughput = figure_in(line, "throughput 1/s")
    assert (throughput.text, throughput.under) == ("39.3", "39.1–39.5")
    assert throughput.title == "throughput: median of 2 forks"
    p50 = figure_in(line, "p50 ms")
    assert (p50.text, p50.under) == ("≥ 2,069", None), "both forks have the same, most of it of calls that did not end"
    of_spawn = row(sections, "spawn", "platform", OLD, "spawn-sleep-1m", "1,000 at once")
    memory = figure_in(of_spawn, "VIRT per thread KiB")
    assert (memory.text, memory.title) == ("1,023", "VIRT per thread: median of 2 forks, 0.999 MiB")


def test_a_row_is_set_against_what_is_expected_of_it(sections: Sections) -> None:
    def against(one: Row) -> tuple[Figure, Figure]:
        return figure_in(one, "Expected"), figure_in(one, "Measured / expected")

    expected, ratio = against(row(sections, "pinning", "virtual", OLD, "pinning-synchronized"))
    assert (expected.text, expected.under, ratio.text) == ("40.0/s", "throughput", "0.983")
    assert ratio.title == "throughput: median over forks / expected"
    expected, ratio = against(row(sections, "spawn", "virtual", OLD, "spawn-sleep-1m", "10,000 at once"))
    assert (expected.text, expected.under) == ("0", "kernel threads per thread")
    assert (ratio.text, ratio.title) == ("–", "0 is expected: 0 was measured")
    expected, ratio = against(row(sections, "spawn", "virtual", OLD, "spawn-print"))
    assert expected.title == ratio.title == "no value is expected for its figures"


def test_what_looking_costs_is_a_ratio_inside_blocks(loaded: LoadedRun, sections: Sections) -> None:
    old, new = table_of([sections["burn"]], "Cost of recording")
    assert old["Condition"] == f"{OLD}, virtual, 5,000 per second, 50 µs" and str(new["Condition"]).startswith(NEW)
    throughput = figure_in(old, "Throughput ratio")
    assert (throughput.text, throughput.title) == ("1.00", "median of 2 blocks")
    assert figure_in(old, "CPU time ratio").text == "1.06"
    without = tuple(record for record in loaded.experiments if record.key.workload != "burn-unwatched")
    other = tuple(
        record.model_copy(update={"parameters": {**record.parameters, "drain_s": 99.0}})
        if record.key.workload == "burn-unwatched"
        else record
        for record in loaded.experiments
    )
    for records in (without, other):
        burn = sections_of(replace(loaded, cells=records))["burn"]
        assert not any(table.label == "Cost of recording" for table in found([burn], DataTable))


def test_a_closed_loop_with_fewer_tasks_under_way_than_were_asked_for_says_so() -> None:
    def few(record: CellRecord, fork: Fork) -> Fork:
        if record.key.executor != "cached" or fork.result is None:
            return fork
        took = {**(fork.result.seen or {})["latency_to_end"], "mean_us": 600.0}
        return altered(fork, {"result": with_seen(fork.result, {"latency_to_end": took})})

    run = experiments_of("burn")
    before, after = (sentences(sections_of(one)["burn"], OLD) for one in (run, with_forks(run, few)))
    assert "In flight" not in before
    assert after["In flight"].startswith("2.") and "where 8 were asked for: the one thread " in after["In flight"]
