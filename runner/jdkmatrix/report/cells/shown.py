"""A cell of a run with its figures, as pages, the terminal and summaries show them: one definition each. Pure.

A ratio is taken over the blocks that have both arms; the figures beside it are over all usable forks. Where the two
say different things, the reader is told which blocks were paired and what each arm came to in these."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import is_aa_arm
from jdkmatrix.domain.quantities import MINUS, digits, plural
from jdkmatrix.domain.servers import own_pool
from jdkmatrix.figures.fork_figures import Kind, OverForks
from jdkmatrix.figures.metrics import (
    CAPACITY,
    CPU,
    NO_LATENCY,
    P99,
    RSS_PEAK,
    THREADS_PEAK,
    THROUGHPUT,
    TIME_TO_STEADY,
    Metric,
)
from jdkmatrix.loads.base import Bound
from jdkmatrix.report.blocks.inline import badge, cell_page, joined, link, small, swatch
from jdkmatrix.report.blocks.tables import Column, DataTable, columns
from jdkmatrix.report.cells.cellstats import Cells, CellStats, Comparison
from jdkmatrix.report.cells.judgements import Judgements, counted, of_forks
from jdkmatrix.report.cells.pooled import Pooled
from jdkmatrix.report.words.numbers import Figure, count, milliseconds, missing, quantity, ratio_value
from jdkmatrix.report.words.sentences import PairFinding, State, because, finding, losses_words, marked_interval
from jdkmatrix.stats.percentiles import MIN_BEYOND
from jdkmatrix.stats.ratios import Ratio

KIND_WORDS: dict[Kind, str] = {
    "corrected": "response time from the intended send time (corrected for coordinated omission)",
    "uncorrected": "service time in a closed loop: a slow answer delays the next request, so this says nothing about "
    "response times at a given rate; mean ≈ connections / throughput",
}
# For the head of a column, and after a single figure.
KIND_SHORT: dict[Kind, str] = {"corrected": "response time", "uncorrected": "service time"}

NO_BOUND = missing("the driver was late to send, and requests have no answer: too high for one, too low for the other")


def percentile_figure(pooled: Pooled, percent: str) -> Figure:
    """Return a percentile in ms, of all requests; beneath it the interval over forks, or in the tooltip why not."""
    found = pooled.percentiles.get(percent)
    if found is None:
        return few_beyond(pooled.count)
    figure = milliseconds(found.merged_us, why="")
    forks, bound = found.forks, pooled.bound(percent)
    if bound is None:
        return NO_BOUND
    if bound is not Bound.NONE:
        why = _too_low(pooled) if bound is Bound.AT_LEAST else _too_high(pooled, percent)
        return figure._replace(text=bound.signed(figure.text), title=why)
    if forks is None:
        none = "a fork has too few slower requests" if pooled.histogram else "this driver writes no histograms"
        if bounded := pooled.bounded.get(percent):
            none = f"in {bounded} of {plural(pooled.forks, 'fork')} its own p{percent} is only a bound"
        return figure._replace(title=f"no interval: {none}")
    if forks.ci_low is None or forks.ci_high is None:
        return figure._replace(title=f"{plural(forks.n, 'fork')}: no interval")
    significant = 3 if forks.ci_high < 2 * forks.ci_low else 2  # a wide interval warrants fewer digits
    low, high = (digits(end / 1000, significant) for end in (forks.ci_low, forks.ci_high))
    return figure._replace(
        title=f"all requests together; beneath: the 95 % interval over {forks.n} forks, of the geometric mean of their "
        f"own p{percent} ({digits(forks.geomean / 1000, 3)} ms)",
        under=f"{low}–{high}",
    )


def _too_low(pooled: Pooled) -> str:
    short = f"{pooled.fell_short} of {plural(pooled.forks, 'fork')} fell short" if pooled.fell_short else ""
    without = "this driver leaves out requests without an answer" if pooled.lower_bounds is None else ""
    if bounds := pooled.lower_bounds:
        counts, they = ("counts", "it") if bounds == 1 else ("count", "they")
        whose = f"{plural(bounds, 'request')} of {pooled.count:,}"
        without = f"{whose} had no answer and {counts} with the time that {they} had waited"
    return f"at least: {'; '.join(filter(None, (short, without)))}"


def _too_high(pooled: Pooled, percent: str) -> str:
    late = f"in {pooled.overstated[percent]} of {plural(pooled.forks, 'fork')} the driver was late to send"
    return f"less than this: {late}, by more than half of it"


def few_beyond(number: int, noun: str = "request") -> Figure:
    """Return the placeholder for a percentile of `number` requests of which too few are slower."""
    few = plural(number, noun) if number < MIN_BEYOND else f"fewer than {MIN_BEYOND} of {number:,} {noun}s were slower"
    return missing(f"{few}: too few to say")


def of_metric(metric: Metric, cell: CellStats | None, *, why: str) -> Figure:
    """Return the figure over all usable forks, including those in no ratio. p99 is that of all requests together.
    `why`: the reason where there is no figure."""
    if metric is P99:
        return percentile(cell, "99", why=why)
    if cell is not None and cell.usable:
        why = metric.missing
    if metric.over_forks == "most":
        most = max((figure.value for figure in cell.figures(metric).values()), default=None) if cell else None
        if metric.significant == 0:
            return count(None if most is None else round(most), why=why)
        return quantity(most, metric.significant, why=why, scale=metric.scale)
    return over_forks(metric, cell, why=why)


def percentile(cell: CellStats | None, name: str, *, why: str) -> Figure:
    """Return a percentile in ms, over all requests of the usable forks together."""
    if cell is None or cell.latency is None:
        several = "its load has several levels: their latencies taken together are those of none"
        return missing(why if not (cell and cell.usable) else NO_LATENCY if cell.kind.one_level else several)
    return percentile_figure(cell.latency, name)


def amount(metric: Metric, value: float) -> str:
    """Format a figure of one fork, or a mean of some, with the digits of the cell's own figure."""
    return digits(value * metric.scale, metric.significant)


