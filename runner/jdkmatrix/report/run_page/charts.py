"""The charts of one workload under one load: lines over time or over a rate, bars, and latency by percentile. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.domain.cell_key import CellKey, TaskSize
from jdkmatrix.domain.quantities import MISSING, digits, per_cent, plural, with_unit
from jdkmatrix.figures.metrics import P99, Metric
from jdkmatrix.records.forks import Fork
from jdkmatrix.report.blocks.inline import Wording, fill, joined, swatch
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import KIND_WORDS, amount, of_metric
from jdkmatrix.report.cells.slices import Slice
from jdkmatrix.report.charts.bars import bars
from jdkmatrix.report.charts.lines import Axis, lines, log_domain
from jdkmatrix.report.charts.shapes import Row, plain_numbers
from jdkmatrix.report.words.sentences import capitalised

Points = Iterable[tuple[float, float | None]]


@dataclass(frozen=True)
class LineFigure:
    """A figure drawn as lines. `points`: of a fork; a figure of None breaks the line. `number_format`, `top`: of the
    axis, where it has a natural one. `marks`, `note`: of a cell, shown with its executor; without a note, the figure's
    least and most in `unit`; `reference`: of a line that is no measurement, given the largest figure."""

    id: str
    title: str
    axis: str
    points: Callable[[Fork], Points]
    words: str | Wording = ""
    log: bool = False
    number_format: str = ""
    unit: str = ""
    top: float | None = None
    marks: Callable[[CellStats], Iterable[Row]] = lambda _: ()
    note: Callable[[CellStats], str] = lambda _: ""
    reference: Callable[[float], Sequence[Row]] = lambda _: ()


def colour_key(piece: Slice, mark: Callable[[int], str] = swatch) -> tuple[str, ...]:
    """Return the executors that were measured, each after its `mark`."""
    measured = {cell.key.executor for cell in piece.cells}
    return tuple(joined(mark(slot), name) for slot, name in enumerate(piece.order) if name in measured)


def line_groups(prefix: str, piece: Slice, x: Axis, figures: Iterable[LineFigure]) -> Iterator[Charts]:
    """Yield a group for each figure that a fork has, with a chart for each JDK and condition, all on the same scales.
    `prefix`: of the charts’ ids."""
    for figure in figures:
        rows: dict[CellKey, list[Row]] = {
            cell.key: [
                {"executor": cell.key.executor, "fork": fork.fork, "x": at, "y": y or None if figure.log else y}
                for fork in cell.usable
                for at, y in figure.points(fork)
            ]
            for cell in piece.cells
        }
        values = [float(row["y"]) for some in rows.values() for row in some if row["y"]]
        if not values:
            continue
        beside = figure.reference(max(values))
        values += [float(row["y"]) for row in beside]
        low, high = log_domain(values) if figure.log else (0.0, figure.top or max(values) * 1.05)
        y = Axis(figure.axis, low, high, log=figure.log, number_format=figure.number_format)
        charts = []
        for number, (condition, cells) in enumerate(piece.conditions()):
            points = [row for cell in cells for row in rows[cell.key]]
            marks = [{"executor": cell.key.executor, **row} for cell in cells for row in figure.marks(cell)]
            notes = ((cell.key.executor, figure.note(cell) or _ends(figure, rows[cell.key])) for cell in cells)
            note = "; ".join(f"{name}: {words}" for name, words in notes if words)
            told = f"{figure.title} of {condition}, one line per fork"
            drawing = lines(points, x=x, y=y, order=piece.order, marks=marks, reference=beside, description=told)
            charts.append(Chart(f"{prefix}-{figure.id}-{number}", condition, note, drawing))
        yield Charts(figure.title, figure.words, tuple(charts), colour_key(piece), f"by-{piece.beside}")


def _ends(figure: LineFigure, points: Iterable[Row]) -> str:
    """Return the least and the most, in words."""
    values = [float(row["y"]) for row in points if row["y"] is not None]
    words = per_cent if figure.number_format.endswith("%") else partial(digits, significant=3)
    return with_unit(" to ".join(dict.fromkeys(map(words, (min(values), max(values))))), figure.unit) if values else ""


# Beyond this the curve's last points are single requests.
_LONGEST_TAIL = 100_000.0
# Keyed by 1 / (1 - quantile), as in HdrHistogram's plots.
_QUANTILES = {1: "0", 2: "50", 10: "90", 100: "99", 1000: "99.9", 10_000: "99.99", 100_000: "99.999"}
_QUANTILE_LABELS = "".join(f"datum.value == {x} ? '{name} %' : " for x, name in _QUANTILES.items()) + "''"


def bar_charts(prefix: str, piece: Slice, metric: Metric, axis: str, words: Wording) -> Iterator[Charts]:
    """Draw the metric of every cell; nothing where none has it. One chart per number of CPUs and JDK; all charts of one
    number of CPUs have the same scale.

    Where the task varies, figures differ by factors: bars are then shares of the highest figure under the same task on
    any JDK, and their labels the figures themselves.
    """
    charts: list[Chart] = []
    shares = len(piece.tasks) > 1
    for number, (jdk, cpus) in enumerate((j, c) for c in piece.cpus for j in piece.jdks):
        peers = [cell for cell in piece.cells if cell.key.cpus == cpus]
        values: dict[TaskSize, list[float]] = {task: [] for task in piece.tasks}
        for cell in peers:
            values[cell.key.task] += [one.value for one in cell.figures(metric).values()]
        highest = {task: max(some, default=0) or 1.0 for task, some in values.items()}
        here = piece.in_order(cell for cell in peers if cell.key.jdk == jdk)
        drawn = [
            _bar(metric, cell, highest[cell.key.task] if shares else 1.0, piece.task_words(cell.key.task))
            for cell in sorted(here, key=lambda cell: cell.key.task)
        ]
        means, forks = [mean for mean, _ in drawn], [point for _, points in drawn for point in points]
        if not forks:
            continue
        title = jdk if piece.single else f"{jdk}, {plural(cpus, 'CPU')}"
        note = "; ".join(f"{m['executor']}, {m['work']}: {m['label']}" for m in means)
        drawing = bars(
            means,
            forks,
            order=piece.order,
            title="share of the highest under the same task" if shares else axis,
            figure=axis,
            number_format=".0%" if shares else plain_numbers(max(highest.values())),
            highest=1.0 if shares else max(highest.values()),
            grouped=shares,
            description=f"{metric.title} of {title}: {axis}, bars of means, one point per fork",
        )
        charts.append(Chart(f"{prefix}-{metric.id}-{number}", title, note, drawing))
    if charts:
        key = colour_key(piece, lambda slot: fill(f"e{slot % 8}"))
        yield Charts(metric.title, words, tuple(charts), key, f"by-{piece.beside}", repeats=True)


def _bar(metric: Metric, cell: CellStats, unit: float, task: str) -> tuple[Row, list[Row]]:
    """Return one bar and its points; without a figure, a dash in the bar's place."""
    figures = cell.figures(metric)
    over = cell.mean(metric)
    place = {"executor": cell.key.executor, "work": task}
    if over is None:
        return {**place, "mean": None, "low": None, "high": None, "label": MISSING}, []
    bar: Row = {
        **place,
        # Where bounds point both ways there is no mean: the points are all there is to see.
        "mean": None if over.bound is None else over.value / unit,
        "low": None if over.low is None else over.low / unit,
        "high": None if over.high is None else over.high / unit,
        "label": of_metric(metric, cell, why="").text,
    }
    points: list[Row] = []
    for block, one in sorted(figures.items()):
        label = one.bound.signed(amount(metric, one.value))
        points.append({**place, "fork": block, "value": one.value / unit, "label": label})
    return bar, points


