"""Which figures of which cells are drawn beside each other. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CountLoad
from jdkmatrix.domain.quantities import delay_words, measure, plural, work_words
from jdkmatrix.experiments.base import ChartFigure, Page, ReadingGroup, Spread
from jdkmatrix.report.blocks.kinds import Chart
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.experiment_cells import ExperimentSlice
from jdkmatrix.report.charts.shapes import Drawing, Row
from jdkmatrix.report.experiments.bars import Scale, expected_bars
from jdkmatrix.report.experiments.views import BarGroup
from jdkmatrix.report.experiments.words import load_of, outcome_words

_STAR = " *"


def bar_groups(piece: ExperimentSlice, order: Sequence[str]) -> tuple[BarGroup, ...]:
    """Those that have a figure. Charts of one condition stand together, JDK by JDK, on the same scale."""
    page = piece.page
    found = []
    for group in page.groups:
        charts = tuple(_charts(piece, page, group, order))
        if charts:
            columns = len(group.figures) if len(group.figures) > 1 else min(len(piece.jdks), 3)
            ticks = any(
                spread.expected is not None
                for cell in piece.cells
                for figure in group.figures
                if (spread := cell.spread(figure.name))
            )
            starred = any(_STAR in chart.note for chart in charts)
            found.append(BarGroup(group.title, group.words, charts, columns, ticks, starred))
    return tuple(found)


def _charts(piece: ExperimentSlice, page: Page, group: ReadingGroup, order: Sequence[str]) -> Iterator[Chart]:
    number = 0
    for condition in dict.fromkeys(_values(page, cell.key) for cell in piece.cells):
        peers = [cell for cell in piece.cells if _values(page, cell.key) == condition]
        labels = _labels(piece, page, peers)
        for jdk in piece.jdks:
            cells = sorted(
                (cell for cell in peers if cell.key.jdk == jdk), key=lambda cell: order.index(cell.key.executor)
            )
            if piece.by_subject:
                cells.sort(key=lambda cell: [key.workload for key in piece.keys].index(cell.key.workload))
            for figure in group.figures:
                chart = _chart(piece, page, group, figure, cells, peers, labels, order)
                if chart:
                    yield Chart(f"experiment-{piece.kind}-{group.id}-{number}", *chart)
                    number += 1


def _values(page: Page, key: CellKey) -> tuple[object, ...]:
    return tuple(getattr(key, axis) for axis in page.apart)


def _chart(
    piece: ExperimentSlice,
    page: Page,
    group: ReadingGroup,
    figure: ChartFigure,
    cells: Sequence[CellStats],
    peers: Sequence[CellStats],
    labels: Mapping[CellKey, str],
    order: Sequence[str],
) -> tuple[str, str, Drawing] | None:
    """Title, note and spec; None where no cell has the figure."""
    medians: list[Row] = []
    forks: list[Row] = []
    notes = []
    for cell in cells:
        spread = cell.spread(figure.name)
        if spread is None:
            continue
        row = labels[cell.key]
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
    told = [cells[0].key.jdk, *(_axis_words(piece, axis, cells[0].key) for axis in page.apart if piece.varies(axis))]
    title = ", ".join(told)
    if len(group.figures) > 1:
        title = f"{figure.short}: {title}"
    description = f"{figure.title} of {title}: a bar for the median, a point per fork, a tick where one is expected"
    return title, "; ".join(notes), expected_bars(medians, forks, scale=scale, order=order, description=description)


def _labels(piece: ExperimentSlice, page: Page, peers: Sequence[CellStats]) -> dict[CellKey, str]:
    """The label of each cell of charts that are compared: what leads, and on a second line what else tells it from the
    others."""
    here = ExperimentSlice(piece.kind, tuple(peer.key for peer in peers), tuple(peers))
    if piece.by_subject:
        arms = here.varies("executor")
        return {key: "\n".join([piece.subject(key), *([key.executor] if arms else [])]) for key in here.keys}
    inner = (axis for axis in ("workload", "load", "burn_us", "wait_us", "cpus") if axis not in page.apart)
    axes = [axis for axis in inner if here.tells_apart(axis)]
    return {cell.key: _label(piece, cell, axes) for cell in peers}


def _label(piece: ExperimentSlice, cell: CellStats, axes: Iterable[str]) -> str:
    key, load = cell.key, cell.load
    words = {"load": f"{load.count:,}"} if isinstance(load, CountLoad) else {}
    second = ", ".join(words.get(axis) or _axis_words(piece, axis, key) for axis in axes)
    return f"{key.executor}\n{second}" if second else key.executor


def _axis_words(piece: ExperimentSlice, axis: str, key: CellKey) -> str:
    match axis:
        case "load":
            return load_of(piece, key)
        case "cpus":
            return plural(key.cpus, "CPU")
        case "burn_us":
            return work_words(key.burn_us) if key.burn_us else "no work"
        case "wait_us":
            return delay_words(key.wait_us)
    return key.workload


def _forks(cell: CellStats, name: str, row: str) -> Iterator[Row]:
    metric = cell.metric(name)
    for fork, figure in cell.figures(metric).items() if metric else ():
        label = measure(figure.value, metric.unit) if metric else ""
        yield {"row": row, "executor": cell.key.executor, "fork": fork, "value": figure.value, "label": label}


def _highest(cells: Sequence[CellStats], names: Sequence[str]) -> float:
    spreads: list[Spread] = [spread for cell in cells for name in names if (spread := cell.spread(name))]
    ends = [end for spread in spreads for end in (spread.most, spread.expected) if end is not None]
    highest = max(ends, default=0.0)
    return highest if highest > 0 else 1.0
