"""The words for a fork and for a cell that has been measured, or not."""

from __future__ import annotations

from enum import Enum
from typing import Self

from jdkmatrix.records.reasons import Status

# Of a fork.
STATUS_WORDS: dict[Status | None, str] = {
    Status.OK: "ok",
    Status.NOT_STEADY: "not steady",
    Status.INVALID: "invalid",
    Status.FAILED: "failed",
    None: "not measured",
}

# Of the style sheet.
STATUS_CLASS = {status: words.replace(" ", "-") if status else "none" for status, words in STATUS_WORDS.items()}


class State(Enum):
    """The word for a whole cell, its class in the style sheet, and its meaning."""

    OK = "ok", "ok", "measured in the steady state"
    NOT_STEADY = (
        "not steady",
        "not-steady",
        "measured, but the warm-up reached its cap before the steady state: read with care",
    )
    FELL_SHORT = (
        "fell short",
        "fell-short",
        "measured; the server did not do everything that the load asked for, which is a result",
    )
    PARTLY = "partly usable", "partly", "some forks are unusable: figures are of the others, read with care"
    INVALID = "invalid", "invalid", "measured, but not to be trusted: excluded from all figures and ratios"
    FAILED = "failed", "failed", "nothing was measured"
    NOT_MEASURED = "not measured", "none", "planned, but no fork of it has run"

    css: str
    meaning: str

    def __new__(cls, word: str, css: str, meaning: str) -> Self:
        state = object.__new__(cls)
        state._value_, state.css, state.meaning = word, css, meaning
        return state
