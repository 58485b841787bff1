"""Published figures and their sources in words. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import MINUS
from jdkmatrix.records.claims import ClaimCheck, ClaimSource, PublishedFigure, PublishedResult

_INSTEAD = {"graph": "is only a graph", "words": "are only words"}


def amount(figure: PublishedFigure) -> str:
    """Return the number with its unit, which a ratio has not: "1,100 requests/s", "0.5 to 0.55", "at most 5 s"."""
    number = between(figure.low, figure.high) if figure.value is None else _exact(figure.value)
    return number if figure.unit == "ratio" else f"{number} {figure.unit}"


def between(low: float | None, high: float | None) -> str:
    """Return "0.5 to 0.55", "at most 5"; at least one end is there."""
    if low is None:
        return f"at most {_exact(high)}"
    return f"at least {_exact(low)}" if high is None else f"{_exact(low)} to {_exact(high)}"


def reproduced_by(check: ClaimCheck, claim: PublishedResult) -> str:
    """Return the range of a check: "0.6 to 0.9", "14.3 GiB ± 10 %"."""
    if check.figure is None:
        return between(check.low, check.high)
    around = f" ± {check.tolerance:.0%}".replace("%", " %") if check.tolerance else ""
    return f"{amount(claim.figures[check.figure - 1])}{around}"


def of_whom(figure: PublishedFigure) -> str:
    """Say whose number it is: "virtual", "virtual / liberty", "virtual / before the load rose"; empty without one."""
    sign = "/" if figure.unit == "ratio" else MINUS
    return f" {sign} ".join(part for part in (figure.arm, figure.versus or figure.baseline) if part)


def without_figures(claim: PublishedResult) -> str | None:
    """Say what a claim has in place of figures; None if it has some, or the record does not tell."""
    return None if claim.only is None else f"No figure is printed: there {_INSTEAD[claim.only]}."


def source_line(source: ClaimSource) -> str:
    """Join title, author or site, date and address as far as known, and why there is no address, if that is told."""
    known = ", ".join(part for part in (source.title, source.by, source.date, source.url) if part)
    return f"{known} (no address: {source.no_url})" if source.no_url else known


def _exact(value: float | None) -> str:
    """Return every digit that is there, with thousands separators: 1500.0 -> "1,500"."""
    return f"{value:,}".removesuffix(".0").replace("-", MINUS)
