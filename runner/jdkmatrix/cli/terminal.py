"""Text of files, options and other programs on a terminal."""

from __future__ import annotations

from rich import markup

from jdkmatrix.errors import visible


def say(text: str) -> None:
    print(visible(text), flush=True)


def escape(text: str) -> str:
    """For `rich`: neither its markup nor what would steer the terminal."""
    return markup.escape(visible(text))
