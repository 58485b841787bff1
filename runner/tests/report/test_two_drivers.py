"""Figures of two load drivers never stand in one ratio, chart, map or pooled figure, and each says whose it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import THROUGHPUT
from jdkmatrix.figures.paired import paired_figures
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.claims.evidence import CellEvidence, CheckEvidence, ClaimEvidence, together
from jdkmatrix.report.compare import ComparedSide, compare_sides
from jdkmatrix.report.exports import COLUMNS, results
from jdkmatrix.report.site.conditions import answering
from jdkmatrix.report.site.history import histories
from jdkmatrix.stats.bands import Estimate
from jdkmatrix.store.loaded import LoadedRun
from tests.support.builders import key
from tests.support.judged_pages import PageOfRun, figure_in, found, printed, section_of, table_of
from tests.support.served_runs import Shape, driven_by, synthetic_run
from tests.support.sites import built, digest_of, later

BOTH = Shape(jdks=("temurin-25",), burn_us=(0, 100, 500), blocks=5, windows=1)


@pytest.fixture
def mixed(tmp_path: Path) -> LoadedRun:
    """The tasks of 500 µs were driven by wrk2."""
    return driven_by(synthetic_run(tmp_path / "run", BOTH), "wrk2", lambda key: key.burn_us == 500)


def test_two_drivers_never_stand_in_one_ratio(mixed: LoadedRun) -> None:
    by_key = {cell.key: cell for cell in mixed.cells}
    virtual, liberty = (by_key[key(executor)] for executor in ("virtual", "liberty"))
    assert len(paired_figures(THROUGHPUT, virtual, liberty)[0]) == 5
    (other,) = driven_by(replace(mixed, cells=(liberty,)), "wrk2").cells
    assert paired_figures(THROUGHPUT, virtual, other) == ({}, {})


def test_tables_and_charts_are_apart_by_driver_and_every_row_names_its_own(mixed: LoadedRun) -> None:
    """So that no heat map holds, and no line joins, points of two."""
    cells = Cells(mixed.run, mixed.cells)
    assert [(piece.driver, {key.burn_us for key in piece.keys}) for piece in slices(cells)] == [
        ("loadgen", {0, 100}), ("wrk2", {500}),
    ]  # fmt: skip
    page = PageOfRun(mixed)
    assert [str(section.words).rpartition(", by ")[2].split(";")[0] for section in page.sections] == ["loadgen", "wrk2"]
    told = [f"{one.title} {one.note}" for group in found(page.page.blocks, Charts) for one in group.charts]
    assert told and not [words for words in told if "500 µs" in words and "100" in words]
    shown = section_of(page.page, "cells")
    table = table_of([shown], "Table of cells")
    assert {(figure_in(row, "Task duration, µs").sort, row["Driver"]) for row in table} == {
        (0, "loadgen"), (100, "loadgen"), (500, "wrk2"),
    }  # fmt: skip
    assert "driven by" not in str(shown.words)
    rows = list(results(page.judged))
    assert "driver" in COLUMNS and {(row["burn_us"], row["driver"]) for row in rows if row["burn_us"]} == {
        (100, "loadgen"), (500, "wrk2"),
    }  # fmt: skip
    summary = printed(mixed)
    assert "tasks of 500 µs, saturate-50, by wrk2" in summary
    assert "no added work, saturate-50, by loadgen" in summary


def test_a_cell_that_was_not_measured_stands_with_its_peers(mixed: LoadedRun) -> None:
    gone = key("virtual", burn_us=500)
    cells = Cells(mixed.run, [cell for cell in mixed.cells if cell.key != gone])
    (piece,) = [piece for piece in slices(cells) if piece.driver == "wrk2"]
    assert gone in piece.keys
    assert [len(piece.keys) for piece in slices(Cells(mixed.run, []))] == [len(mixed.run.cells)]


def test_runs_of_two_drivers_are_not_pooled_and_make_no_series(tmp_path: Path) -> None:
    one = synthetic_run(tmp_path / "run", replace(BOTH, burn_us=(0,)))
    runs = [later(one, name, f"2025-01-0{day}") for day, name in enumerate(("a", "b"), start=1)]
    alike = [digest_of(run) for run in reversed(runs)]
    assert answering([(run, run.conditions[0]) for run in alike]).together is not None
    assert [len(one.runs) for one in histories(alike)[0]] == [2]
    apart = built([runs[0], driven_by(runs[1], "wrk2")], tmp_path / "site").runs
    answered = answering([(run, run.conditions[0]) for run in apart])
    assert (answered.run.run_id, answered.condition.driver, answered.together) == ("b", "wrk2", None)
    assert histories(apart) == ((), 2)
    front = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert ", by wrk2." in front and ", by loadgen." not in front
    by_load = "".join(path.read_text("utf-8") for path in (tmp_path / "site" / "by" / "jdk").glob("*.html"))
    assert "saturate-50, by wrk2" in by_load and "saturate-50, by loadgen" in by_load
    kept = json.loads((tmp_path / "site" / "data" / "runs.json").read_text())
    assert [run["conditions"][0]["driver"] for run in kept] == ["wrk2", "loadgen"]


def test_runs_of_two_drivers_are_not_compared(mixed: LoadedRun) -> None:
    sides = (ComparedSide(run.run, Cells(run.run, run.cells)) for run in (driven_by(mixed, "loadgen"), mixed))
    compared = compare_sides(*sides, threshold=0.05)
    assert {change.key.burn_us for change in compared.changes} == {0, 100}
    assert len(compared.left_out) == 2
    assert all(text.endswith("driven by loadgen before, by wrk2 after") for text in compared.left_out)


def test_evidence_on_a_claim_is_put_together_by_driver_and_by_release_of_the_server() -> None:
    def said(driver: str | None, value: float | None, release: str = "26.0.0.3") -> ClaimEvidence:
        estimate = None if value is None else Estimate(value, value * 0.9, value * 1.1, 5, of_ratio=True)
        cell: CellKey = key(load="ping-steps-6s")
        told = CellEvidence(cell, "25", estimate, driver=driver, release=release)
        return ClaimEvidence("c", (CheckEvidence("", (told,)),))

    (check,) = together([said("wrk2", 1.2), said(None, None), said("loadgen", 0.8), said("wrk2", 1.1)]).checks
    assert [(cell.driver, len(cell.alone)) for cell in check.cells] == [("wrk2", 2), ("loadgen", 0)]
    (check,) = together([said("wrk2", 1.2), said("wrk2", 0.8, "25.0.0.12"), said("wrk2", 1.1)]).checks
    assert [(cell.release, len(cell.alone)) for cell in check.cells] == [("26.0.0.3", 2), ("25.0.0.12", 0)]
