"""Lines over time: where the servers' memory is, and second by second what a rising load did. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from jdkmatrix.domain.quantities import digits, per_cent, plural, rate_words
from jdkmatrix.figures.metrics import KNEE, THROUGHPUT, TIME_TO_PEAK, Metric
from jdkmatrix.loads.attainment import failed_by_itself
from jdkmatrix.loads.base import Steps
from jdkmatrix.loads.kinds.ramps import JoinedLoad, RampedLoad, RisingLoad
from jdkmatrix.probes.attribution import DIRECT_BUFFERS
from jdkmatrix.probes.native_memory import Origin
from jdkmatrix.records.forks import Fork
from jdkmatrix.records.memory import UNATTRIBUTED, MemoryReading
from jdkmatrix.records.windows import Sample
from jdkmatrix.report.blocks.inline import fill, joined
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.shown import amount
from jdkmatrix.report.cells.slices import Slice
from jdkmatrix.report.charts.lines import Axis, lines, stacked
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.run_page.charts import LineFigure, Points, line_groups
from jdkmatrix.report.words.sentences import without_log_prefix
from jdkmatrix.stats import ramps
from jdkmatrix.stats.forks import fork_readings_us
from jdkmatrix.stats.percentiles import MIN_BEYOND

_MIB = 1024 * 1024
# From bottom to top; the palette of origins has eight colours.
HEAP, STACKS, DIRECT, CLASSES, CODE, FILES, MALLOC, REST = GROUPS = (
    "Java heap",
    "thread stacks",
    "direct buffers",
    "classes",
    "code and collector",
    "libraries and files",
    "other malloc",
    "not attributed",
)
_GROUP_OF = {
    Origin.JAVA_HEAP.value: HEAP,
    Origin.THREAD_STACKS.value: STACKS,
    DIRECT_BUFFERS: DIRECT,
    **dict.fromkeys((Origin.METASPACE.value, Origin.CLASS_SPACE.value, Origin.CLASS_ARCHIVE.value), CLASSES),
    **dict.fromkeys((Origin.CODE_CACHE.value, Origin.GARBAGE_COLLECTOR.value), CODE),
    **dict.fromkeys(("libjvm.so", "other libraries", "other files"), FILES),
    UNATTRIBUTED: REST,
}


def memory_charts(prefix: str, piece: Slice) -> Iterator[Charts]:
    """Yield the stack of every executor's last fork, then single figures of all forks; all on the same scales."""
    readings = [one for cell in piece.cells for fork in cell.usable for one in fork.memory]
    if not readings:
        return
    time = Axis("seconds since the server's start", 0, max(one.t_s for one in readings), number_format="~f")
    yield _stacks(f"{prefix}-memory-stack", piece, time, max(one.rss_bytes for one in readings) / _MIB)
    yield from line_groups(f"{prefix}-memory", piece, time, (_memory(*figure) for figure in _MEMORY))


_MEMORY = (
    ("rss_bytes", "Resident memory", "RSS", "RSS, as the kernel counts it."),
    ("virt_bytes", "Virtual size", "virtual size", "Address space, not memory: what top calls VIRT."),
    ("heap_committed_bytes", "Heap committed", "committed heap", "What the collector has asked the kernel for."),
    ("heap_used_bytes", "Heap used", "used heap", "Live objects and garbage that has not been collected yet."),
)


def _memory(figure: str, title: str, axis: str, words: str) -> LineFigure:
    """Build a figure in MiB, with its mean at the end beside the chart."""

    def points(fork: Fork) -> Points:
        for one in fork.memory:
            value: float | None = getattr(one, figure)
            yield one.t_s, None if value is None else value / _MIB

    def mean_at_end(cell: CellStats) -> str:
        ends = [end for fork in cell.usable if fork.memory and (end := list(points(fork))[-1][1]) is not None]
        return f"{digits(sum(ends) / len(ends), 3)} MiB" if ends else ""

    words += " Beside the chart: the mean over forks at the end."
    name = figure.removeprefix("heap_").removesuffix("_bytes")
    return LineFigure(name, title, f"{axis} in MiB", points, words, note=mean_at_end)


