"""What a run writes to disk: the vocabulary that every other module shares.

The whole file format stands in this one package, so that it can be reviewed, versioned and migrated in one place:
`loads` (a cell, its load, what a driver says), `cells` (forks, windows, what was seen of server and host), `memory`
(where that of the server is), `limits` (of the server, and which it ran into), `remote` (the system that an application
calls), `served` (on whose threads requests ran), `experiments` (without a server), `provenance` (where the parts came
from), `claims` (what was published of the experiment), `run`.
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
from jdkmatrix.records.claims import ClaimRecord, ClaimSource, PublishedFigure, PublishedResult
from jdkmatrix.records.experiments import (
    AnyCell,
    BurnResult,
    Distribution,
    ExperimentFork,
    ExperimentRecord,
    ExperimentResult,
    FanoutResult,
    PinningResult,
    SpawnResult,
)
from jdkmatrix.records.limits import Enforcement, Outcome
from jdkmatrix.records.loads import (
    DEFAULT_SERVER,
    NO_SERVER,
    CapacityLoad,
    CellKey,
    CellLoad,
    CountLoad,
    Errors,
    InFlightLoad,
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
    TaskLoad,
    TaskRateLoad,
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
from jdkmatrix.records.served import Served

__all__ = [
    "DEFAULT_SERVER",
    "NO_SERVER",
    "AnyCell",
    "Audit",
    "BurnCheck",
    "BurnResult",
    "Calibration",
    "Capacity",
    "CapacityLoad",
    "CapacityStep",
    "CellKey",
    "CellLoad",
    "CellRecord",
    "ClaimRecord",
    "ClaimSource",
    "CountLoad",
    "CpuFacts",
    "Distribution",
    "DriverFacts",
    "Enforcement",
    "Errors",
    "ExperimentFork",
    "ExperimentRecord",
    "ExperimentResult",
    "FanoutResult",
    "FlakeInput",
    "Fork",
    "Gauges",
    "HostFacts",
    "Identity",
    "InFlightLoad",
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
    "PinningResult",
    "Pressure",
    "Proof",
    "Provenance",
    "PublishedFigure",
    "PublishedResult",
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
    "Served",
    "ServerFacts",
    "SpawnResult",
    "SpectrumPoint",
    "Status",
    "StepsLoad",
    "Stopping",
    "SutUsage",
    "TaskLoad",
    "TaskRateLoad",
    "Warmup",
    "WarmupWindow",
    "Window",
]
