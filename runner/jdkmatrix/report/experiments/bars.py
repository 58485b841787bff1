"""Charts of experiments: which figures of which cells stand beside each other, as bars. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.loads import CountLoad
from jdkmatrix.domain.quantities import measure
from jdkmatrix.experiments.base import ChartFigure, ReadingGroup
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.charts.bars import BarScale, expected_bars
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.experiments.words import outcome_words

_STAR = " *"
_CHARTS_MAX = 12  # that stand unfolded


def bar_groups(piece: ExperimentSlice) -> Iterator[Charts]:
    """Those that have a figure. Charts of one condition stand together, JDK by JDK, on the same scale."""
    for group in piece.page.groups:
        charts = tuple(_charts(piece, group))
        if not charts:
            continue
        columns = len(group.figures) if len(group.figures) > 1 else min(len(piece.jdks), 3)
        spreads = (cell.spread(figure.name) for cell in piece.cells for figure in group.figures)
        ticks = any(spread.expected is not None for spread in spreads if spread)
        starred = any(_STAR in chart.note for chart in charts)
        words = (
            f"{group.words} Bars are medians over forks, dots the forks"
            f"{', upright lines what is expected' if ticks else ''}."
            f"{' A star (*): not every fork was complete.' if starred else ''}"
        )
        yield Charts(group.title, words, charts, css=f"by-{columns}", repeats=True, unfolded_max=_CHARTS_MAX)


def _charts(piece: ExperimentSlice, group: ReadingGroup) -> Iterator[Chart]:
    number = 0
    by_condition: dict[tuple[object, ...], list[CellStats]] = {}
    for cell in piece.cells:
        by_condition.setdefault(tuple(getattr(cell.key, axis) for axis in piece.page.apart), []).append(cell)
    for peers in by_condition.values():
        labels = _labels(piece, peers)
        for jdk in piece.jdks:
            cells = piece.in_order(cell for cell in peers if cell.key.jdk == jdk)
            if piece.by_subject:
                cells.sort(key=lambda cell: [key.workload for key in piece.keys].index(cell.key.workload))
            for figure in group.figures:
                if chart := _chart(piece, group, figure, cells, peers, labels, number):
                    yield chart
                    number += 1


def _chart(
    piece: ExperimentSlice,
    group: ReadingGroup,
    figure: ChartFigure,
    cells: Sequence[CellStats],
    peers: Sequence[CellStats],
    labels: Mapping[CellKey, str],
    number: int,
) -> Chart | None:
    """None where no cell has the figure."""
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
        whose = {"row": row, "executor": cell.key.executor}
        words = {"label": label, "expected_label": expected or "no figure"}
        medians.append({**whose, "median": spread.median, "expected": spread.expected, **words})
        if metric := cell.metric(figure.name):
            for fork, one in cell.figures(metric).items():
                forks.append({**whose, "fork": fork, "value": one.value, "label": measure(one.value, metric.unit)})
    if not medians:
        return None
    names = [one.name for one in group.figures] if group.same_scale else [figure.name]
    lines = 2 if any("\n" in row["row"] for row in medians) else 1
    scale = BarScale(figure.title, _highest(peers, names), figure.linear_to, lines)
    axes = ("jdk", *(axis for axis in piece.page.apart if piece.varies(axis)))
    title = ", ".join(map(piece.axis_words(cells[0].key).__getitem__, axes))
    if len(group.figures) > 1:
        title = f"{figure.short}: {title}"
    description = f"{figure.title} of {title}: a bar for the median, a point per fork, a tick where one is expected"
    drawing = expected_bars(medians, forks, scale=scale, order=piece.order, description=description)
    return Chart(f"experiment-{piece.kind}-{group.id}-{number}", title, "; ".join(notes), drawing)


def _labels(piece: ExperimentSlice, peers: Sequence[CellStats]) -> dict[CellKey, str]:
    """The label of each cell of charts that are compared: what leads, and on a second line what else tells it from the
    others."""
    here = ExperimentSlice(tuple(peer.key for peer in peers), tuple(peers), piece.order, piece.kind)
    if piece.by_subject:
        arms = here.varies("executor")
        return {key: "\n".join([piece.subject(key), *([key.executor] if arms else [])]) for key in here.keys}
    inner = (axis for axis in ("workload", "load", "burn_us", "wait_us", "cpus") if axis not in piece.page.apart)
    axes = [axis for axis in inner if here.tells_apart(axis)]
    found: dict[CellKey, str] = {}
    for cell in peers:
        words = piece.axis_words(cell.key)
        if isinstance(cell.load, CountLoad):
            words["load"] = f"{cell.load.count:,}"
        second = ", ".join(map(words.__getitem__, axes))
        found[cell.key] = f"{cell.key.executor}\n{second}" if second else cell.key.executor
    return found


def _highest(cells: Sequence[CellStats], names: Sequence[str]) -> float:
    spreads = [spread for cell in cells for name in names if (spread := cell.spread(name))]
    highest = max((end for one in spreads for end in (one.most, one.expected) if end is not None), default=0.0)
    return highest if highest > 0 else 1.0
