"""The one error that reaches the user as a single message, without a traceback."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

_UNSEEN = {"Cc", "Cf", "Cs"}  # control and format characters, halves of surrogate pairs


class MatrixError(Exception):
    """Bad input or a missing part; the message says where, what was found, and what is allowed or what to do.
    `figures`: the counts behind it, if any. `exit_code`: that of the command it ends."""

    figures: Mapping[str, float] = {}
    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return visible(super().__str__())


@contextmanager
def refused(words: str, kind: type[MatrixError] = MatrixError, *, of: type[Exception] = OSError) -> Iterator[None]:
    """Turn errors of type `of` in the block, by default the system's, into one whose message begins with `words`.

    Raises:
        MatrixError: of this `kind`.
    """
    try:
        yield
    except of as error:
        raise kind(f"{words}: {getattr(error, 'strerror', None) or error}") from None


def why_refused(call: Callable[[], object]) -> str | None:
    """Return the message of the MatrixError that the call raises; None if it raises none."""
    try:
        call()
    except MatrixError as error:
        return str(error)
    return None


def visible(text: str) -> str:
    """Make foreign text safe for a terminal: show whatever would move its cursor, or colour or reverse what follows, as
    an escape sequence, "\\x1b"."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNSEEN and character not in "\n\t"
        else character
        for character in text
    )
