"""Put one phase of load on the server and observe it from all sides."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from jdkmatrix.domain.loads import Load
from jdkmatrix.drivers.base import DriverSession, Edge
from jdkmatrix.fork.affinity import astray
from jdkmatrix.fork.database import DatabaseProcess
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.host.http import Connection, NoAnswerError
from jdkmatrix.host.limit_groups import QuotaCounters
from jdkmatrix.probes.at_rest import AtRest
from jdkmatrix.probes.cpu_balance import Used
from jdkmatrix.probes.host import pressure, read_host
from jdkmatrix.probes.process import Glance, Reading, SutGoneError, cpu_time_ns, glance, read_threads
from jdkmatrix.probes.sampler import GAUGES_TIMEOUT_S, Sampler, read_gauges
from jdkmatrix.probes.served import left_over_after, served_between
from jdkmatrix.probes.usage import beside_interrupts, rises, throttling, usage
from jdkmatrix.records.database import DatabaseUse
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import DATABASE_CPU_US, WindowReading
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.served import Served
from jdkmatrix.records.windows import Gauges, SutUsage
from jdkmatrix.servers.process import ServerProcess

_QUIET_POLL_S = 0.25
_SPARE_S = 0.05  # between the server's last answer and the part of a phase that counts
_QUEUE_S_MAX = 300.0  # a server that has answered only once may need any time


@dataclass(frozen=True)
class Observed:
    """The fields of `Window` of the same names. `t_s`: when the load that the result is of began, since the server's
    start. `readings`: if they span what was answered."""

    t_s: float
    load: LoadResult
    sut: SutUsage
    host: Pressure
    remote: RemoteStats | None
    served: Served | None
    readings: tuple[WindowReading, ...] = ()
    database: DatabaseUse | None = None


@dataclass(frozen=True)
class Warmed(Observed):
    """A warm-up phase. `marks`: the server as each part of it began, and as the last ended; empty if undivided."""

    marks: tuple[Reading, ...] = ()


class _Span(Edge):
    """The readings around the part of a phase that its result is of. Under load they are taken in the same order at
    either end, so that each spans as much. `part_s`: the length of each part, marked as it ends; None: undivided."""

    def __init__(self, bench: Bench, part_s: float | None = None) -> None:
        self._bench = bench
        self.is_divided = part_s is not None
        self.interval_s = part_s or self.interval_s
        self.ahead_s = 2 * bench.queued_s  # two questions
        self.marks: list[Reading] = []

    def ahead(self, at_s: float | None = None) -> None:
        bench = self._bench
        path = "/gauges?reset=peak" if bench.own_path is None else bench.own_path
        asked_s = time.monotonic()
        bench.ask(path, under_load=at_s is not None)
        if at_s is not None:  # as late as a second question allows, if its answer takes as long
            took_s = time.monotonic() - asked_s
            time.sleep(max(0.0, at_s - _SPARE_S - took_s - time.monotonic()))
        self.gauges_ns, self.gauges = time.monotonic_ns(), bench.gauges()
        if at_s is None:
            self._threads = read_threads(bench.server.pid)

    def at(self, *, under_load: bool) -> None:
        bench = self._bench
        if bench.remote and not under_load:
            bench.remote.stats(reset=True)
        self.glance, self._host = glance(bench.server.pid), read_host(bench.cpu_sets.all)
        self._own_cpu_s, self._driver_cpu_ns = time.process_time(), bench.driver_cpu_ns()
        self._quota = bench.quota()
        self._database_cpu_s = bench.database.cpu_s() if bench.database else None
        if under_load:
            if bench.remote:
                bench.remote.stats(reset=True)
            self._threads = read_threads(bench.server.pid)
        if self.is_divided:
            self.marks.append(Reading(self.glance, self._threads))

    def passed(self) -> None:
        if self.is_divided:
            pid = self._bench.server.pid
            self.marks.append(Reading(glance(pid), read_threads(pid)))

    def over(self) -> None:
        bench = self._bench
        # A server that has ended since may have been last seen earlier.
        after = max(self.glance, bench.glance_after(), key=lambda one: one.monotonic_ns)
        host = read_host(bench.cpu_sets.all)
        self.own_cpu_s, driver_cpu_ns = time.process_time() - self._own_cpu_s, bench.driver_cpu_ns()
        self.host, self.quota = (self._host, host), (self._quota, bench.quota())
        self.database = self._database_use()
        self.remote = bench.remote.stats() if bench.remote else None
        self.before = Reading(self.glance, self._threads)
        self.after = Reading(after, read_threads(bench.server.pid))
        self.driver_cpu_s = None
        if self._driver_cpu_ns is not None and driver_cpu_ns is not None:
            self.driver_cpu_s = (driver_cpu_ns - self._driver_cpu_ns) / 1e9

    def _database_use(self) -> DatabaseUse | None:
        """Raises: DatabaseError: it has not gone through this phase in order."""
        database = self._bench.database
        if database is None or self._database_cpu_s is None:
            return None
        database.check()
        span_s = (time.monotonic_ns() - self.glance.monotonic_ns) / 1e9
        return DatabaseUse(cpu_s=database.cpu_s() - self._database_cpu_s, span_s=span_s)


@dataclass
class Bench:
    """A server, what loads it, what it calls, and what watches it. `may_end`: the end of the server within a phase is
    recorded, since it runs in a box that it may burst; `quota`: reads the counters of its quota of CPU time;
    `cpus_allowed`: how many CPUs that and `cpu_sets` leave the server. `answer_timeout_s`: in which a server without
    load answers; `service_s`: the least that each request of the load takes. `irq_time_accounting`: as host/irq_time.py
    found it. `own_path`: of an application that is not ours, which has no gauges and can be asked only what its load
    asks. `left_over`: requests that were sent in earlier phases and may begin only in a later one; `queued_s`: of the
    last phase, by `queue_s`; `carriers`: the kernel's names of the threads that carry virtual ones, once known."""

    server: ServerProcess
    session: DriverSession
    sampler: Sampler
    connection: Connection
    cpu_sets: CpuSets
    cpus_allowed: float
    answer_timeout_s: float
    service_s: float
    irq_time_accounting: bool | None
    remote: RemoteProcess | None = None
    database: DatabaseProcess | None = None
    may_end: bool = False
    quota: Callable[[], QuotaCounters | None] = lambda: None
    own_path: str | None = None
    left_over: int = field(default=0, init=False)
    queued_s: float = field(default=0.0, init=False)
    carriers: frozenset[str] = field(default=frozenset(), init=False)

    @property
    def question(self) -> str:
        """The path that any healthy server answers."""
        return "/gauges" if self.own_path is None else self.own_path

    def gauges(self) -> Gauges | None:
        return read_gauges(self.connection) if self.own_path is None else None

    def observe(self, load: Load, duration_s: float, *, label: str, lead_s: float = 0.0) -> Observed:
        """Run one phase, with readings around the part that its result is of: `duration_s`, behind a lead of `lead_s`.

        Warm-up and measured windows go through this same code, so that the server meets the same requests in both. One
        request of a kind that it has not met since its code was compiled (the first with a query, say) is enough for
        the JVM to discard the compiled code of the whole path, and the window then measures the interpreter.

        Threads are read one by one, which takes a quarter of a second for six thousand: before the clocks at the start
        if no load is on then, and after them at the end. The server itself is asked before the lead and when all is
        over: while its threads are all taken, an answer takes as long as it takes.
        """
        span = _Span(self)
        return self._seen(span, self.session.run(load, duration_s, label=label, edge=span, lead_s=lead_s))

    def warm(self, load: Load, duration_s: float, *, label: str, lead_s: float = 0.0, parts: int = 1) -> Warmed:
        """Do as `observe`, for load that no figure comes from, in several `parts` of equal length."""
        span = _Span(self, duration_s / parts if parts > 1 else None)
        result = self.session.warm(load, duration_s, label=label, edge=span, lead_s=lead_s)
        return Warmed(**vars(self._seen(span, result)), marks=tuple(span.marks))

    def lead(self, load: Load, duration_s: float) -> None:
        """Run a closed loop without readings. What the driver gives up in it may begin in the window that follows."""
        result = self.session.warm(load, duration_s, label="lead")
        self._work_off(result)
        self.left_over += max(0, (result.sent or 0) - result.answers)

    def _seen(self, span: _Span, result: LoadResult) -> Observed:
        t_s = (result.started_monotonic_ns - self.server.started_ns) / 1e9
        samples = self.sampler.since(t_s)
        self._work_off(result)
        gauges_ns, gauges_after = time.monotonic_ns(), self.gauges()
        sut = usage(
            span.before,
            span.after,
            gauges_before=span.gauges,
            gauges_after=gauges_after,
            samples=samples,
            answers=result.answers,
            cpus=self.cpus_allowed,
            astray_threads=len(astray(self.server.pid, self.cpu_sets.sut)),
            carriers=None if self.own_path is None else self.carriers,
            gauged_s=(gauges_ns - span.gauges_ns) / 1e9,
        )
        # The driver's own account leaves out its work before and after the load.
        driver_cpu_s = result.driver_cpu_s if span.driver_cpu_s is None else span.driver_cpu_s
        remote, database = span.remote, span.database
        # Nobody knows what a server that has ended used since it was last seen: its CPUs tell nothing of others.
        untold = not (self.server.is_alive or self.cpu_sets.overlapped)
        used = [
            *([] if untold else [Used("sut", self.cpu_sets.sut, sut.cpu_s)]),
            Used("driver", self.cpu_sets.driver, driver_cpu_s),
            Used("runner", tuple(sorted(os.sched_getaffinity(0))), span.own_cpu_s),
        ]
        if remote:
            used.append(Used("remote", self.cpu_sets.remote, remote.cpu_s))
        if database:
            used.append(Used("remote", self.cpu_sets.remote, database.cpu_s))
        host = pressure(*span.host, used=used, irq_time_accounting=self.irq_time_accounting)
        sut = beside_interrupts(sut, host, self.cpus_allowed)
        ahead_untold = bool(result.latency_from_s) and result.lead is None
        early_s = (span.glance.monotonic_ns - span.gauges_ns) / 1e9 if ahead_untold else None
        served = served_between(span.gauges, gauges_after, result, left_over=self.left_over, early_s=early_s)
        self.left_over = left_over_after(served, result, left_over=self.left_over)
        readings = rises(span.gauges, gauges_after, more_than_window=ahead_untold)
        readings += throttling(*span.quota)
        if database:
            readings += (WindowReading(metric=DATABASE_CPU_US, value=database.cpu_s * 1e6),)
        return Observed(
            t_s, load=result, sut=sut, host=host, remote=remote, database=database, served=served, readings=readings
        )

    def ask(self, path: str, *, under_load: bool = False) -> None:
        """Ask a question outside the load. It waits behind the requests that the server still has, while answers of the
        remote system arrive, and at least for as long as what the last phase has left takes at half of that phase's
        rate, up to _QUEUE_S_MAX. `under_load`: the next phase is already on, and would be over by then.

        Raises:
            NoAnswerError: no answer, and none of those requests got on meanwhile.
        """
        until = time.monotonic() + (0.0 if under_load else min(2 * self.queued_s, _QUEUE_S_MAX))
        while True:
            called = self._calls_answered()
            if self.own_path is not None:  # it may close connections that are idle for a while
                self.connection.close()
            try:
                self.connection.get(path)
                return
            except NoAnswerError:
                if called == self._calls_answered() and time.monotonic() >= until:
                    raise

    def _work_off(self, result: LoadResult) -> None:
        """Wait until the server has done what the driver has given up: it answers nothing else before, and the next
        phase would wait behind it. That may take any time while the server makes progress: fewer requests in flight,
        more begun, or more answers had from the remote system. For what an open loop has left, `ask` waits.

        Raises:
            NoAnswerError: for longer than its requests may take, it did neither.
        """
        self.queued_s = queue_s(result)
        needed_s = backlog_s(result)
        if needed_s is None:
            return
        if self.own_path is not None:  # which does not say how many it still has
            self.ask(self.own_path)
            time.sleep(self.service_s)  # on a thread of its own, that question overtakes them
            return
        quiet_s = self.answer_timeout_s + self.service_s + (needed_s if math.isfinite(needed_s) else 0.0)
        called, least, rest = self._calls_answered(), math.inf, AtRest()
        until = time.monotonic() + quiet_s
        while self.server.is_alive and (left_s := until - time.monotonic()) > 0:
            with Connection(self.server.base_url, timeout_s=min(left_s, GAUGES_TIMEOUT_S)) as connection:
                gauges = read_gauges(connection)
            in_flight = math.inf if gauges is None else gauges.in_flight
            begun = rest.begun
            if rest.look(gauges):
                self.queued_s = 0.0
                return
            called_before, called = called, self._calls_answered()
            if in_flight < least or rest.begun > begun or called > called_before:
                until = time.monotonic() + quiet_s
            least = min(least, in_flight)
            time.sleep(_QUIET_POLL_S)
        if self.server.is_alive and not self.may_end:
            raise NoAnswerError(f"for {quiet_s:.0f} s, none of the requests left over from the load was answered")

    def _calls_answered(self) -> int:
        """Return how many answers the server has had from the remote system in this phase; 0 if it calls none."""
        return self.remote.stats().answered if self.remote else 0

    def driver_cpu_ns(self) -> int | None:
        """Return the CPU time of a one-process driver; None if it is not one, or has ended and reports it itself."""
        try:
            return None if self.session.pid is None else cpu_time_ns(self.session.pid)
        except SutGoneError:
            return None

    def glance_after(self) -> Glance:
        """Return the server at the end of a phase, or as last seen if it may have ended in between."""
        try:
            return glance(self.server.pid)
        except SutGoneError:
            last = self.sampler.last_glance
            if not self.may_end or last is None:
                raise
            return last


def backlog_s(result: LoadResult) -> float | None:
    """Return how long a server needs, at the rate at which it answered, for what a closed loop sent and gave up. Pure.

    The driver waits a second for the last answers. Behind a hundred pinned requests there may be a minute's more work.
    None: nothing was given up. Infinite: nobody knows, since no request was answered. Open loops that overload a server
    go on at once: that is what they are for.
    """
    given_up = (result.lower_bounds or 0) + (result.lead.errors.timeout if result.lead else 0)
    if given_up == 0 or not result.load.is_closed_loop:
        return None
    return given_up / result.throughput_rps if result.completed else math.inf


def queue_s(result: LoadResult) -> float:
    """Return how long a server needs at most for what it still has of a phase, at the rate at which it answered: a
    request per connection, and those that were given up before. 0 if it answered none: nobody knows. Pure."""
    # What wrk2 calls timeouts is not a number of requests (drivers/wrk2_figures.py).
    lead = result.lead.errors.timeout if result.lead else 0
    given_up = 0 if result.sent is None else result.errors.timeout + lead
    return (result.load.connections + given_up) / result.throughput_rps if result.completed else 0.0
