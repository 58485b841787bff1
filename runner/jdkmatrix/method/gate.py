"""A gate: a rule by which a window, an experiment or a whole fork does not count."""

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
    """Effects that a window is meant to see, and which are no fault then.

    `service_s`: what an answer takes at least; what becomes due in the last of it cannot be answered. `heap_growth`:
    where the memory goes is the question. `sut_cpus`, `remote_cpus`: how many the server may use, and the remote
    system or the database. `precision`: what the profile promises for a ratio, as a share; what takes the server's CPU
    time away is judged by it. `p99_max_us`: the objective that latency is held against.
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
    """Readings of one window; a gate judges nothing that is None. `readings_s`: the longest that the readings around it
    may span, where that does not follow from its `load`. `best_cpu_share`: how busy the server was in the best window
    of its fork."""

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
    """`codes`: of the reasons that it gives; `limits`: the names of those that it goes by; `check`: why it refuses what
    was seen, by a table with these limits. `name`, `catches` and `cannot` (what passes it): for the page of the method.
    """

    codes: tuple[str, ...]
    name: str
    limits: tuple[str, ...]
    check: Callable[[Observation, Any, WindowContext], Iterator[Reason]]
    catches: str
    cannot: str


def over(limit: float, code: str, message: str, **seen: float | None) -> Iterator[Reason]:
    """A reason where the one figure that was `seen` is above its limit; `message` has a place for it."""
    ((name, value),) = seen.items()
    if value is not None and value > limit:
        yield Reason(code=code, message=message.format(value), figures={name: value, "max": limit})
