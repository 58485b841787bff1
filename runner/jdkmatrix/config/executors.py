"""The names of request executors."""

from __future__ import annotations

import difflib
import re

PLAIN = ("liberty", "liberty-virtual", "virtual", "platform", "cached")
_FIXED = re.compile(r"fixed-([1-9][0-9]{0,4})")
ALLOWED = (*PLAIN, "fixed-N")

# Executors whose request threads are virtual; every other one must serve from platform threads.
VIRTUAL = frozenset({"virtual", "liberty-virtual"})


def check_executor(name: str) -> str:
    """Return `name`; ValueError says what is allowed."""
    if name in PLAIN or _FIXED.fullmatch(name):
        return name
    guess = "fixed-50" if name.startswith("fixed") else next(iter(difflib.get_close_matches(name, PLAIN)), None)
    hint = f'; did you mean "{guess}"?' if guess else ""
    raise ValueError(f'"{name}" is not an executor{hint} (allowed: {", ".join(ALLOWED)} with N in 1..99999)')


def is_virtual(name: str) -> bool:
    return name in VIRTUAL
