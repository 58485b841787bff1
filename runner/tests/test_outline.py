"""What is left of a cell in outline says the same as all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.records.outline import outline
from jdkmatrix.report.exports import results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_view import view_run
from jdkmatrix.store.runs import RunStore, all_runs
from tests.support.project import ROOT

RUNS = all_runs(ROOT / "results" / "reference")


@pytest.mark.parametrize("folder", RUNS, ids=lambda run: run.name)
def test_a_run_in_outline_is_judged_as_a_whole_one(folder: Path) -> None:
    store = RunStore(folder)
    loaded = store.load()
    cells = tuple(cell for key in loaded.run.cells if (cell := store.read_cell(key)) is not None)
    assert tuple(map(loaded.whole, loaded.cells)) == cells
    whole = type(loaded)(loaded.run, cells, loaded.problems, loaded.directory, loaded.damaged)
    assert [*results(JudgedRun(loaded))] == [*results(JudgedRun(whole))]
    assert view_run(JudgedRun(loaded)) == view_run(JudgedRun(whole))


def test_what_only_a_cells_page_shows_is_left_out() -> None:
    store = RunStore(ROOT / "results" / "reference" / "quick")
    cell = store.read_cell(store.read_run().cells[0])
    assert cell is not None
    less = outline(cell)
    assert len(less.model_dump_json()) < len(cell.model_dump_json()) / 2
    assert outline(less) == less
    for fork in less.forks:
        assert fork.served.samples == () and fork.command == ()
        assert all(window.load.intervals == () for window in fork.served.windows)


def test_a_record_that_is_gone_by_then_is_told(tmp_path: Path) -> None:
    source = RunStore(ROOT / "results" / "reference" / "quick")
    store = RunStore.create(tmp_path / "run")
    run = source.read_run()
    store.save_run(run)
    for key in run.cells:
        if (cell := source.read_cell(key)) is not None:
            store.save_cell(cell)
    loaded = store.load()
    store.cell_path(run.cells[0]).unlink()
    with pytest.raises(MatrixError, match="it was there a moment ago"):
        loaded.whole(loaded.cells[0])