def readings_words(piece: Slice) -> str | None:
    """Say what CPU per request leaves out; None where nothing was read. A ramp's is worked out from samples of the
    whole process and leaves out nothing; that of steps is of one step, and this would be of all."""
    cells = [cell for cell in piece.cells if not (cell.kind.cost_is_sampled or isinstance(cell.kind, Steps))]
    costs = [us for cell in cells for fork in cell.usable if (us := fork_readings_us(fork))]
    if not costs:
        return None
    low, high = (digits(us, 2) for us in (min(costs), max(costs)))
    how_much = low if low == high else f"{low} to {high}"
    return f"Not counted: what our own readings of its memory took, {how_much} µs per request, fork by fork."


def grouped(reading: MemoryReading) -> dict[str, float]:
    """Return the MiB of each group; they sum to RSS."""
    found = dict.fromkeys(GROUPS, 0.0)
    for origin, size in reading.resident.items():
        found[_GROUP_OF.get(origin, MALLOC if origin.startswith("malloc") else REST)] += size / _MIB
    return found


def _stacks(prefix: str, piece: Slice, time: Axis, highest_mib: float) -> Charts:
    size = Axis("resident MiB", 0, highest_mib * 1.05)
    charts = []
    for number, (title, cells) in enumerate(piece.conditions()):
        for cell in cells:
            fork = next((fork for fork in reversed(cell.usable) if fork.memory), None)
            if fork is None:
                continue
            rows: list[Row] = [
                {"origin": group, "place": slot, "x": one.t_s, "y": mib}
                for one in fork.memory
                for slot, (group, mib) in enumerate(grouped(one).items())
            ]
            totals = [{"name": "PSS", "x": one.t_s, "y": one.pss_bytes / _MIB} for one in fork.memory]
            whose = f"{cell.key.executor} on {title}"
            told = f"Resident memory by origin over time: {whose}"
            drawing = stacked(rows, x=time, y=size, origins=GROUPS, totals=totals, description=told)
            id = f"{prefix}-{number}-{piece.order.index(cell.key.executor)}"
            charts.append(Chart(id, f"{whose}, fork {fork.fork}", _at_the_end(fork.memory[-1]), drawing))
    words = (
        "Resident memory by origin; the stack's height is RSS, the line PSS. Heap, stacks, code and files are counted "
        "page by page; what malloc holds is split by what the JVM says it has allocated there."
    )
    key = tuple(joined(fill(f"o{slot}"), name) for slot, name in enumerate(GROUPS))
    return Charts("Where the memory is", words, tuple(charts), key, f"by-{piece.beside}")


def _at_the_end(last: MemoryReading) -> str:
    """Name the largest groups at the end, and what could not be read."""
    largest = sorted(grouped(last).items(), key=lambda pair: -pair[1])[:4]
    parts = ", ".join(f"{name} {digits(mib, 3)}" for name, mib in largest)
    missing = f" Not known: {'; '.join(last.missing)}." if last.missing else ""
    return f"At the end {digits(last.rss_bytes / _MIB, 3)} MiB: {parts}.{missing}"


# The rule uses such seconds, too, several in a row; so they are shown.
_FEW = f"In seconds with fewer than {MIN_BEYOND * 100:,} answers it depends on single requests."
KNEE_RULE = (
    f"the first of {ramps.KNEE_SECONDS} seconds in a row with a p99 above {ramps.KNEE_FACTOR:g} times the lowest "
    f"median of any {ramps.KNEE_SECONDS} seconds in a row, where a failed request counts as slower than any answer"
)


def peak_rule(load: RisingLoad) -> str:
    level = f"what the last {per_cent(ramps.HELD_SHARE)} of the load came to, if it is held for as long"
    if isinstance(load, RampedLoad):
        level = "the last rate that was asked for"
    return (
        f"the end of the first second from which at least {per_cent(ramps.CAUGHT_UP_SHARE)} of the level is answered "
        f"(as the median of {ramps.CALM_SECONDS} seconds in it, and from it on in each stretch of "
        f"{ramps.TOLD_BY_ANSWERS:,} answers, without its slowest second), while no more requests are in flight than "
        f"this level needs at the shortest response time (Little’s law), plus those of {ramps.WAITING_MAX_S:g} s; the "
        f"level is {level}"
    )


