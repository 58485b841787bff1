"""The kinds of block, of which every page is a list, and the page itself. Each kind has a macro of its name in
blocks.html.j2.

A text is plain, or Markup of `inline`; what is plain is escaped when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jdkmatrix.experiments.base import FactRow
from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.charts.shapes import Drawing
from jdkmatrix.report.words.numbers import Figure


class PageBlock:
    """One of the kinds below, or a table."""


@dataclass(frozen=True)
class Prose(PageBlock):
    """A paragraph, and the heading above it; either may be missing."""

    text: str | Wording = ""
    heading: str = ""
    level: int = 3
    css: str = "sub"


@dataclass(frozen=True)
class Fact:
    name: str
    value: str | Wording
    title: str | None = None


@dataclass(frozen=True)
class FactList(PageBlock):
    """`css`: "facts list", "facts hero", "reading", "expected"."""

    facts: Sequence[Fact | FactRow]
    css: str = "facts list"


@dataclass(frozen=True)
class Tile:
    name: str
    figure: Figure
    unit: str = ""
    css: str = ""


@dataclass(frozen=True)
class Tiles(PageBlock):
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class AnswerBox:
    """`lead`: in one line, where there is one; `sentences`: what each is about, and what is said of it. `amber`:
    something of it is not judged."""

    lead: str
    sentences: tuple[tuple[str, str], ...]
    amber: bool = False


@dataclass(frozen=True)
class AnswerBoxes(PageBlock):
    answers: tuple[AnswerBox, ...]


@dataclass(frozen=True)
class Chart:
    """`note` is the text beside the picture: what it shows in words or figures."""

    id: str
    title: str
    note: str
    drawing: Drawing


@dataclass(frozen=True)
class Charts(PageBlock):
    """Charts of one figure below its heading. `key`: of their colours; `css`: "small", or how many stand beside each
    other. `repeats`: notes say what the pictures show, and are for readers who do not see these. More than
    `unfolded_max` are folded."""

    title: str
    words: str | Wording
    charts: tuple[Chart, ...]
    key: tuple[str, ...] = ()
    css: str = ""
    repeats: bool = False
    unfolded_max: int | None = None


@dataclass(frozen=True)
class HeatCell:
    """`tone` is a CSS class: "n1".."n6" favour the numerator, "d1".."d6" the denominator, "even" nobody, "none";
    "leans-n", "leans-d": an interval without 1 that is no evidence; "blind": one with 1 that excludes nothing that
    matters; "unjudged": the arms lost different numbers of forks; "p1".."p5": a share, the largest first.

    `decided`: the verdict names one of the two. `interval`: what stands below the value; `href`: of the cell's page.
    """

    value: str
    interval: str | None = None
    basis: str = ""
    tone: str = "none"
    decided: bool = True
    title: str = ""
    href: str | None = None
    current: bool = False

    @property
    def css(self) -> str:
        lone = self.interval is None and self.href is not None and self.tone != "unjudged"
        return f"{self.tone}{'' if self.decided else ' open'}{' hint' if lone else ''}"


@dataclass(frozen=True)
class HeatMap(PageBlock):
    """`of` tells it from maps of the same title."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    of: str = ""
    css: str = ""


@dataclass(frozen=True)
class ColourScale(PageBlock):
    """The meaning of the colours of heat maps: class and text of each step, and the words at either end."""

    steps: tuple[tuple[str, str], ...]
    left: str
    right: str = ""
    css: str = ""


@dataclass(frozen=True)
class Notice:
    """`weight`: "warn" changes how figures must be read, "info" is to be known."""

    weight: str
    title: str
    text: str


@dataclass(frozen=True)
class Notices(PageBlock):
    notices: tuple[Notice, ...]


TAIL_LINES = 200  # of a log, so many are shown


@dataclass(frozen=True)
class Log(PageBlock):
    """`tail`: its last lines; None where it is only linked. `cut`: it has more. `problem`: why it is not shown."""

    title: str
    tail: str | None
    cut: bool
    href: str | None
    problem: str | None
    open: bool = False


@dataclass(frozen=True)
class Pre(PageBlock):
    """Lines to copy; `label`: of commands, for those who do not see them."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Items(PageBlock):
    items: Sequence[str]
    css: str = ""
    ordered: bool = False


@dataclass(frozen=True)
class HowToRead(PageBlock):
    """How to read the page of a run with these parts (reading.html.j2). `pairs`, `references`: which executors it
    compares, in words."""

    served: bool
    experiments: bool
    pairs: str
    references: str


@dataclass(frozen=True)
class Pick:
    """One thing to choose, by value and words. `others`: what no run here has, and a profile would measure; `chosen`:
    what is picked first; `constant`: there is nothing to choose."""

    axis: str
    title: str
    measured: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...] = ()
    chosen: str = ""

    @property
    def constant(self) -> bool:
        return len(self.measured) + len(self.others) == 1 and self.axis != "figure"


@dataclass(frozen=True)
class Picker(PageBlock):
    """Which of the answers is shown; scripts read it (home.js)."""

    picks: tuple[Pick, ...]


@dataclass(frozen=True)
class Container(PageBlock):
    """Blocks that stand together. `css`: "windows", "heats", …; "js-only" is seen where scripts run. `live`: scripts
    change it, and it is then read out."""

    blocks: Sequence[PageBlock]
    css: str = ""
    id: str = ""
    live: bool = False


@dataclass(frozen=True)
class Section(PageBlock):
    """`words` stand below the title, and so do the reasons of what is not ok. `id` may be missing; `unseen`: the title
    is for those who do not see the page."""

    id: str
    title: str
    blocks: Sequence[PageBlock]
    words: str | Wording = ""
    reasons: tuple[str, ...] = ()
    unseen: bool = False


@dataclass(frozen=True)
class Disclosure(PageBlock):
    """Blocks below a summary that opens them. With the class "block" it stands as a section of its own."""

    summary: str
    blocks: Sequence[PageBlock]
    css: str = ""


def every_block(blocks: Iterable[PageBlock]) -> Iterator[PageBlock]:
    """These, and those inside of them."""
    for one in blocks:
        yield one
        if isinstance(one, Container | Section | Disclosure):
            yield from every_block(one.blocks)


# Of the site, on every page of it but the front page, which has it in its own.
SITE_MENU = (
    ("Answer", "index.html"),
    ("Runs", "index.html#runs"),
    ("Published and measured", "claims/index.html"),
    ("History", "history/index.html"),
    ("Browse", "by/index.html"),
)


@dataclass(frozen=True)
class WebPage:
    """`heading`, `summary`, `lede`: at its top. `root` leads to the folder of the site; None: it belongs to none.
    `up`: where the name at its head leads, if not to the site's front page; `run_id` stands beside that name, on pages
    of a run. `menu`: of this page, each with its title and where it leads. `tab`: what the browser's tab says, if not
    the heading and whose page it is; `plain`: it has no style and no menus, since there may be thousands of its
    kind."""

    heading: str
    blocks: Sequence[PageBlock]
    summary: str | Wording = ""
    lede: Sequence[PageBlock] = ()
    root: str | None = None
    up: str = ""
    run_id: str = ""
    menu: Sequence[tuple[str, str]] = ()
    foot: str | Wording = ""
    tab: str = ""
    plain: bool = False

    @property
    def title(self) -> str:
        return self.tab or f"{self.heading} · {self.run_id or 'jdk-matrix'}"

    @property
    def charts(self) -> dict[str, Drawing]:
        found = (one for one in every_block((*self.lede, *self.blocks)) if isinstance(one, Charts))
        return {chart.id: chart.drawing for group in found for chart in group.charts}
