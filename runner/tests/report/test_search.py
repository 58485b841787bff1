"""What the report shows of a search for the highest rate, and that a page leads with what a run is ended by."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.figures.metrics import CAPACITY, leading_by_block, metrics_of
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.store.loaded import LoadedRun
from tests.support.charts import rows_of
from tests.support.judged_pages import PageOfRun
from tests.support.searched_runs import searched
from tests.support.served_runs import Shape, synthetic_run
from tests.support.sites import site_of


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    return searched(synthetic_run(tmp_path, Shape(executors=("liberty", "virtual", "platform"))))


def test_the_rate_that_held_leads(run: LoadedRun) -> None:
    page = PageOfRun(run)
    assert [name for name, _ in page.answers[0].sentences] == ["Rate held", "Throughput", "CPU per request"]
    assert page.maps[0].columns == ("Rate held", "Throughput", "CPU per request")
    assert len(page.charts("Rate held")) == len(page.charts("Latency over rate")) == 2
    assert "to find the highest that keeps p99 within 10.0 ms" in str(page.sections[0].words)
    assert all(row.figure(CAPACITY).sort for row in page.rows)


def test_a_curve_has_every_valid_window_and_says_which_held(run: LoadedRun) -> None:
    cells = Cells(run.run, run.cells)
    chart = PageOfRun(run).charts("Latency over rate")[0]
    marks = rows_of(chart.drawing.datasets["marks"])
    here = [cell for cell in cells if cell.key.jdk == "temurin-21.0.8"]
    searches = [fork.capacity for cell in here for fork in cell.usable]
    valid = [step for search in searches if search for step in search.steps if step.held is not None]
    assert {(mark["x"], mark["hollow"]) for mark in marks} == {(step.rate_rps, not step.held) for step in valid}
    assert all(mark["text"].endswith(": did not hold" if mark["hollow"] else ": held") for mark in marks)
    assert "requests/s held" in chart.note


def test_the_cells_page_has_the_search_of_every_fork(run: LoadedRun, tmp_path: Path) -> None:
    site = site_of([run], tmp_path / "site")
    page = next(path for path in sorted(site.rglob("*.html")) if "virtual" in path.name).read_text()
    assert page.count("Search for the highest rate") == 3
    assert "a rate known to work" in page and "did not hold" in page
    assert "&lt;b&gt;9 %&lt;/b&gt;" in page and "<b>9 %</b>" not in page
    assert "95 % of steady state after" in page


def test_the_page_leads_with_what_the_stopping_rule_looks_at(run: LoadedRun, tmp_path: Path) -> None:
    both = Shape(loads=("saturate-50", "rate-2000"))
    for loaded in (run, synthetic_run(tmp_path / "others", both)):
        for cell in loaded.cells:
            assert CellStats(cell).by_block(metrics_of(cell.load)[0]) == leading_by_block(cell)
