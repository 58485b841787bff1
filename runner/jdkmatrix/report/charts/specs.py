"""The order and the dashes of executors, logarithmic scales, bars and series. Pure.

An executor's colour is its place in `executor_order`, the same on every page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from jdkmatrix.domain.executors import usual_executors
from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Row

# The dash of an executor's line, so that colour is not the only difference.
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 2, 2])
_LABEL_ROOM = 1.3


def executor_order(executors: Iterable[str]) -> tuple[str, ...]:
    """Those of the usual server first, present or not, so that their colours do not depend on what was measured."""
    return (*usual_executors(), *sorted(set(executors) - set(usual_executors())))


def dashes(order: Sequence[str]) -> list[list[int]]:
    return list(map(dash_of, range(len(order))))


def dash_of(place: int) -> list[int]:
    """There are as many colours as dashes; where both would start again, the dash is another one."""
    return _DASHES[(place + place // len(_DASHES)) % len(_DASHES)]


def bars(
    means: Sequence[Row],
    forks: Sequence[Row],
    *,
    order: Sequence[str],
    title: str,
    figure: str,
    number_format: str,
    highest: float,
    description: str,
) -> Drawing:
    """Bars of means with their interval, and every fork as a point.

    `means`: executor, work, mean, low, high (None: no interval), label; `forks`: executor, work, fork, value, label.
    `title` is the axis's, `figure` names what the labels are.
    `highest` is the largest value, the same for charts that are compared.
    """
    end = highest * _LABEL_ROOM
    present = [name for name in order if any(row["executor"] == name for row in means)]
    works = list(dict.fromkeys(row["work"] for row in means))
    grouped = len(works) != 1
    # Beyond this the labels stand; an interval of two forks can be wider than the chart, and ends there: the table
    # has its figures.
    edge = highest * 1.06
    table = [
        {
            **row,
            "low_shown": None if row["low"] is None else max(row["low"], 0),
            "high_shown": None if row["high"] is None else min(row["high"], edge),
            "end": end,
        }
        for row in means
    ]
    blanks = {"title": title, "figure": figure, "number_format": number_format, "end": end, "order": order}
    return Drawing(
        "grouped-bars" if grouped else "bars",
        {**blanks, "present": present, **({"works": works} if grouped else {})},
        (17 * len(present) + 12) * len(works) if grouped else 30 * len(present),
        description,
        {"means": table, "forks": forks},
    )


def log_ticks(low: float, high: float) -> list[float]:
    """1-2-5 steps within, or powers of ten where those would crowd; never fewer than one."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    return [
        tick
        for power in range(first, last + 1)
        for step in steps
        if low * 0.999 <= (tick := float(f"{step}e{power}")) <= high * 1.001
    ] or [low]


def log_domain(values: Sequence[float]) -> tuple[float, float]:
    """Around positive values, with room, ending on round numbers."""
    low, high = min(values), max(values)
    return _round_down(low * 0.95), _round_up(high * 1.05)


def _round_down(value: float) -> float:
    unit = 10.0 ** math.floor(math.log10(value))
    return max(step for step in (1, 2, 5) if step * unit <= value * (1 + 1e-9)) * unit


def _round_up(value: float) -> float:
    unit = 10.0 ** math.floor(math.log10(value))
    return next((step for step in (1, 2, 5) if step * unit >= value * (1 - 1e-9)), 10) * unit


def series(
    rows: Sequence[tuple[float, float | None]],
    bands: Sequence[tuple[float, float]],
    *,
    end_s: float,
    title: str,
    number_format: str,
    zero: bool,
    description: str,
) -> Drawing:
    """One figure over the seconds since the fork's start; measured windows are shaded. None breaks the line."""
    data = {
        "rows": NamedRows(("t", "v"), [(round(t, 3), v) for t, v in rows]),
        "bands": NamedRows(("start", "end"), bands),
    }
    blanks = {"end": end_s, "title": title, "number_format": number_format, "zero": zero}
    return Drawing("series", blanks, 96, description, data)
