"""Figures as a reader sees them: few digits, a sort key, and for a missing one the reason. Pure."""

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
        """The text with its tooltip, as templates show it."""
        css = ' class="missing"' if self.text == MISSING else ""
        text = escaped(self.text)
        return f'<span title="{escaped(self.title)}"{css}>{text}</span>' if self.title else text


@lru_cache(maxsize=10_000, typed=True)
def escaped(text: str) -> str:
    """For HTML; Markup stays as it is. A page has thousands of figures, of which most are missing for few reasons."""
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
    """A share 0..1 as per cent; below ten with one decimal."""
    if value is None:
        return missing(why)
    return Figure(per_cent(value), value)


def signed_share(value: float | None, significant: int = 2) -> str:
    """A change, as a share, in per cent: "+3.1 %"."""
    return MISSING if value is None else f"{'+' if value > 0 else ''}{digits(value * 100, significant)} %"


def count(value: int | None, *, why: str = "this driver does not say") -> Figure:
    return missing(why) if value is None else Figure(f"{value:,}", value)


def ratio_value(ratio: Ratio) -> str:
    return _ratio(ratio)[0]


def ratio_interval(ratio: Ratio) -> str | None:
    """ "0.79–0.85"; None for a single block."""
    return _ratio(ratio)[1]


def _ratio(ratio: Ratio) -> tuple[str, str | None]:
    """Below ten with the decimals that the interval can carry: three if it is narrower than 0.1, else two. Below
    `_SMALL` as many as it takes; and an end that is not 1 does not read as 1."""
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
    """To two digits, or more where it would else read as 1, which it is not."""
    return _first_off_one(end, (digits(end, more) for more in range(2, 17)))


def _in_places(end: float, places: int) -> str:
    return _first_off_one(end, (f"{end:.{more}f}" for more in range(places, _PLACES_MAX + 1)))


def _first_off_one(end: float, told: Iterator[str]) -> str:
    """The first text that does not read as 1, unless that is what it is; else the first of all."""
    first = next(told)
    return next((text for text in chain((first,), told) if end == 1 or float(text.replace(",", "")) != 1), first)


def with_interval(value: float, low: float, high: float, edges: Sequence[float] = ()) -> tuple[str, str, str]:
    """All three to the same digit: at least three of the value's, and as far as the interval is three units of the last
    one wide, but six of the largest at most; four of the value's where it has no width. With more of those six where an
    end would read as one of `edges` that it is not."""
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
    """How far from 1, in per cent: "18 %", below ten "3.2 %"."""
    per_cent = abs(ratio - 1) * 100
    if 0 < per_cent < 0.05:
        return f"{digits(per_cent, 1)} %"
    return f"{per_cent:.0f} %" if per_cent >= 9.5 else f"{per_cent:.1f} %"


def much(ratio: float) -> str:
    """ "18 % higher"; from twice on, a factor reads better than per cent: "2.4 times as high"; and near nothing."""
    if ratio == 1:
        return "just as high"
    return f"{digits(ratio, 2)} times as high" if reads_as_factor(ratio) else f"{apart(ratio)} {higher(ratio)}"


def reads_as_factor(ratio: float) -> bool:
    return ratio >= 2 or ratio < _SMALL


def than(ratio: float) -> str:
    """The word that follows `much`."""
    return "as" if ratio == 1 or reads_as_factor(ratio) else "than"


def higher(ratio: float) -> str:
    return "higher" if ratio > 1 else "lower"


def p_value(value: float) -> str:
    """ "p 0.012", "p < 0.001"."""
    return f"p {p_figure(value)}"


def p_figure(value: float) -> str:
    """ "0.012", "< 0.001"; one below the error of a family does not read as that."""
    if value < 0.001:
        return "< 0.001"
    told = (f"{value:.{places}g}" for places in range(3, 18))
    return next(text for text in told if (float(text) < FAMILY_ERROR) == (value < FAMILY_ERROR))


def span(seconds: float) -> str:
    """ "48 s", "12 min", "3 h 20 min", "2 d 11 h", "12 days"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(minutes / 60)
    return f"{hours // 24} d {hours % 24} h" if hours < 10 * 24 else f"{hours / 24:.0f} days"
