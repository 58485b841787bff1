"""What a run writes to disk: the vocabulary that every other module shares.

The whole file format stands in this one module, so that it can be reviewed, versioned and migrated in one
place. Producers (`host`, `provision`, `drivers`, `probes`, `measure`) build these values, `store` writes them,
`stats` and `report` read them. Nothing here touches the machine.

Units are part of the names: `_s`, `_ms`, `_us`, `_bytes`, `_rps`. Latencies are microseconds.
Times of day are ISO 8601 in UTC; `t_s` is seconds since the fork's SUT process was started.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1


class Record(BaseModel):
    """Immutable; unknown keys are refused, so that a file of another version is noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# ---------------------------------------------------------------- what a cell is


class SaturateLoad(Record):
    """Closed loop: every connection sends its next request as soon as it has the answer."""

    kind: Literal["saturate"] = "saturate"
    connections: Annotated[int, Field(ge=1, le=100_000)]

    @property
    def in_windows(self) -> SaturateLoad:
        return self


class RateLoad(Record):
    """Open loop: `rate_rps` requests per second over all connections, on a fixed schedule."""

    kind: Literal["rate"] = "rate"
    rate_rps: Annotated[float, Field(gt=0)]
    connections: Annotated[int, Field(ge=1, le=100_000)]

    @property
    def in_windows(self) -> RateLoad:
        return self


class CapacityLoad(Record):
    """A closed loop, then constant rates: the highest that keeps p99 within `p99_max_us` without a failed request.

    The search goes from `floor_share` of the closed loop's throughput up to that throughput, until it has the rate to
    within `resolution` (a share), in windows of `step_s`.
    """

    kind: Literal["capacity"] = "capacity"
    connections: Annotated[int, Field(ge=1, le=100_000)]
    p99_max_us: Annotated[float, Field(gt=0)]
    floor_share: Annotated[float, Field(gt=0, lt=1)]
    resolution: Annotated[float, Field(gt=0, lt=1)]
    step_s: Annotated[float, Field(gt=0, le=86_400)]

    @property
    def in_windows(self) -> SaturateLoad:
        return SaturateLoad(connections=self.connections)


Load = Annotated[SaturateLoad | RateLoad, Field(discriminator="kind")]  # what a driver runs
CellLoad = Annotated[SaturateLoad | RateLoad | CapacityLoad, Field(discriminator="kind")]  # `in_windows`: its windows


class CellKey(Record):
    """One point in the product of all axes."""

    workload: str
    jdk: str
    executor: str
    cpus: int
    burn_us: int
    load: str  # a name from matrix.toml's [loads]

    @property
    def cell_id(self) -> str:
        """Readable and safe as a file name; unique because every axis value is in it."""
        return f"{self.workload}.{self.jdk}.{self.executor}.cpus-{self.cpus}.burn-{self.burn_us}us.{self.load}"

    @property
    def group_id(self) -> str:
        """As cell_id, of all cells whose executors are compared."""
        return f"{self.workload}.{self.jdk}.cpus-{self.cpus}.burn-{self.burn_us}us.{self.load}"

    @property
    def group(self) -> tuple[str, str, int, int, str]:
        """What stays equal among cells whose executors are compared."""
        return (self.workload, self.jdk, self.cpus, self.burn_us, self.load)


# ---------------------------------------------------------------- latency and load


class SpectrumPoint(Record):
    """`count` of all recorded values are at most `value_us`; `quantile` is in 0..1."""

    quantile: float
    value_us: float
    count: int


class Latency(Record):
    """One distribution.

    `histogram` is an HdrHistogram in the V2 compressed base64 encoding, its values in nanoseconds; it is None
    where the driver prints only a spectrum (wrk2). `spectrum` is always there, in rising order of quantile.
    """

    count: int
    min_us: float
    mean_us: float
    max_us: float
    percentiles_us: dict[str, float]  # keys "50", "90", "99", "99.9", "99.99"
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None = None


class Errors(Record):
    connect: int = 0
    read: int = 0
    write: int = 0
    timeout: int = 0

    @property
    def total(self) -> int:
        return self.connect + self.read + self.write + self.timeout