def _percentile(name: str) -> Callable[[Fork], Points]:
    """Return a function that reads a percentile of a fork over time, in ms."""
    return lambda fork: (
        (interval.t_s, value_us / 1000 if (value_us := getattr(interval, name)) else None)
        for window in fork.valid_windows
        for interval in window.load.intervals
    )


def _sampled(figure: Callable[[Sample], float | None]) -> Callable[[Fork], Points]:
    return lambda fork: (
        (sample.t_s - window.t_s, figure(sample))
        for window in fork.valid_windows
        for sample in fork.samples
        if 0 <= sample.t_s - window.t_s <= window.load.duration_s
    )


def ramp_charts(prefix: str, piece: Slice) -> Iterator[Charts]:
    """Yield the rate or connections that a ramp offered, over time, then a group of charts for each figure; nothing for
    other loads."""
    load = piece.first_load
    if not isinstance(load, RisingLoad) or not any(cell.usable for cell in piece.cells):
        return
    time = Axis("seconds since the load began", 0, load.duration_s, number_format="~f")
    named = ("p99", "p99 second by second", "p99 in ms")
    p99_with = partial(LineFigure, *named, _percentile("p99_us"), log=True, unit="ms")
    # Requests per second, or connections where a closed loop asks for no rate.
    if isinstance(load, RampedLoad):
        offered: list[Row] = [{"x": t_s, "y": rate_rps} for t_s, rate_rps in load.points]
        title, axis, told = "Rate", "requests per second", "The rate of requests that was asked for, over time"
        since = "From the intended send time."
        note = partial(_came_to, KNEE, "knee at {} requests/s", "no knee")
        p99 = p99_with(f"{since} {_FEW} A dot marks the knee: {KNEE_RULE}.", marks=_knees, note=note)
    else:
        joined_by = ((0.0, 0), (load.join_s, load.connections), (load.duration_s, load.connections))
        offered = [{"x": t_s, "y": connections} for t_s, connections in joined_by]
        title, axis, told = "Connections", "connections", "Connections, over time"
        since = "From when the request was sent: a slow answer delays the next request."
        p99 = p99_with(f"{since} {_FEW}")
    ends = [float(row["y"]) for row in offered]
    highest = Axis(axis, 0, max(ends) * 1.05)
    asked = lines([], x=time, y=highest, order=piece.order, reference=offered, description=told, height=110)
    first_s = next(float(row["x"]) for row in offered if float(row["y"]) == max(ends))
    when = f"the highest first after {digits(first_s, 3)} s of {digits(load.duration_s, 3)} s"
    words = f"{rate_words(min(ends))} to {rate_words(max(ends))} {axis}, {when}"
    chart = Chart(f"{prefix}-ramp-offered", title, words, asked)
    yield Charts("What was asked for", "The same for every fork.", (chart,), css=f"by-{piece.beside}")
    asked_for = "; a dashed line is the rate that was asked for" if isinstance(load, RampedLoad) else ""
    figures = (
        LineFigure(
            *("throughput", "Throughput second by second", "answered per second"),
            lambda fork: ((second.t_s, second.completed_rps) for second in ramps.seconds_of(fork)),
            f"Requests answered per second{asked_for}. A dot marks the peak: {peak_rule(load)}.",
            marks=_peaks,
            note=partial(_came_to, TIME_TO_PEAK, "peak after {} s", "peak not reached"),
            reference=lambda _: offered if isinstance(load, RampedLoad) else (),
        ),
        LineFigure(
            *("pool", "Size of the pool", "threads"),
            _sampled(lambda sample: sample.gauges.pool_size if sample.gauges else None),
            "Threads that run requests: of the server's pool, or of the executor that took its place.",
            note=_unread,
        ),
        LineFigure(
            *("threads", "Platform threads of the process", "threads"),
            _sampled(lambda sample: sample.threads),
            "All of them: of the pool, of the server, of the JVM.",
        ),
        LineFigure("p50", "Median response time", "p50 in ms", _percentile("p50_us"), since, log=True, unit="ms"),
        p99,
        LineFigure("max", "Slowest response", "maximum in ms", _percentile("max_us"), since, log=True, unit="ms"),
    )
    yield from line_groups(f"{prefix}-ramp", piece, time, figures)


