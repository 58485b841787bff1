"""Charts of experiments: which figures of which cells are side by side, as bars. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.grouping import grouped
from jdkmatrix.domain.loads import CountLoad
from jdkmatrix.domain.quantities import measure
from jdkmatrix.experiments.base import ReadingGroup
from jdkmatrix.report.blocks.kinds import Chart, Charts
from jdkmatrix.report.cells.cellstats import CellStats
from jdkmatrix.report.cells.slices import ExperimentSlice
from jdkmatrix.report.charts.bars import BarScale, expected_bars
from jdkmatrix.report.charts.shapes import Row
from jdkmatrix.report.experiments.words import outcome_words

_STAR = " *"
_CHARTS_MAX = 12  # that are shown unfolded


def bar_groups(piece: ExperimentSlice) -> Iterator[Charts]:
    """Yield the groups that have a figure. Charts of one condition are together, JDK by JDK, on the same scale."""
    for group in piece.page.groups:
        charts = tuple(_charts(piece, group))
        if not charts:
            continue
        columns = len(group.figures) if len(group.figures) > 1 else piece.beside
        spreads = (cell.spread(figure.name) for cell in piece.cells for figure in group.figures)
        ticks = any(spread.expected is not None for spread in spreads if spread)
        starred = any(_STAR in chart.note for chart in charts)
        words = (
            f"{group.words} Bars are medians over forks, dots the forks"
            f"{', vertical lines what is expected' if ticks else ''}."
            f"{' A star (*): not every fork was complete.' if starred else ''}"
        )
        yield Charts(group.title, words, charts, css=f"by-{columns}", repeats=True, unfolded_max=_CHARTS_MAX)


def _charts(piece: ExperimentSlice, group: ReadingGroup) -> Iterator[Chart]:
    number, apart = 0, piece.page.apart
    place = {name: at for at, name in enumerate(dict.fromkeys(key.workload for key in piece.keys))}
    for peers in grouped((tuple(getattr(cell.key, axis) for axis in apart), cell) for cell in piece.cells).values():
        labels = _labels(piece, peers)
        axes = ("jdk", *(axis for axis in apart if piece.varies(axis)))
        for jdk, figure in itertools.product(piece.jdks, group.figures):
            cells = piece.in_order(cell for cell in peers if cell.key.jdk == jdk)
            if piece.by_subject:
                cells.sort(key=lambda cell: place[cell.key.workload])
            medians, forks, notes = _rows(figure.name, cells, labels)
            if not medians:
                continue
            names = [one.name for one in group.figures] if group.same_scale else [figure.name]
            lines = 2 if any("\n" in row["row"] for row in medians) else 1
            scale = BarScale(figure.title, _highest(peers, names), figure.linear_to, lines)
            title = ", ".join(map(piece.axis_words(cells[0].key).__getitem__, axes))
            if len(group.figures) > 1:
                title = f"{figure.short}: {title}"
            told = f"{figure.title} of {title}: a bar for the median, a point per fork, a tick where one is expected"
            drawing = expected_bars(medians, forks, scale=scale, order=piece.order, description=told)
            yield Chart(f"experiment-{piece.kind}-{group.id}-{number}", title, "; ".join(notes), drawing)
            number += 1


def _rows(
    figure: str, cells: Iterable[CellStats], labels: Mapping[CellKey, str]
) -> tuple[list[Row], list[Row], list[str]]:
    """Return the medians of the cells that have the figure, their forks, and both in words."""
    medians: list[Row] = []
    forks: list[Row] = []
    notes = []
    for cell in cells:
        spread = cell.spread(figure)
        if spread is None:
            continue
        row = labels[cell.key]
        if any(other["row"] == row for other in medians):
            row += f", {cell.key.load}"  # another load of the same size
        label = spread.signed(measure(spread.median, spread.unit))
        expected = None if spread.expected is None else measure(spread.expected, spread.unit)
        ended = [outcome_words(result.outcome) for result in cell.results if result.outcome != "complete"]
        note = ", ".join(filter(None, (f"expected {expected}" if expected else "", *dict.fromkeys(ended))))
        label = f"{label}{_STAR}" if ended else label
        notes.append(f"{row.replace(chr(10), ', ')}: {label}{f' ({note})' if note else ''}")
        whose = {"row": row, "executor": cell.key.executor}
        words = {"label": label, "expected_label": expected or "no figure"}
        medians.append({**whose, "median": spread.median, "expected": spread.expected, **words})
        if metric := cell.metric(figure):
            for fork, one in cell.figures(metric).items():
                told = one.bound.signed(measure(one.value, metric.unit))
                forks.append({**whose, "fork": fork, "value": one.value, "label": told})
    return medians, forks, notes


def _labels(piece: ExperimentSlice, peers: Sequence[CellStats]) -> dict[CellKey, str]:
    """Return the label of each cell of charts that are compared: what leads, and on a second line whatever else
    distinguishes it from the others."""
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
