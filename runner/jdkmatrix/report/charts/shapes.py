"""The common part of charts of one kind, made by altair once; each chart has its own data, domains and words.

Altair takes 10 ms and more for a chart, most of it copies of itself, and a page has dozens that differ in nothing else.
So a page holds a shape once, and its JavaScript puts the two together when it draws (`specOf` in report.js). Colours
are not in here: that takes them from CSS variables (`config.range`, `config.style`), so that charts follow light and
dark. An executor's colour is its place among all, the same on every page."""

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
    """Stands in a shape for a word or a number that each chart fills in."""
    return f"{{{name}}}"


def blanks(name: str) -> list[Any]:
    """Stands in a shape for a list that each chart fills in."""
    return [blank(name)]


@cache
def rows(name: str) -> alt.Chart:
    """The rows of this name in the data of each chart, to be drawn. One object, by which altair sees that layers share
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
        """`data`: rows by name, all of one name with the same keys; `given`: what every blank stands for, a list for
        those of `blanks`."""
        return Drawing(self, {blank(name): value for name, value in given.items()}, height, description, data)


@dataclass(frozen=True)
class Drawing:
    """A chart: what stands in the blanks of its shape, by blank, and its data."""

    shape: Shape
    given: Mapping[str, Any]
    height: float
    description: str
    datasets: Mapping[str, Sequence[Row]]


def on_a_page(drawings: Mapping[str, Drawing]) -> dict[str, Any] | None:
    """In the form that the page's JavaScript reads, by the ids of the charts; None where there is none."""
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
    """Names are said once."""
    names = list(rows[0]) if rows else []
    return {"names": names, "rows": [[row[name] for name in names] for row in rows]}


# The dash of an executor's line, so that colour is not the only difference.
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 2, 2])


def executor_order(executors: Iterable[str]) -> tuple[str, ...]:
    """The place of each gives it its colour and dash, and a name that begins with a blank is nobody's.

    Those of the usual server are first, present or not, so that colours do not depend on what was measured. Another
    server's own pool has the colour of the usual server's, and so have its virtual threads; no other executor has these
    two."""
    usual, *others = server_kinds().values()
    names = usual_executors()
    kept = [names.index(usual.own_pool), names.index(usual.virtual)]
    found, left = list(names), set(executors) - set(names)

    def free() -> str:
        return f" {len(found)}"  # of its own: a scale counts what comes twice once

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
    """The chart fills in `order`."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=blanks("order"), range="category"), legend=None)


def dash(field: str = "executor") -> alt.StrokeDash:
    """The chart fills in `order` and `dashes`."""
    scale = alt.Scale(domain=blanks("order"), range=blanks("dashes"))
    return alt.StrokeDash(f"{field}:N", scale=scale, legend=None)


def dashes(order: Sequence[str]) -> list[list[int]]:
    return list(map(dash_of, range(len(order))))


def dash_of(place: int) -> list[int]:
    """There are as many colours as dashes; where both would start again, the dash is another one."""
    return _DASHES[(place + place // len(_DASHES)) % len(_DASHES)]


def tooltips(*names: str, **titles: str) -> list[alt.Tooltip]:
    """Words of these fields, under the fields' own names or under titles."""
    return [
        *(alt.Tooltip(f"{name}:N") for name in names),
        *(alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()),
    ]


def plain_numbers(highest: float) -> str:
    """The format of an axis up to there: "2k" for thousands, below them neither "200m" for 0.2 nor "2e+2" for 200, as
    d3 writes them by "~s" and "~g"."""
    return "~s" if highest >= 1000 else "~f"


def hovered(points: alt.Chart, *encodings: Literal["x", "y"]) -> alt.Chart:
    """These points are seen, and tell their figures, while the pointer is nearer to them than to any other, in the
    directions of `encodings`."""
    near = alt.selection_point(
        name="near", nearest=True, on="pointerover", clear="pointerout", encodings=list(encodings), empty=False
    )
    return points.encode(opacity=alt.when(near).then(alt.value(1)).otherwise(alt.value(0))).add_params(near)
