"""The one error that reaches the user as a single message, without a traceback."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

_UNSEEN = {"Cc", "Cf", "Cs"}  # control and format characters, halves of surrogate pairs


class MatrixError(Exception):
    """Bad input or a missing part: says where, what was found and what is allowed or what to do. `figures`: counts that
    say so, where there are any. `exit_code`: of the command that it ends."""

    figures: Mapping[str, float] = {}
    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return visible(super().__str__())


@contextmanager
def refused(words: str, kind: type[MatrixError] = MatrixError, *, of: type[Exception] = OSError) -> Iterator[None]:
    """What is refused in the block, by the system or by errors `of` another type, is told with these words before it.

    Raises:
        MatrixError: of this `kind`.
    """
    try:
        yield
    except of as error:
        raise kind(f"{words}: {getattr(error, 'strerror', None) or error}") from None


def why_refused(call: Callable[[], object]) -> str | None:
    """The message of the MatrixError that the call ends with; None where it ends with none."""
    try:
        call()
    except MatrixError as error:
        return str(error)
    return None


def visible(text: str) -> str:
    """Text of others for a terminal: what would move its cursor, colour or turn what follows is shown as an escape
    sequence, "\\x1b"."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNSEEN and character not in "\n\t"
        else character
        for character in text
    )