_LATENCIES_MAX = 8  # charts that are shown unfolded


def latency_charts(prefix: str, piece: Slice) -> Iterator[Charts]:
    """Draw the latency of all requests of each cell; nothing where no cell has any. One chart per number of CPUs, task
    and JDK, all on the same scales."""
    pools = {cell.key: pool for cell in piece.cells if (pool := cell.latency)}
    # 1 / (1 - quantile), ms, quantile in words; the maximum, at infinity, has no place on the axis.
    curves = {
        key: [
            (1 / (1 - p.quantile), p.value_us / 1000, f"{p.quantile * 100:.6g} %")
            for p in pool.spectrum
            if p.quantile < 1 - 0.5 / pool.count and p.value_us > 0 and 1 / (1 - p.quantile) <= _LONGEST_TAIL
        ]
        for key, pool in pools.items()
    }
    points = {key: curve for key, curve in curves.items() if curve}
    if not points:
        return
    every = [point for curve in points.values() for point in curve]
    latency = Axis("latency in ms", *log_domain([ms for _, ms, _ in every]), log=True)
    longest = max(x for x, _, _ in every)
    percentile = Axis(
        "percentile", 1, longest, log=True, ticks=tuple(_QUANTILES), labels=_QUANTILE_LABELS, told="quantile"
    )
    charts = []
    for number, (title, cells) in enumerate(piece.conditions()):
        drawn = {cell.key.executor: cell for cell in cells if cell.key in points}
        if not drawn:
            continue
        rows = [
            {"executor": name, "x": x, "y": ms, "quantile": quantile}
            for name, cell in drawn.items()
            for x, ms, quantile in points[cell.key]
        ]
        told = f"Latency by percentile of {title}, one line per executor"
        drawing = lines(rows, x=percentile, y=latency, order=piece.order, description=told, by_fork=False)
        p99s = ((name, of_metric(P99, cell, why="")) for name, cell in drawn.items())
        note = "; ".join(f"{name} {p99.text} ms" for name, p99 in p99s if p99.sort is not None)
        charts.append(Chart(f"{prefix}-latency-{number}", title, f"p99: {note}" if note else "", drawing))
    kinds = "; ".join(dict.fromkeys(KIND_WORDS[pool.kind] for pool in pools.values()))
    words = f"{capitalised(kinds)}. All usable forks of a cell together; both axes are logarithmic."
    key, css = colour_key(piece), f"by-{piece.beside}"
    yield Charts("Latency by percentile", words, tuple(charts), key, css, unfolded_max=_LATENCIES_MAX)
