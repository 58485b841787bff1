"""Figures as a reader sees them: few digits, a sort key, and the reason where one is missing. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from markupsafe import escape

from jdkmatrix.domain.quantities import MINUS, MISSING, digits, per_cent
from jdkmatrix.stats.ratios import Ratio
from jdkmatrix.stats.verdicts import FAMILY_ERROR

_SMALL = 0.01
_PLACES_MAX = 6


class Figure(NamedTuple):
    """`text` as shown, `sort` for ordering (None sorts last), `title` as the tooltip, `under` as a second line.

    `amber`: to be read with care."""

    text: str
    sort: float | None
    title: str | None = None
    under: str | None = None
    amber: bool = False

    def __html__(self) -> str:
        """Return the text with its tooltip, for templates."""
        css = ' class="missing"' if self.text == MISSING else ""
        text = escaped(self.text)
        return f'<span title="{escaped(self.title)}"{css}>{text}</span>' if self.title else text


@lru_cache(maxsize=10_000, typed=True)
def escaped(text: str) -> str:
    """Escape for HTML; Markup stays as it is. A page has thousands of figures, most of them missing for few reasons."""
    return str(escape(text))


@lru_cache
def missing(why: str) -> Figure:
    return Figure(MISSING, None, why)


def quantity(value: float | None, significant: int, *, why: str, scale: float = 1) -> Figure:
    if value is None or not math.isfinite(value):
        return missing(why)
    return Figure(digits(value * scale, significant), value)


def milliseconds(value_us: float | None, *, why: str) -> Figure:
    return quantity(value_us, 3, why=why, scale=1e-3)


def mebibytes(value_bytes: float | None, *, why: str) -> Figure:
    return quantity(value_bytes, 3, why=why, scale=1 / 2**20)


def share(value: float | None, *, why: str = "not recorded") -> Figure:
    """Format a share 0..1 as a percentage, with one decimal below ten."""
    if value is None:
        return missing(why)
    return Figure(per_cent(value), value)


def signed_share(value: float | None, significant: int = 2) -> str:
    """Format a change, given as a share, as a signed percentage: "+3.1 %"."""
    return MISSING if value is None else f"{'+' if value > 0 else ''}{digits(value * 100, significant)} %"


def count(value: int | None, *, why: str = "this driver does not report it") -> Figure:
    return missing(why) if value is None else Figure(f"{value:,}", value)


def ratio_value(ratio: Ratio) -> str:
    return _ratio(ratio)[0]


def ratio_interval(ratio: Ratio) -> str | None:
    """Format the interval: "0.79–0.85"; None for a single block."""
    return _ratio(ratio)[1]


def _ratio(ratio: Ratio) -> tuple[str, str | None]:
    """Format value and interval. Below ten, with as many decimals as the interval warrants: three if it is narrower
    than 0.1, else two. Below `_SMALL`, with as many as it takes. An end that is not 1 does not read as 1."""
    low, high = ratio.ci_low, ratio.ci_high
    if low is None or high is None:
        return f"{ratio.value:.2f}" if ratio.value >= _SMALL else digits(ratio.value, 2), None
    if ratio.value >= 10 or ratio.value < _SMALL:
        value, *ends = with_interval(ratio.value, low, high, (1.0,))
        return value, "–".join(ends)
    places = 3 if high - low < 0.1 else 2
    bounds = (digits(end, 2) if end >= 10 or end < _SMALL else _in_places(end, places) for end in (low, high))
    return f"{ratio.value:.{places}f}", "–".join(bounds)


def off_one(end: float) -> str:
    """Format to two digits, or to more where an end that is not 1 would otherwise read as 1."""
    return _first_off_one(end, (digits(end, more) for more in range(2, 17)))


def _in_places(end: float, places: int) -> str:
    return _first_off_one(end, (f"{end:.{more}f}" for more in range(places, _PLACES_MAX + 1)))


def _first_off_one(end: float, told: Iterator[str]) -> str:
    """Return the first text where `end` is 1; else the first that does not read as 1, or the first if all do."""
    first = next(told)
    return next((text for text in chain((first,), told) if end == 1 or float(text.replace(",", "")) != 1), first)


def with_interval(value: float, low: float, high: float, edges: Sequence[float] = ()) -> tuple[str, str, str]:
    """Format all three to the same digit: at least three digits of the value, and as many as leave the interval three
    units of the last digit wide, but at most six of the largest; four of the value where the interval has no width.
    More of those six are shown where an end would otherwise read as one of `edges` that it is not."""
    largest, third = max(abs(value), abs(low), abs(high)), (high - low) / 3
    if not largest or not math.isfinite(value + low + high):
        return digits(value, 3), digits(low, 3), digits(high, 3)
    shown = 2 - _magnitude(value or largest)
    telling = -_magnitude(third) if third > 0 else shown + 1
    most = 5 - _magnitude(largest)
    places = min(max(shown, telling), most)
    close = [(end, edge) for end in (low, high) for edge in edges if end != edge]
    while places < most and any(round(end, places) == round(edge, places) for end, edge in close):
        places += 1

    def to_the_digit(one: float) -> str:
        return f"{round(one, places):,.{max(0, places)}f}".replace("-", MINUS)

    return to_the_digit(value), to_the_digit(low), to_the_digit(high)


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value)))


def apart(ratio: float) -> str:
    """Format the distance from 1 in per cent: "18 %", below ten "3.2 %"."""
    per_cent = abs(ratio - 1) * 100
    if 0 < per_cent < 0.05:
        return f"{digits(per_cent, 1)} %"
    return f"{per_cent:.0f} %" if per_cent >= 9.5 else f"{per_cent:.1f} %"


def much(ratio: float) -> str:
    """Say "18 % higher"; from 2 on, and near 0, a factor reads better than per cent: "2.4 times as high"."""
    if ratio == 1:
        return "just as high"
    return f"{digits(ratio, 2)} times as high" if reads_as_factor(ratio) else f"{apart(ratio)} {higher(ratio)}"


def reads_as_factor(ratio: float) -> bool:
    return ratio >= 2 or ratio < _SMALL


def than(ratio: float) -> str:
    """Return the word that follows `much`."""
    return "as" if ratio == 1 or reads_as_factor(ratio) else "than"


def higher(ratio: float) -> str:
    return "higher" if ratio > 1 else "lower"


def p_value(value: float) -> str:
    """Format as "p 0.012", "p < 0.001"."""
    return f"p {p_figure(value)}"


def p_figure(value: float) -> str:
    """Format as "0.012", "< 0.001"; a p-value below the error of a family does not read as equal to it."""
    if value < 0.001:
        return "< 0.001"
    told = (f"{value:.{places}g}" for places in range(3, 18))
    return next(text for text in told if (float(text) < FAMILY_ERROR) == (value < FAMILY_ERROR))


def span(seconds: float) -> str:
    """Format as "48 s", "12 min", "3 h 20 min", "2 d 11 h", "12 days"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(minutes / 60)
    return f"{hours // 24} d {hours % 24} h" if hours < 10 * 24 else f"{hours / 24:.0f} days"
