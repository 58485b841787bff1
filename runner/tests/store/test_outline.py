"""A cell in outline says the same as the whole cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jdkmatrix.errors import MatrixError
from jdkmatrix.report.exports import results
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.store import runs
from jdkmatrix.store.outline import outline
from jdkmatrix.store.runs import RunStore, all_runs
from tests.support.judged_pages import PageOfRun
from tests.support.project import ROOT
from tests.support.records import in_whole
from tests.support.sites import stored

# One run of each scenario and profile.
RUNS = {run.name.partition("-")[2]: run for run in all_runs(ROOT / "results" / "reference")}


@pytest.mark.parametrize("folder", RUNS.values(), ids=RUNS)
def test_a_run_in_outline_is_judged_as_a_whole_one(folder: Path) -> None:
    whole = RunStore(folder).load()
    loaded = replace(whole, cells=tuple(map(outline, whole.cells)))
    assert [*results(JudgedRun(loaded))] == [*results(JudgedRun(whole))]
    assert PageOfRun(loaded).html == PageOfRun(whole).html


def test_what_only_a_cells_page_shows_is_left_out() -> None:
    store = RunStore(ROOT / "results" / "reference" / "20261124T182303Z-quick")
    cell = store.read_cell(store.read_run().cells[0])
    assert cell is not None
    less = outline(cell)
    assert len(less.model_dump_json()) < len(cell.model_dump_json()) * 0.8
    assert outline(less) == less
    for fork in less.forks:
        assert fork.samples == () and fork.command == ()
        assert all(window.load.intervals == () for window in fork.windows)


def test_values_that_were_given_the_same_share_the_set_of_its_names() -> None:
    store = RunStore(ROOT / "results" / "reference" / "20261124T182303Z-quick")
    one, other = (store.read_cell(key) for key in store.read_run().cells[:2])
    assert one is not None and other is not None
    forks = (*outline(one).forks, *outline(other).forks)
    windows = [window for fork in forks for window in fork.windows]
    assert len(windows) > 2
    assert len({id(window.load.model_fields_set) for window in windows}) == 1
    assert windows[0].load.model_fields_set == one.forks[0].windows[0].load.model_fields_set


def test_a_large_run_is_read_in_outline_and_lost_records_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(tmp_path / "run", RunStore(ROOT / "results" / "reference" / "20261124T182303Z-quick").load())
    small = store.load()
    monkeypatch.setattr(runs, "_WHOLE_MAX", 2)
    large = store.load()
    assert large.cells == tuple(map(outline, small.cells)) and in_whole(large).cells == in_whole(small).cells
    store.cell_path(large.cells[0].key).unlink()
    with pytest.raises(MatrixError, match="it has just disappeared"):
        large.whole(large.cells[0])
