"""What charts of one kind have in common, made by altair once; each chart fills in its own data, domains and words.

Altair takes 10 ms and more for a chart, most of it copies of itself; a page has dozens that differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

Spec = dict[str, Any]
Row = Mapping[str, Any]


def blank(name: str) -> str:
    """Stands in a shape for a word or a number that each chart fills in."""
    return f"{{{name}}}"


def blanks(name: str) -> list[Any]:
    """Stands in a shape for a list that each chart fills in."""
    return [blank(name)]


class Shape:
    """A specification with blanks, without what the page's JavaScript decides: library and look.

    Its data are named, and given with the rest.
    """

    def __init__(self, chart: alt.LayerChart | alt.FacetChart) -> None:
        self._spec: Spec = chart.properties(
            width="container",
            background="transparent",
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        ).to_dict(validate=False)
        del self._spec["$schema"], self._spec["config"]

    def filled(
        self,
        *,
        data: Mapping[str, Sequence[Row]],
        height: float,
        description: str,
        words: Mapping[str, str | float] | None = None,
        lists: Mapping[str, Sequence[Any]] | None = None,
    ) -> Spec:
        """`data`: rows by name; `words`, `lists`: what every `blank` and `blanks` stands for.

        Raises:
            ValueError: what is given is not what the shape leaves blank.
        """
        given = {blank(name): value for name, value in (words or {}).items()}
        given_lists = {blank(name): list(values) for name, values in (lists or {}).items()}
        used: set[str] = set()
        spec: Spec = _fill(self._spec, given, given_lists, used)
        if unused := (given.keys() | given_lists.keys()) - used:
            raise ValueError(f"the chart has no blank for {', '.join(sorted(unused))}")
        return {
            **spec,
            "height": height,
            "description": description,
            "datasets": {name: list(rows) for name, rows in data.items()},
        }


def _fill(part: Any, words: Mapping[str, Any], lists: Mapping[str, list[Any]], used: set[str]) -> Any:
    match part:
        case dict():
            return {name: _fill(inside, words, lists, used) for name, inside in part.items()}
        case [str() as only] if only in lists:
            used.add(only)
            return lists[only]
        case list():
            return [_fill(inside, words, lists, used) for inside in part]
        case str() if part in words:
            used.add(part)
            return words[part]
        case str() if part.startswith("{"):
            raise ValueError(f"nothing was given for {part}")
        case _:
            return part
