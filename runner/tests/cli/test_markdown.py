"""Escaped text stays text, whatever it holds; the judge is a parser of CommonMark and of GitHub's tables."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jdkmatrix.cli.markdown import escaped, listing, table

# Control and format characters, and code points that stand for no character, are not shown by any page.
SHOWN = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Cn", "Co"))
TEXTS = st.text(SHOWN) | st.text("\\`*_[](){}<>&;~|@#$!:.-+=^'\"/1ax ")
AS_ON_GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])


class Page(HTMLParser):
    """A rendered page: its elements in order, and their texts by the element's name."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(AS_ON_GITHUB.render(markdown))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.texts[self.elements[-1]][-1] += data


@given(TEXTS, TEXTS)
@example("a | b", "\\|")
@example("<script>", "&lt;")
@example("| --- |", "\\")
def test_a_cell_of_a_table_is_the_text(first: str, second: str) -> None:
    page = Page(table(("one", "two"), [(escaped(first), escaped(second)), ("**next**", "")]))
    assert page.elements[:9] == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert page.elements[9:] == ["tr", "td", "strong", "td"]
    assert [text.strip() for text in page.texts["td"][:2]] == [" ".join(text.split()) for text in (first, second)]


@given(st.lists(TEXTS.filter(lambda text: text.strip()), min_size=1))
@example(["# heading", "- item", "1. item", "> quote", "```", "    code", "---", "[a]: b", "<!-- x", "+", "~~~"])
def test_an_item_of_a_list_is_the_text(items: list[str]) -> None:
    page = Page(listing(items, at_most=len(items)))
    assert page.elements == ["ul", *["li"] * len(items)]
    assert [text.strip() for text in page.texts["li"]] == [" ".join(item.split()) for item in items]


def test_a_name_a_date_and_a_number_need_no_backslash() -> None:
    text = "20261123T1200Z-quick: temurin-21.0.8 (2026-11-23 08:26 UTC), -3.5 %, 37,646/s!"
    assert escaped(text) == text
    assert escaped("-3.5") == "\\-3.5"
    assert escaped("see https://x.org, www.y.org, :smile: and #7") == (
        "see https\\://x.org, www\\.y.org, \\:smile: and \\#7"
    )


def test_a_long_list_counts_the_rest() -> None:
    assert listing(["a", "b", "c", "d"], at_most=2) == "- a\n- b\n- … and 2 more"
    assert listing(["a", "b"], at_most=2) == "- a\n- b"
