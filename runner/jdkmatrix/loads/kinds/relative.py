"""Loads that depend on what a server can do, worked out for each condition from a throughput that is measured first."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from jdkmatrix.domain.executors import check_executor
from jdkmatrix.domain.loads import CONNECTIONS_MAX, CellLoad, GivenLoad, RateLoad, SaturateLoad
from jdkmatrix.domain.tables import Table
from jdkmatrix.loads.kinds.closed_loop import ClosedLoop
from jdkmatrix.loads.kinds.constant_rate import ConstantRate

Connections = Annotated[int, Field(ge=1, le=100_000)]
_DIVIDED_BY = 4  # a driver's threads each get the same number; one of wrk2 gets all if they cannot be divided


class Basis(Table):
    """The cell whose throughput stands for what a server can do: the same condition with this executor (None: the
    server's own pool), under this closed loop, while the remote system, if the workload calls one, answers after
    `wait_us`."""

    executor: Annotated[str, AfterValidator(check_executor)] | None = None
    load: str
    wait_us: Annotated[int, Field(ge=0)]


class RelativeLoad(GivenLoad, ABC):
    """`connections_min`, or `per_waiting` for every request that would wait for the remote system at once at the rate
    (Little's law: rate × delay), rounded up to a multiple of four, whichever is more."""

    of: Basis
    connections_min: Connections
    per_waiting: Annotated[float, Field(ge=1, le=100)]

    @abstractmethod
    def resolved(self, capacity_rps: float, wait_us: int) -> CellLoad: ...

    def connections(self, rate_rps: float, wait_us: int) -> int:
        waiting = self.per_waiting * rate_rps * wait_us / 1e6
        # No host has ports for that many, which is then reported.
        return min(CONNECTIONS_MAX, max(self.connections_min, math.ceil(waiting / _DIVIDED_BY) * _DIVIDED_BY))


class ShareLoad(RelativeLoad):
    """Open loop: `share` of the basis's throughput, as a whole number of requests per second."""

    kind: Literal["share"] = "share"
    share: Annotated[float, Field(gt=0, le=2)]

    def resolved(self, capacity_rps: float, wait_us: int) -> RateLoad:
        rate_rps = max(1, round(self.share * capacity_rps))
        return RateLoad(rate_rps=rate_rps, connections=self.connections(rate_rps, wait_us))


class FloodLoad(RelativeLoad):
    """Closed loop with so many connections that waiting for the remote system does not keep the server idle; with
    `per_waiting` below 1, so few that it is idle for the rest of the time."""

    kind: Literal["flood"] = "flood"
    per_waiting: Annotated[float, Field(gt=0, le=100)]

    def resolved(self, capacity_rps: float, wait_us: int) -> SaturateLoad:
        return SaturateLoad(connections=self.connections(capacity_rps, wait_us))


LOADS = {
    ShareLoad: lambda load: ConstantRate(load.resolved(1.0, 0)),
    FloodLoad: lambda load: ClosedLoop(load.resolved(1.0, 0)),
}
