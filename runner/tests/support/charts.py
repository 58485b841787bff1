"""A chart as Vega-Lite takes it, put together as the page's JavaScript does."""

from __future__ import annotations

from typing import Any

from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Rows


def vega_lite(drawing: Drawing) -> dict[str, Any]:
    datasets = {name: rows_of(rows) for name, rows in drawing.datasets.items()}
    whole: dict[str, Any] = _filled(drawing.shape.spec, drawing)
    return {**whole, "height": drawing.height, "description": drawing.description, "datasets": datasets}


def rows_of(rows: Rows) -> list[dict[str, Any]]:
    if isinstance(rows, NamedRows):
        return [dict(zip(rows.names, row, strict=True)) for row in rows.rows]
    return [dict(row) for row in rows]


def _filled(part: Any, drawing: Drawing) -> Any:
    match part:
        case dict():
            return {name: _filled(inside, drawing) for name, inside in part.items()}
        case [str() as only] if only in drawing.lists:
            return drawing.lists[only]
        case list():
            return [_filled(inside, drawing) for inside in part]
        case str():
            return drawing.words.get(part, part)
        case _:
            return part
