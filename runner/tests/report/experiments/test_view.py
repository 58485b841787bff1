"""From experiments without a server to what pages show of them, without a template."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.quantities import amount, measure
from jdkmatrix.experiments.kinds import BY_NAME
from jdkmatrix.records.readings import MeasuredSpan
from jdkmatrix.report.blocks.kinds import Section, Troubles
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice, of_kinds
from jdkmatrix.report.charts.shapes import Drawing
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.experiments.bar_groups import bar_groups
from jdkmatrix.report.experiments.bars import Scale
from jdkmatrix.report.experiments.blocks import experiment_sections
from jdkmatrix.report.experiments.cell_view import view_experiment_cell
from jdkmatrix.report.experiments.fork_view import fork_view
from jdkmatrix.report.experiments.view import view_experiments
from jdkmatrix.report.experiments.views import ExperimentCellView, ExperimentKindView, ExperimentsView
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of, vega_lite
from tests.support.experiment_runs import experiments_run
from tests.support.judged_pages import PageOfRun, facts_of, found, plain, section_of
from tests.support.mixed_runs import mixed
from tests.support.records import altered
from tests.support.served_runs import QUICK, synthetic_run


def order_of(loaded: LoadedRun) -> tuple[str, ...]:
    return executor_order(key.executor for key in loaded.run.cells)


def view_of(loaded: LoadedRun) -> ExperimentsView:
    return view_experiments(Cells(loaded.run, loaded.experiments, served=False), order_of(loaded))


def cell_page(loaded: LoadedRun, key: CellKey) -> ExperimentCellView:
    experiments = Cells(loaded.run, loaded.experiments, served=False)
    cell = experiments.get(key)
    assert cell is not None
    return view_experiment_cell(cell, experiments, loaded.run, order_of(loaded), {})


def block(view: ExperimentsView, kind: str) -> ExperimentKindView:
    return next(one for one in view.blocks if one.id == f"experiment-{kind}")


def with_records(loaded: LoadedRun, records: Sequence[CellRecord]) -> LoadedRun:
    return replace(loaded, cells=tuple(records))


def test_a_run_of_experiments_only_speaks_of_nothing_else(tmp_path: Path) -> None:
    judged = JudgedRun(experiments_run(tmp_path, ("pinning",)))
    page = run_page(judged, experiment_sections(view_experiments(judged.experiments, judged.order)), (), "")
    assert page.heading == "Without a server: pinning"
    assert "Without a server (pinning): 1 arm on 2 JDKs, 10 of 10 cells ran to an outcome" in str(page.summary)
    assert [one.id for one in found(page.blocks, Section) if one.id != "experiment-pinning"] == [
        *("troubles", "jdks", "host", "reproduce"),
    ]
    assert "Driver" not in facts_of(page.lede)
    # That a JDK has not what an experiment is about is a finding.
    (lone,) = found(page.blocks, Troubles)[0].troubles
    assert lone.label.startswith("pinning-synchronized · semeru-25 · virtual · 2 CPUs · ")


def test_a_run_without_experiments_has_no_block(tmp_path: Path) -> None:
    loaded = synthetic_run(tmp_path, QUICK)
    assert view_of(loaded).blocks == () and view_of(loaded).charts == {}
    assert "server:" not in PageOfRun(loaded).page.title


def test_a_run_of_both_keeps_them_apart(tmp_path: Path) -> None:
    loaded = mixed(tmp_path)
    before = PageOfRun(synthetic_run(tmp_path / "served", replace(QUICK, blocks=1)))
    page = PageOfRun(loaded)
    assert page.page.heading == "Thread pool or virtual threads: mp-ping, without a server: pinning"
    assert section_of(page.page, "cells") == section_of(before.page, "cells")
    assert [plain(section.title) for section in page.sections] == ["mp-ping under saturate-50"]
    assert "Without a server (pinning)" in str(page.page.summary)
    assert [one.id for one in view_of(loaded).blocks] == ["experiment-pinning"]


def test_blocks_stand_in_their_order_and_have_all_that_was_measured(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path)
    turned = loaded.run.model_copy(update={"cells": tuple(reversed(loaded.run.cells))})
    view = view_of(replace(loaded, run=turned))
    assert [one.title for one in view.blocks] == ["Burn", "Spawn", "Pinning", "Fan-out"]
    assert sum(len(one.table.rows) for one in view.blocks) == len(loaded.experiments)
    assert all(one.answers and one.expectations for one in view.blocks)


def test_bad_cells_are_shown_with_reasons_and_stand_in_no_figure(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("pinning",), accidents=True)
    page, rows = PageOfRun(loaded), block(view_of(loaded), "pinning").table.rows
    by_status = {trouble.status: trouble for trouble in page.troubles}
    assert set(by_status) >= {"failed", "some forks", "not measured"}
    assert by_status["failed"].reasons == ("forks 1-2: the program had not ended after 90 s",)
    assert by_status["some forks"].reasons == ("fork 1: the hypervisor took 7 % of the CPU time",)
    assert by_status["not measured"].href is None
    failed, one_left, missing = rows[:3]
    assert (failed.status, failed.forks, {figure.text for figure in failed.figures}) == ("failed", "0/2", {"–"})
    assert failed.reasons == ("failed: the program had not ended after 90 s",)
    assert (one_left.status, one_left.forks) == ("ok", "1/2") and one_left.figures[0].under is None
    assert (missing.status, missing.forks, missing.href) == ("not measured", "0/0", None)


def test_an_interrupted_run_has_a_page_before_its_first_cell(tmp_path: Path) -> None:
    loaded = with_records(experiments_run(tmp_path), ())
    view = view_of(loaded)
    assert [one.title for one in view.blocks] == ["Burn", "Spawn", "Pinning", "Fan-out"]
    assert not view.charts and all(not one.groups for one in view.blocks)
    assert {row.status for one in view.blocks for row in one.table.rows} == {"not measured"}
    assert "No cell of this JDK" in block(view, "burn").answers[0].sentences[0][1]


def test_a_record_that_names_no_experiment_is_still_a_cell(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("spawn",))
    run = loaded.run.model_copy(update={"matrix": {"experiments": "nonsense"}})
    records = [record.model_copy(update={"parameters": {"experiment": ["spawn"]}}) for record in loaded.experiments]
    loaded = replace(with_records(loaded, records), run=run)
    assert view_of(loaded).blocks == ()
    assert PageOfRun(loaded).page.heading == "Without a server: experiments"
    assert cell_page(loaded, records[0].key).kind_words == ""


def test_an_outcome_says_how_far_it_came_and_what_helps(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("spawn", "fanout", "pinning"))
    by_workload = {row.href: row for one in view_of(loaded).blocks for row in one.table.rows}
    outcomes = {href: row.outcomes[0] for href, row in by_workload.items() if href}
    boxed = next(outcome for href, outcome in outcomes.items() if "spawn-sleep-boxed" in href)
    assert boxed.word == "threads refused" and boxed.where.startswith("at 4") and "pids.max" in boxed.advice
    files = next(outcome for href, outcome in outcomes.items() if "few-files" in href)
    assert files.word == "files refused" and "ulimit -n" in files.advice
    native = next(outcome for href, outcome in outcomes.items() if "native.temurin-21" in href)
    assert (native.word, native.css, native.where) == ("not on this JDK", "none", "")
    spawned = block(view_of(loaded), "spawn").answers[0].sentences
    assert any(term == "threads refused" and "spawn-sleep-boxed" in text for term, text in spawned)


def test_a_fork_that_ended_early_stands_in_no_sentence_about_figures(tmp_path: Path) -> None:
    """200 requests of which most were refused are done soon: that is no time of a fan-out."""
    for answer in block(view_of(experiments_run(tmp_path, ("fanout",))), "fanout").answers:
        figures = [term for term, text in answer.sentences if "answered after" in text]
        assert figures and not any("few-files" in term for term in figures)


def test_virtual_and_resident_memory_stand_side_by_side_in_one_unit(tmp_path: Path) -> None:
    group = block(view_of(experiments_run(tmp_path, ("spawn",))), "spawn").groups[0]
    assert group.columns == 2 and [chart.title.split(":")[0] for chart in group.charts[:2]] == ["VIRT", "RSS"]
    scales = [vega_lite(chart.drawing)["layer"][0]["encoding"]["x"]["scale"] for chart in group.charts]
    assert all(scale["domain"] == scales[0]["domain"] for scale in scales)
    assert {scale["type"] for scale in scales} == {"symlog"}
    assert "KiB" in group.charts[0].note and "0 KiB" in group.charts[0].note


def test_what_looking_costs_is_a_ratio_inside_blocks(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path, ("burn",))
    rows = block(view_of(loaded), "burn").overhead
    assert [row.what.split(",")[0] for row in rows] == ["temurin-21.0.8", "temurin-25"]
    assert all(row.throughput.text == "1.00" for row in rows)
    assert all(row.cpu.sort is not None and row.cpu.sort > 1 for row in rows)
    without = [record for record in loaded.experiments if record.key.workload != "burn-unwatched"]
    assert block(view_of(with_records(loaded, without)), "burn").overhead == ()
    other = [
        record.model_copy(update={"parameters": {**record.parameters, "drain_s": 99.0}})
        if record.key.workload == "burn-unwatched"
        else record
        for record in loaded.experiments
    ]
    assert block(view_of(with_records(loaded, other)), "burn").overhead == ()


def test_every_arm_of_a_small_run_has_a_colour_of_its_own(tmp_path: Path) -> None:
    for kind in BY_NAME:
        loaded = experiments_run(tmp_path, (kind,))
        legend = block(view_of(loaded), kind).legend
        assert len({one.slot % 8 for one in legend}) == len(legend)


def test_a_cell_page_has_every_figure_of_every_fork(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path)
    for record in loaded.experiments:
        page = cell_page(loaded, record.key)
        assert [fork.number for fork in page.forks] == [1, 2]
        assert len(page.tiles) == len(CellStats(record).spreads)
        for fork, view in zip(record.forks, page.forks, strict=True):
            assert fork.result is not None
            result = fork.result
            assert bool(view.figures) == (result.seen is not None) == bool(view.counts)
            assert bool(view.remote) == (result.experiment == "fanout")
            parks = [title for title, facts in view.sections if facts]
            assert parks == (["Parks of workers"] if result.experiment == "burn" and result.seen else [])
            assert view.vm and view.host and view.facts and view.commands


def test_a_fork_says_over_what_its_host_was_watched(tmp_path: Path) -> None:
    loaded = experiments_run(tmp_path)
    fork = loaded.experiments[0].forks[0]
    key = loaded.experiments[0].key
    assert fork.result is not None
    span = MeasuredSpan(start_monotonic_ns=7 * 10**9, end_monotonic_ns=12 * 10**9)
    told = altered(fork, {"host_span_s": 5.4, "result": fork.result.model_copy(update={"measured_span": span})})
    for one, words in ((fork, "all of the program’s life"), (told, "5.40 s around the 5.00 s that it measured")):
        assert {fact.name: fact.value for fact in fork_view(one, key, loaded.run, ()).host}["Watched"] == words


def test_the_figures_that_charts_name_are_there() -> None:
    """Names of readings are text: one that nobody makes would be an empty chart."""
    for kind, experiment in BY_NAME.items():
        with tempfile.TemporaryDirectory() as folder:
            loaded = experiments_run(Path(folder), (kind,))
        made = {spread.name for record in loaded.experiments for spread in CellStats(record).spreads}
        assert {figure.name for group in experiment.PAGE.groups for figure in group.figures} <= made


@functools.cache
def everything() -> LoadedRun:
    with tempfile.TemporaryDirectory() as folder:
        return experiments_run(Path(folder), forks=1)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_whatever_was_measured_every_figure_is_drawn_once(data: st.DataObject) -> None:
    loaded = everything()
    kind = data.draw(st.sampled_from(list(BY_NAME)))
    all_of_kind = [r for r in loaded.experiments if r.parameters["experiment"] == kind]
    records = data.draw(st.lists(st.sampled_from(all_of_kind), unique_by=lambda r: r.key, min_size=1))
    run = loaded.run.model_copy(update={"cells": tuple(record.key for record in records)})
    (part,) = of_kinds(Cells(run, records, served=False))
    assert {cell.key for cell in part.cells} == {record.key for record in records}
    groups = bar_groups(part, order_of(loaded))
    for group in BY_NAME[kind].PAGE.groups:
        expected = sum(cell.spread(figure.name) is not None for cell in part.cells for figure in group.figures)
        shown = [one for one in groups if one.title == group.title]
        rows = [row for one in shown for chart in one.charts for row in _medians(chart.drawing)]
        assert len(rows) == expected
    ids = [chart.id for one in groups for chart in one.charts]
    assert len(set(ids)) == len(ids)
    for one in groups:
        for chart in one.charts:
            names = [row["row"] for row in _medians(chart.drawing)]
            assert len(set(names)) == len(names), "two cells on one row"


def test_rows_say_what_their_experiments_name_does_not(tmp_path: Path) -> None:
    first, second = (record.key for record in experiments_run(tmp_path, ("spawn",), forks=1).experiments[:2])
    asleep = first.model_copy(update={"workload": "spawn-sleep-1m", "load": "count-1000"})
    at_work = second.model_copy(update={"workload": "spawn-work", "load": "count-1000", "burn_us": 1000})
    more = asleep.model_copy(update={"load": "count-10000"})
    told = ExperimentSlice("spawn", (asleep, at_work, more), ())
    assert {axis for axis in ("workload", "load", "burn_us", "cpus") if told.tells_apart(axis)} == {"workload", "load"}
    harder = at_work.model_copy(update={"burn_us": 2000})
    assert ExperimentSlice("spawn", (asleep, at_work, harder), ()).tells_apart("burn_us")


def _medians(drawing: Drawing) -> list[dict[str, Any]]:
    return rows_of(drawing.datasets[drawing.shape.spec["layer"][0]["data"]["name"]])


@given(st.floats(min_value=1e-3, max_value=1e9), st.sampled_from([None, 0.01, 0.1, 1.0]), st.sampled_from([1, 2]))
def test_a_scale_has_room_for_its_figures_and_few_ticks(highest: float, linear_to: float | None, lines: int) -> None:
    scale = Scale("x", highest, linear_to, lines)
    assert scale.end > highest
    if linear_to is not None:
        ticks = scale.ticks()
        assert ticks[0] == 0 and ticks == sorted(ticks) and len(ticks) <= 7
        assert all(tick <= highest * 1.001 for tick in ticks)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (39.5, "1/s", "39.5/s"),
        (1975.4, "1/s", "1,975/s"),
        (1024.0, "KiB", "1,024 KiB"),
        (0.0, "KiB", "0 KiB"),
        (0.102, "%", "0.10 %"),
        (98.25, "%", "98.2 %"),
        (12.0, "", "12"),
        (0.9981, "", "0.998"),
        (-3.2, "KiB", "\u22123.20 KiB"),
    ],
)
def test_a_figure_has_few_digits_and_its_unit(value: float, unit: str, text: str) -> None:
    assert measure(value, unit) == text
    assert text.startswith(amount(value, unit))