def half_width(over: OverForks) -> Figure:
    """Say how far the interval of the geometric mean reaches: "± 3.1 %"; from ten on, to either side: "−25/+33 %"."""
    if over.forks == 1:
        return missing("one fork only: no interval")
    if over.low is None or over.high is None:
        return missing("a fork’s figure is 0: arithmetic mean, without an interval")
    half = (over.high - over.low) / 2 / over.value * 100
    if half < 10:
        text = f"± {half:.1f} %"
    else:
        below, above = ((end / over.value - 1) * 100 for end in (over.low, over.high))
        text = f"{MINUS}{-below:.0f}/+{above:,.0f} %"
    return Figure(text, half, f"95 % interval of the geometric mean over {over.forks} forks")


def over_forks(metric: Metric, cell: CellStats | None, *, why: str) -> Figure:
    """Return the geometric mean over forks; beneath it, how far its interval reaches. Where forks give only bounds, the
    mean is one too: "≥ 9,400"; where these point both ways, the range from the least to the most."""
    over = cell.mean(metric) if cell else None
    if cell is None or over is None:
        return missing(why)
    text, forks = amount(metric, over.value), plural(over.forks, "fork")
    if over.bounded:
        ends = (end.bound.signed(amount(metric, end.value)) for end in (over.least, over.most))
        shown = " – ".join(ends) if over.bound is None else over.bound.signed(text)
        title = f"{over.bounded} of {forks} {'gives' if over.bounded == 1 else 'give'} only a bound"
        return Figure(shown, over.value, title)
    half = half_width(over)
    apart = sum(not figure.comparable for figure in cell.figures(metric).values())
    title = half.title or ""
    if apart:
        title += f"; {apart} of {forks} fell short: in this figure, but in no ratio"
    return Figure(text, over.value, title, None if half.sort is None else half.text, amber=apart > 0)


def failed_words(cell: CellStats) -> str | None:
    """Say how many requests failed, which throughput omits; None where none did, or the load goes on until some do."""
    failed = cell.failed_requests
    if not failed or cell.kind.overloads:
        return None
    return f"{failed:,} failed"


def paired_words(compared: Comparison) -> str | None:
    """Name the blocks, and both arms' means over exactly these; None where the cells' own figures say the same."""
    pairs = compared.pairs
    if not pairs:
        return None
    metric = compared.metric
    here = [amount(metric, statistics.geometric_mean(arm)) for arm in zip(*pairs.values(), strict=True)]
    own = [of_metric(metric, cell, why="").text for cell in (compared.cell, compared.base)]
    every = {fork.fork for cell in (compared.cell, compared.base) for fork in cell.record.forks}
    if here == own and every == pairs.keys():
        return None
    numbers = ", ".join(map(str, pairs))
    both = f"{here[0]} against {here[1]} {metric.unit}"
    if every != pairs.keys():
        return f"paired in {'block' if len(pairs) == 1 else 'blocks'} {numbers}; {both} there"
    if metric is P99:
        return f"{both} as the mean of the forks’ own p99"
    return f"{both} in the rounds that count for both"