def became(cell: CellStats) -> Iterator[str]:
    """Yield a sentence on how the forks of `cell` fared under a ramp; nothing under other loads."""
    load = cell.load
    if not isinstance(load, RisingLoad) or not cell.usable:
        return
    words, attained = [], cell.attained
    found = _mean(TIME_TO_PEAK, cell)
    in_forks = _in(attained.yes if found else attained.no, cell)
    if isinstance(load, JoinedLoad):
        level = _mean(THROUGHPUT, cell)
        peak = f"reached its level after {found} s" if found else "reached no level that it held"
        words.append(peak + in_forks)
        words += [f"answered {level} requests/s at the end"] if level else []
    else:
        highest = f"{rate_words(max(rate for _, rate in load.points))} requests/s"
        if load.ends_level:
            level = f"{rate_words(load.points[-1][1])} requests/s"
            words.append((f"reached {level} after {found} s" if found else f"did not reach {level}") + in_forks)
            caught_up = (fork for fork in cell.usable if ramps.peak_of(fork) is not None)
            ends_s = (ramps.backlog_until_s(ramps.seconds_of(fork)) for fork in caught_up)
            if worked_off_s := [end_s for end_s in ends_s if end_s is not None]:
                words.append(f"its backlog was worked off after {digits(max(worked_off_s), 3)} s at the latest")
        else:
            if attained.yes:
                words.append(f"no knee up to {highest}{_in(attained.yes, cell)}")
            if bend := _mean(KNEE, cell):
                words.append(f"knee at {bend} requests/s{_in(len(cell.by_block(KNEE)), cell)}")
    windows = [window for fork in cell.usable for window in fork.valid_windows]
    medians_us = [one.p50_us for window in windows for one in window.load.intervals if one.p50_us]
    if worst_us := max(medians_us, default=None):
        took = f"{digits(worst_us / 1e6, 3)} s" if worst_us >= 1e6 else f"{digits(worst_us / 1e3, 3)} ms"
        words.append(f"its median response took up to {took} in the worst second")
    if failed := sum(failed_by_itself(fork) for fork in cell.record.forks):
        words.append(f"the server failed in {failed} of {plural(attained.told, 'fork')}")
    hit = [without_log_prefix(outcome.message) for fork in cell.usable for outcome in fork.outcomes]
    yield "; ".join([*words, *hit[:1]]) + ("" if hit else ".")


def _peaks(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        if (peak_s := ramps.peak_of(fork)) is not None:
            reached = next(second.completed_rps for second in ramps.seconds_of(fork) if second.t_s == peak_s)
            yield {"x": peak_s, "y": reached, "text": f"fork {fork.fork}: peak after {digits(peak_s, 3)} s"}


def _knees(cell: CellStats) -> Iterable[Row]:
    for fork in cell.usable:
        bend = ramps.knee(ramps.seconds_of(fork))
        if bend and bend.p99_us:
            text = f"fork {fork.fork}: knee at {digits(bend.asked, 4)} requests/s"
            yield {"x": bend.t_s, "y": bend.p99_us / 1000, "text": text}


def _came_to(metric: Metric, words: str, none: str, cell: CellStats) -> str:
    found = _mean(metric, cell)
    if found is None:
        return none if cell.usable else "no usable fork"
    return f"{words.format(found)}{_in(len(cell.by_block(metric)), cell)}"


def _unread(cell: CellStats) -> str:
    """Count missing readings: a busy server has no thread for our question. One that never answered was never asked."""
    asked = [fork for fork in cell.usable if any(sample.gauges for sample in fork.samples)]
    readings = _sampled(lambda sample: 1.0 if sample.gauges else None)
    answers = [answered for fork in asked for _, answered in readings(fork)]
    unread = answers.count(None)
    if not unread:
        return ""
    return f"{unread} of {plural(len(answers), 'reading')} missing, the server did not answer in time"


def _mean(metric: Metric, cell: CellStats) -> str | None:
    """Return the mean over the forks that came to it; the words beside it say how many did not."""
    values = cell.by_block(metric).values()
    return amount(metric, statistics.geometric_mean(values)) if values else None


def _in(found: int, cell: CellStats) -> str:
    """Say in how many of the forks that tell anything; empty where it is all of them."""
    told = cell.attained.told
    return f" in {found} of {plural(told, 'fork')}" if found < told else ""
