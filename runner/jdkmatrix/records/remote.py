"""The remote system's own figures."""

from __future__ import annotations

from jdkmatrix.domain.record import Record
from jdkmatrix.records.load_results import Latency


class RemoteFaults(Record):
    """Faults that were ordered: responses with status 500, connections closed instead, requests never answered."""

    status_500: int
    close: int
    never: int


class RemoteStats(Record):
    """One period of the remote system. None: nothing was recorded.

    `lateness`: from when a response was due until it was written, for all responses and closed connections;
    `loop_lateness`: that of a timer of the remote's own, which shows how long a request may have waited to be received.
    """

    answered: int  # with status 200, as ordered
    in_flight: int  # received and not answered, at the end of the period
    in_flight_peak: int
    abandoned: int  # the caller closed its connection before the answer
    refused: int  # bad requests, answered with status 400
    faults: RemoteFaults
    cpu_s: float  # of the whole process
    since_monotonic_ns: int  # CLOCK_MONOTONIC
    now_monotonic_ns: int
    lateness: Latency | None
    loop_lateness: Latency | None
