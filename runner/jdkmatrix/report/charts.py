"""Vega-Lite specifications, built with altair and returned as plain dictionaries.

Colours are not in here: the page's JavaScript takes them from CSS variables at drawing time (`config.range`,
`config.style`), so that charts follow light and dark. An executor's colour is its place in `executor_order`, the same
on every page. Specs of the many small time series differ only in their data: altair makes one per shape (validation
against the Vega-Lite schema costs milliseconds), and the values are put into copies of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from jdkmatrix.terms.executors import SERVED

Spec = dict[str, Any]
Row = Mapping[str, Any]

# The dash of an executor's line, so that colour is not the only difference.
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 2, 2])
_LABEL_ROOM = 1.3
_QUANTILE_LABELS = (
    "datum.value == 1 ? '0 %' : datum.value == 2 ? '50 %' : datum.value == 10 ? '90 %' : datum.value == 100 ? '99 %' : "
    "datum.value == 1000 ? '99.9 %' : datum.value == 10000 ? '99.99 %' : datum.value == 100000 ? '99.999 %' : ''"
)
_QUANTILE_TICKS = [1, 2, 10, 100, 1000, 10_000, 100_000]


def executor_order(executors: Iterable[str]) -> tuple[str, ...]:
    """The plain ones of servers first, present or not, so that their colours do not depend on what was measured."""
    return (*SERVED, *sorted(set(executors) - set(SERVED)))


def finish(chart: alt.LayerChart | alt.FacetChart, description: str) -> Spec:
    spec: Spec = chart.properties(
        width="container",
        background="transparent",
        description=description,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    ).to_dict(validate=False)
    # Both say what the page's JavaScript decides: the library is the one beside the page, the look is the page's.
    del spec["$schema"], spec["config"]
    return spec


def colour(order: Sequence[str]) -> alt.Color:
    return alt.Color("executor:N", scale=alt.Scale(domain=list(order), range="category"), legend=None)


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
) -> Spec:
    """Bars of means with their interval, and every fork as a point.

    `means`: executor, work, mean, low, high (None: no interval), label; `forks`: executor, work, fork, value, label.
    `title` is the axis's, `figure` names what the labels are.
    `highest` is the largest value, the same for charts that are compared.
    """
    top = highest * _LABEL_ROOM
    # Order is given as a scale's domain, never as a sort: Vega-Lite makes an expression of a sort's values.
    present = [name for name in order if any(row["executor"] == name for row in means)]
    works = list(dict.fromkeys(row["work"] for row in means))
    if len(works) == 1:
        y = alt.Y("executor:N", scale=alt.Scale(domain=present), sort=None, title=None, axis=alt.Axis(labelLimit=120))
        offset: dict[str, Any] = {}
        height = 30 * len(present)
    else:
        y = alt.Y("work:N", scale=alt.Scale(domain=works), sort=None, title=None, axis=alt.Axis(labelLimit=90))
        offset = {"yOffset": alt.YOffset("executor:N", scale=alt.Scale(domain=present), sort=None)}
        height = (17 * len(present) + 12) * len(works)
    x_scale = alt.Scale(domain=[0, top], nice=False)
    x = alt.X("mean:Q", title=title, scale=x_scale, axis=alt.Axis(tickCount=4, format=number_format))
    # Beyond this the labels stand; an interval of two forks can be wider than the chart, and ends there: the table
    # has its figures.
    edge = highest * 1.06
    table = [
        {
            **row,
            "low_shown": None if row["low"] is None else max(row["low"], 0),
            "high_shown": None if row["high"] is None else min(row["high"], edge),
            "end": top,
        }
        for row in means
    ]
    mean_data = alt.InlineData(values=table)
    tooltip = [
        alt.Tooltip("executor:N"),
        alt.Tooltip("work:N", title="task duration"),
        alt.Tooltip("label:N", title=figure),
    ]
    bar = (
        alt.Chart(mean_data)
        .mark_bar(opacity=0.82, cornerRadiusEnd=2)
        .encode(y=y, x=x, color=colour(order), tooltip=tooltip, **offset)
    )
    interval = (
        alt.Chart(mean_data)
        .transform_filter("isValid(datum.high_shown)")
        .mark_rule(style="interval")
        .encode(y=y, x=alt.X("low_shown:Q", scale=x_scale, title=title), x2="high_shown:Q", **offset)
    )
    point = (
        alt.Chart(alt.InlineData(values=list(forks)))
        .mark_point(style="fork", filled=True, size=42)
        .encode(
            y=y,
            x=alt.X("value:Q", scale=x_scale, title=title),
            tooltip=[
                alt.Tooltip("executor:N"),
                alt.Tooltip("fork:Q"),
                alt.Tooltip("label:N", title=figure),
            ],
            **offset,
        )
    )
    label = (
        alt.Chart(mean_data)
        .mark_text(style="value", align="right")
        .encode(y=y, x=alt.X("end:Q", scale=x_scale, title=title), text="label:N", **offset)
    )
    return finish(alt.layer(bar, interval, point, label, height=height), description)


def latency_curves(
    points: Sequence[Row],
    *,
    order: Sequence[str],
    lowest_ms: float,
    highest_ms: float,
    longest: float,
    description: str,
) -> Spec:
    """Latency over 1 / (1 - quantile), both axes logarithmic, as HdrHistogram's plots have them.

    `points`: executor, x = 1 / (1 - quantile), ms, quantile (text). Domains are given, so that charts compare.
    """
    x = alt.X(
        "x:Q",
        title="percentile",
        scale=alt.Scale(type="log", domain=[1, longest], nice=False),
        axis=alt.Axis(values=[t for t in _QUANTILE_TICKS if t <= longest], labelExpr=_QUANTILE_LABELS),
    )
    y = alt.Y(
        "ms:Q",
        title="latency in ms",
        scale=alt.Scale(type="log", domain=[lowest_ms, highest_ms], nice=False),
        axis=alt.Axis(values=log_ticks(lowest_ms, highest_ms), format="~g"),
    )
    dash = alt.StrokeDash(
        "executor:N",
        scale=alt.Scale(domain=list(order), range=[DASHES[i % len(DASHES)] for i in range(len(order))]),
        legend=None,
    )
    base = alt.Chart(alt.InlineData(values=list(points)))
    line = base.mark_line(strokeWidth=2.2).encode(x=x, y=y, color=colour(order), strokeDash=dash)
    hover = base.mark_point(opacity=0, size=90).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("executor:N"),
            alt.Tooltip("quantile:N", title="percentile"),
            alt.Tooltip("ms:Q", title="latency in ms", format=".3~r"),
        ],
    )
    return finish(alt.layer(line, hover, height=230), description)


def rate_latency(
    points: Sequence[Row],
    *,
    order: Sequence[str],
    objective_ms: float,
    lowest_ms: float,
    highest_ms: float,
    fastest_rps: float,
    description: str,
) -> Spec:
    """p99 over the rate, one thin line per fork; full points held the objective, hollow ones did not.

    `points`: executor, fork, rate, ms, held (text). Domains are given, so that charts compare.
    """
    x = alt.X("rate:Q", title="requests per second", scale=alt.Scale(domain=[0, fastest_rps * 1.03], nice=False))
    y = alt.Y(
        "ms:Q",
        title="p99 in ms",
        scale=alt.Scale(type="log", domain=[lowest_ms, highest_ms], nice=False),
        axis=alt.Axis(values=log_ticks(lowest_ms, highest_ms), format="~g"),
    )
    base = alt.Chart(alt.InlineData(values=list(points)))
    line = base.mark_line(strokeWidth=1, opacity=0.5).encode(x=x, y=y, color=colour(order), detail="fork:N")
    tooltip = [
        alt.Tooltip("executor:N"),
        alt.Tooltip("fork:Q"),
        alt.Tooltip("rate:Q", title="requests per second", format=",.4~r"),
        alt.Tooltip("ms:Q", title="p99 in ms", format=".3~r"),
        alt.Tooltip("held:N", title="objective"),
    ]
    held = (
        base.transform_filter("datum.held == 'held'")
        .mark_point(filled=True, size=46)
        .encode(x=x, y=y, color=colour(order), tooltip=tooltip)
    )
    not_held = (
        base.transform_filter("datum.held != 'held'")
        .mark_point(filled=False, size=46, strokeWidth=1.6)
        .encode(x=x, y=y, color=colour(order), tooltip=tooltip)
    )
    objective = (
        alt.Chart(alt.InlineData(values=[{"ms": objective_ms}]))
        .mark_rule(style="interval", strokeDash=[4, 3])
        .encode(y=y)
    )
    return finish(alt.layer(objective, line, held, not_held, height=230), description)


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


@lru_cache
def _series_template(title: str, number_format: str, zero: bool) -> Spec:
    x = alt.X("t:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(tickCount=6))
    y = alt.Y(
        "v:Q", title=None, scale=alt.Scale(zero=zero, nice=True), axis=alt.Axis(tickCount=3, format=number_format)
    )
    band = (
        alt.Chart(alt.NamedData(name="bands"))
        .mark_rect(style="window")
        .encode(x=alt.X("start:Q", scale=alt.Scale(domain=[0, 1], nice=False), title=None), x2="end:Q")
    )
    base = alt.Chart(alt.NamedData(name="rows"))
    line = base.mark_line(
        style="series", strokeWidth=1.6, interpolate="linear", point=alt.OverlayMarkDef(size=9)
    ).encode(x=x, y=y)
    hover = base.mark_point(opacity=0, size=120).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("t:Q", title="seconds since start", format=".1f"),
            alt.Tooltip("v:Q", title=title, format=",.4~r"),
        ],
    )
    return finish(alt.layer(band, line, hover, height=96), "")


def series(
    rows: Sequence[tuple[float, float | None]],
    bands: Sequence[tuple[float, float]],
    *,
    end_s: float,
    title: str,
    number_format: str,
    zero: bool,
    description: str,
) -> Spec:
    """One figure over the seconds since the fork's start; measured windows are shaded. None breaks the line."""
    spec = _series_template(title, number_format, zero)
    return {
        **spec,
        "description": description,
        "datasets": {
            "rows": [{"t": round(t, 3), "v": v} for t, v in rows],
            "bands": [{"start": start, "end": end} for start, end in bands],
        },
        "layer": [_ending(layer, end_s) for layer in spec["layer"]],
    }


def _ending(layer: Spec, end_s: float) -> Spec:
    """The template's layer with another end of its time axis; the template is shared, and stays as it is."""
    encoding = layer["encoding"]
    scale = {**encoding["x"]["scale"], "domain": [0, end_s]}
    return {**layer, "encoding": {**encoding, "x": {**encoding["x"], "scale": scale}}}
