"""What the pages say of a made-up run, piece by piece."""

from __future__ import annotations

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.report.cell_page.cell_view import view_cell
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.comparisons import slices
from jdkmatrix.report.cells.judgements import Judgements, judge_run
from jdkmatrix.report.charts.specs import executor_order
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.run_page.run_view import view_run
from jdkmatrix.report.views import Answer, CellRow, ServedCellView
from jdkmatrix.store.loaded import LoadedRun


def judged(loaded: LoadedRun) -> tuple[Cells, Judgements]:
    cells = Cells(loaded.run, loaded.cells)
    return cells, judge_run(cells)


def answer_of(loaded: LoadedRun) -> Answer:
    cells, judgements = judged(loaded)
    (part,) = slices(cells)
    (answer,) = answers(judgements, part, metrics_of(part.cells[0].load), {})
    return answer


def row_of(loaded: LoadedRun, executor: str) -> CellRow:
    view = view_run(JudgedRun(loaded))
    return next(row for row in view.rows if row.executor == executor)


def key_of(loaded: LoadedRun, executor: str = "virtual") -> CellKey:
    return next(cell.key for cell in loaded.cells if cell.key.executor == executor)


def page_of(loaded: LoadedRun, executor: str = "virtual") -> ServedCellView:
    cells, judgements = judged(loaded)
    cell = cells.get(key_of(loaded, executor))
    assert cell is not None
    return view_cell(
        cell, cell.record, cells, judgements, loaded.run, executor_order(k.executor for k in cells.keys), {}
    )
