"""The pieces of what the pages and the terminal say of a made-up run."""

from __future__ import annotations

import re
from functools import cached_property
from io import StringIO
from typing import NamedTuple

from rich.console import Console

from jdkmatrix.cli.summary import print_summary
from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.figures.metrics import metrics_of
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import AnswerBox, AnswerBoxes, Chart, HeatMap, Section, WebPage
from jdkmatrix.report.blocks.tables import Cell, DataTable
from jdkmatrix.report.cell_page.fork_windows import window_tables
from jdkmatrix.report.cell_page.page import CellLinks, cell_page
from jdkmatrix.report.cells.cellstats import Cells
from jdkmatrix.report.cells.judgements import Judgements, judge_run
from jdkmatrix.report.cells.shown import ShownCell, shown_cells
from jdkmatrix.report.cells.slices import slices
from jdkmatrix.report.html.page import pages_of
from jdkmatrix.report.judged_run import JudgedRun
from jdkmatrix.report.run_page.answers import answers
from jdkmatrix.report.run_page.notices import run_notices
from jdkmatrix.report.run_page.page import run_page
from jdkmatrix.report.words.numbers import Figure
from jdkmatrix.store.cells import CellRecord
from jdkmatrix.store.loaded import LoadedRun
from tests.support.pages import charts_of, found, plain, section_of, table_of
from tests.support.shipped import TEMPLATES


class Trouble(NamedTuple):
    """A cell that is not ok. `status_class`: the class of its badge."""

    label: str
    href: str | None
    status: str
    status_class: str
    reasons: tuple[str, ...]


def _trouble(row: dict[str, Cell]) -> Trouble:
    href = re.search('href="(.*?)"', str(row["Cell"]))
    css = re.search('class="badge (.*?)"', str(row["State"]))
    reasons = tuple(plain(text) for text in re.findall("<p>(.*?)</p>", str(row["Why"]), re.DOTALL))
    return Trouble(plain(row["Cell"]), href[1] if href else None, plain(row["State"]), css[1], reasons)


def html_of(page: WebPage) -> str:
    return pages_of(TEMPLATES).render(page)


class PageOfRun:
    def __init__(self, loaded: LoadedRun) -> None:
        self.judged = JudgedRun(loaded)
        self.notices = run_notices(self.judged)
        self.page = run_page(self.judged, (), self.notices, "")
        self.rows = tuple(shown_cells(self.judged.cells, self.judged.judgements))

    @cached_property
    def html(self) -> str:
        return html_of(self.page)

    def row(self, **axes: object) -> ShownCell:
        (one,) = (row for row in self.rows if all(getattr(row.key, axis) == value for axis, value in axes.items()))
        return one

    @cached_property
    def sections(self) -> list[Section]:
        """The sections of its loads."""
        return [one for one in found(self.page.blocks, Section) if found([one], AnswerBoxes)]

    @property
    def answers(self) -> tuple[AnswerBox, ...]:
        return tuple(answer for one in found(self.page.blocks, AnswerBoxes) for answer in one.answers)

    @property
    def maps(self) -> list[HeatMap]:
        return found(self.page.blocks, HeatMap)

    @property
    def troubles(self) -> list[Trouble]:
        tables = found([section_of(self.page, "troubles")], DataTable)
        return [_trouble(row) for one in tables for row in table_of([one], one.label)]

    @property
    def precision(self) -> list[dict[str, Cell]]:
        return table_of(self.page.blocks, "Precision of ratios")

    def charts(self, title: str) -> tuple[Chart, ...]:
        return charts_of(self.page.blocks, title)


def printed(loaded: LoadedRun, width: int = 200) -> str:
    sink = StringIO()
    print_summary(loaded, Console(file=sink, width=width))
    return sink.getvalue()


def judged(loaded: LoadedRun) -> tuple[Cells, Judgements]:
    cells = Cells(loaded.run, loaded.cells)
    return cells, judge_run(cells)


def answer_of(loaded: LoadedRun) -> AnswerBox:
    cells, judgements = judged(loaded)
    (part,) = slices(cells)
    (answer,) = answers(judgements, part, metrics_of(part.cells[0].load), {})
    return answer


def row_of(loaded: LoadedRun, executor: str) -> ShownCell:
    cells, judgements = judged(loaded)
    return next(row for row in shown_cells(cells, judgements) if row.key.executor == executor)


def cell_of(loaded: LoadedRun, executor: str = "virtual", **axes: object) -> CellRecord:
    """Return the first cell of this executor with these axes."""
    asked = {"executor": executor, **axes}
    return next(one for one in loaded.cells if all(getattr(one.key, axis) == asked[axis] for axis in asked))


def key_of(loaded: LoadedRun, executor: str = "virtual", **axes: object) -> CellKey:
    return cell_of(loaded, executor, **axes).key


def page_of(loaded: LoadedRun, executor: str = "virtual", **axes: object) -> WebPage:
    return cell_page_of(loaded, key_of(loaded, executor, **axes))


def cell_page_of(loaded: LoadedRun, key: CellKey) -> WebPage:
    return page_in(JudgedRun(loaded), key)


def page_in(run: JudgedRun, key: CellKey) -> WebPage:
    """Return the page of one cell of a run whose cells are all judged once."""
    cell = run.cell(key)
    return cell_page(cell, cell.record, run, {}, CellLinks("record.json"), "../")


def window_figures(*windows: Window) -> dict[str, list[Figure]]:
    """Return the figures of each column, by its title and unit."""
    rows = [row for table in window_tables(windows, 1) for row in table_of([table], table.label)]
    titles = dict.fromkeys(title for row in rows for title in row)
    return {title: [cell for row in rows if isinstance(cell := row.get(title), Figure)] for title in titles}
