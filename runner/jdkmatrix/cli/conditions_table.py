"""Cells on a terminal: rows below the conditions that they have in common, in columns that all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jdkmatrix.errors import visible

_INDENT = "  "


class ConditionRow(NamedTuple):
    """`columns`: as the headings. `amber`: it needs a look."""

    amber: bool
    columns: tuple[str, ...]


ConditionRows = tuple[str, Sequence[ConditionRow]]  # a condition in words, and its rows


def conditions_table(headings: Sequence[str], conditions: Iterable[ConditionRows], caption: str) -> RenderableType:
    """The first column is text, the others are figures."""
    conditions = tuple(conditions)
    rows = [row for _, members in conditions for row in members]
    widths = [max(map(cell_len, column)) for column in zip(headings, *(row.columns for row in rows), strict=True)]
    parts: list[RenderableType] = [_grid(widths, [ConditionRow(amber=False, columns=tuple(headings))], style="bold")]
    parts.append(Text(_INDENT + "─" * (sum(widths) + 2 * (len(widths) - 1)), style="dim"))
    for words, members in conditions:
        parts += [Text(visible(words), style="bold"), _grid(widths, members)]
    return Group(*parts, Text(caption, style="dim italic"))


def _grid(widths: Sequence[int], rows: Iterable[ConditionRow], style: str = "") -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for number, width in enumerate(widths):
        first = number == 0
        grid.add_column(justify="left" if first else "right", min_width=width + len(_INDENT) * first, style=style)
    for row in rows:
        first_text, *others = map(visible, row.columns)
        grid.add_row(Text(_INDENT + first_text), *map(Text, others), style="yellow" if row.amber else None)
    return grid
