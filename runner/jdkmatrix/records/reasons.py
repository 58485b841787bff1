"""The status of a fork, and the reasons for it."""

from __future__ import annotations

from enum import StrEnum

from jdkmatrix.domain.record import Record

BURN_OFF = "burn-off"  # the gate that refuses a whole fork of a server
KILLED = "killed"  # or stopped by someone else: what the server would have done is not known


class Status(StrEnum):
    OK = "ok"
    NOT_STEADY = "not-steady"  # measured, but the warm-up cap came before the steady state
    INVALID = "invalid"  # measured, but must not be used in a verdict
    FAILED = "failed"  # not measured


class Reason(Record):
    """The reason why a window, a fork or a cell is not simply ok; `figures` decided it."""

    code: str
    message: str
    figures: dict[str, float] = {}
