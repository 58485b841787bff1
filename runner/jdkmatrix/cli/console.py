"""Where tables and progress are printed."""

from __future__ import annotations

from rich.console import Console


def console_here() -> Console:
    """This terminal, on which ":100:" in a path stays what it is: `rich` would make an emoji of it."""
    return Console(emoji=False)
