"""Constant rates one after another, up to saturation: throughput, CPU and latency over the offered rate. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.figures.metrics import SATURATED
from jdkmatrix.loads.base import Bound, offered_rps
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.windows import Window
from jdkmatrix.report.cells.causes import best, held_back
from jdkmatrix.report.cells.cell_figures import amount, of_metric
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.comparisons import Slice
from jdkmatrix.report.charts.curves import Axis
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.charts.specs import log_domain
from jdkmatrix.report.run_page.line_charts import line_charts
from jdkmatrix.report.views import ChartGroup


@dataclass(frozen=True)
class _Figure:
    id: str
    title: str
    words: str
    axis: str
    of: Callable[[Window], float | None]
    log: bool = False
    number_format: str = "~s"
    top: float | None = None  # of the axis, where it has a natural one


def _p99_ms(window: Window) -> float | None:
    latency = window.load.corrected
    return latency.percentiles_us["99"] / 1000 if latency else None


_FIGURES = (
    _Figure(
        "throughput",
        "Throughput over offered load",
        "Requests answered per second. On the dashed line everything that was asked for was answered; where a curve "
        "leaves it, the server is saturated. The dot is the most that a fork reached; one that kept up with the "
        "highest rate can do at least that (≥).",
        "answered per second",
        lambda window: window.load.succeeded_rps,
    ),
    _Figure(
        "cpu",
        "CPU use over offered load",
        "CPU time of the server as a share of the CPUs it has.",
        "share of its CPUs",
        lambda window: window.sut.cpu_share,
        number_format=".0%",
        top=1.0,
    ),
    _Figure(
        "cost",
        "CPU per request over offered load",
        "CPU time of the server per request.",
        "CPU µs per request",
        lambda window: window.cpu_us_per_answer or None,
    ),
    _Figure(
        "p99",
        "p99 over offered load",
        "Response time from the intended send time. Beyond saturation it grows with the length of the step. The axis "
        "is logarithmic.",
        "p99 in ms",
        _p99_ms,
        log=True,
    ),
)


def steps_groups(id_prefix: str, piece: Slice, order: Sequence[str]) -> tuple[ChartGroup, ...]:
    """A group for each figure, in it a chart for each JDK and condition, all on the same scales."""
    if not any(isinstance(cell.load, StepsLoad) and cell.usable for cell in piece.cells):
        return ()
    fastest = max(offered for cell in piece.cells for _, window in _windows(cell) if (offered := _offered(window)))
    groups = []
    for figure in _FIGURES:
        values = [value for cell in piece.cells for _, window in _windows(cell) if (value := figure.of(window))]
        if not values:
            continue
        low, high = log_domain(values) if figure.log else (0.0, figure.top or max(values) * 1.05)
        chart = partial(
            line_charts,
            f"{id_prefix}-{figure.id}",
            figure.title,
            piece,
            order,
            x=Axis("offered requests per second", 0, fastest * 1.03),
            y=Axis(figure.axis, low, high, log=figure.log, number_format=figure.number_format),
            rows=partial(_points, figure),
        )
        charts = (
            chart(marks=_peaks, reference=_diagonal(min(fastest, high)), note=_note)
            if figure.id == "throughput"
            else chart()
        )
        groups.append(ChartGroup(figure.title, figure.words, charts))
    return tuple(groups)


def observed(piece: Slice, order: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """By JDK, a sentence on every executor that was not saturated, or not by its CPUs."""
    found: dict[str, list[tuple[str, str]]] = {}
    for cell in sorted(piece.cells, key=lambda cell: order.index(cell.key.executor)):
        for words in remarks(cell):
            found.setdefault(cell.key.jdk, []).append((cell.key.executor, f"{words}."))
    return found


def remarks(cell: CellStats) -> tuple[str, ...]:
    """What must be known of its saturation; none for other loads than rising steps."""
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


def _windows(cell: CellStats) -> Iterable[tuple[int, Window]]:
    return ((fork.fork, window) for fork in cell.usable for window in fork.valid_windows)


def _offered(window: Window) -> float:
    return offered_rps(window) or 0.0


def _points(figure: _Figure, cell: CellStats) -> Iterable[Row]:
    return (
        {"executor": cell.key.executor, "fork": fork, "x": _offered(window), "y": value}
        for fork, window in _windows(cell)
        if (value := figure.of(window)) is not None and (value > 0 or not figure.log)
    )


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


def _diagonal(end: float) -> list[Row]:
    return [{"x": 0, "y": 0}, {"x": end, "y": end}]


def _note(cell: CellStats) -> str:
    peak = of_metric(SATURATED, cell, why="")
    if peak.sort is None:
        return f"{cell.key.executor}: no usable fork"
    # "≥ 6,000 requests/s at most" would be none of both.
    return f"{cell.key.executor}: {peak.text} requests/s{'' if peak.text.startswith('≥') else ' at most'}"
