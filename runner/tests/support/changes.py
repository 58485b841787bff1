"""Mistakes put into correct data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def change(path: str, value: Any = None) -> Callable[[Any], None]:
    """Return a function that puts `value` at a path such as "claims/fast/figures/0/unit", or removes what is there."""

    def apply(data: Any) -> None:
        *parents, last = path.split("/")
        for name in parents:
            data = data[int(name)] if isinstance(data, list) else data.setdefault(name, {})
        place = int(last) if isinstance(data, list) else last
        if value is None:
            del data[place]
        else:
            data[place] = value

    return apply
