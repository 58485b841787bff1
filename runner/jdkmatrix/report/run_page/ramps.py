"""A load that rises over time: throughput, threads and response times second by second. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from jdkmatrix.domain.quantities import digits, plural, rate_words
from jdkmatrix.figures.metrics import KNEE, THROUGHPUT, TIME_TO_PEAK, Metric
from jdkmatrix.loads.attainment import failed_by_itself
from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad, RisingLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Sample
from jdkmatrix.report.cells.cell_figures import amount
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.comparisons import Slice
from jdkmatrix.report.charts.curves import Axis, lines
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.charts.specs import log_domain
from jdkmatrix.report.run_page.line_charts import line_charts
from jdkmatrix.report.views import Chart, ChartGroup
from jdkmatrix.report.words.sentences import without_log_prefix
from jdkmatrix.stats.ramps import (
    CAUGHT_UP_SHARE,
    HELD_SHARE,
    KNEE_FACTOR,
    KNEE_SECONDS,
    SMOOTHED_SECONDS,
    STEADY_SECONDS,
    WAITING_MAX_S,
    backlog_until_s,
    knee,
    peak_of,
    seconds_of,
)

_Points = Callable[[Fork], Iterable[tuple[float, float | None]]]

_LEVEL_RULES: dict[type[RisingLoad], str] = {
    RampedLoad: "the last rate that was asked for",
    JoinedLoad: f"that of the last {STEADY_SECONDS} seconds, if it is held for {HELD_SHARE:.0%} of the load",
}
KNEE_RULE = (
    f"the first of {KNEE_SECONDS} seconds in a row with a p99 above {KNEE_FACTOR:g} times the lowest median of any "
    f"{KNEE_SECONDS} seconds in a row"
)
_SINCE: dict[type[RisingLoad], str] = {
    RampedLoad: "From the intended send time.",
    JoinedLoad: "From when the request was sent: a slow answer delays the next request.",
}


def peak_rule(load: RisingLoad) -> str:
    return (
        f"the end of the first second from which on at least {CAUGHT_UP_SHARE:.0%} of the level is answered, as the "
        f"median of {SMOOTHED_SECONDS} seconds, while no more requests are in flight than this level needs at the "
        f"shortest response time (Little’s law) and those of {WAITING_MAX_S:g} s; the level is "
        f"{_LEVEL_RULES[type(load)]}"
    )


@dataclass(frozen=True)
class _Figure:
    id: str
    title: str
    words: str
    axis: str
    points: _Points
    log: bool = False
    offered: bool = False  # draw the offered rate beside it
    since: bool = False  # a latency: the words say from when on
    mark: str = ""  # what a dot marks, after the words

    def words_for(self, load: RisingLoad) -> str:
        rule = {"peak": peak_rule(load), "knee": KNEE_RULE if isinstance(load, RampedLoad) else ""}.get(self.mark)
        since = [_SINCE[type(load)]] if self.since else []
        return " ".join([*since, self.words, *([f"A dot marks the {self.mark}: {rule}."] if rule else [])]).strip()


def _completed(fork: Fork) -> Iterable[tuple[float, float | None]]:
    return ((second.t_s, second.completed_rps) for second in seconds_of(fork))


def _percentile(name: str) -> _Points:
    def points(fork: Fork) -> Iterable[tuple[float, float | None]]:
        for window in fork.valid_windows:
            for interval in window.load.intervals:
                value: float | None = getattr(interval, name)
                yield interval.t_s, value / 1000 if value else None

    return points


def _sampled(figure: Callable[[Sample], float | None]) -> _Points:
    def points(fork: Fork) -> Iterable[tuple[float, float | None]]:
        for window in fork.valid_windows:
            for sample in fork.samples:
                if 0 <= sample.t_s - window.t_s <= window.load.duration_s:
                    yield sample.t_s - window.t_s, figure(sample)

    return points


_answered = _sampled(lambda sample: 1.0 if sample.gauges else None)

_FIGURES = (
    _Figure(
        "throughput",
        "Throughput second by second",
        "Requests answered per second; a dashed line is the rate that was asked for.",
        "answered per second",
        _completed,
        offered=True,
        mark="peak",
    ),
    _Figure(
        "pool",
        "Size of the pool",
        "Threads of what runs the requests: of the server's pool, or of the executor that took its place.",
        "threads",
        _sampled(lambda sample: sample.gauges.pool_size if sample.gauges else None),
    ),
    _Figure(
        "threads",
        "Platform threads of the process",
        "All of them: of the pool, of the server, of the JVM.",
        "threads",
        _sampled(lambda sample: sample.threads),
    ),
    _Figure("p50", "Median response time", "", "p50 in ms", _percentile("p50_us"), log=True, since=True),
    _Figure(
        "p99",
        "p99 second by second",
        "",
        "p99 in ms",
        _percentile("p99_us"),
        log=True,
        since=True,
        mark="knee",
    ),
    _Figure("max", "Slowest response", "", "maximum in ms", _percentile("max_us"), log=True, since=True),
)


def ramp_groups(id_prefix: str, piece: Slice, order: Sequence[str]) -> tuple[ChartGroup, ...]:
    """A group for each figure, in it a chart for each JDK and condition, all on the same scales."""
    load = next((cell.load for cell in piece.cells), None)
    if not isinstance(load, RisingLoad) or not any(cell.usable for cell in piece.cells):
        return ()
    time = Axis("seconds since the load began", 0, load.duration_s, number_format="~f")
    groups = [_offered_group(id_prefix, load, time, order)]
    for figure in _FIGURES:
        values = [float(row["y"]) for cell in piece.cells for row in _rows(figure, cell) if row["y"]]
        if not values:
            continue
        offered = _offered(load) if figure.offered and isinstance(load, RampedLoad) else []
        top = max([*values, *(float(row["y"]) for row in offered)])
        low, high = log_domain(values) if figure.log else (0.0, top * 1.05)
        charts = line_charts(
            f"{id_prefix}-{figure.id}",
            figure.title,
            piece,
            order,
            x=time,
            y=Axis(figure.axis, low, high, log=figure.log),
            rows=partial(_rows, figure),
            marks=partial(_marks, figure.id),
            reference=offered,
            note=partial(_note, figure.id),
        )
        groups.append(ChartGroup(figure.title, figure.words_for(load), charts))
    return tuple(groups)


def observed(piece: Slice, order: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """By JDK: what became of each executor, in a sentence; empty where the load is no ramp."""
    found: dict[str, list[tuple[str, str]]] = {}
    for cell in sorted(piece.cells, key=lambda cell: order.index(cell.key.executor)):
        load = cell.load
        if isinstance(load, RisingLoad) and cell.usable:
            found.setdefault(cell.key.jdk, []).append((cell.key.executor, _became(cell, load)))
    return found


def _became(cell: CellStats, load: RisingLoad) -> str:
    words = []
    if isinstance(load, JoinedLoad):
        found, level = _mean(TIME_TO_PEAK, cell), _mean(THROUGHPUT, cell)
        peak = f"came to its level after {found} s" if found else "came to no level that it held"
        words.append(peak + _in(cell.attained.yes if found else cell.attained.no, cell))
        words += [f"answered {level} requests/s at the end"] if level else []
    elif load.ends_level:
        highest, found = _highest(load), _mean(TIME_TO_PEAK, cell)
        peak = f"reached {highest} requests/s after {found} s" if found else f"did not reach {highest} requests/s"
        words.append(peak + _in(cell.attained.yes if found else cell.attained.no, cell))
        backlogs = [until for fork in cell.usable if (until := backlog_until_s(seconds_of(fork))) is not None]
        if backlogs:
            words.append(f"its backlog was worked off after {digits(max(backlogs), 3)} s at the latest")
    else:
        found = _mean(KNEE, cell)
        if cell.attained.yes:
            words.append(f"no knee up to {_highest(load)} requests/s{_in(cell.attained.yes, cell)}")
        if found:
            words.append(f"knee at {found} requests/s{_in(len(cell.by_block(KNEE)), cell)}")
    windows = [window for fork in cell.usable for window in fork.valid_windows]
    medians_us = [one.p50_us for window in windows for one in window.load.intervals if one.p50_us]
    if worst_us := max(medians_us, default=None):
        took = f"{digits(worst_us / 1e6, 3)} s" if worst_us >= 1e6 else f"{digits(worst_us / 1e3, 3)} ms"
        words.append(f"its median response took up to {took} in the worst second")
    if failed := sum(failed_by_itself(fork) for fork in cell.record.forks):
        words.append(f"the server failed in {failed} of {cell.attained.told} forks")
    hit = [without_log_prefix(outcome.message) for fork in cell.usable for outcome in fork.outcomes]
    return "; ".join([*words, *hit[:1]]) + ("" if hit else ".")


def _highest(load: RampedLoad) -> str:
    return rate_words(max(rate for _, rate in load.points))


def _offered_group(id_prefix: str, load: RisingLoad, time: Axis, order: Sequence[str]) -> ChartGroup:
    offered, of_rate = _offered(load), isinstance(load, RampedLoad)
    spec = lines(
        [],
        x=time,
        y=Axis("requests per second" if of_rate else "connections", 0, max(float(row["y"]) for row in offered) * 1.05),
        order=order,
        reference=offered,
        description="The rate of requests that was asked for, over time" if of_rate else "Connections, over time",
        height=110,
    )
    chart = Chart(f"{id_prefix}-offered", "Rate" if of_rate else "Connections", "", spec)
    return ChartGroup("What was asked for", "The same for every fork.", (chart,), by_executor=False)


def _offered(load: RisingLoad) -> list[Row]:
    """Requests per second, or connections where a closed loop asks for no rate."""
    if isinstance(load, RampedLoad):
        return [{"x": t_s, "y": rate_rps} for t_s, rate_rps in load.points]
    return [
        {"x": 0.0, "y": 0},
        {"x": load.join_s, "y": load.connections},
        {"x": load.duration_s, "y": load.connections},
    ]


def _rows(figure: _Figure, cell: CellStats) -> Iterable[Row]:
    return (
        {"executor": cell.key.executor, "fork": fork.fork, "x": t_s, "y": value or None if figure.log else value}
        for fork in cell.usable
        for t_s, value in figure.points(fork)
    )


def _marks(figure: str, cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        seconds = seconds_of(fork)
        by_time = {second.t_s: second for second in seconds}
        peak_s, bend = peak_of(fork), knee(seconds) if isinstance(cell.load, RampedLoad) else None
        if figure == "throughput" and peak_s is not None:
            text = f"fork {fork.fork}: peak after {digits(peak_s, 3)} s"
            yield {"executor": cell.key.executor, "x": peak_s, "y": by_time[peak_s].completed_rps, "text": text}
        p99_us = by_time[bend.t_s].p99_us if bend else None
        if figure == "p99" and bend and p99_us:
            text = f"fork {fork.fork}: knee at {digits(bend.asked, 4)} requests/s"
            yield {"executor": cell.key.executor, "x": bend.t_s, "y": p99_us / 1000, "text": text}


def _note(figure: str, cell: CellStats) -> str:
    if figure == "throughput":
        found = _mean(TIME_TO_PEAK, cell)
        words = f"peak after {found} s" if found else "peak not reached"
        return f"{cell.key.executor}: {words}{_in(len(cell.by_block(TIME_TO_PEAK)), cell) if found else ''}"
    if figure == "p99" and isinstance(cell.load, RampedLoad):
        found = _mean(KNEE, cell)
        words = f"knee at {found} requests/s" if found else "no knee"
        return f"{cell.key.executor}: {words}{_in(len(cell.by_block(KNEE)), cell) if found else ''}"
    return _unread(cell) if figure == "pool" else ""


def _unread(cell: CellStats) -> str:
    """A server whose threads are all busy has none for our question. Where it never answered, it was never asked."""
    asked = [fork for fork in cell.usable if any(sample.gauges for sample in fork.samples)]
    answers = [answered for fork in asked for _, answered in _answered(fork)]
    unread = answers.count(None)
    if not unread:
        return ""
    of = plural(len(answers), "reading")
    return f"{cell.key.executor}: {unread} of {of} missing, the server did not answer in time"


def _mean(metric: Metric, cell: CellStats) -> str | None:
    """Over the forks that came to it; how many did not, the words beside it say."""
    values = cell.by_block(metric).values()
    return amount(metric, statistics.geometric_mean(values)) if values else None


def _in(found: int, cell: CellStats) -> str:
    """Of the forks that say something; empty where it is all of them."""
    told = cell.attained.told
    return f" in {found} of {told} forks" if found < told else ""
