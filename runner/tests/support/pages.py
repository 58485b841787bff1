"""The contents of a written page, and of the blocks of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeVar

from markupsafe import Markup

from jdkmatrix.report.blocks.kinds import Chart, Charts, FactList, PageBlock, Section, Tiles, WebPage, every_block
from jdkmatrix.report.blocks.tables import Cell, DataTable, TableRow
from jdkmatrix.report.words.numbers import Figure

Kind = TypeVar("Kind")


class Elements(HTMLParser):
    """Every element and every attribute value of a page (a file, or its text), and its text outside scripts and
    styles."""

    def __init__(self, page: Path | str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._hidden = False
        self.feed(page if isinstance(page, str) else page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._hidden = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._hidden else data

    @property
    def ids(self) -> list[str]:
        return [value for name, value in self.attributes if name == "id"]

    @property
    def targets(self) -> list[str]:
        """The targets of links and files, except files that are part of the page itself."""
        return [value for name, value in self.attributes if name in ("href", "src") and not value.startswith("data:")]


def assert_links_lead_somewhere(pages: Mapping[Path, Elements]) -> None:
    """Assert that every link of these pages, by resolved path, leads somewhere, and that no id occurs twice."""
    for page, elements in pages.items():
        assert len(elements.ids) == len(set(elements.ids))
        for target in elements.targets:
            if target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.is_file(), f"{page.name}: {target}"
            assert not anchor or anchor in pages[file].ids, f"{page.name}: {target}"


def figures(view: object, place: str = "") -> Iterator[tuple[str, Figure]]:
    """Yield every figure of blocks, with its place."""
    if isinstance(view, Figure):
        yield place, view
    elif isinstance(view, tuple | list):
        for number, item in enumerate(view):
            yield from figures(item, f"{place}/{number}")
    elif dataclasses.is_dataclass(view):
        for field in dataclasses.fields(view):
            yield from figures(getattr(view, field.name), f"{place}/{field.name}")


def found(blocks: Iterable[PageBlock], kind: type[Kind]) -> list[Kind]:
    return [one for one in every_block(blocks) if isinstance(one, kind)]


def plain(text: object) -> str:
    return Markup(str(text)).striptags()


def facts_of(blocks: Iterable[PageBlock]) -> dict[str, str]:
    return {fact.name: plain(fact.value) for one in found(blocks, FactList) for fact in one.facts}


def table_of(blocks: Iterable[PageBlock], label: str) -> list[dict[str, Cell]]:
    """Return the rows of the first table whose label begins with `label`, each by column title."""
    table = next(one for one in found(blocks, DataTable) if one.label.startswith(label))
    titles = [plain(column.title) for column in table.columns]
    cells = (row.cells if isinstance(row, TableRow) else row for row in table.rows)
    return [dict(zip(titles, row, strict=True)) for row in cells]


def figure_in(row: dict[str, Cell], title: str) -> Figure:
    cell = row[title]
    assert isinstance(cell, Figure)
    return cell


def charts_of(blocks: Iterable[PageBlock], title: str) -> tuple[Chart, ...]:
    return tuple(chart for group in found(blocks, Charts) if group.title == title for chart in group.charts)


def tiles_of(page: WebPage) -> dict[str, Figure]:
    return {tile.name: tile.figure for one in found(page.lede, Tiles) for tile in one.tiles}


def section_of(page: WebPage, name: str) -> Section:
    return next(one for one in found(page.blocks, Section) if name in (one.id, one.title))
