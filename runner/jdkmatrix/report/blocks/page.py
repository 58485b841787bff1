"""A page: what stands in its head, and its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jdkmatrix.report.blocks.inline import Wording
from jdkmatrix.report.blocks.kinds import Charts, PageBlock, every_block
from jdkmatrix.report.charts.shapes import Drawing

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
    """`title`: of the browser's tab; `heading`, `summary`, `lede`: at its top. `root` leads to the folder of the site;
    None: it belongs to none. `up`: where the name at its head leads, and `run_id` stands beside that name. `menu`: of
    this page, each with its title and where it leads. `short`: its head leaves room for what follows; `plain`: it has
    no style and no menus, since there may be thousands of its kind."""

    title: str
    heading: str
    blocks: Sequence[PageBlock]
    summary: str | Wording = ""
    lede: Sequence[PageBlock] = ()
    root: str | None = None
    up: str | None = None
    run_id: str = ""
    menu: Sequence[tuple[str, str]] = ()
    foot: str | Wording = ""
    short: bool = False
    plain: bool = False

    @property
    def site_menu(self) -> tuple[tuple[str, str], ...]:
        shown = SITE_MENU if self.root and not self.plain else ()
        return tuple((title, f"{self.root}{path}") for title, path in shown)

    @property
    def charts(self) -> dict[str, Drawing]:
        found = (one for one in every_block((*self.lede, *self.blocks)) if isinstance(one, Charts))
        return {chart.id: chart.drawing for group in found for chart in group.charts}
