"""Tables: columns with their titles, and rows of figures and text. Each body is one string, made without a template:
a page may have thousands of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from jdkmatrix.report.blocks.inline import joined, small
from jdkmatrix.report.blocks.kinds import PageBlock
from jdkmatrix.report.words.numbers import Figure, escaped
from jdkmatrix.report.words.sentences import AXIS_TITLES


@dataclass(frozen=True)
class Column:
    """`css`: "num" for figures, "text" and "ends" for words that wrap. `head`: its cells head their
    rows."""

    title: str
    css: str = ""
    head: bool = False


_KINDS = {"#": "num", "~": "ends", "=": "text"}


@lru_cache(typed=True)
def columns(*titles: str) -> tuple[Column, ...]:
    """Make columns, of which the first heads its rows. "Rate|req/s#": a title, its unit after a bar, and at the end "#"
    for figures, "~" and "=" for words that wrap."""
    found: list[Column] = []
    for title in titles:
        css = _KINDS.get(title[-1], "")
        name, bar, unit = (title[:-1] if css else title).partition("|")
        found.append(Column(joined(f"{name} ", small(unit)) if bar else name, css, head=not found))
    return tuple(found)


def axis_column(axis: str) -> Column:
    if axis.endswith("_us"):
        return Column(joined(AXIS_TITLES[axis], small(", µs")), "num")
    return Column(AXIS_TITLES[axis], "num" if axis == "cpus" else "")


@dataclass(frozen=True)
class Sorted:
    """Words that are sorted by `key`, not alphabetically."""

    words: str
    key: str


Cell = Figure | Sorted | str


@dataclass(frozen=True)
class TableRow:
    """`data`: what scripts know about the row, by name."""

    cells: Sequence[Cell]
    css: str = ""
    id: str = ""
    data: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class DataTable(PageBlock):
    """`label`: for readers who cannot see the table, unique on the page. `css`: "wrap" for long words, "stack" for rows
    that narrow screens show as lists. `tall`: it scrolls by itself. `filter`: by words, and by the values of each axis,
    given by its name in the rows' data and its title."""

    label: str
    columns: tuple[Column, ...]
    rows: Sequence[TableRow | Sequence[Cell]]
    css: str = ""
    id: str = ""
    sortable: bool = False
    tall: bool = False
    filter: tuple[tuple[str, str, tuple[str, ...]], ...] | None = None

    @property
    def body(self) -> Markup:
        stacked = "stack" in self.css
        shapes = [
            (
                "th" if column.head else "td",
                column.css,
                (' scope="row"' if column.head else "")
                + (f' data-label="{Markup(column.title).striptags()}"' if stacked and not column.head else ""),
            )
            for column in self.columns
        ]
        return Markup("\n".join([self._row(row, shapes) for row in self.rows]))

    def _row(self, row: TableRow | Sequence[Cell], shapes: list[tuple[str, str, str]]) -> str:
        cells, told = row, ""
        if isinstance(row, TableRow):
            given = {"class": row.css, "id": row.id, **{f"data-{name}": value for name, value in row.data}}
            told = "".join(
                [f' {name}="{escaped(value)}"' for name, value in given.items() if value or name.startswith("data-")]
            )
            cells = row.cells
        shown = [self._cell(cell, *shape) for cell, shape in zip(cells, shapes, strict=True)]  # type: ignore[arg-type]
        return f"<tr{told}>{''.join(shown)}</tr>"

    def _cell(self, cell: Cell, name: str, css: str, attributes: str) -> str:
        sort = None
        if isinstance(cell, Figure):
            shown, sort = cell.__html__(), "" if cell.sort is None else str(cell.sort)
            if cell.under:
                shown = f'{shown}<small class="under">{escaped(cell.under)}</small>'
            if cell.amber:
                css = f"{css} amber".lstrip()
        elif isinstance(cell, Sorted):
            shown, sort = escaped(cell.words), escaped(cell.key)
        else:
            shown = escaped(cell)
        told = f' class="{css}"' if css else ""
        if self.sortable and sort is not None:
            told += f' data-sort="{sort}"'
        return f"<{name}{attributes}{told}>{shown}</{name}>"
