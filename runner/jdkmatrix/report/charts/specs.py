"""Vega-Lite specifications, built with altair and returned as plain dictionaries.

Colours are not in here: the page's JavaScript takes them from CSS variables at drawing time (`config.range`,
`config.style`), so that charts follow light and dark. An executor's colour is its place in `executor_order`, the same
on every page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Literal

import altair as alt

from jdkmatrix.domain.executors import usual_executors
from jdkmatrix.report.charts.shapes import Drawing, NamedRows, Row, Shape, blank, blanks

# The dash of an executor's line, so that colour is not the only difference.
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 2, 2])
_LABEL_ROOM = 1.3


def executor_order(executors: Iterable[str]) -> tuple[str, ...]:
    """Those of the usual server first, present or not, so that their colours do not depend on what was measured."""
    return (*usual_executors(), *sorted(set(executors) - set(usual_executors())))


def colour() -> alt.Color:
    """By executor; the chart fills in `order`."""
    return alt.Color("executor:N", scale=alt.Scale(domain=blanks("order"), range="category"), legend=None)


def dash() -> alt.StrokeDash:
    """By executor; the chart fills in `order` and `dashes`."""
    scale = alt.Scale(domain=blanks("order"), range=blanks("dashes"))
    return alt.StrokeDash("executor:N", scale=scale, legend=None)


def dashes(order: Sequence[str]) -> list[list[int]]:
    return list(map(dash_of, range(len(order))))


def dash_of(place: int) -> list[int]:
    """There are as many colours as dashes; where both would start again, the dash is another one."""
    return _DASHES[(place + place // len(_DASHES)) % len(_DASHES)]


@cache
def _bars_shape(grouped: bool) -> Shape:
    """`grouped`: executors stand below each task; else there is one task."""
    # Order is given as a scale's domain, never as a sort: Vega-Lite makes an expression of a sort's values.
    present = alt.Scale(domain=blanks("present"))
    offset: dict[str, Any] = {}
    if grouped:
        works = alt.Scale(domain=blanks("works"))
        y = alt.Y("work:N", scale=works, sort=None, title=None, axis=alt.Axis(labelLimit=90))
        offset = {"yOffset": alt.YOffset("executor:N", scale=present, sort=None)}
    else:
        y = alt.Y("executor:N", scale=present, sort=None, title=None, axis=alt.Axis(labelLimit=120))
    title = blank("title")
    x_scale = alt.Scale(domain=[0, blank("end")], nice=False)
    x = alt.X("mean:Q", title=title, scale=x_scale, axis=alt.Axis(tickCount=4, format=blank("number_format")))
    means = alt.Chart(alt.NamedData(name="means"))
    figure = alt.Tooltip("label:N", title=blank("figure"))
    bar = means.mark_bar(opacity=0.82, cornerRadiusEnd=2).encode(
        y=y,
        x=x,
        color=colour(),
        tooltip=[alt.Tooltip("executor:N"), alt.Tooltip("work:N", title="task duration"), figure],
        **offset,
    )
    interval = (
        means.transform_filter("isValid(datum.high_shown)")
        .mark_rule(style="interval")
        .encode(y=y, x=alt.X("low_shown:Q", scale=x_scale, title=title), x2="high_shown:Q", **offset)
    )
    point = (
        alt.Chart(alt.NamedData(name="forks"))
        .mark_point(style="fork", filled=True, size=42)
        .encode(
            y=y,
            x=alt.X("value:Q", scale=x_scale, title=title),
            tooltip=[alt.Tooltip("executor:N"), alt.Tooltip("fork:Q"), figure],
            **offset,
        )
    )
    label = means.mark_text(style="value", align="right").encode(
        y=y, x=alt.X("end:Q", scale=x_scale, title=title), text="label:N", **offset
    )
    return Shape(alt.layer(bar, interval, point, label))


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
    return _bars_shape(grouped).filled(
        data={"means": table, "forks": forks},
        height=(17 * len(present) + 12) * len(works) if grouped else 30 * len(present),
        description=description,
        words={"title": title, "figure": figure, "number_format": number_format, "end": end},
        lists={"order": order, "present": present, **({"works": works} if grouped else {})},
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


def hovered(points: alt.Chart, *encodings: Literal["x", "y"]) -> alt.Chart:
    """These points are seen, and tell their figures, while the pointer is nearer to them than to any other, in the
    directions of `encodings`."""
    near = alt.selection_point(
        name="near", nearest=True, on="pointerover", clear="pointerout", encodings=list(encodings), empty=False
    )
    return points.encode(opacity=alt.when(near).then(alt.value(1)).otherwise(alt.value(0))).add_params(near)


@cache
def _series_shape(zero: bool) -> Shape:
    scale = alt.Scale(domain=[0, blank("end")], nice=False)
    x = alt.X("t:Q", title=None, scale=scale, axis=alt.Axis(tickCount=6))
    y = alt.Y(
        "v:Q",
        title=None,
        scale=alt.Scale(zero=zero, nice=True),
        axis=alt.Axis(tickCount=3, format=blank("number_format")),
    )
    band = (
        alt.Chart(alt.NamedData(name="bands"))
        .mark_rect(style="window")
        .encode(x=alt.X("start:Q", scale=scale, title=None), x2="end:Q")
    )
    base = alt.Chart(alt.NamedData(name="rows"))
    line = base.mark_line(
        style="series", strokeWidth=1.6, interpolate="linear", point=alt.OverlayMarkDef(size=9)
    ).encode(x=x, y=y)
    hover = base.mark_point(style="series", filled=True, size=60).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("t:Q", title="seconds since start", format=".1f"),
            alt.Tooltip("v:Q", title=blank("title"), format=",.4~r"),
        ],
    )
    return Shape(alt.layer(band, line, hovered(hover, "x")))


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
    return _series_shape(zero).filled(
        data={
            "rows": NamedRows(("t", "v"), [(round(t, 3), v) for t, v in rows]),
            "bands": NamedRows(("start", "end"), bands),
        },
        height=96,
        description=description,
        words={"end": end_s, "title": title, "number_format": number_format},
    )
