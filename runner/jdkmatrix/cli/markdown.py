"""Pieces of GitHub-flavoured Markdown, for the job summary of a CI service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# What could begin markup, a mention or a link; a comma or a per cent sign never does.
_PUNCTUATION = re.compile(r"[!#$&(-+\-./:<-@\[-`{-~]")


def escaped(text: str) -> str:
    """`text` on one line, with nothing in it that is markup: a backslash may stand before any ASCII punctuation
    character (CommonMark 0.31.2, section 2.4; in tables: GFM 0.29, section 4.10)."""
    return _PUNCTUATION.sub(r"\\\g<0>", " ".join(text.split()))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are escaped already, and so may have markup of their own."""
    return "\n".join(_row(cells) for cells in (headings, ["---"] * len(headings), *rows))


def listing(items: Sequence[str], *, at_most: int) -> str:
    """A list of texts, which are escaped here; of more than `at_most` the rest is counted."""
    shown = [f"- {escaped(item)}" for item in items[:at_most]]
    rest = len(items) - len(shown)
    return "\n".join([*shown, f"- … and {rest} more"] if rest else shown)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
