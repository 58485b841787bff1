"""The names of request executors."""

from __future__ import annotations

import difflib
import re

PLAIN = ("liberty", "liberty-virtual", "virtual", "platform", "cached")
_FIXED = re.compile(r"fixed-([1-9][0-9]{0,4})")
ALLOWED = (*PLAIN, "fixed-N")

# Executors whose request threads are virtual; every other one must serve from platform threads.
VIRTUAL = frozenset({"virtual", "liberty-virtual"})

BASELINE = "liberty"

# "liberty-aa" is "liberty" measured as if it were another executor: what differs between the two is chance.
_AGAIN = "-aa"


def check_executor(name: str) -> str:
    """Return `name`; ValueError says what is allowed."""
    base = base_of(name)
    if base in PLAIN or _FIXED.fullmatch(base):
        return name
    guess = "fixed-50" if base.startswith("fixed") else next(iter(difflib.get_close_matches(base, PLAIN)), None)
    hint = f'; did you mean "{guess}{_AGAIN if is_again(name) else ""}"?' if guess else ""
    raise ValueError(
        f'"{name}" is not an executor{hint} (allowed: {", ".join(ALLOWED)} with N in 1..99999, '
        f"and each of them with {_AGAIN} behind it as the second arm of an A/A check)"
    )


def again(name: str) -> str:
    """The second arm of an A/A check of executor `name`."""
    return f"{base_of(name)}{_AGAIN}"


def is_again(name: str) -> bool:
    return name.endswith(_AGAIN)


def base_of(name: str) -> str:
    """The executor that a server is really started with."""
    return name.removesuffix(_AGAIN)


def reference(name: str) -> str:
    """The executor that this one is compared with: the server's own pool, or itself where it is measured again."""
    return base_of(name) if is_again(name) else BASELINE


def is_virtual(name: str) -> bool:
    return base_of(name) in VIRTUAL
