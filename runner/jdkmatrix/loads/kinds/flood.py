"""A closed loop with as many connections as the remote system's delay needs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jdkmatrix.domain.loads import SaturateLoad
from jdkmatrix.loads.kinds.closed_loop import ClosedLoop
from jdkmatrix.loads.relative import RelativeLoad


class FloodLoad(RelativeLoad):
    """Closed loop with so many connections that waiting for the remote system does not keep the server idle; with
    `per_waiting` below 1, that it is idle for the rest of the time."""

    kind: Literal["flood"] = "flood"
    per_waiting: Annotated[float, Field(gt=0, le=100)]

    def resolved(self, capacity_rps: float, wait_us: int) -> SaturateLoad:
        return SaturateLoad(connections=self.connections(capacity_rps, wait_us))


LOADS = {FloodLoad: lambda load: ClosedLoop(load.resolved(1.0, 0))}
