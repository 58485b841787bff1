"""How sessions and the run that they make up end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from jdkmatrix.records.run import RunRecord, Session


def close_killed(sessions: Sequence[Session]) -> tuple[Session, ...]:
    """The earlier sessions when another begins: one that did not say how it ended was killed."""
    return tuple(
        session.model_copy(update={"status": "interrupted"}) if session.status == "running" else session
        for session in sessions
    )


def end_session(run: RunRecord, status: Literal["complete", "interrupted"], at: str, duration_s: float) -> RunRecord:
    """`run`, its latest session having ended at this time of day, after so long."""
    *earlier, latest = run.sessions
    last = latest.model_copy(update={"status": status, "ended_at": at, "duration_s": duration_s})
    return run.model_copy(update={"status": status, "ended_at": at, "sessions": (*earlier, last)})


def complete_idle(run: RunRecord, *, order: tuple[str, ...]) -> RunRecord:
    """A run that was to go on and had nothing to measure: it is complete, even where it was killed before it could say
    so."""
    if run.status == "complete":
        return run
    return run.model_copy(update={"status": "complete", "order": order, "sessions": close_killed(run.sessions)})
