"""A chart: a shape, which is Vega-Lite with blanks (report-templates/charts.json), and what is its own: what stands in
the blanks, and its data. A page holds each shape once, and its JavaScript puts the two together when it draws
(`specOf` in report.js).

Colours are in neither: the JavaScript takes them from CSS variables (`config.range`, `config.style`), so that charts
follow light and dark. Order is the domain of a scale, never a sort: Vega-Lite makes an expression of a sort's values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jdkmatrix.reading import parse_json, read_text

SHAPES = "charts.json"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class NamedRows:
    """Rows that all have the same names, which are said once."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


Rows = Sequence[Row] | NamedRows


@dataclass(frozen=True)
class Drawing:
    """`shape`: its name; `blanks`: what stands in each of its blanks, by name."""

    shape: str
    blanks: Mapping[str, Any]
    height: float
    description: str
    datasets: Mapping[str, Rows]


def read_shapes(templates: Path) -> dict[str, dict[str, Any]]:
    """By name; one that is `like` another has what that has beside its own. Raises: MatrixError: cannot be read."""
    shapes = parse_json(read_text(templates / SHAPES), SHAPES)
    return {name: shapes.get(shape.pop("like", None), {}) | shape for name, shape in shapes.items()}


def on_a_page(drawings: Mapping[str, Drawing], shapes: Mapping[str, Any]) -> dict[str, Any] | None:
    """In the form that the page's JavaScript reads, by the ids of the charts; None where there is none."""
    if not drawings:
        return None
    charts = {
        name: {
            "shape": drawing.shape,
            "blanks": drawing.blanks,
            "height": drawing.height,
            "description": drawing.description,
            "datasets": {
                name: {"names": rows.names, "rows": rows.rows} if isinstance(rows, NamedRows) else rows
                for name, rows in drawing.datasets.items()
            },
        }
        for name, drawing in drawings.items()
    }
    used = sorted({drawing.shape for drawing in drawings.values()})
    return {"shapes": {name: shapes[name] for name in used}, "charts": charts}
