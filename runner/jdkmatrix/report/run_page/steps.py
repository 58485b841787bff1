"""Constant rates one after another, up to saturation: throughput, CPU and latency over the offered rate. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.figures.metrics import SATURATED
from jdkmatrix.loads.base import Bound, offered_rps
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Window
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.advice import best, held_back
from jdkmatrix.report.cells.cell_figures import amount, of_metric
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.charts.curves import Axis
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.lines import ChartPlace, LineFigure, Points, line_group


def _over_offered(of: Callable[[Window], float | None]) -> Callable[[Fork], Points]:
    return lambda fork: (
        (_offered(window), value) for window in fork.valid_windows if (value := of(window)) is not None
    )


def _p99_ms(window: Window) -> float | None:
    latency = window.load.corrected
    return latency.percentiles_us["99"] / 1000 if latency else None


_THROUGHPUT = LineFigure(
    "throughput",
    "Throughput over offered load",
    "answered per second",
    _over_offered(lambda window: window.load.succeeded_rps),
    "Requests answered per second. On the dashed line everything that was asked for was answered; where a curve leaves "
    "it, the server is saturated. The dot is the most that a fork reached; one that kept up with the highest rate can "
    "do at least that (≥).",
)
_OTHERS = (
    LineFigure(
        "cpu",
        "CPU use over offered load",
        "share of its CPUs",
        _over_offered(lambda window: window.sut.cpu_share),
        "CPU time of the server as a share of the CPUs it has.",
        number_format=".0%",
        top=1.0,
    ),
    LineFigure(
        "cost",
        "CPU per request over offered load",
        "CPU µs per request",
        _over_offered(lambda window: window.cpu_us_per_answer or None),
        "CPU time of the server per request.",
    ),
    LineFigure(
        "p99",
        "p99 over offered load",
        "p99 in ms",
        _over_offered(_p99_ms),
        "Response time from the intended send time. Beyond saturation it grows with the length of the step. The axis "
        "is logarithmic.",
        log=True,
    ),
)


def steps_charts(place: ChartPlace) -> Iterator[Charts]:
    """A group for each figure, in it a chart for each JDK and condition, all on the same scales."""
    forks = [fork for cell in place.piece.cells if isinstance(cell.load, StepsLoad) for fork in cell.usable]
    if not forks:
        return
    fastest = max(offered for fork in forks for window in fork.valid_windows if (offered := _offered(window)))
    x = Axis("offered requests per second", 0, fastest * 1.03)

    def diagonal(highest: float) -> Sequence[Row]:
        end = min(fastest, highest)
        return [{"x": 0, "y": 0}, {"x": end, "y": end}]

    groups = (
        line_group(_THROUGHPUT, place, x, marks=_peaks, reference=diagonal, note=_note),
        *(line_group(figure, place, x) for figure in _OTHERS),
    )
    yield from filter(None, groups)


def remarks(cell: CellStats) -> tuple[str, ...]:
    """Remarks on its saturation; none for other loads than rising steps."""
    if not isinstance(cell.load, StepsLoad):
        return ()
    return tuple(words for words in (_not_saturated(cell), held_back(cell)) if words)


def _not_saturated(cell: CellStats) -> str | None:
    """In how many forks rising steps ended before the server did; None where it was saturated in all."""
    bounds = [block for block, figure in cell.figures(SATURATED).items() if figure.bound is not Bound.NONE]
    if not bounds:
        return None
    offered_rps = max(_offered(window) for fork in cell.usable if fork.fork in bounds for window in fork.windows)
    return (
        f"not seen saturated in {len(bounds)} of {plural(len(cell.usable), 'fork')}, offered up to "
        f"{digits(offered_rps, 4)} requests/s: the most that it can do was not reached"
    )


def _offered(window: Window) -> float:
    return offered_rps(window) or 0.0


def _peaks(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        reached = cell.figures(SATURATED)[fork.fork]
        text = f"fork {fork.fork}: {reached.bound.value} {amount(SATURATED, reached.value)} requests/s"
        yield {
            "executor": cell.key.executor,
            "x": _offered(best(fork)),
            "y": reached.value,
            "text": " ".join(text.split()),
        }


def _note(cell: CellStats) -> str:
    peak = of_metric(SATURATED, cell, why="")
    if peak.sort is None:
        return f"{cell.key.executor}: no usable fork"
    # "≥ 6,000 requests/s at most" would be none of both.
    return f"{cell.key.executor}: {peak.text} requests/s{'' if peak.text.startswith('≥') else ' at most'}"
