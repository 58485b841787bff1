"""The console on which tables and progress are printed."""

from __future__ import annotations

from rich.console import Console


def console_here() -> Console:
    """Return a console that leaves ":100:" in a path as it is: by default `rich` makes an emoji of it."""
    return Console(emoji=False)
