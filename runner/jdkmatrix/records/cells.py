"""A cell and its forks: what was seen of the server, of the host, and of the load."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from jdkmatrix.records.base import Record
from jdkmatrix.records.limits import Enforcement, Outcome
from jdkmatrix.records.loads import CellKey, CellLoad, LoadResult
from jdkmatrix.records.memory import MemoryReading
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.served import Served


class Gauges(Record):
    """Answer of `GET /gauges`. None: this executor or JDK does not have the figure.

    `served_…`: requests of the application that ever began, by whose thread ran them; `threads_started`: ever, by the
    plugged executor. Older records have neither."""

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
    threads_started: int | None = None
    served_on_servers: int | None = None
    served_on_plugged_virtual: int | None = None
    served_on_plugged_platform: int | None = None
    served_elsewhere: int | None = None


class Sample(Record):
    """The SUT at one moment, from /proc and from its own /gauges. Counters count from process start."""

    t_s: float
    cpu_s: float
    rss_bytes: int
    virt_bytes: int
    threads: int
    # Of the threads alive then. None: no longer looked at every second, since a thousand threads take 45 ms to read.
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    run_queue_wait_s: float | None = None
    gauges: Gauges | None  # None: /gauges gave no answer in time


class SutUsage(Record):
    """The SUT over one window.

    `cpu_us_per_request`: CPU time between the two readings, `probe_cpu_s` left out, over all answers that the server
    gave between them (`LoadResult.answers`; over those in the window alone in older records, and all of `cpu_s`).
    `probe_cpu_s`: of `cpu_s`, what answering our own questions about its memory took; None in older records."""

    cpu_s: float  # with the soft interrupts that its threads were interrupted by, unless Pressure.irq_time_accounting
    probe_cpu_s: float | None = None
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


CpuRole = Literal["sut", "driver", "remote", "runner"]


class CpuUse(Record):
    """A set of CPUs over one window, and who had them; all shares are of these CPUs together.

    `busy_share`: neither idle nor stolen; `own_share`: by the processes of these roles; `interrupt_share`: hard and
    soft interrupts as the kernel tells them; `foreign_share`: what is left (probes/cpu_balance.py), below 0 by
    rounding."""

    roles: tuple[CpuRole, ...]
    cpus: tuple[int, ...]
    busy_share: float
    own_share: float
    interrupt_share: float
    foreign_share: float
    steal_share: float


class Pressure(Record):
    """The host over one window; None where the kernel does not tell."""

    steal_share: float  # of all CPUs that we use
    foreign_cpu_share: float  # of the same: busy, and by no process of ours
    cpu_use: tuple[CpuUse, ...] = ()  # by set of CPUs; empty in older records
    irq_time_accounting: bool | None = None  # does the clock of a process leave interrupts out? None: not known
    runner_cpu_share: float | None = None  # of one CPU, by this tool
    psi_cpu_some_share: float | None
    throttled_share: float | None = None  # of the window, by the CPU quota of a cgroup
    swapped_bytes_per_s: float | None = None  # in and out, whole host
    clock_step_s: float | None = None  # how far the time of day moved beyond the monotonic clock
    suspended_s: float | None = None

    def use_of(self, role: CpuRole) -> CpuUse | None:
        """Of the CPUs that `role` has, with whoever shares them."""
        return next((use for use in self.cpu_use if role in use.roles), None)


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
    # At a moderate rate; then under the load that will be measured; then so with the JIT on the SUT's CPUs again.
    stage: Literal["moderate", "load", "settling"]
    t_s: float  # its end
    rate_rps: float  # asked for, or achieved where the load is a closed loop
    completed: int
    cpu_us_per_request: float
    jit_share: float  # as in SutUsage
    p99_us: float | None
    duration_s: float | None = None  # None in results from before it was kept; a driver may need longer than was asked


class SeriesSteadiness(Record):
    """What a test for the steady state says of the windows under the measured load. `figure`: "cpu_us_per_request" or
    "p99_us"; `from_window`: index of the first window of the steady rest, whose geometric mean is `level`; `change`:
    the trend over that rest, as a share. None: too few windows.

    `drift_per_s`: in the last `tail_s` of that rest, as a share (-0.01: falls by 1 % a second); over all of `tail_s` it
    may fall by `fall_max`, and `drift_tail_least` is the lower end of its one-sided 95 % interval there; `drift_ahead`:
    over `ahead_s`, which is what is measured next, but no longer than `tail_s`. None: too few windows, nothing is
    promised of this figure, or a record from before it was looked at."""

    figure: Literal["cpu_us_per_request", "p99_us"]
    finding: str
    warm: bool  # waiting brings nothing more
    from_window: int | None
    level: float | None
    change: float | None
    trend_p: float | None
    drift_per_s: float | None = None
    tail_s: float | None = None
    drift_tail_least: float | None = None
    fall_max: float | None = None
    ahead_s: float | None = None
    drift_ahead: float | None = None


class Warmup(Record):
    windows: tuple[WarmupWindow, ...]
    series: tuple[SeriesSteadiness, ...] = ()
    time_to_steady_s: float | None = None  # from the process's start to 95 % of the steady performance; None: not seen
    steady: bool  # the gate opened under the measured load, before its cap
    settling: tuple[WarmupWindow, ...] = ()  # after the gate, with the JIT on the SUT's CPUs alone; thrown away
    jit_cpus: tuple[int, ...]  # where the JIT compiler ran meanwhile; during the windows it runs on the SUT's CPUs
    duration_s: float


class Window(Record):
    """`clock_speed`: how fast a CPU of the SUT did a piece of serial work right before it (probes/clock_speed.py), in
    divisions per microsecond; None: not read."""

    index: int
    t_s: float  # its start
    load: LoadResult
    sut: SutUsage
    host: Pressure
    remote: RemoteStats | None = None  # of the remote system that the server calls; None: it calls none
    served: Served | None = None  # None: the server could not be asked, or an older record
    clock_speed: float | None = None
    reasons: tuple[Reason, ...] = ()  # faults of the host or of the measurement; not empty: invalid
    shortfalls: tuple[Reason, ...] = ()  # what the server did not do; a result, and no reason to drop the window

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def cpu_us_per_answer(self) -> float:
        """CPU time of the SUT per answer of status 2xx, in µs; 0 without such an answer. A server that refuses quickly
        is not cheap."""
        load = self.load
        return self.sut.cpu_us_per_request * load.answers / load.answers_2xx if load.succeeded else 0.0


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
    remote_cpus: tuple[int, ...] = ()
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
    """`rounds` of burn as the warm SUT runs them; `best_us` is the fastest of several, `expected_us` what they take at
    the clock speed of that moment, by that of the calibration; None: a clock speed is not known."""

    rounds: int
    asked_us: float
    best_us: float
    expected_us: float | None = None


class Audit(Record):
    """What the application `banking` says of its books when nothing is in flight any more. `contradictions`: accounts
    whose balance is not what their credits and debits make it."""

    accounts: int
    transfers_done: int
    balance_sum_minor: int
    expected_sum_minor: int
    contradictions: int
    contradicting: tuple[str, ...]  # the first of them
    conserved: bool


class Fork(Record):
    """One fresh SUT process: the replicate of the statistics."""

    fork: int  # 1.., equals the block it belongs to
    position: int  # 1.. among the forks of its block
    sequence: int  # 1.. in the order of the whole run
    attempt: int = 1  # 1..; later ones stand in the place of those in `attempts`, and reasons there say why
    session: int = 1  # 1.., which of the run's sessions measured it
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
    clock_speed_after: float | None = None  # as Window.clock_speed, after the last one
    capacity: Capacity | None = None
    samples: tuple[Sample, ...]
    memory: tuple[MemoryReading, ...] = ()
    audit: Audit | None = None
    limits: tuple[Enforcement, ...] = ()  # what the server was allowed to use
    outcomes: tuple[Outcome, ...] = ()  # which of them it ran into
    remote_command: tuple[str, ...] = ()
    logs: dict[str, str]  # title -> path beside the cell file

    @property
    def valid_windows(self) -> tuple[Window, ...]:
        return tuple(w for w in self.windows if w.valid)

    @property
    def usable(self) -> bool:
        """Has it figures that can be trusted? A server that never answered well has none; what became of it is an
        outcome all the same (stats/attainment.py)."""
        measured = self.status in (Status.OK, Status.NOT_STEADY)
        return measured and any(window.load.succeeded for window in self.valid_windows)


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
    attempts: tuple[Fork, ...] = ()  # measured and replaced by a later attempt, whole, in the order of measurement
