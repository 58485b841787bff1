"""The base class of all records."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Immutable; refuses unknown keys, so that a file of another version is noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")
