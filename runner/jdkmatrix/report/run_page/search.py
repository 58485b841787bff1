"""How the highest rate that holds was looked for: a curve of latency over rate, and a table per fork. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from jdkmatrix.domain.quantities import digits
from jdkmatrix.figures.metrics import CAPACITY
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.windows import Capacity, CapacityStep
from jdkmatrix.report.blocks.inline import badge, say
from jdkmatrix.report.blocks.kinds import Chart, Charts, PageBlock, Prose
from jdkmatrix.report.blocks.tables import Cell, DataTable, columns
from jdkmatrix.report.cells.cell_figures import of_metric
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.charts import specs as charts
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.lines import ChartPlace
from jdkmatrix.report.words.numbers import milliseconds, quantity

_OUTCOMES = {True: ("held", "ok"), False: ("did not hold", "not-steady"), None: ("invalid", "invalid")}


def search_charts(place: ChartPlace) -> Iterator[Charts]:
    """One chart per number of CPUs, work and JDK, all on the same scales: p99 of every valid window over its rate."""
    piece, order = place.piece, place.order
    load = next((cell.load for cell in piece.cells), None)
    rows = {cell.key: rows for cell in piece.cells if (rows := _rows(cell))}
    if not isinstance(load, CapacityLoad) or not rows:
        return
    every = [row for of_cell in rows.values() for row in of_cell]
    lowest, highest = charts.log_domain([*(float(row["ms"]) for row in every), load.p99_max_us / 1000])
    fastest = max(float(row["rate"]) for row in every)
    conditions = ((title, [cell for cell in cells if cell.key in rows]) for title, cells in piece.conditions(order))
    yield Charts(
        "Latency over rate",
        say("latency_over_rate"),
        tuple(
            Chart(
                id=f"{place.id_prefix}-{number}",
                title=title,
                note="; ".join(map(_note, here)),
                drawing=charts.rate_latency(
                    [row for cell in here for row in rows[cell.key]],
                    order=order,
                    objective_ms=load.p99_max_us / 1000,
                    lowest_ms=lowest,
                    highest_ms=highest,
                    fastest_rps=fastest,
                    description=f"p99 latency over the rate of requests of {title}, one line per fork",
                ),
            )
            for number, (title, here) in enumerate(conditions)
            if here
        ),
        place.key,
        place.css,
    )


def _rows(cell: CellStats) -> list[Row]:
    """Windows in which nothing was answered have no latency, and no point."""
    return [
        {
            "executor": cell.key.executor,
            "fork": fork.fork,
            "rate": step.rate_rps,
            "ms": p99_us / 1000,
            "held": _OUTCOMES[step.held][0],
        }
        for fork in cell.usable
        if fork.capacity
        for step in sorted(fork.capacity.steps, key=lambda step: step.rate_rps)
        if step.held is not None and (p99_us := _p99_us(step)) is not None
    ]


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
