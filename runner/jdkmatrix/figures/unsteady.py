"""Say in words why a server was not steady: every stretch is named with what fell in it. Pure."""

from __future__ import annotations

from jdkmatrix.domain.quantities import digits
from jdkmatrix.records.windows import SeriesSteadiness, Warmup
from jdkmatrix.stats.steady import SeriesState

COMPILING = "the JIT compiler was at work"
_NAMES = {"cpu_us_per_request": "CPU per request", "p99_us": "p99"}


def why_not_steady(warmup: Warmup, *, compiling: bool) -> str:
    """Say in a sentence why the warm-up gate stayed shut until the cap."""
    found = [_words(series) for series in warmup.series if not series.warm]
    told = "; ".join([*found, *([COMPILING] if compiling else [])])
    return f"not steady after {warmup.duration_s:.0f} s of warm-up: {told}"


def _words(series: SeriesSteadiness) -> str:
    finding, whole = series.finding, _share(series.change)
    if finding == SeriesState.TOO_SHORT.value:
        what = "had too few windows to tell"
    elif finding == SeriesState.SETTLING.value:
        what = "had not settled"
    elif finding == SeriesState.UNCERTAIN.value:
        what = f"scattered too much to tell whether it was still falling{_at_worst(series)}"
    elif series.drift_per_s is None:
        what = f"was still falling, by {whole} overall"
    elif series.drift_per_s >= 0:
        what = f"fell by {whole} overall, though no longer in the last {series.tail_s:g} s"
    else:
        what = f"was still falling{_at_worst(series)}"
    return f"{_NAMES[series.figure]} {what}"


def _at_worst(series: SeriesSteadiness) -> str:
    if series.drift_tail_least is None or series.fall_max is None:
        return ""
    worst, allowed = _share(series.drift_tail_least), _share(-series.fall_max)
    return f", by up to {worst} in the last {series.tail_s:g} s, where {allowed} is allowed"


def _share(change: float | None) -> str:
    """Format a fall as per cent."""
    return "some" if change is None else f"{digits(-change * 100, 3 if abs(change) < 0.1 else 2)} %"
