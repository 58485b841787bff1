"""The words for a fork and for a cell that has been measured, or not."""

from __future__ import annotations

from enum import Enum

from jdkmatrix.records.reasons import Status

# Of a fork.
STATUS_WORDS: dict[Status | None, str] = {
    Status.OK: "ok",
    Status.NOT_STEADY: "not steady",
    Status.INVALID: "invalid",
    Status.FAILED: "failed",
    None: "not measured",
}

# Also the classes of the style sheet.
STATUS_CLASS: dict[Status | None, str] = {
    Status.OK: "ok",
    Status.NOT_STEADY: "not-steady",
    Status.INVALID: "invalid",
    Status.FAILED: "failed",
    None: "none",
}


class State(Enum):
    """The word for a whole cell."""

    OK = "ok"
    NOT_STEADY = "not steady"
    FELL_SHORT = "fell short"  # every fork can be used, and the server did not do all that it was asked for
    PARTLY = "partly usable"  # some forks can be used, and some not
    INVALID = "invalid"
    FAILED = "failed"
    NOT_MEASURED = "not measured"


# Its word is the state's own value.
STATE_CLASS: dict[State, str] = {
    State.OK: "ok",
    State.NOT_STEADY: "not-steady",
    State.FELL_SHORT: "fell-short",
    State.PARTLY: "partly",
    State.INVALID: "invalid",
    State.FAILED: "failed",
    State.NOT_MEASURED: "none",
}

STATE_MEANING: dict[State, str] = {
    State.OK: "measured in the steady state",
    State.NOT_STEADY: "measured, but the warm-up reached its cap before the steady state: read with care",
    State.FELL_SHORT: "measured; the server did not do everything that the load asked for, which is a result",
    State.PARTLY: "some forks are unusable: figures are of the others, read with care",
    State.INVALID: "measured, but not to be trusted: excluded from all figures and ratios",
    State.FAILED: "nothing was measured",
    State.NOT_MEASURED: "planned, but no fork of it has run",
}
