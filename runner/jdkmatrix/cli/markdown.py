"""Pieces of GitHub-flavoured Markdown, for the job summary of a CI service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jdkmatrix.errors import visible

# What is markup wherever it stands; what makes an emoji (":x:"), a link or a formula of text.
_ANYWHERE = re.compile(r"[\\`*_\[\]<&~|@#$]|:(?=//|[\w+-]+:)|(?<=\bwww)\.", re.IGNORECASE)
# What makes a heading, a quotation or a list of a line that begins with it.
_AT_THE_START = re.compile(r"^((?=[-+=>])|[0-9]+(?=[.)](?: |$)))")


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that is markup, and no more backslashes than that takes: one may stand
    before any ASCII punctuation character (CommonMark 0.31.2, section 2.4; in tables: GFM 0.29, section 4.10)."""
    one_line = _ANYWHERE.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return _AT_THE_START.sub(r"\1\\", one_line)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are escaped already, and so may have markup of their own."""
    return "\n".join(_row(cells) for cells in (headings, ["---"] * len(headings), *rows))


def grouped(headings: Sequence[str], groups: Iterable[tuple[str, Iterable[Sequence[str]]]]) -> str:
    """A table of texts, which are escaped here; the title of each group stands in a row of its own above its rows."""
    rows: list[Sequence[str]] = []
    for title, members in groups:
        rows.append((f"**{escaped(title)}**", *[""] * (len(headings) - 1)))
        rows += [tuple(map(escaped, row)) for row in members]
    return table(tuple(map(escaped, headings)), rows)


def listing(items: Sequence[str], *, at_most: int) -> str:
    """A list of texts, which are escaped here; of more than `at_most` the rest is counted."""
    shown = [f"- {escaped(item)}" for item in items[:at_most]]
    rest = len(items) - len(shown)
    return "\n".join([*shown, f"- … and {rest} more"] if rest else shown)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
