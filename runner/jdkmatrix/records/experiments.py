"""What an experiment without a server shows: the words of the program `standalone`.

Every figure is the program's own, read by it inside its process; field by field this is the JSON that it prints.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from jdkmatrix.records.base import Record

OutcomeWord = Literal[
    "complete",
    "threads-refused",
    "tasks-refused",
    "files-refused",
    "requests-failed",
    "out-of-memory",
    "timed-out",
    "not-on-this-jdk",
]


class Problem(Record):
    """Why an outcome is not "complete". `at_count`: how many threads, tasks or requests there were by then."""

    message: str
    at_count: int | None
    advice: str | None


class Expected(Record):
    """Known before it ran. `quantity`: the key below `seen`, with dots, that the formula is about; `value` in its unit.
    None: there is no single figure."""

    quantity: str | None
    formula: str
    value: float | None
    source: str


class Distribution(Record):
    """`histogram_ns`: an HdrHistogram in the V2 compressed base64 encoding."""

    count: int
    min_us: float
    mean_us: float
    max_us: float
    percentiles_us: dict[str, float]
    histogram_ns: str


class AtLeast(Record):
    at_least_us: float
    count: int
    total_s: float


class LongestPark(Record):
    duration_us: float
    since_start_s: float
    tasks_queued: int
    thread_id: int


class ParkedWhileQueued(Record):
    """Stretches in which a thread of the executor was parked while a task was submitted and not started.

    `total_s` is summed over threads; `idle_worker_s` counts no more threads than tasks were queued; `idle_share` is the
    latter as a share of all workers' time, None where
    their number is not fixed."""

    count: int
    total_s: float
    stretch: Distribution | None
    at_least: tuple[AtLeast, ...]
    longest: LongestPark | None
    idle_worker_s: float
    idle_share: float | None


class ParkClock(Record):
    """How exactly JDK Flight Recorder's times are set against System.nanoTime."""

    anchors: int
    bracket_us: float
    residual_us: float


class ParkReport(Record):
    """`probe`: whether JDK Flight Recorder looked; `reason`: why it could not. A park lasts until its thread runs.
    `lost_bytes` above 0: parks are missing."""

    probe: Literal["on", "off", "unavailable"]
    reason: str | None
    workers_parked: int | None = None
    parked_s: float | None = None
    park: Distribution | None = None
    parked_while_queued: ParkedWhileQueued | None = None
    parks_by_blocker: dict[str, int] | None = None
    clock: ParkClock | None = None
    lost_bytes: int | None = None


class BurnSeen(Record):
    rounds_per_task: int
    rounds_per_us: float
    calibration_spread: float | None
    burn_us: float
    duration_s: float
    warmup_unfinished: int
    due: int
    submitted: int
    completed: int
    completed_late: int
    unfinished: int
    throughput_per_s: float
    cpu_s: float
    cpus: int
    cpu_share: float
    latency_to_start: Distribution | None
    latency_to_end: Distribution | None
    lower_bounds: int
    submitter_lateness: Distribution | None
    tasks_queued_max: int
    tasks_queued_mean: float
    workers: int | None
    parks: ParkReport


class MemoryUse(Record):
    virt_bytes: int
    rss_bytes: int
    pss_bytes: int | None
    heap_committed_bytes: int
    heap_used_bytes: int
    native_threads: int


class PerThread(Record):
    """What each of the threads costs: the difference that they make, divided by their number."""

    virt_bytes: float
    rss_bytes: float
    pss_bytes: float | None
    heap_committed_bytes: float
    native_threads: float


class PeakMemory(Record):
    virt_bytes: int
    rss_bytes: int


class SpawnSeen(Record):
    """`started_s` until the last call that starts a thread was over, `running_s` until the last thread ran, `done_s`
    until all were over; None: that was not so, or their sleep was cut short."""

    started: int
    started_s: float
    running_s: float | None
    done_s: float | None
    live: int | None
    before: MemoryUse
    while_live: MemoryUse | None
    per_thread: PerThread | None
    peak: PeakMemory
    thread_stack_bytes: int | None
    rounds_per_us: float | None


class Carriers(Record):
    """`most`: threads that carried virtual ones, at once; `compensating`: those beyond `parallelism`."""

    parallelism: int
    max_pool_size: int
    most: int
    compensating: int
    source: str


class PinnedStack(Record):
    count: int
    reason: str | None
    frames: tuple[str, ...]


class PinnedReport(Record):
    """Events jdk.VirtualThreadPinned, with the frames that hold the carrier. `stacks`: the most frequent first."""

    probe: Literal["on", "unavailable"]
    reason: str | None
    count: int | None = None
    total_s: float | None = None
    pinned: Distribution | None = None
    stacks: tuple[PinnedStack, ...] | None = None


class PinningSeen(Record):
    threads_started: int
    duration_s: float
    operations: int
    throughput_per_s: float
    latency: Distribution | None
    lower_bounds: int
    threads_served: int
    cpu_s: float
    carriers: Carriers | None
    pinned: PinnedReport


class FanoutSeen(Record):
    wall_s: float
    ideal_s: float
    overhead_s: float
    ok: int
    failed: int
    errors: dict[str, int]
    latency: Distribution | None
    since_start: Distribution | None
    in_flight_most: int
    open_files_before: int
    open_files_peak: int
    open_files_peak_is_lower_bound: bool
    open_files_soft_limit: int | None
    open_files_hard_limit: int | None
    native_threads_peak: int


class VmFacts(Record):
    java_version: str
    name: str
    vm_version: str
    vendor: str
    options: tuple[str, ...]
    processors: int
    max_heap_bytes: int
    collectors: tuple[str, ...]
    kernel: str
    arch: str


class MeasuredSpan(Record):
    """When the figures were taken: start, warm-up and writing of the program are not in it. By CLOCK_MONOTONIC."""

    start_monotonic_ns: int
    end_monotonic_ns: int


class _Result(Record):
    schema_version: Literal[1]
    version: str
    started_utc: str
    outcome: OutcomeWord
    problem: Problem | None
    asked: dict[str, Any]
    expected: Expected | None  # None: this JDK has not what it is about
    measured_span: MeasuredSpan | None = None  # None: nothing was measured
    vm: VmFacts


class BurnResult(_Result):
    experiment: Literal["burn"]
    seen: BurnSeen | None


class SpawnResult(_Result):
    experiment: Literal["spawn"]
    seen: SpawnSeen | None


class PinningResult(_Result):
    experiment: Literal["pinning"]
    seen: PinningSeen | None


class FanoutResult(_Result):
    experiment: Literal["fanout"]
    seen: FanoutSeen | None


ExperimentResult = Annotated[BurnResult | SpawnResult | PinningResult | FanoutResult, Field(discriminator="experiment")]
