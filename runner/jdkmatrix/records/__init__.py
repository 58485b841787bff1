"""What a run writes to disk: the vocabulary that every other module shares.

The whole file format stands in this one package, so that it can be reviewed, versioned and migrated in one place:
`loads` (a cell, its load, what a driver says), `cells` (forks, windows, what was seen of server and host), `memory`
(where that of the server is), `limits` (of the server, and which it ran into), `remote` (the system that an application
calls), `provenance` (where the parts came from), `run`.
Producers (`host`, `provision`, `drivers`, `probes`, `measure`) build these values, `store` writes them,
`stats` and `report` read them. Nothing here touches the machine.

Units are part of the names: `_s`, `_ms`, `_us`, `_bytes`, `_rps`. Latencies are microseconds.
Times of day are ISO 8601 in UTC; `t_s` is seconds since the fork's SUT process was started.
"""

from __future__ import annotations

from jdkmatrix.records.base import Record
from jdkmatrix.records.cells import (
    Audit,
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
from jdkmatrix.records.limits import Enforcement, Outcome
from jdkmatrix.records.loads import (
    DEFAULT_SERVER,
    CapacityLoad,
    CellKey,
    CellLoad,
    Errors,
    Interval,
    Latency,
    Load,
    LoadResult,
    RampedLoad,
    RampLoad,
    RateLoad,
    SaturateLoad,
    SpectrumPoint,
    StepsLoad,
)
from jdkmatrix.records.memory import MemoryReading, NativeCategory
from jdkmatrix.records.provenance import FlakeInput, PartOrigin, Provenance
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
    ScenarioRecord,
    ServerFacts,
    Stopping,
)

__all__ = [
    "DEFAULT_SERVER",
    "Audit",
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
    "Enforcement",
    "Errors",
    "FlakeInput",
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
    "MemoryReading",
    "NativeCategory",
    "NotTestable",
    "Outcome",
    "PartOrigin",
    "Pinning",
    "PinningMethod",
    "Pressure",
    "Proof",
    "Provenance",
    "RampLoad",
    "RampedLoad",
    "RateLoad",
    "Reason",
    "Record",
    "RemoteFaults",
    "RemoteStats",
    "RunRecord",
    "Sample",
    "SaturateLoad",
    "ScenarioRecord",
    "SeriesSteadiness",
    "ServerFacts",
    "SpectrumPoint",
    "Status",
    "StepsLoad",
    "Stopping",
    "SutUsage",
    "Warmup",
    "WarmupWindow",
    "Window",
]
