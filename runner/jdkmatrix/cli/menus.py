"""The questions of `matrix ask` on a terminal: menus for the arrow keys, drawn by questionary."""

from __future__ import annotations

from collections.abc import Callable

import questionary

from jdkmatrix.cli.questions import AxisQuestion
from jdkmatrix.errors import MatrixError

_ANOTHER = ""  # no value of an axis


def chosen(question: AxisQuestion) -> str | int:
    """Raises: KeyboardInterrupt."""
    choices = [questionary.Choice(title=words, value=value) for words, value in question.choices]
    if question.read is not None:
        choices.append(questionary.Choice(title="another…", value=_ANOTHER))
    found = questionary.select(question.title, choices=choices, qmark="", instruction=" ").unsafe_ask()
    if question.read is not None and found == _ANOTHER:
        return _typed(question.title, question.such_as, question.read)
    return found if isinstance(found, int) else str(found)


def confirmed() -> bool:
    """Raises: KeyboardInterrupt."""
    return bool(questionary.confirm("Measure now?", qmark="").unsafe_ask())


def _typed(title: str, such_as: str, read: Callable[[str], int]) -> int:
    def problem(text: str) -> bool | str:
        try:
            read(text)
        except MatrixError as error:
            return str(error)
        return True

    return read(questionary.text(f"{title} ({such_as})", qmark="", validate=problem).unsafe_ask())
