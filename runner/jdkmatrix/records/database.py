"""A fork's database and its use of the host."""

from __future__ import annotations

from jdkmatrix.domain.record import Record


class DatabaseFacts(Record):
    """`command`: includes the settings that this tool makes; others are PostgreSQL's own, or what initdb chose for the
    host. `data_bytes`: the size of its folder when it was fresh; `file_system`: the type of the one that holds its
    folder, None: not known; `user`: the user that it ran as."""

    version: str
    command: tuple[str, ...]
    data_bytes: int
    file_system: str | None = None
    user: str


class DatabaseUse(Record):
    """CPU time of all processes of the database over one window: `cpu_s` in the `span_s` between two readings."""

    cpu_s: float
    span_s: float
