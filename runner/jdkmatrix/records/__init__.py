"""What a run writes to disk: the vocabulary that every other module shares.

The whole file format stands in this one package, so that it can be reviewed, versioned and migrated in one place:
`loads` (a cell, its load, what a driver says), `cells` (forks, windows, what was seen of server and host), `remote`
(the system that an application calls), `run`.
Producers (`host`, `provision`, `drivers`, `probes`, `measure`) build these values, `store` writes them,
`stats` and `report` read them. Nothing here touches the machine.

Units are part of the names: `_s`, `_ms`, `_us`, `_bytes`, `_rps`. Latencies are microseconds.
Times of day are ISO 8601 in UTC; `t_s` is seconds since the fork's SUT process was started.
"""

from __future__ import annotations

from jdkmatrix.records.base import Record
from jdkmatrix.records.cells import (
    BurnCheck,
    Capacity,
    CapacityStep,
    CellRecord,
    Fork,
    Gauges,
    Identity,
    Pinning,
    PinningMethod,
    Pressure,
    Proof,
    Reason,
    Sample,
    SeriesSteadiness,
    Status,
    SutUsage,
    Warmup,
    WarmupWindow,
    Window,
)
from jdkmatrix.records.loads import (
    CapacityLoad,
    CellKey,
    CellLoad,
    Errors,
    Interval,
    Latency,
    Load,
    LoadResult,
    RateLoad,
    SaturateLoad,
    SpectrumPoint,
)
from jdkmatrix.records.remote import RemoteFaults, RemoteStats
from jdkmatrix.records.run import (
    Calibration,
    CpuFacts,
    DriverFacts,
    HostFacts,
    JdkRecord,
    KnownBug,
    NotTestable,
    RunRecord,
    ServerFacts,
    Stopping,
)

__all__ = [
    "BurnCheck",
    "Calibration",
    "Capacity",
    "CapacityLoad",
    "CapacityStep",
    "CellKey",
    "CellLoad",
    "CellRecord",
    "CpuFacts",
    "DriverFacts",
    "Errors",
    "Fork",
    "Gauges",
    "HostFacts",
    "Identity",
    "Interval",
    "JdkRecord",
    "KnownBug",
    "Latency",
    "Load",
    "LoadResult",
    "NotTestable",
    "Pinning",
    "PinningMethod",
    "Pressure",
    "Proof",
    "RateLoad",
    "Reason",
    "Record",
    "RemoteFaults",
    "RemoteStats",
    "RunRecord",
    "Sample",
    "SaturateLoad",
    "SeriesSteadiness",
    "ServerFacts",
    "SpectrumPoint",
    "Status",
    "Stopping",
    "SutUsage",
    "Warmup",
    "WarmupWindow",
    "Window",
]
