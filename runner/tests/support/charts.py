"""A chart as Vega-Lite takes it, put together as the page's JavaScript does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Rows, read_shapes
from tests.support.shipped import TEMPLATES

SHAPES: Mapping[str, Any] = read_shapes(TEMPLATES)
_BLANK = re.compile(r"\{(\w+)\}")


def vega_lite(drawing: Drawing, shapes: Mapping[str, Any] = SHAPES) -> dict[str, Any]:
    datasets = {name: rows_of(rows) for name, rows in drawing.datasets.items()}
    whole: dict[str, Any] = _filled(shapes[drawing.shape], drawing.blanks)
    return {**whole, "height": drawing.height, "description": drawing.description, "datasets": datasets}


def rows_of(rows: Rows) -> list[dict[str, Any]]:
    if isinstance(rows, NamedRows):
        return [dict(zip(rows.names, row, strict=True)) for row in rows.rows]
    return [dict(row) for row in rows]


def blanks_of(part: Any) -> set[str]:
    """The names of all blanks of a shape."""
    match part:
        case dict():
            return set().union(*map(blanks_of, part.values()))
        case list():
            return set().union(*map(blanks_of, part))
        case str() if found := _BLANK.fullmatch(part):
            return {found[1]}
        case _:
            return set()


def _filled(part: Any, blanks: Mapping[str, Any]) -> Any:
    match part:
        case dict():
            return {name: _filled(inside, blanks) for name, inside in part.items()}
        case list():
            return [_filled(inside, blanks) for inside in part]
        case str() if found := _BLANK.fullmatch(part):
            return blanks[found[1]]
        case _:
            return part
