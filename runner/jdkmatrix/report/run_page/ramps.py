"""A load that rises over time: throughput, threads and response times second by second. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from jdkmatrix.domain.quantities import digits, plural, rate_words
from jdkmatrix.figures.metrics import KNEE, THROUGHPUT, TIME_TO_PEAK, Metric
from jdkmatrix.loads.attainment import failed_by_itself
from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad, RisingLoad
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.windows import Sample
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import amount
from jdkmatrix.report.charts.lines import Axis, lines
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.charts import ChartPlace, LineFigure, Points, line_group
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

_LEVEL_RULES: dict[type[RisingLoad], str] = {
    RampedLoad: "the last rate that was asked for",
    JoinedLoad: f"that of the last {STEADY_SECONDS} seconds, if it is held for {HELD_SHARE:.0%} of the load",
}
KNEE_RULE = (
    f"the first of {KNEE_SECONDS} seconds in a row with a p99 above {KNEE_FACTOR:g} times the lowest median of any "
    f"{KNEE_SECONDS} seconds in a row, where a request that fails takes longer than any answer"
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


def _percentile(name: str) -> Callable[[Fork], Points]:
    def points(fork: Fork) -> Points:
        for window in fork.valid_windows:
            for interval in window.load.intervals:
                value: float | None = getattr(interval, name)
                yield interval.t_s, value / 1000 if value else None

    return points


def _sampled(figure: Callable[[Sample], float | None]) -> Callable[[Fork], Points]:
    def points(fork: Fork) -> Points:
        for window in fork.valid_windows:
            for sample in fork.samples:
                if 0 <= sample.t_s - window.t_s <= window.load.duration_s:
                    yield sample.t_s - window.t_s, figure(sample)

    return points


_answered = _sampled(lambda sample: 1.0 if sample.gauges else None)

_THROUGHPUT = LineFigure(
    "throughput",
    "Throughput second by second",
    "answered per second",
    lambda fork: ((second.t_s, second.completed_rps) for second in seconds_of(fork)),
    "Requests answered per second; a dashed line is the rate that was asked for.",
)
_POOL = LineFigure(
    "pool",
    "Size of the pool",
    "threads",
    _sampled(lambda sample: sample.gauges.pool_size if sample.gauges else None),
    "Threads of what runs the requests: of the server's pool, or of the executor that took its place.",
)
_THREADS = LineFigure(
    "threads",
    "Platform threads of the process",
    "threads",
    _sampled(lambda sample: sample.threads),
    "All of them: of the pool, of the server, of the JVM.",
)
_P50 = LineFigure("p50", "Median response time", "p50 in ms", _percentile("p50_us"), log=True)
_P99 = LineFigure("p99", "p99 second by second", "p99 in ms", _percentile("p99_us"), log=True)
_MAX = LineFigure("max", "Slowest response", "maximum in ms", _percentile("max_us"), log=True)


def ramp_charts(place: ChartPlace) -> Iterator[Charts]:
    """A group for each figure, in it a chart for each JDK and condition, all on the same scales."""
    load = place.piece.first_load
    if not isinstance(load, RisingLoad) or not any(cell.usable for cell in place.piece.cells):
        return
    time = Axis("seconds since the load began", 0, load.duration_s, number_format="~f")
    since, offered = _SINCE[type(load)], _offered(load)
    asked: list[Row] = []
    p99 = line_group(replace(_P99, words=since), place, time)
    if isinstance(load, RampedLoad):
        told = partial(_came_to, KNEE, "knee at {} requests/s", "no knee")
        knees = replace(_P99, words=f"{since} A dot marks the knee: {KNEE_RULE}.")
        asked, p99 = offered, line_group(knees, place, time, marks=_knees, note=told)
    peaks = f"{_THROUGHPUT.words} A dot marks the peak: {peak_rule(load)}."
    yield _offered_group(place, load, time)
    note = partial(_came_to, TIME_TO_PEAK, "peak after {} s", "peak not reached")
    throughput = replace(_THROUGHPUT, words=peaks)
    groups = (
        line_group(throughput, place, time, marks=_peaks, reference=lambda _: asked, note=note),
        line_group(_POOL, place, time, note=_unread),
        line_group(_THREADS, place, time),
        line_group(replace(_P50, words=since), place, time),
        p99,
        line_group(replace(_MAX, words=since), place, time),
    )
    yield from filter(None, groups)


def became(cell: CellStats) -> Iterator[str]:
    """What became of it, in a sentence; nothing where its load is no ramp."""
    load = cell.load
    if not isinstance(load, RisingLoad) or not cell.usable:
        return
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
    yield "; ".join([*words, *hit[:1]]) + ("" if hit else ".")


def _highest(load: RampedLoad) -> str:
    return rate_words(max(rate for _, rate in load.points))


def _offered_group(place: ChartPlace, load: RisingLoad, time: Axis) -> Charts:
    offered, of_rate = _offered(load), isinstance(load, RampedLoad)
    spec = lines(
        [],
        x=time,
        y=Axis("requests per second" if of_rate else "connections", 0, max(float(row["y"]) for row in offered) * 1.05),
        order=place.piece.order,
        reference=offered,
        description="The rate of requests that was asked for, over time" if of_rate else "Connections, over time",
        height=110,
    )
    chart = Chart(f"{place.id_prefix}-offered", "Rate" if of_rate else "Connections", "", spec)
    return Charts("What was asked for", "The same for every fork.", (chart,), css=place.css)


def _offered(load: RisingLoad) -> list[Row]:
    """Requests per second, or connections where a closed loop asks for no rate."""
    if isinstance(load, RampedLoad):
        return [{"x": t_s, "y": rate_rps} for t_s, rate_rps in load.points]
    return [
        {"x": 0.0, "y": 0},
        {"x": load.join_s, "y": load.connections},
        {"x": load.duration_s, "y": load.connections},
    ]


def _peaks(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        if (peak_s := peak_of(fork)) is not None:
            reached = next(second.completed_rps for second in seconds_of(fork) if second.t_s == peak_s)
            text = f"fork {fork.fork}: peak after {digits(peak_s, 3)} s"
            yield {"executor": cell.key.executor, "x": peak_s, "y": reached, "text": text}


def _knees(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        seconds = seconds_of(fork)
        if bend := knee(seconds):
            p99_us = next(second.p99_us for second in seconds if second.t_s == bend.t_s)
            text = f"fork {fork.fork}: knee at {digits(bend.asked, 4)} requests/s"
            if p99_us:
                yield {"executor": cell.key.executor, "x": bend.t_s, "y": p99_us / 1000, "text": text}


def _came_to(metric: Metric, words: str, none: str, cell: CellStats) -> str:
    found = _mean(metric, cell)
    told = f"{words.format(found)}{_in(len(cell.by_block(metric)), cell)}" if found else none
    return f"{cell.key.executor}: {told}"


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
    """In how many of the forks that say something; empty where it is all of them."""
    told = cell.attained.told
    return f" in {found} of {told} forks" if found < told else ""
