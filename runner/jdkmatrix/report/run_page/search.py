"""How the highest rate that holds was looked for: a curve of latency over rate, and a table per fork. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import CAPACITY
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Capacity, CapacityStep
from jdkmatrix.report.blocks.inline import badge, say
from jdkmatrix.report.blocks.kinds import Charts, PageBlock, Prose
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cell_figures import of_metric
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.charts.curves import Axis
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.lines import ChartPlace, LineFigure, Points, line_group
from jdkmatrix.report.words.numbers import milliseconds, quantity

_OUTCOMES = {True: ("held", "ok"), False: ("did not hold", "not-steady"), None: ("invalid", "invalid")}


def _points(fork: Fork) -> Points:
    """p99 of every window of its search over its rate."""
    return ((step.rate_rps, p99_ms) for step, p99_ms in _judged(fork))


_LATENCY = LineFigure("latency", "Latency over rate", "p99 in ms", _points, say("latency_over_rate"), log=True)


def search_charts(place: ChartPlace) -> Iterator[Charts]:
    load = place.piece.first_load
    rates = [rate for cell in place.piece.cells for fork in cell.usable for rate, _ in _points(fork)]
    if not isinstance(load, CapacityLoad) or not rates:
        return
    x = Axis("requests per second", 0, max(rates) * 1.03)
    objective = [{"x": end, "y": load.p99_max_us / 1000} for end in (x.low, x.high)]
    if charts := line_group(_LATENCY, place, x, marks=_windows, reference=lambda _: objective, note=_note):
        yield charts


def _judged(fork: Fork) -> Iterator[tuple[CapacityStep, float]]:
    """By rate, with p99 in ms. Windows in which nothing was answered have no latency, and no point."""
    for step in sorted(fork.capacity.steps if fork.capacity else (), key=lambda step: step.rate_rps):
        p99_us = _p99_us(step)
        if step.held is not None and p99_us is not None:
            yield step, p99_us / 1000


def _windows(cell: CellStats) -> Iterator[Row]:
    for fork in cell.usable:
        for step, p99_ms in _judged(fork):
            text = f"fork {fork.fork}: {_OUTCOMES[step.held][0]}"
            place = {"executor": cell.key.executor, "x": step.rate_rps, "y": p99_ms}
            yield {**place, "text": text, "hollow": not step.held}


def _p99_us(step: CapacityStep) -> float | None:
    latency = step.window.load.corrected
    return latency.percentiles_us["99"] if latency else None


def _note(cell: CellStats) -> str:
    found = of_metric(CAPACITY, cell, why="")
    held = "no rate was found" if found.sort is None else f"{found.text} requests/s held"
    return f"{cell.key.executor}: {held}"


def search_blocks(fork: int, capacity: Capacity) -> tuple[PageBlock, ...]:
    """Every window of one fork's search, in the order in which they were run."""
    return (
        Prose(_outcome_words(capacity), "Search for the highest rate"),
        DataTable(
            f"Search of fork {fork}",
            columns("Rate|req/s#", "Why this rate", "p99|ms#", "Throughput|req/s#", "Outcome"),
            tuple(map(_step, capacity.steps)),
        ),
    )


def _step(step: CapacityStep) -> tuple[Cell, ...]:
    why = "; ".join(reason.message for reason in (*step.window.reasons, *step.window.shortfalls))
    return (
        quantity(step.rate_rps, 4, why=""),
        step.purpose,
        milliseconds(_p99_us(step), why="nothing was answered"),
        quantity(step.window.load.succeeded_rps, 4, why=""),
        badge(*_OUTCOMES[step.held], why),
    )


def _outcome_words(capacity: Capacity) -> str:
    held = f"{digits(capacity.held_rps, 4)} requests/s held" if capacity.held_rps else "no rate held"
    failed = f"{digits(capacity.failed_rps, 4)} did not" if capacity.failed_rps else "none failed above it"
    words = (
        f"{held}, {failed}: p99 within {digits(capacity.p99_max_us / 1000, 3)} ms and no failed request, between "
        f"{digits(capacity.floor_rps, 4)} and {digits(capacity.ceiling_rps, 4)} requests/s. End: {capacity.outcome}."
    )
    if capacity.not_monotonic_rps:
        higher = ", ".join(digits(rate, 4) for rate in capacity.not_monotonic_rps)
        words += f" Higher rates that held nevertheless: {higher}."
    return words