class Interval(Record):
    """One second as the driver saw it; `t_s` is its end, counted from the start of the window."""

    t_s: float
    completed: int
    errors: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class LoadResult(Record):
    """What a driver says about one phase of load. None means: this driver does not say."""

    driver: str
    load: Load
    started_monotonic_ns: int  # CLOCK_MONOTONIC, as System.nanoTime and time.monotonic_ns read it
    ended_monotonic_ns: int
    duration_s: float  # throughput is counted over this
    latency_from_s: float  # latencies are recorded from here on (wrk2 drops its calibration); 0 = all
    due: int | None  # requests that the schedule asked for (rate loads)
    sent: int | None
    unsent: int | None  # due and not sent when time was up
    outstanding: int | None = None  # sent, and neither answered nor failed when time was up
    completed: int  # answered within the phase, any status
    non_2xx: int
    errors: Errors
    reconnects: int | None
    bytes_read: int | None
    throughput_rps: float  # completed / duration_s
    # How many values of `corrected` (of `uncorrected` in a closed loop) only say "at least": requests without an
    # answer stand there with the time they had waited. None: the driver leaves such requests out.
    lower_bounds: int | None = None
    corrected: Latency | None  # from the intended send time; None for closed loops
    uncorrected: Latency | None  # from the real send time
    send_lateness: Latency | None  # real minus intended send time: the driver's own fault
    driver_cpu_s: float
    driver_cpu_share: float  # of the CPUs it may use, 0..1
    intervals: tuple[Interval, ...]
    hlog: str | None = None  # path beside the cell file


# ---------------------------------------------------------------- probes


class Sample(Record):
    """The SUT at one moment, from /proc and from its own /gauges. Counters count from process start."""

    t_s: float
    cpu_s: float
    rss_bytes: int
    virt_bytes: int
    threads: int
    voluntary_switches: int
    involuntary_switches: int
    run_queue_wait_s: float  # of the threads alive now
    gauges: Gauges | None  # None: /gauges gave no answer in time


class Gauges(Record):
    """Answer of `GET /gauges`. None: this executor or JDK does not have the figure."""

    pool_size: int | None
    active: int | None
    queued: int | None
    in_flight: int
    in_flight_peak: int
    carriers: int | None
    heap_used_bytes: int
    heap_committed_bytes: int
    direct_buffer_bytes: int
    mapped_buffer_bytes: int
    gc_count: int
    gc_ms: int
    jit_ms: int


class SutUsage(Record):
    """The SUT over one window."""

    cpu_s: float
    cpu_us_per_request: float
    cpu_share: float  # of its CPUs, 0..1
    jit_share: float  # CPU time of the JIT's threads, as a share of one CPU
    rss_bytes: int  # at the end of the window
    rss_peak_bytes: int
    virt_bytes: int
    threads: int
    threads_peak: int
    # None: too many threads ended in the window, and the kernel keeps no sum of what they had counted.
    voluntary_switches: int | None
    involuntary_switches: int | None
    run_queue_wait_s: float | None
    gc_count: int | None
    gc_ms: int | None
    jit_ms: int | None
    heap_used_bytes: int | None
    heap_committed_bytes: int | None = None
    heap_growth_bytes: int | None = None  # of the committed heap, over the window
    direct_buffer_bytes: int | None
    in_flight_peak: int | None
    astray_threads: int | None = None  # which may run on other CPUs than those of the SUT, at the end of the window


class Pressure(Record):
    """The host over one window; None where the kernel does not tell."""

    steal_share: float
    foreign_cpu_share: float  # of all CPUs: busy, and neither SUT nor driver nor runner
    psi_cpu_some_share: float | None
    throttled_share: float | None = None  # of the window, by the CPU quota of a cgroup
    swapped_bytes_per_s: float | None = None  # in and out, whole host
    clock_step_s: float | None = None  # how far the time of day moved beyond the monotonic clock
    suspended_s: float | None = None


# ---------------------------------------------------------------- forks and cells


class Status(StrEnum):
    OK = "ok"
    NOT_STEADY = "not-steady"  # measured, but the warm-up cap came before the steady state
    INVALID = "invalid"  # measured, but must not be used in a verdict
    FAILED = "failed"  # not measured


