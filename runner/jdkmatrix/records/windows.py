"""Windows: of a server under load, or of a program that loads itself."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jdkmatrix.domain.record import Record
from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import ProgramResult, WindowReading
from jdkmatrix.records.reasons import Reason
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.served import Served


class Gauges(Record):
    """The answer to `GET /gauges`. None: this executor or JDK does not have the figure.

    `served_…`: requests of the application that ever began, by whose thread ran them; `threads_started`: all that the
    plugged executor ever started. `totals`: counts since the start of the process, by the name under which a metric
    reads them; in the answer their keys begin with "total_". `since_reset`, likewise with "window_": figures of the
    time since a peak was last reset."""

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
    totals: dict[str, int] = Field(default_factory=dict)  # a `{}` would be copied for each of thousands of samples
    since_reset: dict[str, int] = Field(default_factory=dict)

    @property
    def begun(self) -> int:
        """The requests of the application that ever began."""
        served = (self.served_on_servers, self.served_on_plugged_virtual, self.served_on_plugged_platform)
        return sum(count or 0 for count in (*served, self.served_elsewhere))


class Sample(Record):
    """The SUT at one moment, from /proc and from its own /gauges. Counters count from process start."""

    t_s: float
    cpu_s: float
    rss_bytes: int
    virt_bytes: int
    threads: int
    # Of the threads alive then. None: no longer read every second, since a thousand threads take 45 ms to read.
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    run_queue_wait_s: float | None = None
    gauges: Gauges | None  # None: /gauges gave no answer in time


class SutUsage(Record):
    """The SUT over one window.

    `cpu_us_per_request`: CPU time between the two readings, without `probe_cpu_s`, divided by all answers that the
    server gave between them (`LoadResult.answers`).
    `probe_cpu_s`: the part of `cpu_s` spent on answering our own queries about its memory; None: not counted.
    The server's own counts (`gc_*`, `jit_ms`, `heap_growth_bytes`, `in_flight_peak`) begin with the lead of the window,
    or `Served.early_s` before it, and end when nothing is outstanding, `gauged_s` later."""

    cpu_s: float  # includes soft interrupts of its threads, unless Pressure.irq_time_accounting
    probe_cpu_s: float | None = None
    cpu_us_per_request: float
    # Of its CPUs, without what interrupts took of them if Pressure.irq_time_accounting; or of its CPU quota if that is
    # less.
    cpu_share: float
    jit_share: float  # CPU time of the JIT's threads, as a share of one CPU
    rss_bytes: int  # at the end of the window
    rss_peak_bytes: int
    virt_bytes: int
    threads: int
    threads_peak: int
    # None: too many threads ended in the window, and the kernel keeps no sum of their counts.
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
    gauged_s: float | None = None  # None: not recorded
    # What carriers of virtual threads used of the CPU time of all its threads except the JIT's; None: not looked for.
    carriers_cpu_share: float | None = None
    astray_threads: int | None = None  # those that may run on other CPUs than the SUT's, at the end of the window


class WarmupWindow(Record):
    # At a moderate rate; then under the load that will be measured; then also with the JIT back on the SUT's CPUs.
    stage: Literal["moderate", "load", "settling"]
    t_s: float  # its end
    rate_rps: float  # asked for, or achieved where the load is a closed loop
    completed: int
    cpu_us_per_request: float
    jit_share: float  # as in SutUsage
    p99_us: float | None
    duration_s: float | None = None  # None: not known; a driver may need longer than was asked


class SeriesSteadiness(Record):
    """The result of a steady-state test over the windows under the measured load. `figure`: "cpu_us_per_request" or
    "p99_us"; `from_window`: index of the first window of the steady rest, whose geometric mean is `level`; `change`:
    the trend over that rest, as a share. None: too few windows.

    `drift_per_s`: the drift in the last `tail_s` of that rest, as a share (-0.01: falls by 1 % a second); over all of
    `tail_s` it may fall by `fall_max`, and `drift_tail_least` is the lower end of its one-sided 95 % interval there;
    `drift_ahead`: the drift over `ahead_s`, which is what is measured next, but no longer than `tail_s`. None: too few
    windows, or nothing is promised for this figure.
    """

    figure: Literal["cpu_us_per_request", "p99_us"]
    finding: str
    warm: bool  # waiting brings no further gain
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
    settling: tuple[WarmupWindow, ...] = ()  # after the gate, with the JIT on the SUT's CPUs only; thrown away
    jit_cpus: tuple[int, ...]  # where the JIT compiler ran meanwhile; during the windows it runs on the SUT's CPUs
    duration_s: float


class ObservedWindow(Record):
    """Fields common to all windows. `remote`: figures of the remote system that is called, None: there is none.
    `clock_speed`: how fast the CPUs of the SUT, one after another, did a piece of serial work right before it
    (probes/clock_speed.py), in divisions per microsecond, on average; in older records only its last CPU; None: not
    read. `reasons`: faults of the host or of the measurement; if not empty, the window is invalid. `readings`: figures
    that their metrics know by name, the leading one first."""

    remote: RemoteStats | None = None
    clock_speed: float | None = None
    reasons: tuple[Reason, ...] = ()
    readings: tuple[WindowReading, ...] = ()

    @property
    def valid(self) -> bool:
        return not self.reasons


class Window(ObservedWindow):
    """A server under the load of a driver."""

    index: int
    t_s: float  # its start
    load: LoadResult
    sut: SutUsage
    host: Pressure
    database: DatabaseUse | None = None  # None: it has none
    served: Served | None = None  # None: the server could not be asked
    shortfalls: tuple[Reason, ...] = ()  # what the server did not do; a result, and no reason to drop the window

    @property
    def gauged_s(self) -> float:
        """The time that the server's own counts cover; where it was not recorded, without the wait for last answers."""
        if self.sut.gauged_s is not None:
            return self.sut.gauged_s
        lead_s = self.load.lead.duration_s if self.load.lead else 0.0
        return self.load.duration_s + lead_s + ((self.served.early_s or 0.0) if self.served else 0.0)

    @property
    def gauged_requests(self) -> int:
        """The number of requests that those counts cover: the ones that began between the same readings, including
        those that the driver gave up and the server worked off; if it did not tell, the responses."""
        if self.served is not None:
            return self.served.begun
        lead = self.load.lead
        return self.load.completed + (self.load.answered_late or 0) + (lead.completed if lead else 0)

    @property
    def cpu_us(self) -> float:
        """CPU time of the SUT in µs, without what answering our queries took; defined even if nothing was answered."""
        if self.load.answers:
            return self.sut.cpu_us_per_request * self.load.answers
        return (self.sut.cpu_s - (self.sut.probe_cpu_s or 0.0)) * 1e6

    @property
    def cpu_us_per_answer(self) -> float:
        """CPU time of the SUT per 2xx response, in µs; 0 without such a response. A server that refuses quickly is not
        cheap."""
        return self.cpu_us / self.load.answers_2xx if self.load.succeeded else 0.0


class ProgramWindow(ObservedWindow):
    """The only window of a program that loads itself. `host`: over `host_span_s` seconds, from the last reading before
    it measured to the first one after that; over its whole life, including start and warm-up, if it reports no such
    span. None if it did not run.

    `result` is None if it failed; an outcome other than "complete" is a finding, not a failure."""

    host: Pressure | None = None
    host_span_s: float | None = None
    result: ProgramResult | None = None


class CapacityStep(Record):
    """One window of the search; `held`: within the objective and without a failed request, None if it is invalid."""

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
