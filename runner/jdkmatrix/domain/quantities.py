"""How quantities are written for a reader. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

MISSING = "–"
MINUS = "\u2212"


def digits(value: float, significant: int) -> str:
    """Round `value` to this many significant digits, with thousands separators: 32624 -> "32,620" with 4."""
    if value == 0:
        return "0"
    if math.isnan(value):
        return MISSING
    if math.isinf(value):  # the end of an interval beyond the range of a float
        return "∞"
    magnitude = math.floor(math.log10(abs(value)))
    # Rounding can carry into the next power of ten (9.996 with 3 digits is 10.0).
    rounded = round(value, significant - 1 - magnitude)
    if rounded and math.floor(math.log10(abs(rounded))) > magnitude:
        magnitude += 1
    return f"{rounded:,.{max(0, significant - 1 - magnitude)}f}".replace("-", MINUS)


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def amount(value: float, unit: str) -> str:
    """Format the number without its unit; counts stay as they are."""
    if unit == "" and math.isfinite(value) and value == int(value):
        return f"{value:,.0f}"
    if unit == "%" and abs(value) < 10:
        return digits(value, 2)
    return digits(value, 4 if abs(value) >= 1000 else 3)


def per_cent(share: float) -> str:
    """Format a share 0..1 as per cent, below ten with one decimal."""
    percent = round(share * 100, 1 if abs(share) < 0.1 else 0) or 0.0  # and not -0.0
    return f"{percent:.{1 if abs(share) < 0.1 else 0}f} %".replace("-", MINUS)


def measure(value: float, unit: str) -> str:
    """Format a quantity with its unit: "39.5/s", "1,024 KiB", "98.2 %", "12"."""
    return with_unit(amount(value, unit), unit)


def with_unit(text: str, unit: str) -> str:
    """Append the unit: "39.5/s", "1,024 KiB"."""
    return f"{text}/s" if unit == "1/s" else f"{text} {unit}".rstrip()


def range_words(values: Sequence[float], unit: str) -> str:
    """Format a range of quantities: "3.1 KiB", "3.1 to 24 KiB"."""
    low, high = measure(min(values), unit), measure(max(values), unit)
    return low if low == high else f"{amount(min(values), unit)} to {high}"


def rate_words(per_s: float) -> str:
    """Format a rate for a line of text: whole, and below 100 with three digits."""
    return f"{per_s:,.0f}" if per_s >= 100 else f"{per_s:.3g}"


def span_words(values: Sequence[float], unit: str) -> str:
    """Format a range with its noun: "50 connections", "50 to 200 connections"; whole numbers as they are."""
    low, high = (f"{value:,.0f}" if value == int(value) else digits(value, 4) for value in (min(values), max(values)))
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"


def work_words(burn_us: int) -> str:
    """Format a value of the axis `burn_us` for a reader."""
    return f"{burn_us:,} µs"


def wait_words(wait_us: int) -> str:
    """Format a value of the axis `wait_us` for a reader: "2 ms"."""
    if wait_us < 1000:
        return f"{wait_us} µs"
    return f"{wait_us / 1e3:g} ms" if wait_us < 1_000_000 else f"{wait_us / 1e6:g} s"


def delay_words(wait_us: int) -> str:
    return f"{wait_words(wait_us)} delay" if wait_us else "no remote delay"


def rise(before: int | None, after: int | None) -> int | None:
    """Return the rise of a counter; None if one of its readings is not known."""
    return None if before is None or after is None else after - before
