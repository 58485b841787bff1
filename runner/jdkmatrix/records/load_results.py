"""Results that a driver reports for a phase of load."""

from __future__ import annotations

from jdkmatrix.domain.loads import Load
from jdkmatrix.domain.record import Record

PERCENTILES = ("50", "90", "99", "99.9", "99.99")  # recorded for each latency


class SpectrumPoint(Record):
    """`count` of all recorded values are at most `value_us`; `quantile` is in 0..1."""

    quantile: float
    value_us: float
    count: int


class Latency(Record):
    """One distribution.

    `histogram` is an HdrHistogram in the V2 compressed base64 encoding, with values in nanoseconds; it is None where
    the driver prints only a spectrum (wrk2). `spectrum` is in ascending order of quantile; it may be left out where
    there is a histogram, from which it follows.
    """

    count: int
    min_us: float
    mean_us: float
    max_us: float
    percentiles_us: dict[str, float]  # by PERCENTILES
    spectrum: tuple[SpectrumPoint, ...]
    histogram: str | None = None


class Errors(Record):
    connect: int = 0
    read: int = 0
    write: int = 0
    timeout: int = 0

    @property
    def total(self) -> int:
        return self.connect + self.unanswered

    @property
    def unanswered(self) -> int:
        """Requests that ended without a response; one that gets no connection is never sent, and so has not ended."""
        return self.read + self.write + self.timeout


class Interval(Record):
    """One second as the driver saw it; `t_s` is its end, counted from the start of the window.

    `due`: requests that the schedule has in this second (None in a closed loop); `sent`: those that were sent in it.
    Both are None if the driver did not say. `completed`: answered, whatever the status; `non_2xx`: those of them with a
    status other than 2xx, None if that was not kept; `errors`: requests that ended without a response.
    """

    t_s: float
    due: int | None = None
    sent: int | None = None
    completed: int
    non_2xx: int | None = None
    errors: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None

    @property
    def succeeded(self) -> int:
        """Responses of status 2xx."""
        return self.completed - (self.non_2xx or 0)

    @property
    def failed_share(self) -> float:
        """The share of requests without a 2xx response, among all that ended in this second; 0 if none ended."""
        ended = self.completed + self.errors
        return 1 - self.succeeded / ended if ended else 0.0


class Lead(Record):
    """The same load before the part of it that counts: the requests that were over when that part began. Those whose
    responses came in that part are counted in it."""

    duration_s: float
    sent: int
    completed: int
    non_2xx: int
    errors: Errors

    @property
    def succeeded(self) -> int:
        """Responses of status 2xx."""
        return self.completed - self.non_2xx


class LoadResult(Record):
    """The driver's report on one phase of load. None means that this driver does not say."""

    driver: str
    load: Load
    started_monotonic_ns: int  # CLOCK_MONOTONIC, as System.nanoTime and time.monotonic_ns read it
    ended_monotonic_ns: int
    duration_s: float  # throughput is counted over this
    awaited_s: float | None = None  # how long after that the driver stopped, where it tells
    latency_from_s: float  # how long the driver had been sending when this began; 0: not at all
    lead: Lead | None = None  # what it did until then, where it says so (wrk2 does not)
    due: int | None  # requests that the schedule asked for (rates and ramps)
    sent: int | None
    unsent: int | None  # due and not sent when time was up
    outstanding: int | None = None  # sent, and neither answered nor failed when time was up
    completed: int  # answered within the phase, any status
    answered_late: int | None = None  # after its end, while the driver waited for outstanding requests
    late_non_2xx: int | None = None  # those of them with a status other than 2xx
    # Of `completed`. wrk2 counts statuses of 400 and above from its start on: their share of all responses is used.
    non_2xx: int
    errors: Errors
    reconnects: int | None
    bytes_read: int | None
    throughput_rps: float  # completed / duration_s
    # How many values of `corrected` (of `uncorrected` in a closed loop) are only lower bounds: unanswered requests are
    # recorded with the time they had waited. None: the driver leaves such requests out.
    lower_bounds: int | None = None
    corrected: Latency | None  # from the intended send time; None for closed loops
    uncorrected: Latency | None  # from the actual send time
    send_lateness: Latency | None  # actual minus intended send time: the driver's own fault
    driver_cpu_s: float
    driver_cpu_share: float  # of the CPUs it may use, 0..1
    # CPU share of its busiest event loop, of one CPU; None: the driver has one loop, or does not say.
    driver_loop_cpu_share: float | None = None
    intervals: tuple[Interval, ...]
    hlog: str | None = None  # path beside the cell file

    @property
    def failed(self) -> int:
        """Requests that failed, and responses within the phase other than 2xx."""
        return self.errors.unanswered + self.non_2xx

    @property
    def sent_with_lead(self) -> int | None:
        """Requests sent in the phase and its lead; None if the driver does not say."""
        return None if self.sent is None else self.sent + (self.lead.sent if self.lead else 0)

    @property
    def succeeded(self) -> int:
        """Responses of status 2xx within the phase."""
        return self.completed - self.non_2xx

    @property
    def succeeded_rps(self) -> float:
        """Responses of status 2xx per second."""
        return self.throughput_rps - self.non_2xx / self.duration_s if self.succeeded else 0.0

    @property
    def answers_2xx(self) -> int:
        """The number of `answers` minus those of another status; late ones count as 2xx if the driver did not say."""
        return self.answers - self.non_2xx - (0 if self.latency_from_s else self.late_non_2xx or 0)

    @property
    def answers(self) -> int:
        """All responses from the start of the phase until the driver went on, by which the CPU time in between is
        divided. Throughput counts only `completed`.

        Requests that the driver gave up may have cost CPU time all the same, at most one per connection. wrk2 does not
        report responses after its end: its CPU time per request is too high by at most connections / completed. Where
        the load was on before, readings end with the phase: as many requests are in flight then as when it began."""
        return self.completed + (0 if self.latency_from_s else self.answered_late or 0)
