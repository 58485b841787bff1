"""The questions of `matrix ask` on a terminal: menus for the arrow keys, drawn by questionary."""

from __future__ import annotations

from collections.abc import Callable

import questionary

from jdkmatrix.cli.questions import Step
from jdkmatrix.errors import MatrixError

_ANOTHER = ""  # no value of an axis


def chosen(step: Step) -> str | int:
    """Raises: KeyboardInterrupt."""
    choices = [questionary.Choice(title=words, value=value) for words, value in step.choices]
    if step.read is not None:
        choices.append(questionary.Choice(title="another…", value=_ANOTHER))
    found = questionary.select(step.title, choices=choices, qmark="", instruction=" ").unsafe_ask()
    if step.read is not None and found == _ANOTHER:
        return _typed(step.title, step.such_as, step.read)
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
