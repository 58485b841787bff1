"""Which kinds of load there are. Another is a file beside these, its fields in `terms/loads.py`, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jdkmatrix.config.model import AskedLoad
from jdkmatrix.config.relative_loads import RelativeLoad
from jdkmatrix.domain.loads import (
    CapacityLoad,
    CountLoad,
    InFlightLoad,
    JoinedLoad,
    RampedLoad,
    RateLoad,
    SaturateLoad,
    StepsLoad,
    TaskRateLoad,
)
from jdkmatrix.loads.base import LoadKind
from jdkmatrix.loads.capacity_search import CapacitySearch
from jdkmatrix.loads.closed_loop import ClosedLoop
from jdkmatrix.loads.constant_rate import ConstantRate
from jdkmatrix.loads.given_tasks import Tasks
from jdkmatrix.loads.ramps import Joining, ramp
from jdkmatrix.loads.rising_steps import RisingSteps
from jdkmatrix.records.cells import AnyLoad

KINDS: Mapping[type[AnyLoad], Callable[[Any], LoadKind[Any]]] = {
    SaturateLoad: ClosedLoop,
    RateLoad: ConstantRate,
    CapacityLoad: CapacitySearch,
    StepsLoad: RisingSteps,
    RampedLoad: ramp,
    JoinedLoad: Joining,
    **dict.fromkeys((InFlightLoad, TaskRateLoad, CountLoad), Tasks),
}


def kind_of(load: AnyLoad) -> LoadKind[Any]:
    return KINDS[type(load)](load)


def planned(load: AskedLoad) -> LoadKind[Any]:
    """Of a load whose rate may not be known yet, for what does not depend on it: its length."""
    return kind_of(load.resolved(1.0, 0) if isinstance(load, RelativeLoad) else load)


def loads_words(loads: Sequence[AnyLoad]) -> str:
    """Of cells under a load of one name: it differs where it was worked out for each condition."""
    distinct = list(dict.fromkeys(loads))
    first = kind_of(distinct[0])
    return first.words() if len(distinct) == 1 else first.words_of_all(distinct)