class Reason(Record):
    """Why a window, a fork or a cell is not simply ok; `figures` decided it."""

    code: str
    message: str
    figures: dict[str, float] = {}


class WarmupWindow(Record):
    stage: Literal["moderate", "load"]  # at a moderate rate; then under the load that will be measured
    t_s: float  # its end
    rate_rps: float  # asked for, or achieved where the load is a closed loop
    completed: int
    cpu_us_per_request: float
    jit_share: float  # as in SutUsage
    p99_us: float | None


class SeriesSteadiness(Record):
    """What a test for the steady state says of the windows under the measured load. `figure`: "cpu_us_per_request" or
    "p99_us"; `from_window`: index of the first window of the steady rest, whose geometric mean is `level`; `change`:
    the trend over that rest, as a share. None: too few windows."""

    figure: Literal["cpu_us_per_request", "p99_us"]
    finding: str
    warm: bool  # waiting brings nothing more
    from_window: int | None
    level: float | None
    change: float | None
    trend_p: float | None


class Warmup(Record):
    windows: tuple[WarmupWindow, ...]
    series: tuple[SeriesSteadiness, ...] = ()
    time_to_steady_s: float | None = None  # from the process's start to 95 % of the steady performance; None: not seen
    steady: bool  # the gate opened under the measured load, before its cap
    jit_cpus: tuple[int, ...]  # where the JIT compiler ran meanwhile; during the windows it runs on the SUT's CPUs
    duration_s: float


class Window(Record):
    index: int
    t_s: float  # its start
    load: LoadResult
    sut: SutUsage
    host: Pressure
    reasons: tuple[Reason, ...] = ()  # not empty: invalid

    @property
    def valid(self) -> bool:
        return not self.reasons


class CapacityStep(Record):
    """One window of the search; `held`: within the objective and without a failed request, None where it is invalid."""

    rate_rps: float
    purpose: str
    held: bool | None
    window: Window


class Capacity(Record):
    """The highest rate that held lies in [held_rps, failed_rps]; None: no rate held, or none failed above those.

    `not_monotonic_rps`: higher rates that held nevertheless.
    """

    outcome: str
    p99_max_us: float
    floor_rps: float
    ceiling_rps: float  # throughput of the closed loop
    held_rps: float | None
    failed_rps: float | None
    not_monotonic_rps: tuple[float, ...]
    steps: tuple[CapacityStep, ...]


PinningMethod = Literal["cgroup cpuset", "sched_setaffinity"]


class Pinning(Record):
    sut_cpus: tuple[int, ...]
    driver_cpus: tuple[int, ...]
    method: PinningMethod
    why_not_cgroup: str | None = None  # in words; None where a cgroup cpuset holds the threads, and in older records
    overlapped: bool  # SUT and driver share CPUs
    compromises: tuple[str, ...] = ()  # what this host could not give, in words


class Proof(Record):
    """Where requests really ran: answers of `GET /whoami` over one kept-alive connection."""

    requests: int
    executor: str
    virtual: bool
    distinct_threads: int
    thread_names: tuple[str, ...]  # a few of them


class BurnCheck(Record):
    """`rounds` of burn as the warm SUT runs them; `best_us` is the fastest of several."""

    rounds: int
    asked_us: float
    best_us: float


class Fork(Record):
    """One fresh SUT process: the replicate of the statistics."""

    fork: int  # 1.., equals the block it belongs to
    position: int  # 1.. among the forks of its block
    sequence: int  # 1.. in the order of the whole run
    status: Status
    reasons: tuple[Reason, ...]
    started_at: str
    ended_at: str
    sut_command: tuple[str, ...]
    driver_command: tuple[str, ...]
    pinning: Pinning
    first_response_s: float | None
    proof: Proof | None
    burn_check: BurnCheck | None
    warmup: Warmup | None
    windows: tuple[Window, ...]
    capacity: Capacity | None = None
    samples: tuple[Sample, ...]
    logs: dict[str, str]  # title -> path beside the cell file

    @property
    def valid_windows(self) -> tuple[Window, ...]:
        return tuple(w for w in self.windows if w.valid)

    @property
    def usable(self) -> bool:
        """May this fork stand in a table or a ratio?"""
        return self.status in (Status.OK, Status.NOT_STEADY) and bool(self.valid_windows)


