"""The database of a fork, and its use of the host."""

from __future__ import annotations

from jdkmatrix.domain.record import Record


class DatabaseFacts(Record):
    """`command`: with the settings that this tool makes; others are PostgreSQL's own, or what initdb chose by the host.
    `data_bytes`: of its folder when it was fresh; `file_system`: the type of the one that its folder is on, None: not
    known; `user`: as whom it ran."""

    version: str
    command: tuple[str, ...]
    data_bytes: int
    file_system: str | None = None
    user: str


class DatabaseUse(Record):
    """All processes of the database over one window: `cpu_s` in the `span_s` between two readings."""

    cpu_s: float
    span_s: float
