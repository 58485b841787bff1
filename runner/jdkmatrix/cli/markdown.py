"""Pieces of GitHub-flavoured Markdown, for the job summary of a CI service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jdkmatrix.errors import visible

# Characters that are markup anywhere, and those that turn text into an emoji (":x:"), a link or a formula.
_ANYWHERE = re.compile(r"[\\`*_\[\]<&~|@#$]|:(?=//|[\w+-]+:)|(?<=\bwww)\.", re.IGNORECASE)
# Characters that turn a line that begins with them into a heading, a quotation or a list.
_AT_THE_START = re.compile(r"^((?=[-+=>])|[0-9]+(?=[.)](?: |$)))")


def escaped(text: str) -> str:
    """Return `text` on one line without any markup, with no more backslashes than that takes: one may stand before any
    ASCII punctuation character (CommonMark 0.31.2, section 2.4; in tables: GFM 0.29, section 4.10)."""
    one_line = _ANYWHERE.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return _AT_THE_START.sub(r"\1\\", one_line)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Build a table of cells that are already escaped, and so may contain markup of their own."""
    return "\n".join(_row(cells) for cells in (headings, ["---"] * len(headings), *rows))


def grouped(headings: Sequence[str], groups: Iterable[tuple[str, Iterable[Sequence[str]]]]) -> str:
    """Build a table of texts, which are escaped here, with each group's title in a row of its own above its rows."""
    rows: list[Sequence[str]] = []
    for title, members in groups:
        rows.append((f"**{escaped(title)}**", *[""] * (len(headings) - 1)))
        rows += [tuple(map(escaped, row)) for row in members]
    return table(tuple(map(escaped, headings)), rows)


def listing(items: Sequence[str], *, at_most: int) -> str:
    """Build a list of texts, which are escaped here; those beyond `at_most` are only counted."""
    shown = [f"- {escaped(item)}" for item in items[:at_most]]
    rest = len(items) - len(shown)
    return "\n".join([*shown, f"- … and {rest} more"] if rest else shown)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
