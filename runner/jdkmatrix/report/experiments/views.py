"""What the templates of experiments without a server are given: plain text and figures, everything decided."""

from __future__ import annotations

from dataclasses import dataclass

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.report.blocks.kinds import AnswerBox, Chart, Fact, Log, PageBlock
from jdkmatrix.report.charts.shapes import Drawing
from jdkmatrix.report.words.numbers import Figure


@dataclass(frozen=True)
class OutcomeView:
    """`where`: how far it came, in which forks; each text may be empty."""

    word: str
    css: str
    where: str
    message: str
    advice: str


@dataclass(frozen=True)
class Expectation:
    """`about`: which cells it is for; `formula`: None where no figure is expected."""

    figure: str
    formula: str | None
    source: str
    about: str


@dataclass(frozen=True)
class BarGroup:
    """`columns`: charts beside each other; `ticks`: an expectation is drawn; `starred`: a figure is of forks
    that were not all complete."""

    title: str
    words: str
    charts: tuple[Chart, ...]
    columns: int
    ticks: bool
    starred: bool


@dataclass(frozen=True)
class PinCell:
    """`tone` is a class of the heat map, `key` leads to the cell's page."""

    value: str
    verdict: str
    basis: str
    tone: str
    title: str
    key: CellKey | None


@dataclass(frozen=True)
class PinTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PinCell, ...]], ...]


@dataclass(frozen=True)
class StackView:
    count: int
    reason: str | None
    frames: str


@dataclass(frozen=True)
class PinnedView:
    """Where threads were pinned. `left_out`: events whose stack is not among those shown."""

    title: str
    events: int
    stacks: tuple[StackView, ...]
    left_out: int


@dataclass(frozen=True)
class OverheadRow:
    """What looking costs; each figure is watched / unwatched."""

    what: str
    throughput: Figure
    cpu: Figure


@dataclass(frozen=True)
class ExperimentRow:
    """One line of the table of a kind. `axes`: as in the table's `axes`."""

    executor: str
    slot: int
    href: str | None
    axes: tuple[Figure, ...]
    figures: tuple[Figure, ...]
    expected: Figure
    ratio: Figure
    outcomes: tuple[OutcomeView, ...]
    reasons: tuple[str, ...]
    status: str
    status_class: str
    status_title: str
    forks: str


@dataclass(frozen=True)
class ExperimentTable:
    """`axes`: titles of those that vary, and whether they are numbers; `figures`: names and units."""

    axes: tuple[tuple[str, bool], ...]
    figures: tuple[tuple[str, str], ...]
    rows: tuple[ExperimentRow, ...]


@dataclass(frozen=True)
class Legend:
    """`slot`: place in the palette."""

    name: str
    slot: int


@dataclass(frozen=True)
class ExperimentKindView:
    """One kind of experiment."""

    id: str
    title: str
    words: str
    constant: str  # what all of its cells share
    answers: tuple[AnswerBox, ...]
    expectations: tuple[Expectation, ...]
    glossary: str
    heat: tuple[PinTable, ...]
    pinned: tuple[PinnedView, ...]
    legend: tuple[Legend, ...]
    groups: tuple[BarGroup, ...]
    overhead: tuple[OverheadRow, ...]
    table: ExperimentTable


@dataclass(frozen=True)
class ExperimentsView:
    """`heat_rule`, `heat_legend`: of the heat map of pinning: in words; class and text of each step."""

    blocks: tuple[ExperimentKindView, ...]
    heat_rule: str
    heat_legend: tuple[tuple[str, str], ...]

    @property
    def charts(self) -> dict[str, Drawing]:
        found = [chart for block in self.blocks for group in block.groups for chart in group.charts]
        return {chart.id: chart.drawing for chart in found}


@dataclass(frozen=True)
class DistributionTable:
    """`heads`: names of the columns behind the first."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Figure, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class ExperimentForkView:
    """`commands`: the command lines of its programs. `figures`: name, unit, value, expected, measured / expected.
    `counts`: what else was counted; `sections`: what only this experiment has, each below its title."""

    number: int
    anchor: str
    status: str
    status_class: str
    reasons: tuple[str, ...]
    facts: tuple[Fact, ...]
    commands: tuple[PageBlock, ...]
    logs: tuple[Log, ...]
    outcomes: tuple[OutcomeView, ...]
    figures: tuple[tuple[str, str, Figure, Figure, Figure], ...]
    expectation: Expectation | None
    counts: tuple[Fact, ...]
    distributions: DistributionTable | None
    sections: tuple[tuple[str, tuple[Fact, ...]], ...]
    pinned: PinnedView | None
    pinned_note: str | None
    host: tuple[Fact, ...]
    remote: tuple[Fact, ...]
    vm: tuple[Fact, ...]
    asked: str


@dataclass(frozen=True)
class Arm:
    """Another arm under the same conditions."""

    executor: str
    slot: int
    href: str | None
    leading: Figure
    outcomes: tuple[OutcomeView, ...]
    current: bool


@dataclass(frozen=True, kw_only=True)
class ExperimentCellView:
    """`tiles`: name, unit, figure; `tiles_note`: what these figures are."""

    cell_id: str
    title: str
    condition: str
    load_words: str
    status: str
    status_class: str
    status_title: str
    tiles: tuple[tuple[str, str, Figure], ...]
    tiles_note: str | None
    kind_words: str
    outcomes: tuple[OutcomeView, ...]
    asked: tuple[Fact, ...]
    leading: str  # the heading of the arms' figure
    arms: tuple[Arm, ...]
    forks: tuple[ExperimentForkView, ...]
