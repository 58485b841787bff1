"""Loads of several rates: how the highest rate that holds was looked for, and constant rates one after another, up to
saturation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from jdkmatrix.domain.quantities import digits, plural
from jdkmatrix.figures.metrics import CAPACITY, SATURATED
from jdkmatrix.loads.base import Bound, offered_rps
from jdkmatrix.loads.kinds.capacity_search import CapacityLoad
from jdkmatrix.loads.kinds.rising_steps import StepsLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import CapacityStep, Window
from jdkmatrix.report.blocks.inline import say
from jdkmatrix.report.blocks.kinds import Charts
from jdkmatrix.report.cells.advice import best, held_back
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import amount, of_metric
from jdkmatrix.report.charts.lines import Axis
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.charts import ChartPlace, LineFigure, Points, line_groups

# The word for a step of a search, and its class in the style sheet.
OUTCOMES = {True: ("held", "ok"), False: ("did not hold", "not-steady"), None: ("invalid", "invalid")}


def p99_ms(window: Window) -> float | None:
    latency = window.load.corrected
    return latency.percentiles_us["99"] / 1000 if latency else None


def _judged(fork: Fork) -> Iterator[tuple[CapacityStep, float]]:
    """By rate, with p99 in ms. Windows in which nothing was answered have no latency, and no point."""
    for step in sorted(fork.capacity.steps if fork.capacity else (), key=lambda step: step.rate_rps):
        if step.held is not None and (p99 := p99_ms(step.window)) is not None:
            yield step, p99


def search_charts(place: ChartPlace) -> Iterator[Charts]:
    load = place.piece.first_load
    rates = [step.rate_rps for cell in place.piece.cells for fork in cell.usable for step, _ in _judged(fork)]
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
    yield from line_groups(place, x, (latency,))


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


def _over_offered(of: Callable[[Window], float | None]) -> Callable[[Fork], Points]:
    return lambda fork: (
        (_offered(window), value) for window in fork.valid_windows if (value := of(window)) is not None
    )


def steps_charts(place: ChartPlace) -> Iterator[Charts]:
    forks = [fork for cell in place.piece.cells if isinstance(cell.load, StepsLoad) for fork in cell.usable]
    if not forks:
        return
    fastest = max(offered for fork in forks for window in fork.valid_windows if (offered := _offered(window)))

    def diagonal(highest: float) -> Sequence[Row]:
        end = min(fastest, highest)
        return [{"x": 0, "y": 0}, {"x": end, "y": end}]

    figures = (
        LineFigure(
            *("throughput", "Throughput over offered load", "answered per second"),
            _over_offered(lambda window: window.load.succeeded_rps),
            "Requests answered per second. On the dashed line everything that was asked for was answered; where a "
            "curve leaves it, the server is saturated. The dot is the most that a fork reached; one that kept up with "
            "the highest rate can do at least that (≥).",
            marks=_peaks,
            note=_reached,
            reference=diagonal,
        ),
        LineFigure(
            *("cpu", "CPU use over offered load", "share of its CPUs"),
            _over_offered(lambda window: window.sut.cpu_share),
            "CPU time of the server as a share of the CPUs it has.",
            number_format=".0%",
            top=1.0,
        ),
        LineFigure(
            *("cost", "CPU per request over offered load", "CPU µs per request"),
            _over_offered(lambda window: window.cpu_us_per_answer or None),
            "CPU time of the server per request.",
        ),
        LineFigure(
            *("p99", "p99 over offered load", "p99 in ms"),
            _over_offered(p99_ms),
            "Response time from the intended send time. Beyond saturation it grows with the length of the step. The "
            "axis is logarithmic.",
            log=True,
        ),
    )
    yield from line_groups(place, Axis("offered requests per second", 0, fastest * 1.03), figures)


def remarks(cell: CellStats) -> tuple[str, ...]:
    """Remarks on its saturation; none for other loads than rising steps."""
    if not isinstance(cell.load, StepsLoad):
        return ()
    found = []
    if bounds := [block for block, figure in cell.figures(SATURATED).items() if figure.bound is not Bound.NONE]:
        most_rps = max(_offered(window) for fork in cell.usable if fork.fork in bounds for window in fork.windows)
        found.append(
            f"not seen saturated in {len(bounds)} of {plural(len(cell.usable), 'fork')}, offered up to "
            f"{digits(most_rps, 4)} requests/s: the most that it can do was not reached",
        )
    return tuple(filter(None, (*found, held_back(cell))))


def _offered(window: Window) -> float:
    return offered_rps(window) or 0.0


def _peaks(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        reached = cell.figures(SATURATED)[fork.fork]
        most = f"{reached.bound.value} {amount(SATURATED, reached.value)} requests/s".lstrip()
        yield {"x": _offered(best(fork)), "y": reached.value, "text": f"fork {fork.fork}: {most}"}


def _reached(cell: CellStats) -> str:
    peak = of_metric(SATURATED, cell, why="")
    if peak.sort is None:
        return "no usable fork"
    # "≥ 6,000 requests/s at most" would be none of both.
    return f"{peak.text} requests/s{'' if peak.text.startswith('≥') else ' at most'}"
