"""The kinds of block that every page consists of, and the page itself. Each kind has a macro of the same name in
blocks.html.j2.

Text is plain, or Markup from `inline`; plain text is escaped when it is shown.
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
    """A list of facts. `css`: "facts list", "facts hero", "reading", "expected"."""

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
    """`lead`: in one line, where there is one; `sentences`: the subject of each, and what is said about it. `amber`:
    part of the answer is not judged."""

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
    """Charts of one figure below its heading. `key`: to their colours; `css`: "small", or how many are side by side.
    `repeats`: the notes say what the pictures show, for readers who cannot see these. More charts than `unfolded_max`
    are folded."""

    title: str
    words: str | Wording
    charts: tuple[Chart, ...]
    key: tuple[str, ...] = ()
    css: str = ""
    repeats: bool = False
    unfolded_max: int | None = None


@dataclass(frozen=True)
class HeatCell:
    """`tone` is a CSS class: "n1".."n6" favour the numerator, "d1".."d6" the denominator, "even" neither, "none";
    "leans-n", "leans-d": an interval that excludes 1 without being evidence; "blind": one that contains 1 and also
    differences that matter; "unjudged": the ratio is not judged; "p1".."p5": a share, the largest first.

    `decided`: the verdict names one of the two. `interval`: the text below the value; `href`: of the cell's page.
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
    """`of` distinguishes it from maps with the same title."""

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
    """`weight`: "warn" changes how figures must be read, "info" is worth knowing."""

    weight: str
    title: str
    text: str


@dataclass(frozen=True)
class Notices(PageBlock):
    notices: tuple[Notice, ...]


TAIL_LINES = 200  # of a log that are shown


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
    """Lines to copy; `label`: of commands, for readers who cannot see them."""

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
    """One thing to choose, each option by value and words. `others`: in no run here, but a profile would measure them;
    `chosen`: the initial choice; `constant`: there is nothing to choose."""

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
    """A choice of the answer that is shown; home.js reads it."""

    picks: tuple[Pick, ...]


@dataclass(frozen=True)
class Container(PageBlock):
    """Blocks that belong together. `css`: "windows", "heats", …; "js-only" is visible where scripts run. `live`:
    scripts change it, and it is then read out."""

    blocks: Sequence[PageBlock]
    css: str = ""
    id: str = ""
    live: bool = False


@dataclass(frozen=True)
class Section(PageBlock):
    """`words` are shown below the title, as are the reasons for whatever is not ok. `id` may be missing; `unseen`: the
    title is for readers who cannot see the page."""

    id: str
    title: str
    blocks: Sequence[PageBlock]
    words: str | Wording = ""
    reasons: tuple[str, ...] = ()
    unseen: bool = False


@dataclass(frozen=True)
class Disclosure(PageBlock):
    """Blocks below a summary that opens them. With the class "block" it is a section of its own."""

    summary: str
    blocks: Sequence[PageBlock]
    css: str = ""


def every_block(blocks: Iterable[PageBlock]) -> Iterator[PageBlock]:
    """Yield these blocks and those inside them."""
    for one in blocks:
        yield one
        if isinstance(one, Container | Section | Disclosure):
            yield from every_block(one.blocks)


# The menu of the site, on every page except the front page, whose own menu includes it.
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
    `up`: where the name at its head leads, if not to the site's front page; `run_id` is shown beside that name, on
    pages of a run. `menu`: of this page, each entry with its title and target. `tab`: the text of the browser's tab, if
    not the heading and whose page it is; `plain`: it has no style and no menus, since there may be thousands of its
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
