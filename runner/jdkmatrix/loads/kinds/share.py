"""A constant rate that is a share of what the server can do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jdkmatrix.domain.loads import RateLoad
from jdkmatrix.loads.kinds.constant_rate import ConstantRate
from jdkmatrix.loads.relative import RelativeLoad


class ShareLoad(RelativeLoad):
    """Open loop: `share` of the basis's throughput, as a whole number of requests per second."""

    kind: Literal["share"] = "share"
    share: Annotated[float, Field(gt=0, le=2)]

    def resolved(self, capacity_rps: float, wait_us: int) -> RateLoad:
        rate_rps = max(1, round(self.share * capacity_rps))
        return RateLoad(rate_rps=rate_rps, connections=self.connections(rate_rps, wait_us))


LOADS = {ShareLoad: lambda load: ConstantRate(load.resolved(1.0, 0))}
