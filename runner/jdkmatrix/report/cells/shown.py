"""A cell of a run with its figures, as pages, the terminal and summaries show them: one definition each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from markupsafe import Markup

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.quantities import plural
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.figures.metrics import CAPACITY, CPU, RSS_PEAK, THREADS_PEAK, THROUGHPUT, TIME_TO_STEADY, Metric
from jdkmatrix.report.blocks.inline import badge, cell_page, joined, link, small, swatch
from jdkmatrix.report.blocks.tables import Column
from jdkmatrix.report.cells.cell_figures import failed_words, of_metric, paired_words, pairs_title, percentile
from jdkmatrix.report.cells.cellstats import Cells, CellStats
from jdkmatrix.report.cells.judgements import Judgements, counted, finding_of, sentence
from jdkmatrix.report.words.numbers import Figure, missing, ratio_value
from jdkmatrix.report.words.sentences import PairFinding, State, because, finding, losses_words, marked_interval


@dataclass(frozen=True)
class ShownCell:
    """A cell that was planned; `cell` is None where it has no record."""

    key: CellKey
    cell: CellStats | None
    cells: Cells
    judgements: Judgements

    def axis(self, name: str) -> str | int:
        """Its value on an axis, of which the driver is one; "" where it is not known what made its load."""
        value: str | int = ((self.cell and self.cell.driver) or "") if name == "driver" else getattr(self.key, name)
        return value

    @property
    def state(self) -> State:
        return self.cell.state if self.cell else State.NOT_MEASURED

    @property
    def state_text(self) -> str:
        """A word, or how many of its forks can be used."""
        if self.cell is not None and self.state is State.PARTLY:
            return f"{len(self.cell.usable)} of {plural(self.cell.forks, 'fork')} usable"
        return str(self.state.value)

    @property
    def state_badge(self) -> Markup:
        return badge(self.state_text, self.state.css, self.state.meaning)

    @property
    def forks(self) -> str:
        """ "2/3": usable forks of those that were planned."""
        return f"{len(self.cell.usable)}/{self.cell.forks}" if self.cell else "0/0"

    @property
    def href(self) -> str | None:
        """Leads to its page, seen from that of the run."""
        return cell_page(self.key) if self.cell else None

    def figure(self, metric: Metric) -> Figure:
        return of_metric(metric, self.cell, why=self.why)

    @property
    def why(self) -> str:
        """The reason where it has no usable fork."""
        return f"{self.state.value}: {self.state.meaning}"

    @property
    def throughput(self) -> Figure:
        """Beneath it how far its interval reaches, and how many requests failed."""
        figure = self.figure(THROUGHPUT)
        failed = failed_words(self.cell) if self.cell else None
        under = "; ".join(filter(None, (figure.under, failed))) or None
        return replace(figure, under=under, amber=failed is not None)

    @property
    def cpu(self) -> Figure:
        """Per request; beneath it the step that it is of, where that is one of several."""
        figure = self.figure(CPU)
        step = self.cell.kind.cpu_label if self.cell and figure.sort is not None else None
        return replace(figure, under=step) if step else figure

    def percentile(self, name: str) -> Figure:
        return percentile(self.cell, name, why=self.why)

    @property
    def outcome(self) -> Figure:
        """How many of its forks did what the load asks for; against what it is compared with where that is."""
        if self.cell is None:
            return missing(self.why)
        arm, judged = self.cell.attained, self.judgements.outcomes(self.key)
        text, under = f"{self.cell.question.title} in {counted(arm)} forks", None
        if judged is not None:
            text = sentence(judged, self.key.executor, self.cells.reference(self.key))
            under = finding_of(judged).value if judged.differs else None
        amber = arm.no > 0 and not self.cell.question.is_sought
        return Figure(counted(arm), arm.yes / arm.told if arm.told else None, text, under, amber)

    @property
    def versus(self) -> Figure:
        """Its leading figure over that of what it is compared with; beneath it interval and verdict."""
        key, base = self.key, self.cells.reference(self.key)
        if key.executor == base and self.cell and self.cell.usable:
            return Figure("1", 1.0, f"this is {base}: what the others are compared with")
        metric = self.cells.leading(key)
        judged, compared = self.judgements.of(metric, key), self.judgements.comparison(metric, key)
        if judged is None or compared is None:
            lost = f"; {losses_words(compared.losses)}" if compared else ""
            return missing(f"no block has this cell and {base} both usable{lost}")
        found = finding(judged, metric)
        word = None
        if found in (PairFinding.BETTER, PairFinding.WORSE):
            word = "more" if judged.ratio.value > 1 else "less"
        elif found is PairFinding.NOT_JUDGED:
            word = found.value
        told = " ".join(filter(None, (marked_interval(judged), word))) or "one block"
        of = None if base == own_pool(key.server) else f"of {base}"
        than = f"{word} than {base}, " if word in ("more", "less") else ""
        said = f"{metric.title}: {than}{because(judged, 'A/A check' if is_aa_arm(key.executor) else 'comparison')}"
        return Figure(
            text=ratio_value(judged.ratio),
            sort=judged.ratio.value,
            title=". ".join(filter(None, (said, paired_words(compared), pairs_title(compared)))),
            under=" ".join(filter(None, (told, of))),
            amber=found is PairFinding.NOT_JUDGED,
        )


def shown_cells(cells: Cells, judgements: Judgements) -> Iterator[ShownCell]:
    """All that were planned or measured, in the order of the run."""
    return (ShownCell(key, cells.get(key), cells, judgements) for key in cells.keys)


def _percentile(name: str) -> Callable[[ShownCell], Figure]:
    return lambda one: one.percentile(name)


@dataclass(frozen=True)
class FigureColumn:
    """One figure of a cell, in every table that has it."""

    title: str
    unit: str
    of: Callable[[ShownCell], Figure]

    def column(self, kind: str = "") -> Column:
        """`kind`: of latency, where all cells of a table have the same."""
        notes = [small(text) for text in (kind, self.unit) if text]
        return Column(joined(self.title, *(part for note in notes for part in (" ", note))), "num")


HELD = FigureColumn("Held", "req/s", lambda one: one.figure(CAPACITY))
RATE = FigureColumn("Throughput", "req/s", lambda one: one.throughput)
CPU_COST = FigureColumn("CPU", "µs/req", lambda one: one.cpu)
P50, P99, P999 = PERCENTILES = tuple(FigureColumn(f"p{name}", "ms", _percentile(name)) for name in ("50", "99", "99.9"))
USE = (
    FigureColumn("Time to steady", "s", lambda one: one.figure(TIME_TO_STEADY)),
    FigureColumn("RSS", "MiB", lambda one: one.figure(RSS_PEAK)),
    FigureColumn("Threads", "", lambda one: one.figure(THREADS_PEAK)),
)


def named(executor: str, slot: int, href: str | None, *, current: bool = False) -> Markup:
    """The head of a row: in the colour of the charts, with a link to the cell's page where that is another one."""
    return joined(swatch(slot), link(executor, href), *([" ", small("this cell")] if current else []))
