"""Print text from files, options and other programs on a terminal."""

from __future__ import annotations

from rich import markup

from jdkmatrix.errors import visible


def say(text: str) -> None:
    print(visible(text), flush=True)


def escape(text: str) -> str:
    """Escape text for `rich`: its markup, and whatever would control the terminal."""
    return markup.escape(visible(text))
