"""The output of a loadgen session, one JSON object per line (Event.java). Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from jdkmatrix.records.load_results import Errors


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ready(_Event):
    event: Literal["ready"]
    version: str
    netty: str
    java_version: str
    transport: str


class Started(_Event):
    event: Literal["started"]
    label: str
    monotonic_ns: int


class IntervalEvent(_Event):
    event: Literal["interval"]
    t_s: float
    due: int | None
    sent: int
    completed: int
    non_2xx: int
    errors: Errors
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class Finished(_Event):
    """Histograms are encoded HdrHistograms in nanoseconds, None where nothing was recorded."""

    event: Literal["finished"]
    label: str
    started_monotonic_ns: int
    ended_monotonic_ns: int
    duration_s: float
    due: int | None
    sent: int
    unsent: int | None
    outstanding: int
    answered_late: int
    completed: int
    non_2xx: int
    errors: Errors
    reconnects: int
    bytes_read: int
    throughput_rps: float
    lower_bounds: int
    corrected: str | None
    uncorrected: str | None
    send_lateness: str | None
    cpu_s: float
    hlog: str | None


class Failed(_Event):
    event: Literal["error"]
    code: str
    message: str


Event = Annotated[Ready | Started | IntervalEvent | Finished | Failed, Field(discriminator="event")]

_ADAPTER: TypeAdapter[Ready | Started | IntervalEvent | Finished | Failed] = TypeAdapter(Event)


def parse_event(line: bytes) -> Ready | Started | IntervalEvent | Finished | Failed:
    """Raises: pydantic.ValidationError when the line is not an event of this version."""
    return _ADAPTER.validate_json(line)