def no_ratio_words(cells: Cells, key: CellKey, base: CellKey) -> str:
    """Say why these two cells, both of which are in the run, have no ratio."""
    absent = [one.executor for one in (key, base) if not ((cell := cells.get(one)) and cell.usable)]
    return f"no usable fork of {' and '.join(absent)}" if absent else "no block has this figure for both"


def pairs_title(compared: Comparison) -> str:
    """List the pair of each block, for a tooltip."""
    return "; ".join(f"block {block}: {above} / {below} = {ratio}" for block, above, below, ratio in _pairs(compared))


def pair_table(compared: Comparison) -> DataTable:
    metric, arms = compared.metric, (compared.cell.key.executor, compared.base.key.executor)
    heads = columns(f"{metric.title}|{metric.unit}", *(f"{title}#" for title in (*arms, "Ratio")))
    rows = tuple((f"block {block}", *figures) for block, *figures in _pairs(compared))
    return DataTable(f"Blocks of {metric.title}", heads, rows)


def _pairs(compared: Comparison) -> Iterator[tuple[int, str, str, str]]:
    for block, (above, below) in compared.pairs.items():
        one, other = (amount(compared.metric, value) for value in (above, below))
        yield block, one, other, ratio_value(Ratio(above / below, None, None, 1))


def state_text(cell: CellStats | None) -> str:
    """Return the word for its state, or how many of its forks can be used."""
    if cell is not None and cell.state is State.PARTLY:
        return f"{len(cell.usable)} of {plural(cell.forks, 'fork')} usable"
    return str((cell.state if cell else State.NOT_MEASURED).value)


def state_badge(cell: CellStats | None) -> Markup:
    state = cell.state if cell else State.NOT_MEASURED
    ended = cell is not None and cell.is_program and state is State.OK
    return badge(state_text(cell), state.css, "the program ran to its end" if ended else state.meaning)


@dataclass(frozen=True)
class ShownCell:
    """A cell that was planned; `cell` is None where it has no record."""

    key: CellKey
    cell: CellStats | None
    judgements: Judgements

    def axis(self, name: str) -> str | int:
        """Return its value on an axis, of which the driver is one; "" where the driver of its load is not known."""
        value: str | int = ((self.cell and self.cell.driver) or "") if name == "driver" else getattr(self.key, name)
        return value

    @property
    def state(self) -> State:
        return self.cell.state if self.cell else State.NOT_MEASURED

    @property
    def forks(self) -> str:
        """The usable forks of those that were planned: "2/3"."""
        return f"{len(self.cell.usable)}/{self.cell.forks}" if self.cell else "0/0"

    @property
    def href(self) -> str | None:
        """The address of its page, relative to that of the run."""
        return cell_page(self.key) if self.cell else None

    def figure(self, metric: Metric) -> Figure:
        return of_metric(metric, self.cell, why=self.why)

    @property
    def why(self) -> str:
        """The reason for missing figures, where it has no usable fork."""
        return f"{self.state.value}: {self.state.meaning}"

    @property
    def throughput(self) -> Figure:
        """The throughput; beneath it, how far its interval reaches and how many requests failed."""
        figure = self.figure(THROUGHPUT)
        failed = failed_words(self.cell) if self.cell else None
        under = "; ".join(filter(None, (figure.under, failed))) or None
        return figure._replace(under=under, amber=failed is not None)

    @property
    def cpu(self) -> Figure:
        """The CPU per request; beneath it, the step that it is of, where that is one of several."""
        figure = self.figure(CPU)
        step = self.cell.kind.cpu_label if self.cell and figure.sort is not None else None
        return figure._replace(under=step) if step else figure

    @property
    def time_to_steady(self) -> Figure:
        """The time to steady; beneath it, of how many forks it is, where others did not get there."""
        figure, usable = self.figure(TIME_TO_STEADY), len(self.cell.usable) if self.cell else 0
        steady = len(self.cell.figures(TIME_TO_STEADY)) if self.cell else 0
        if steady in (0, usable):
            return figure
        of_some = f"{steady} of {plural(usable, 'fork')}"
        return figure._replace(under=f"{figure.under}, {of_some}" if figure.under else of_some, amber=True)

    def percentile(self, name: str) -> Figure:
        return percentile(self.cell, name, why=self.why)

    @property
    def outcome(self) -> Figure:
        """The forks that did what the load asks for; compared with those of its reference, where there is one."""
        if self.cell is None:
            return missing(self.why)
        arm, judged = self.cell.attained, self.judgements.outcomes(self.key)
        text, under = f"{self.cell.question.title} in {of_forks(arm)}", None
        if judged is not None:
            text = judged.sentence(self.key.executor, self.judgements.cells.reference(self.key))
            under = judged.finding.value if judged.differs else None
        amber = arm.no > 0 and not self.cell.question.is_sought
        return Figure(counted(arm), arm.yes / arm.told if arm.told else None, text, under, amber)

    @property
    def versus(self) -> Figure:
        """Its leading figure over that of the cell that it is compared with; beneath it, interval and verdict."""
        key, cells = self.key, self.judgements.cells
        base = cells.reference(key)
        base_key, compares = key.model_copy(update={"executor": base}), cells.is_reference(key)
        if key.executor == base:
            if not (compares and self.cell and self.cell.usable):
                return missing(self.why if compares else "nothing is compared with it")
            return Figure("1", 1.0, f"this is {base}, which the others are compared with")
        if base_key not in cells.peers(key):
            return missing(f"it would be compared with {base}, which has no cell here")
        metric = cells.leading(key)
        judged, compared = self.judgements.of(metric, key), self.judgements.comparison(metric, key)
        if judged is None or compared is None:
            lost = f"; {losses_words(compared.losses)}" if compared else ""
            return missing(f"{no_ratio_words(cells, key, base_key)}{lost}")
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
    """Return all cells that were planned or measured, in the order of the run."""
    return (ShownCell(key, cells.get(key), judgements) for key in cells.keys)


