"""A chart as Vega-Lite takes it, assembled as the page's JavaScript does."""

from __future__ import annotations

from typing import Any

from jdkmatrix.report.charts.shapes import Drawing


def vega_lite(drawing: Drawing) -> dict[str, Any]:
    whole: dict[str, Any] = _filled(drawing.shape.spec, drawing)
    own = {"height": drawing.height, "description": drawing.description, "datasets": dict(drawing.datasets)}
    return whole | own


def _filled(part: Any, drawing: Drawing) -> Any:
    match part:
        case dict():
            return {name: _filled(inside, drawing) for name, inside in part.items()}
        case [str() as only] if isinstance(drawing.given.get(only), list | tuple):
            return list(drawing.given[only])
        case list():
            return [_filled(inside, drawing) for inside in part]
        case str():
            return drawing.given.get(part, part)
        case _:
            return part
