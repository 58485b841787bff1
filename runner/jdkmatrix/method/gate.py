"""A gate: a rule that excludes a window, an experiment or a whole fork."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.forks import BurnCheck
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import SutUsage

Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


@dataclass(frozen=True)
class WindowContext:
    """Effects that are intended in a window, and so are not faults.

    `service_s`: the least time that a response takes; requests that fall due in the last `service_s` cannot be
    answered. `heap_growth`: true where memory use is itself the question. `sut_cpus`, `remote_cpus`: how many CPUs the
    server may use, and the remote system or the database. `precision`: what the profile promises for a ratio, as a
    share; whatever takes CPU time away from the server is judged against it. `p99_max_us`: the objective for latency.
    """

    service_s: float = 0.0
    heap_growth: bool = False
    remote_cpus: int = 0
    precision: float = 0.05
    p99_max_us: float | None = None
    sut_cpus: float = 1


DEFAULT_CONTEXT = WindowContext()


@dataclass(frozen=True)
class Observation:
    """Readings of one window; gates skip those that are None. `readings_s`: the longest time that the readings around
    it should span, where that does not follow from its `load`. `best_cpu_share`: how busy the server was in the busiest
    window of its fork."""

    load: LoadResult | None = None
    sut: SutUsage | None = None
    host: Pressure | None = None
    remote: RemoteStats | None = None
    served: Served | None = None
    burn: BurnCheck | None = None
    readings_s: float | None = None
    best_cpu_share: float | None = None
    database: DatabaseUse | None = None


@dataclass(frozen=True)
class Gate:
    """`codes`: those of the reasons that it yields; `limits`: the names of the limits that it applies; `check`: yields
    why it refuses an observation, given a table with these limits. `name`, `catches` and `cannot` (what gets past it):
    texts for the method page."""

    codes: tuple[str, ...]
    name: str
    limits: tuple[str, ...]
    check: Callable[[Observation, Any, WindowContext], Iterator[Reason]]
    catches: str
    cannot: str


def over(limit: float, code: str, message: str, **seen: float | None) -> Iterator[Reason]:
    """Yield a reason if the single figure `seen` exceeds its limit; `message` has a placeholder for it."""
    ((name, value),) = seen.items()
    if value is not None and value > limit:
        yield Reason(code=code, message=message.format(value), figures={name: value, "max": limit})
