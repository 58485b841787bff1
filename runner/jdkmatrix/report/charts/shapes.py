"""The part that charts of one kind share, made by altair once; each chart has its own data, domains and words.

Altair takes 10 ms and more for a chart, most of it copying itself, and a page has dozens that differ in nothing else.
So a page holds each shape once, and its JavaScript puts shape and chart together when it draws (`specOf` in report.js).
Colours are not in here: the JavaScript takes them from CSS variables (`config.range`, `config.style`), so that charts
follow light and dark. An executor's colour follows from its place among all, the same on every page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import altair as alt

from jdkmatrix.domain.catalogue import server_kinds
from jdkmatrix.domain.executors import is_virtual, usual_executors

Row = Mapping[str, Any]


def blank(name: str) -> str:
    """Return the placeholder in a shape for a word or a number that each chart fills in."""
    return f"{{{name}}}"


def blanks(name: str) -> list[Any]:
    """Return the placeholder in a shape for a list that each chart fills in."""
    return [blank(name)]


@cache
def rows(name: str) -> alt.Chart:
    """Return a chart of the rows with this name in each chart's data; one object, so that altair sees that layers share
    it."""
    return alt.Chart(alt.NamedData(name=name))


class Shape:
    """A specification with blanks, without what the page's JavaScript decides: library and look."""

    def __init__(self, *layers: alt.Chart) -> None:
        fit = alt.AutoSizeParams(type="fit-x", contains="padding")
        chart = alt.layer(*layers).properties(width="container", background="transparent", autosize=fit)
        self.spec: dict[str, Any] = chart.to_dict(validate=False)
        del self.spec["$schema"], self.spec["config"]

    def filled(self, *, data: Mapping[str, Sequence[Row]], height: float, description: str, **given: Any) -> Drawing:
        """Fill the blanks. `data`: rows by name, all rows of a name with the same keys; `given`: the value of every
        blank, a list for those of `blanks`."""
        return Drawing(self, {blank(name): value for name, value in given.items()}, height, description, data)


@dataclass(frozen=True)
class Drawing:
    """A chart: the values for the blanks of its shape, by blank, and its data."""

    shape: Shape
    given: Mapping[str, Any]
    height: float
    description: str
    datasets: Mapping[str, Sequence[Row]]


def on_a_page(drawings: Mapping[str, Drawing]) -> dict[str, Any] | None:
    """Return the charts by id, in the form that the page's JavaScript reads; None where there is none."""
    if not drawings:
        return None
    places: dict[Shape, int] = {}
    charts = {
        name: {
            "shape": places.setdefault(drawing.shape, len(places)),
            "given": drawing.given,
            "height": drawing.height,
            "description": drawing.description,
            "datasets": {name: _table(rows) for name, rows in drawing.datasets.items()},
        }
        for name, drawing in drawings.items()
    }
    return {"shapes": [shape.spec for shape in places], "charts": charts}


def _table(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return rows as lists of values, with the names given once."""
    names = list(rows[0]) if rows else []
    return {"names": names, "rows": [[row[name] for name in names] for row in rows]}


# The dash of an executor's line, so that colour is not the only difference.
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 2, 2])


def executor_order(executors: Iterable[str]) -> tuple[str, ...]:
    """Return the executors so that the place of each gives its colour and dash; a name that begins with a blank is
    nobody's.

    Those of the usual server come first, present or not, so that colours do not depend on what was measured. Another
    server's own pool and virtual threads have the colours of the usual server's; no other executor has these two."""
    usual, *others = server_kinds().values()
    names = usual_executors()
    kept = [names.index(usual.own_pool), names.index(usual.virtual)]
    found, left = list(names), set(executors) - set(names)

    def free() -> str:
        return f" {len(found)}"  # unique: a scale merges duplicates

    for kind in others:
        pool = usual.virtual if is_virtual(kind.own_pool) else usual.own_pool
        alike = {kind.own_pool: pool, kind.virtual: usual.virtual}
        seats = {alike[name]: name for name in left & alike.keys()}
        if not seats:
            continue
        while len(found) % len(_DASHES):
            found.append(free())
        for name in names:
            found.append(seats.get(name) or free())
        left -= alike.keys()
    for name in sorted(left):
        while len(found) % len(_DASHES) in kept:
            found.append(free())
        found.append(name)
    return tuple(found)


def colour(field: str = "executor") -> alt.Color:
    """Encode the colour; the chart fills in `order`."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=blanks("order"), range="category"), legend=None)


def dash(field: str = "executor") -> alt.StrokeDash:
    """Encode the dash; the chart fills in `order` and `dashes`."""
    scale = alt.Scale(domain=blanks("order"), range=blanks("dashes"))
    return alt.StrokeDash(f"{field}:N", scale=scale, legend=None)


def dashes(order: Sequence[str]) -> list[list[int]]:
    return list(map(dash_of, range(len(order))))


def dash_of(place: int) -> list[int]:
    """Return the dash. There are as many colours as dashes; where both would start again, the dashes are shifted."""
    return _DASHES[(place + place // len(_DASHES)) % len(_DASHES)]


def tooltips(*names: str, **titles: str) -> list[alt.Tooltip]:
    """Build tooltips for these fields, under their own names or under titles."""
    return [
        *(alt.Tooltip(f"{name}:N") for name in names),
        *(alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()),
    ]


def plain_numbers(highest: float) -> str:
    """Return the format of an axis up to `highest`: "2k" for thousands, below them neither "200m" for 0.2 nor "2e+2"
    for 200, as d3 writes with "~s" and "~g"."""
    return "~s" if highest >= 1000 else "~f"


def hovered(points: alt.Chart, *encodings: Literal["x", "y"]) -> alt.Chart:
    """Show a point and its figures only while the pointer is nearer to it than to any other, in the directions of
    `encodings`."""
    near = alt.selection_point(
        name="near", nearest=True, on="pointerover", clear="pointerout", encodings=list(encodings), empty=False
    )
    return points.encode(opacity=alt.when(near).then(alt.value(1)).otherwise(alt.value(0))).add_params(near)
