"""The database of a fork, and its use of the host."""

from __future__ import annotations

from jdkmatrix.domain.record import Record


class DatabaseFacts(Record):
    """`command`: with every setting that is not PostgreSQL's own default; `data_bytes`: of its folder when it was
    fresh; `user`: as whom it ran."""

    version: str
    command: tuple[str, ...]
    data_bytes: int
    user: str


class DatabaseUse(Record):
    """All processes of the database over one window: `cpu_s` in the `span_s` between two readings."""

    cpu_s: float
    span_s: float
