"""A trend inside a table: like the swatches, a mark that needs no JavaScript."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from jdkmatrix.report.charts.shapes import Row

_WIDTH, _HEIGHT, _EDGE = 132, 34, 5
_LARGE_MAX = 12  # so many dots have room to be large
_EXACT = 1 + 1e-9  # rounding alone does not count as an end that is cut off
_LEAST = math.log(1.1)  # the scale reaches at least this far to either side, so that small scatter looks small


def spark(points: Sequence[Row], label: str) -> Markup:
    """Draw values above 0 with their intervals, the oldest first, evenly spaced, on a logarithmic scale. `points`:
    value, low, high, line and care, as `over_runs` has them; `label` says the same in words."""
    logs = [math.log(point["value"]) for point in points]
    middle, spread = (min(logs) + max(logs)) / 2, (max(logs) - min(logs)) / 2
    # An interval that dwarfs the values is cut off, and ends in an arrow.
    widest = max(
        (abs(math.log(end) - middle) for point in points for end in (point["low"], point["high"]) if end), default=0
    )
    reach = max(_LEAST, spread, min(widest, 2 * spread + math.log(2)))

    def y(log: float) -> str:
        share = max(-1.0, min(1.0, (log - middle) / reach))
        return f"{_HEIGHT / 2 - share * (_HEIGHT / 2 - _EDGE):.1f}"

    radius = 2.4 if len(points) <= _LARGE_MAX else 1.4
    step = (_WIDTH - 2 * _EDGE) / max(1, len(points) - 1)
    places = [f"{_EDGE + number * step:.1f}" for number in range(len(points))]
    lines: dict[str, list[str]] = {}
    for place, log, point in zip(places, logs, points, strict=True):
        lines.setdefault(point["line"], []).append(f"{place},{y(log)}")
    drawn = [f'<polyline points="{" ".join(line)}"/>' for line in lines.values()]
    for place, log, point in zip(places, logs, points, strict=True):
        if point["low"] and point["high"]:
            low, high = math.log(point["low"]), math.log(point["high"])
            below = "m-3 -3l3 3l3 -3m-3 3" if middle - low > reach * _EXACT else ""
            above = "m-3 3l3 -3l3 3" if high - middle > reach * _EXACT else ""
            drawn.append(f'<path d="M{place} {y(low)}{below}V{y(high)}{above}"/>')
        css = ' class="hollow"' if point["care"] else ""
        drawn.append(f'<circle cx="{place}" cy="{y(log)}" r="{radius}"{css}/>')
    return Markup(
        f'<svg class="spark" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(drawn)}</svg>'
    )
