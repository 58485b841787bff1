"""Loads in steps: the search for the highest rate that holds; rates or connections that rise up to saturation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from jdkmatrix.domain.quantities import plural
from jdkmatrix.figures.metrics import CAPACITY, SATURATED
from jdkmatrix.loads.base import Bound, Steps, best_window
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import CapacityStep, Window
from jdkmatrix.report.blocks.inline import say
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.causes import held_back
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import amount, of_metric
from jdkmatrix.report.cells.slices import Slice
from jdkmatrix.report.charts.lines import Axis
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.charts import LineFigure, Points, line_groups
from jdkmatrix.stats.percentiles import tail_checked

# The word for a step of a search, and its class in the style sheet.
OUTCOMES = {True: ("held", "ok"), False: ("did not hold", "not-steady"), None: ("invalid", "invalid")}


def _judged(fork: Fork) -> Iterator[tuple[CapacityStep, float]]:
    """Yield the judged steps by rate, with p99 in ms. Windows without any answer have no latency, and no point."""
    for step in sorted(fork.capacity.steps if fork.capacity else (), key=lambda step: step.rate_rps):
        if step.held is not None and (latency := step.window.load.corrected):
            yield step, latency.percentiles_us["99"] / 1000


def search_charts(prefix: str, piece: Slice) -> Iterator[Charts]:
    load = piece.first_load
    rates = [step.rate_rps for cell in piece.cells for fork in cell.usable for step, _ in _judged(fork)]
    if not isinstance(load, CapacityLoad) or not rates:
        return
    x = Axis("requests per second", 0, max(rates) * 1.03)
    latency = LineFigure(
        *("latency", "Latency over rate", "p99 in ms"),
        lambda fork: ((step.rate_rps, p99) for step, p99 in _judged(fork)),
        say("latency_over_rate"),
        log=True,
        marks=_windows,
        note=_held,
        reference=lambda _: [{"x": end, "y": load.p99_max_us / 1000} for end in (x.low, x.high)],
    )
    yield from line_groups(f"{prefix}-search", piece, x, (latency,))


def _windows(cell: CellStats) -> Iterator[Row]:
    for fork in cell.usable:
        for step, p99 in _judged(fork):
            text = f"fork {fork.fork}: {OUTCOMES[step.held][0]}"
            yield {"x": step.rate_rps, "y": p99, "text": text, "hollow": not step.held}


def _held(cell: CellStats) -> str:
    found = of_metric(CAPACITY, cell, why="")
    if found.sort is None:
        return "no rate was found" if cell.usable else "no usable fork"
    return f"{found.text} requests/s held"


def _p99_ms(window: Window) -> float | None:
    latency = window.load.corrected
    p99_us = tail_checked(latency, "99") if latency else None
    return None if p99_us is None else p99_us / 1000


def steps_charts(prefix: str, piece: Slice) -> Iterator[Charts]:
    steps = next((cell.kind for cell in piece.cells), None)
    forks = [fork for cell in piece.cells for fork in cell.usable]
    if not isinstance(steps, Steps) or not forks:
        return
    most = max(steps.size(window) for fork in forks for window in fork.valid_windows)

    def over(of: Callable[[Window], float | None]) -> Callable[[Fork], Points]:
        return lambda fork: (
            (steps.size(window), value) for window in fork.valid_windows if (value := of(window)) is not None
        )

    def diagonal(highest: float) -> Sequence[Row]:
        """Return the line of what was asked for, where that may be more than is answered."""
        end = min(most, highest)
        return [{"x": 0, "y": 0}, {"x": end, "y": end}] if steps.overloads else []

    figures = (
        LineFigure(
            *("throughput", f"Throughput over {steps.over}", "answered per second"),
            over(lambda window: window.load.succeeded_rps),
            f"Requests answered per second. {steps.curve}",
            marks=partial(_peaks, steps),
            note=_reached,
            reference=diagonal,
        ),
        LineFigure(
            *("cpu", f"CPU use over {steps.over}", "share of its CPU time"),
            over(lambda window: window.sut.cpu_share),
            "CPU time of the server as a share of the CPUs it has, or of its quota.",
            number_format=".0%",
            top=1.0,
        ),
        LineFigure(
            *("cost", f"CPU per request over {steps.over}", "CPU µs per request"),
            over(lambda window: window.cpu_us_per_answer or None),
            "CPU time of the server per request.",
            unit="µs",
        ),
        LineFigure(
            *("p99", f"p99 over {steps.over}", "p99 in ms"),
            over(_p99_ms),
            "Response time from the intended send time. Beyond saturation it is at least what is shown, and grows with "
            "the length of the step. The axis is logarithmic.",
            log=True,
            unit="ms",
        ),
    )
    yield from line_groups(f"{prefix}-steps", piece, Axis(steps.axis, 0, most * 1.03), figures)


def remarks(cell: CellStats) -> tuple[str, ...]:
    """Return remarks on a cell's saturation; none for loads other than steps."""
    kind = cell.kind
    if not isinstance(kind, Steps):
        return ()
    found = []
    if bounds := [block for block, figure in cell.figures(SATURATED).items() if figure.bound is not Bound.NONE]:
        most = max(kind.size(window) for fork in cell.usable if fork.fork in bounds for window in fork.windows)
        found.append(
            f"its maximum was not seen in {len(bounds)} of {plural(len(cell.usable), 'fork')}, {kind.up_to(most)}: it "
            "was not saturated, or a gate refused the step in which it answered most",
        )
    return tuple(filter(None, (*found, held_back(cell))))


def _peaks(kind: Steps[Any], cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        reached = cell.figures(SATURATED)[fork.fork]
        most = reached.bound.signed(f"{amount(SATURATED, reached.value)} requests/s")
        yield {"x": kind.size(best_window(fork)), "y": reached.value, "text": f"fork {fork.fork}: {most}"}


def _reached(cell: CellStats) -> str:
    peak = of_metric(SATURATED, cell, why="")
    if peak.sort is None:
        return "no usable fork"
    forks = len(cell.usable)
    mean = f", mean of {forks} forks" if forks > 1 else ""
    return f"{peak.text} requests/s in the best step{mean}"