@dataclass(frozen=True)
class FigureColumn:
    """One figure of a cell, in every table that has it."""

    title: str
    unit: str
    of: Callable[[ShownCell], Figure]
    is_latency: bool = False

    def column(self, kind: Kind | None = None) -> Column:
        """Build the column. `kind`: of latency, where all cells of a table have the same."""
        notes = [KIND_SHORT[kind] if kind and self.is_latency else "", self.unit]
        return Column(joined(self.title, *(part for note in notes if note for part in (" ", small(note)))), "num")


def _percentile_column(name: str) -> FigureColumn:
    return FigureColumn(f"p{name}", "ms", lambda one: one.percentile(name), is_latency=True)


RATE = FigureColumn("Throughput", "req/s", lambda one: one.throughput)
CPU_COST = FigureColumn("CPU", "µs/req", lambda one: one.cpu)
PERCENTILES = tuple(map(_percentile_column, ("50", "99", "99.9")))
BRIEF = (RATE, CPU_COST, PERCENTILES[1])  # beside each other on the page of a cell


def columns_of(cells: Cells, shown: Sequence[ShownCell]) -> tuple[FigureColumn, ...]:
    """Choose the columns. The question that the load asks forks heads the first; where there are several, it is in each
    figure's tooltip. That column is left out where every fork did what it was to do."""
    held = FigureColumn("Held", "req/s", lambda one: one.figure(CAPACITY))
    titles = {one.cell.question.title for one in shown if one.cell and one.cell.question.in_tables and _is_news(one)}
    asked = next(iter(titles)) if len(titles) == 1 else "Did as asked"
    return (
        *((FigureColumn(asked, "forks", lambda one: one.outcome),) if titles else ()),
        *((held,) if any(cell.figures(CAPACITY) for cell in cells) else ()),
        RATE,
        FigureColumn(f"vs {cells.references}", "ratio", lambda one: one.versus),
        CPU_COST,
        *PERCENTILES,
        FigureColumn("Time to steady", "s", lambda one: one.time_to_steady),
        FigureColumn("RSS", "MiB", lambda one: one.figure(RSS_PEAK)),
        FigureColumn("Threads", "", lambda one: one.figure(THREADS_PEAK)),
    )


def _is_news(one: ShownCell) -> bool:
    judged = one.judgements.outcomes(one.key)
    return (judged is not None and judged.worth_reporting) or one.outcome.amber


def named(executor: str, order: Sequence[str], href: str | None, *, current: bool = False) -> Markup:
    """Make the head of a row: in the colour of the charts, with a link to the cell's page where that is another one."""
    return joined(swatch(order.index(executor)), link(executor, href), *([" ", small("this cell")] if current else []))
