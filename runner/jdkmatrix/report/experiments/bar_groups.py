"""Which figures of which cells are drawn beside each other. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.config.experiments import ExperimentName
from jdkmatrix.records.loads import CellKey, CountLoad
from jdkmatrix.report.charts import Row
from jdkmatrix.report.experiments.bars import Scale, expected_bars
from jdkmatrix.report.experiments.cells import ExperimentCell, Part
from jdkmatrix.report.experiments.pinning_heat import construct
from jdkmatrix.report.experiments.views import BarGroup
from jdkmatrix.report.experiments.words import load_of, measure, outcome_words
from jdkmatrix.report.numbers import plural
from jdkmatrix.report.views import Chart
from jdkmatrix.report.wording import delay_words, work_words
from jdkmatrix.stats.experiments import Spread, figures


@dataclass(frozen=True)
class Drawn:
    """A figure of stats.experiments. `linear_to`: as in Scale."""

    name: str
    short: str
    title: str
    linear_to: float | None = None


@dataclass(frozen=True)
class Group:
    """Figures that stand beside each other, on one scale where `same_scale`."""

    id: str
    title: str
    words: str
    figures: tuple[Drawn, ...]
    same_scale: bool = False


@dataclass(frozen=True)
class Layout:
    """`apart`: axes that make charts of their own; every other one is told on the rows of a chart."""

    apart: tuple[str, ...]
    groups: tuple[Group, ...]


LAYOUTS: dict[ExperimentName, Layout] = {
    "burn": Layout(
        ("load", "cpus", "burn_us"),
        (
            Group(
                "throughput",
                "Throughput",
                "Tasks per second that were done. The bound is work conservation: no CPU is idle while a task waits.",
                (Drawn("throughput", "Throughput", "throughput in tasks per second"),),
            ),
            Group(
                "cpu",
                "CPU used",
                "Of the CPUs that the program may use, in per cent; 100 means that none was idle.",
                (Drawn("CPU used", "CPU used", "CPU used in %"),),
            ),
            Group(
                "parks",
                "Parked while tasks were queued",
                "A worker that is parked while a task waits could have run it, if there is a CPU for it: a park lasts "
                "until its thread runs again, so that with more workers than CPUs (fixed-50, cached) those that were "
                "woken and wait for a CPU count too, and nothing is lost. Longest stretch: of one worker "
                "(infoq-carrier-park is the published result). Share of time: all of them, of all workers’ time; "
                "only of pools that have a fixed number of them.",
                (
                    Drawn("longest of them", "Longest stretch", "longest stretch in ms, logarithmic from 0.1 on", 0.1),
                    Drawn("parked while tasks were queued", "Share of time", "share of workers’ time in %"),
                ),
            ),
        ),
    ),
    "spawn": Layout(
        ("cpus",),
        (
            Group(
                "memory",
                "Memory per thread",
                "VIRT is address space that is only promised, RSS the memory that is really there: what the process "
                "has more of while all threads live, divided by their number. The same scale, in KiB, logarithmic "
                "from 1 on. The column VIRT of top is in KiB without a unit: spawn-memory took that "
                "of virtual threads for bytes.",
                (
                    Drawn("VIRT per thread", "VIRT", "VIRT per thread in KiB", 1.0),
                    Drawn("RSS per thread", "RSS", "RSS per thread in KiB", 1.0),
                ),
                same_scale=True,
            ),
            Group(
                "time",
                "Time",
                "All started: until the last thread was started, which is what spawn-time published. All done: until "
                "the last one was done. Logarithmic from 0.01 s on.",
                (
                    Drawn("until all were started", "All started", "seconds until all were started", 0.01),
                    Drawn("until all were done", "All done", "seconds until all were done", 0.01),
                ),
                same_scale=True,
            ),
        ),
    ),
    "pinning": Layout(
        ("cpus", "load"),
        (
            Group(
                "throughput",
                "Throughput",
                "How often a thread blocked and went on, per second, all threads together.",
                (Drawn("throughput", "Throughput", "blocked and went on, per second"),),
            ),
        ),
    ),
    "fanout": Layout(
        ("cpus",),
        (
            Group(
                "wall",
                "Until all were answered",
                "From the first request to the last answer or error, in seconds.",
                (Drawn("until all were answered", "All answered", "seconds until all were answered"),),
            ),
        ),
    ),
}


_STAR = " *"


def bar_groups(part: Part, order: Sequence[str]) -> tuple[BarGroup, ...]:
    """Those that have a figure. Charts of one condition stand together, JDK by JDK, on the same scale."""
    layout = LAYOUTS[part.kind]
    found = []
    for group in layout.groups:
        charts = tuple(_charts(part, layout, group, order))
        if charts:
            columns = len(group.figures) if len(group.figures) > 1 else min(len(part.jdks), 3)
            ticks = any(
                spread.expected is not None
                for cell in part.cells
                for figure in group.figures
                if (spread := cell.spread(figure.name))
            )
            starred = any(_STAR in chart.note for chart in charts)
            found.append(BarGroup(group.title, group.words, charts, columns, ticks, starred))
    return tuple(found)


def _charts(part: Part, layout: Layout, group: Group, order: Sequence[str]) -> Iterator[Chart]:
    number = 0
    for condition in dict.fromkeys(_values(layout, cell.key) for cell in part.cells):
        peers = [cell for cell in part.cells if _values(layout, cell.key) == condition]
        for jdk in part.jdks:
            cells = sorted(
                (cell for cell in peers if cell.key.jdk == jdk), key=lambda cell: order.index(cell.key.executor)
            )
            if part.kind == "pinning":
                cells.sort(key=lambda cell: [key.workload for key in part.keys].index(cell.key.workload))
            for figure in group.figures:
                chart = _chart(part, layout, group, figure, cells, peers, order)
                if chart:
                    yield Chart(f"alone-{part.kind}-{group.id}-{number}", *chart)
                    number += 1


def _values(layout: Layout, key: CellKey) -> tuple[object, ...]:
    return tuple(getattr(key, axis) for axis in layout.apart)


def _chart(
    part: Part,
    layout: Layout,
    group: Group,
    figure: Drawn,
    cells: Sequence[ExperimentCell],
    peers: Sequence[ExperimentCell],
    order: Sequence[str],
) -> tuple[str, str, dict[str, object]] | None:
    """Title, note and spec; None where no cell has the figure."""
    medians: list[Row] = []
    forks: list[Row] = []
    notes = []
    for cell in cells:
        spread = cell.spread(figure.name)
        if spread is None:
            continue
        row = row_label(part, layout, cell, peers)
        if any(other["row"] == row for other in medians):
            row += f", {cell.key.load}"  # another load of the same size
        label = measure(spread.median, spread.unit)
        expected = None if spread.expected is None else measure(spread.expected, spread.unit)
        ended = [outcome_words(result.outcome) for result in cell.results if result.outcome != "complete"]
        note = ", ".join(filter(None, (f"expected {expected}" if expected else "", *dict.fromkeys(ended))))
        label = f"{label}{_STAR}" if ended else label
        notes.append(f"{row.replace(chr(10), ', ')}: {label}{f' ({note})' if note else ''}")
        medians.append(
            {
                "row": row,
                "executor": cell.key.executor,
                "median": spread.median,
                "expected": spread.expected,
                "label": label,
                "expected_label": expected or "no figure",
            }
        )
        forks += _forks(cell, figure.name, row)
    if not medians:
        return None
    names = [one.name for one in group.figures] if group.same_scale else [figure.name]
    lines = 2 if any("\n" in row["row"] for row in medians) else 1
    scale = Scale(figure.title, _highest(peers, names), figure.linear_to, lines)
    told = [cells[0].key.jdk, *(_axis_words(part, axis, cells[0].key) for axis in layout.apart if part.varies(axis))]
    title = ", ".join(told)
    if len(group.figures) > 1:
        title = f"{figure.short}: {title}"
    description = f"{figure.title} of {title}: a bar for the median, a point per fork, a tick where one is expected"
    return title, "; ".join(notes), expected_bars(medians, forks, scale=scale, order=order, description=description)


def row_label(part: Part, layout: Layout, cell: ExperimentCell, peers: Sequence[ExperimentCell]) -> str:
    """What leads, and on a second line what else tells this cell from `peers`, those of its charts."""
    key = cell.key
    here = Part(part.kind, tuple(peer.key for peer in peers), tuple(peers))
    inner = (axis for axis in ("workload", "load", "burn_us", "wait_us", "cpus") if axis not in layout.apart)
    axes = [axis for axis in inner if here.varies(axis)]
    if part.kind == "pinning":
        return "\n".join([construct(part, key), *([key.executor] if here.varies("executor") else [])])
    load = cell.record.task_load
    words = {"load": f"{load.count:,}"} if isinstance(load, CountLoad) else {}
    second = ", ".join(words.get(axis) or _axis_words(part, axis, key) for axis in axes)
    return f"{key.executor}\n{second}" if second else key.executor


def _axis_words(part: Part, axis: str, key: CellKey) -> str:
    match axis:
        case "load":
            return load_of(part, key)
        case "cpus":
            return plural(key.cpus, "CPU")
        case "burn_us":
            return work_words(key.burn_us) if key.burn_us else "no work"
        case "wait_us":
            return delay_words(key.wait_us)
    return key.workload


def _forks(cell: ExperimentCell, name: str, row: str) -> Iterator[Row]:
    for fork in cell.usable:
        for figure in figures(fork.experiment.result) if fork.experiment.result else ():
            if figure.name == name and math.isfinite(figure.value):
                label = measure(figure.value, figure.unit)
                place = {"row": row, "executor": cell.key.executor}
                yield {**place, "fork": fork.fork, "value": figure.value, "label": label}


def _highest(cells: Sequence[ExperimentCell], names: Sequence[str]) -> float:
    spreads: list[Spread] = [spread for cell in cells for name in names if (spread := cell.spread(name))]
    ends = [end for spread in spreads for end in (spread.most, spread.expected) if end is not None]
    highest = max(ends, default=0.0)
    return highest if highest > 0 else 1.0