class Identity(Record):
    """Everything that decides the result; `digest` is the sha256 of `inputs` as canonical JSON."""

    digest: str
    inputs: dict[str, Any]


class CellRecord(Record):
    schema_version: Literal[1] = 1
    key: CellKey
    load: CellLoad
    identity: Identity
    burn_rounds: int  # the fixed work of one request; 0 for burn_us = 0
    jvm_flags: dict[str, str] = {}  # flags of the JVM on this cell's CPUs that are not at their default (HotSpot)
    forks: tuple[Fork, ...]


# ---------------------------------------------------------------- the run


class CpuFacts(Record):
    model: str
    microcode: str | None
    online: tuple[int, ...]
    allowed: tuple[int, ...]  # this process may use these
    packages: int
    cores: int
    smt: bool
    governor: str | None
    driver: str | None
    boost: str | None
    mitigations: dict[str, str]


class HostFacts(Record):
    hostname_hash: str  # tells hosts apart without naming them
    system: str  # "x86_64-linux"
    kernel: str
    os: str
    libc: str
    cpu: CpuFacts
    memory_bytes: int
    swap_bytes: int
    scheduler: str | None
    virtualisation: str | None  # None: none seen
    clocksource: str | None
    load_1min: float
    limits: dict[str, str]


class KnownBug(Record):
    id: str
    summary: str
    url: str | None = None


class JdkRecord(Record):
    """One entry of the catalogue, and what became of it on this host in this run."""

    id: str
    vendor: str
    vm: Literal["hotspot", "openj9"]
    catalogue_version: str  # as jdks.json says; "rolling" where the source has only its newest
    selected: bool
    available: bool
    source: str | None  # "nix", "cache", "host", "archive", "registry"
    reason: str | None  # why it is not available
    notice: str | None = None  # e.g. the version got differs from the recorded one
    version: str | None = None  # as the JDK itself says
    version_output: str | None = None  # `java -version`
    release: dict[str, str] = {}  # its `release` file
    known_bugs: tuple[KnownBug, ...] = ()


class DriverFacts(Record):
    name: str
    version: str
    sha256: str | None
    jdk: str | None  # catalogue id of the JDK it runs on
    java_version: str | None


class ServerFacts(Record):
    name: str
    version: str
    sha256: str  # of the archive


class Calibration(Record):
    """How many rounds of burn make a microsecond, on an idle CPU of this host with this JDK."""

    jdk: str
    rounds_per_us: float
    repeats: int
    spread: float  # (max - min) / median over the repeats
    cpu: int


class Stopping(Record):
    """Blocks were added until every ratio was known to ± `precision` (a share), so that intervals are at 97 %."""

    precision: float
    min_blocks: int
    max_blocks: int


class NotTestable(Record):
    key: CellKey
    reason: str


class RunRecord(Record):
    schema_version: Literal[1] = 1
    run_id: str
    tool_version: str
    git_commit: str | None
    git_dirty: bool | None
    profile: str
    # Axes that the command line narrowed; "aa": the executor that it measures against itself.
    selection: dict[str, tuple[str | int, ...]]
    seed: int
    started_at: str
    ended_at: str | None  # None: still running, or killed
    status: Literal["running", "complete", "interrupted"]
    command: tuple[str, ...]
    matrix: dict[str, Any]  # matrix.toml as resolved for this run
    host: HostFacts
    server: ServerFacts
    drivers: tuple[DriverFacts, ...]
    jdks: tuple[JdkRecord, ...]
    calibrations: tuple[Calibration, ...]
    cells: tuple[CellKey, ...]  # planned, in the order of the report
    not_testable: tuple[NotTestable, ...]
    # "CELL_ID#FORK" in the order of execution. While the run is not complete: of all that may run.
    order: tuple[str, ...]
    stopping: Stopping | None = None  # None: the number of blocks was fixed beforehand
    notes: tuple[str, ...] = ()  # what a reader must know, e.g. SUT and driver overlap


Sample.model_rebuild()
