"""What the templates are given: plain text and figures, everything decided. Frozen and made by pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.report.cells.comparisons import Pair
from jdkmatrix.report.cells.heat import HeatTable
from jdkmatrix.report.cells.pairs import PairTable
from jdkmatrix.report.charts.shapes import Drawing
from jdkmatrix.report.claims.views import SourceView
from jdkmatrix.report.words.numbers import Figure


@dataclass(frozen=True)
class Legend:
    """`slot`: place in the palette."""

    name: str
    slot: int


@dataclass(frozen=True)
class Chart:
    """`note` is the text beside the picture: what it shows in words or figures."""

    id: str
    title: str
    note: str
    drawing: Drawing


@dataclass(frozen=True)
class ChartGroup:
    """Charts of one figure under one heading. Their colours are those of executors, or of `origins`: what a stack is
    made of, from below."""

    title: str
    words: str
    charts: tuple[Chart, ...]
    by_executor: bool = True
    origins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    name: str
    value: str
    title: str | None = None


@dataclass(frozen=True)
class Notice:
    """`weight`: "warn" changes how figures must be read, "info" is to be known."""

    weight: str
    title: str
    text: str


@dataclass(frozen=True)
class Answer:
    """`amber`: something of it is not judged."""

    lead: str
    sentences: tuple[tuple[str, str], ...]  # the figure's name, what is said of it
    amber: bool = False


@dataclass(frozen=True)
class JdkHeat:
    jdk: str
    tables: tuple[HeatTable, ...]


@dataclass(frozen=True)
class Section:
    """One workload on one server under one load."""

    id: str
    served: str
    pair: Pair  # the executors that the section is about
    load: str
    load_words: str
    answers: tuple[Answer, ...]
    scorecard: HeatTable | None  # where there is one condition only
    scorecard_condition: str | None
    heat: tuple[JdkHeat, ...]
    heat_note: str | None
    legend: tuple[Legend, ...]
    capacity: tuple[Chart, ...]
    search: tuple[Chart, ...]
    experiment: tuple[ChartGroup, ...]
    throughput: tuple[Chart, ...]
    throughput_of: str | None  # which part of the load it is, where it is not the whole
    cpu: tuple[Chart, ...]
    cpu_scope: str | None
    latency: tuple[Chart, ...]
    latency_kind: str | None
    columns: int  # of charts, so that JDKs stand side by side
    shares: bool  # bars are shares of the highest under the same work


@dataclass(frozen=True)
class CellRow:
    """One line of the table of cells; `href` is None where no page exists. `status` is one of few words, `status_text`
    what the badge says; `outcome`: how many forks did what the load asks for."""

    workload: str
    server: str
    jdk: str
    executor: str
    slot: int
    cpus: int
    burn_us: int
    wait_us: int
    load: str
    driver: str
    status: str
    status_text: str
    status_class: str
    status_title: str
    forks: str
    href: str | None
    outcome: Figure
    throughput: Figure
    throughput_half: Figure
    versus: Figure
    held: Figure
    warm: Figure
    cpu: Figure
    p50: Figure
    p99: Figure
    p999: Figure
    rss: Figure
    threads: Figure


@dataclass(frozen=True)
class PrecisionRow:
    """`lag1`, `trend`: whether its blocks are correlated, or drift. `adaptive`, `fixed`: blocks and time that one ratio
    takes by the stopping rule, and by forks of fixed length."""

    what: str
    figure: str
    blocks: int
    known: Figure
    lag1: Figure
    trend: Figure
    decision: str
    adaptive: Figure
    fixed: Figure
    time_share: Figure


@dataclass(frozen=True)
class PrecisionView:
    """How precisely ratios are known. In words: `asked`: what for, `blocks`: what is tested about these, `turns`: how
    many rounds each executor lost where they took turns; None where none did."""

    asked: str
    fixed: str
    blocks: str
    turns: str | None
    rows: tuple[PrecisionRow, ...]


@dataclass(frozen=True)
class Trouble:
    """A cell that is not simply ok, with its reasons."""

    label: str
    href: str | None
    status: str
    status_class: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class JdkRow:
    id: str
    selected: bool
    vendor: str
    vm: str
    version: str
    source: str
    state: str
    state_class: str
    remark: str | None
    bugs: tuple[tuple[str, str, str | None], ...]  # id, summary, url
    output: str | None
    release: str | None


@dataclass(frozen=True)
class ForkCount:
    """How many forks can be used, and what became of the others, in a line. `amber`: some were lost."""

    text: str
    amber: bool


@dataclass(frozen=True)
class RunView:
    run_id: str
    title: str
    forks: ForkCount
    summary: str
    facts: tuple[Fact, ...]
    host: tuple[Fact, ...]
    notices: tuple[Notice, ...]
    family: str | None  # how many comparisons the page makes and how it comes to its verdicts
    sections: tuple[Section, ...]
    published: tuple[SourceView, ...]
    scale_words: str | None  # how far a smaller run than the published one is from it
    not_repeated: tuple[SourceView, ...]  # published, and repeated by no scenario
    pairs: str  # that sections are about, in words
    references: str  # what executors are compared with
    relevant: str  # from which difference on one matters
    varying: frozenset[str]  # axes with more than one value: the columns of the table
    constant: str  # the others, in words
    rows: tuple[CellRow, ...]
    searched: bool  # whether a cell looked for its capacity
    outcomes: str | None  # head of the column of outcomes; None where every fork did what it was to do
    latency_head: str | None  # what percentiles are of, where it is the same in all cells
    service_times: str | None  # what those of closed loops are; None where there is no such cell
    statuses: tuple[tuple[str, str, int], ...]  # word, class, how many cells
    precision: PrecisionView | None
    troubles: tuple[Trouble, ...]
    problems: tuple[str, ...]
    not_testable: tuple[tuple[str, str], ...]  # condition, reason
    jdks: tuple[JdkRow, ...]
    calibrations: tuple[tuple[str, Figure, Figure, int, int], ...]
    capacities: tuple[tuple[str, Figure], ...]  # what loads are shares of: where, and requests per second
    reproduce: str
    order: tuple[str, ...]

    @property
    def charts(self) -> dict[str, Drawing]:
        found = [chart for s in self.sections for chart in (*s.capacity, *s.search, *s.throughput, *s.cpu, *s.latency)]
        found += [chart for s in self.sections for group in s.experiment for chart in group.charts]
        return {chart.id: chart.drawing for chart in found}


@dataclass(frozen=True)
class WindowTable:
    """Windows across, figures down, in groups."""

    heads: tuple[str, ...]
    reasons: tuple[str, ...]  # of each window; empty text where it is valid
    shortfalls: tuple[str, ...]  # of each window: what the server did not do; empty text where it did all
    groups: tuple[tuple[str, tuple[tuple[str, str, tuple[Figure, ...]], ...]], ...]  # group, (name, unit, figures)


@dataclass(frozen=True)
class SearchView:
    """`steps`: rate, purpose, p99, throughput, outcome in a word and its style, reasons."""

    note: str
    steps: tuple[tuple[Figure, str, Figure, Figure, str, str, str], ...]


@dataclass(frozen=True)
class LogView:
    title: str
    tail: str | None
    lines_left_out: int
    href: str | None
    problem: str | None


@dataclass(frozen=True)
class AttemptView:
    """A fork that was measured and stands no more."""

    title: str
    status: str
    status_class: str
    reasons: tuple[str, ...]
    facts: tuple[Fact, ...]
    logs: tuple[LogView, ...]


@dataclass(frozen=True, kw_only=True)
class ForkView:
    """What any fork has. `commands`: of each program, what it is and its command line."""

    number: int
    anchor: str
    status: str
    status_class: str
    reasons: tuple[str, ...]
    facts: tuple[Fact, ...]
    commands: tuple[tuple[str, str], ...]
    logs: tuple[LogView, ...]


@dataclass(frozen=True, kw_only=True)
class ServedForkView(ForkView):
    warmup_note: str
    warmup: tuple[Chart, ...]
    series: tuple[Chart, ...]
    windows: WindowTable | None
    search: SearchView | None


@dataclass(frozen=True)
class Sibling:
    executor: str
    slot: int
    href: str | None
    throughput: Figure
    cpu: Figure
    p99: Figure
    current: bool


@dataclass(frozen=True)
class Against:
    """A cell compared with that of another executor: sentences, and the blocks behind them."""

    denominator: str
    sentences: tuple[tuple[str, str], ...]  # the figure's name, what is said of it
    pairs: tuple[PairTable, ...]


@dataclass(frozen=True)
class RanWith:
    """What decides a cell's figures besides its condition."""

    jdk: JdkRow | None
    work: Fact
    identity_digest: str
    identity_inputs: str
    jvm_flags: tuple[tuple[str, str], ...]
    host: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class CellView:
    """What any cell has. `tiles`: name, unit, figure; `tiles_note`: what these figures are."""

    cell_id: str
    title: str
    condition: str
    load_words: str
    status: str
    status_class: str
    status_title: str
    tiles: tuple[tuple[str, str, Figure], ...]
    tiles_note: str | None
    attempts: tuple[AttemptView, ...]
    ran_with: RanWith

    @property
    def charts(self) -> dict[str, Drawing]:
        return {}


@dataclass(frozen=True, kw_only=True)
class ServedCellView(CellView):
    latency_short: str  # what percentiles are of, in two words
    siblings: tuple[Sibling, ...]
    against: Against | None
    forks: tuple[ServedForkView, ...]

    @property
    def charts(self) -> dict[str, Drawing]:
        return {chart.id: chart.drawing for fork in self.forks for chart in (*fork.warmup, *fork.series)}
