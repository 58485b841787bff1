"""What a written page holds, and every figure of blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

from jdkmatrix.report.words.numbers import Figure


class Elements(HTMLParser):
    """Every element and every attribute's value of a page, and its text outside of scripts and styles."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self._hidden = False
        self.feed(page.read_text("utf-8"))

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
        """Of links and files, but for those that stand in the page itself."""
        return [value for name, value in self.attributes if name in ("href", "src") and not value.startswith("data:")]


def assert_links_lead_somewhere(pages: Mapping[Path, Elements]) -> None:
    """Of these pages, by their resolved paths; and no id stands twice."""
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
    """Every figure of blocks, with where it stands."""
    if isinstance(view, Figure):
        yield place, view
    elif isinstance(view, tuple | list):
        for number, item in enumerate(view):
            yield from figures(item, f"{place}/{number}")
    elif dataclasses.is_dataclass(view):
        for field in dataclasses.fields(view):
            yield from figures(getattr(view, field.name), f"{place}/{field.name}")
