"""The common part of charts of one kind, made by altair once; each chart has its own data, domains and words.

Altair takes 10 ms and more for a chart, most of it copies of itself, and a page has dozens that differ in nothing else.
So a page holds a shape once, and its JavaScript puts the two together when it draws (`specOf` in report.js).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

Row = Mapping[str, Any]


def blank(name: str) -> str:
    """Stands in a shape for a word or a number that each chart fills in."""
    return f"{{{name}}}"


def blanks(name: str) -> list[Any]:
    """Stands in a shape for a list that each chart fills in."""
    return [blank(name)]


@dataclass(frozen=True)
class NamedRows:
    """Rows that all have the same names, which are said once."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


Rows = Sequence[Row] | NamedRows


class Shape:
    """A specification with blanks, without what the page's JavaScript decides: library and look.

    Its data are named, and given with the rest.
    """

    def __init__(self, chart: alt.LayerChart | alt.FacetChart) -> None:
        self.spec: dict[str, Any] = chart.properties(
            width="container", background="transparent", autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
        ).to_dict(validate=False)
        del self.spec["$schema"], self.spec["config"]
        found = set(_blanks_in(self.spec))
        self._words = {name for name, is_list in found if not is_list}
        self._lists = {name for name, is_list in found if is_list}

    def filled(
        self,
        *,
        data: Mapping[str, Rows],
        height: float,
        description: str,
        words: Mapping[str, str | float] | None = None,
        lists: Mapping[str, Sequence[Any]] | None = None,
    ) -> Drawing:
        """`data`: rows by name; `words`, `lists`: what every `blank` and `blanks` stands for.

        Raises:
            ValueError: what is given is not what the shape leaves blank.
        """
        given = {blank(name): value for name, value in (words or {}).items()}
        given_lists = {blank(name): list(values) for name, values in (lists or {}).items()}
        for wanted, there in ((self._words, given.keys()), (self._lists, given_lists.keys())):
            if missing := wanted - there:
                raise ValueError(f"nothing was given for {', '.join(sorted(missing))}")
            if unused := there - wanted:
                raise ValueError(f"the chart has no blank for {', '.join(sorted(unused))}")
        return Drawing(self, given, given_lists, height, description, data)


@dataclass(frozen=True)
class Drawing:
    """A chart: what stands in the blanks of its shape, by blank, and its data."""

    shape: Shape
    words: Mapping[str, str | float]
    lists: Mapping[str, list[Any]]
    height: float
    description: str
    datasets: Mapping[str, Rows]


def on_a_page(drawings: Mapping[str, Drawing]) -> dict[str, Any] | None:
    """In the form that the page's JavaScript reads, by the ids of the charts; None where there is none."""
    if not drawings:
        return None
    places: dict[Shape, int] = {}
    charts = {
        name: {
            "shape": places.setdefault(drawing.shape, len(places)),
            "words": drawing.words,
            "lists": drawing.lists,
            "height": drawing.height,
            "description": drawing.description,
            "datasets": {
                name: {"names": rows.names, "rows": rows.rows} if isinstance(rows, NamedRows) else list(rows)
                for name, rows in drawing.datasets.items()
            },
        }
        for name, drawing in drawings.items()
    }
    return {"shapes": [shape.spec for shape in places], "charts": charts}


def _blanks_in(part: Any) -> Iterator[tuple[str, bool]]:
    """Each with whether it stands for a list."""
    match part:
        case dict():
            for inside in part.values():
                yield from _blanks_in(inside)
        case [str() as only] if only.startswith("{"):
            yield only, True
        case list():
            for inside in part:
                yield from _blanks_in(inside)
        case str() if part.startswith("{"):
            yield part, False
