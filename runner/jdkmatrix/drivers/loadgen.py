"""The embedded driver: a JVM of its own, always on the same JDK whatever the cell's is, one process per session.

It gets each phase as a JSON line and answers in JSON lines; the protocol is in the Java sources
(workloads/loadgen: SessionCommand, Command, Event). Every wait here has an upper bound and then ends in DriverError.
"""

from __future__ import annotations

import json
import math
import queue
import subprocess
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Annotated, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.domain.record import Record
from jdkmatrix.drivers.base import UNHEARD, DriverError, DriverSession, Edge, Phase, Target
from jdkmatrix.host import launch
from jdkmatrix.provision.seal import sha256_of
from jdkmatrix.records.load_results import Errors, Interval, Lead, LoadResult
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.stats.histograms import latency_from_histogram

# The serial collector and a fixed heap, touched before the first request: short pauses, no page faults while a phase
# runs, and no helper threads that compete for the driver's CPUs.
JVM_OPTIONS = ("-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:-UsePerfData")
_YOUNG_MIB = 192
_OLD_MIB, _OLD_MIB_PER_LOOP = 56, 8  # three tallies with three histograms of 278 KB each are 2.5 MB
_KIB_PER_CONNECTION = 16  # more than one takes, even one of the remote system with a waiting request
MAX_RATE_RPS = 10_000_000  # as in Load.java
STDERR_LOG = "loadgen.stderr.txt"
REQUESTS_FILE = "requests.json"

_START_TIMEOUT_S = 60.0
# On top of a phase's duration: 3 s to connect and 2 ms for each connection, 1 s to drain, 10 s until the driver gives
# itself up (Limits.java, Engine.java), 5 s for a busy machine.
_OVERRUN_S = 3.0 + 1.0 + 10.0 + 5.0
_CONNECT_EACH_S = 0.002
_GRACE_S = 2.0
_THREADS_MAX = 256  # event loops that it takes at most


def heap_options(loops: int, connections: int) -> tuple[str, ...]:
    """Return the fixed heap for this many event loops, and this many connections at most."""
    heap_mib = _YOUNG_MIB + max(
        _OLD_MIB + _OLD_MIB_PER_LOOP * loops, math.ceil(connections * _KIB_PER_CONNECTION / 1024)
    )
    return f"-Xms{heap_mib}m", f"-Xmx{heap_mib}m", f"-Xmn{_YOUNG_MIB}m"


def native_library_in(folder: Path) -> str:
    """Return the option that makes Netty unpack its native library there and load it: it cannot load one from a /tmp
    that is mounted noexec."""
    return f"-Dio.netty.native.workdir={folder}"


class Ready(Record):
    event: Literal["ready"]
    version: str
    netty: str
    java_version: str
    transport: str


class Started(Record):
    event: Literal["started"]
    label: str
    monotonic_ns: int


class IntervalEvent(Record):
    event: Literal["interval"]
    t_s: float
    due: int | None
    sent: int
    completed: int
    non_2xx: int
    errors: Errors
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class Finished(Record):
    """Histograms are encoded HdrHistograms in nanoseconds, None if nothing was recorded."""

    event: Literal["finished"]
    label: str
    started_monotonic_ns: int
    ended_monotonic_ns: int
    duration_s: float
    lead: Lead | None
    due: int | None
    sent: int
    unsent: int | None
    outstanding: int
    answered_late: int
    late_non_2xx: int
    completed: int
    non_2xx: int
    errors: Errors
    reconnects: int
    bytes_read: int
    throughput_rps: float
    lower_bounds: int
    corrected: str | None
    uncorrected: str | None
    send_lateness: str | None
    cpu_s: float
    busiest_loop_cpu_s: float
    hlog: str | None


class Failed(Record):
    event: Literal["error"]
    code: str
    message: str


Event = Ready | Started | IntervalEvent | Finished | Failed  # a line of its output (Event.java)
E = TypeVar("E", Ready, Started)
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])


@dataclass(frozen=True)
class LoadgenDriver:
    """A `drivers.base.Driver`. `java` is an executable of JDK 21 or newer, `jdk_id` its id in the catalogue."""

    jar: Path
    java: Path
    jdk_id: str

    @cached_property
    def facts(self) -> DriverFacts:
        """The jar's own answers. Raises: DriverError: there is no such jar, or it does not start on this JDK."""
        if not self.jar.is_file():
            raise DriverError(f"{self.jar} is missing: the load driver has not been built")
        command = [str(self.java), *JVM_OPTIONS, *heap_options(1, 0), "-jar", str(self.jar), "--version"]
        try:
            answer = launch.ask(command, timeout_s=_START_TIMEOUT_S, env=launch.clean_environment())
        except OSError as error:
            raise DriverError(f"{self.java} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise DriverError(f"{self.jar} --version gave no answer within {_START_TIMEOUT_S:.0f} s") from error
        words = (line.split(maxsplit=1) for line in answer.stdout.splitlines())
        versions = {pair[0]: pair[1] for pair in words if len(pair) == 2}
        if answer.returncode != 0 or not {"loadgen", "netty", "java"} <= versions.keys():
            detail = answer.stderr.strip() or answer.stdout.strip()
            raise DriverError(f"{self.jar} does not start on {self.java} (status {answer.returncode}): {detail}")
        return DriverFacts(
            name="loadgen",
            version=f"{versions['loadgen']} (netty {versions['netty']})",
            sha256=sha256_of(self.jar),
            jdk=self.jdk_id,
            java_version=versions["java"],
        )

    @property
    def programs(self) -> tuple[DriverFacts, ...]:
        return (self.facts,)

    def cannot(self, phase: Phase) -> str | None:
        load = phase.load
        if isinstance(load, RateLoad) and load.rate_rps > MAX_RATE_RPS:
            return f"loadgen schedules at most {MAX_RATE_RPS:,} requests per second, not {load.rate_rps:,.0f}"
        return None

    def open(self, target: Target) -> LoadgenSession:
        """Start the driver's process, with one event loop per CPU. A mix of requests is written to the log folder."""
        if target.requests is not None:
            (target.log_dir / REQUESTS_FILE).write_text(target.requests.model_dump_json())
        return LoadgenSession(self.command_line(target), target)

    def command_line(self, target: Target) -> tuple[str, ...]:
        requests = () if target.requests is None else ("--requests", str(target.log_dir / REQUESTS_FILE))
        threads = _loops(target)
        heap = heap_options(threads, target.connections)
        return (
            *(str(self.java), *JVM_OPTIONS, *heap, native_library_in(target.log_dir), "-jar", str(self.jar), "session"),
            *("--url", target.url, "--threads", str(threads)),
            *("--timeout-ms", str(max(1, round(target.timeout_s * 1000)))),
            *("--hlog-dir", str(target.log_dir)),
            *requests,
        )


class LoadgenSession(DriverSession):
    """Phases against one URL over persistent connections."""

    def __init__(self, command: tuple[str, ...], target: Target) -> None:
        self._command = command
        self._target = target
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # None: the driver has closed its output
        self._stderr = target.log_dir / STDERR_LOG
        with self._stderr.open("wb") as sink:
            self._process = launch.spawn(
                command,
                cpus=target.cpus,
                cgroups=[target.cgroup] if target.cgroup else [],
                env=launch.clean_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        threading.Thread(
            target=_read_lines, args=(self._process.stdout, self._lines), name="loadgen-stdout", daemon=True
        ).start()
        self._usable = True
        self._ready = False
        self._ready_by = time.monotonic() + _START_TIMEOUT_S

    @property
    def command(self) -> tuple[str, ...]:
        return self._command

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_ready(self) -> None:
        if self._ready:
            return
        try:
            self._expect(Ready, self._ready_by)
        except BaseException:
            self.close()
            raise
        self._ready = True

    def nearest(self, load: RateLoad) -> RateLoad:
        return load.model_copy(update={"rate_rps": min(load.rate_rps, float(MAX_RATE_RPS))})

    def run(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        """Run one phase; LABEL.hlog in the log folder holds its intervals. A ramp's duration is that of its points.

        If no connection at all can be opened, or more are asked for than this machine allows, DriverError is raised
        and the session stays usable; after every other DriverError it is closed.
        """
        if not self._usable:
            raise DriverError("this loadgen session has ended")
        self.wait_ready()
        edge.ahead()
        under_load = edge.is_divided or lead_s > 0
        if not under_load:
            edge.at(under_load=False)
        try:
            result = self._run(load, duration_s, label, edge if under_load else UNHEARD, lead_s)
        except _RefusedError as error:
            raise DriverError(str(error)) from None
        except BaseException:
            self.close()
            raise
        if not under_load:
            edge.over()
        return result

    def close(self) -> None:
        """End the driver by ending its input, even in the middle of a phase."""
        self._usable = False
        try:
            self._stdin.close()
            self._process.wait(_GRACE_S)
        except (OSError, subprocess.TimeoutExpired):
            launch.terminate(self._process, grace_s=0)

    def _run(self, load: Load, duration_s: float, label: str, edge: Edge, lead_s: float) -> LoadResult:
        """Run one phase. `edge`: for a part that may begin after a lead, and ends before the driver awaits the rest."""
        lead = {"lead_s": lead_s} if lead_s else {}
        command = {"label": label, **load.model_dump(), **lead, "duration_s": duration_s, "interval_s": edge.interval_s}
        try:
            self._stdin.write(json.dumps(command).encode() + b"\n")
            self._stdin.flush()
        except OSError:
            raise self._dead() from None
        lasts_s = lead_s + duration_s
        deadline = time.monotonic() + lasts_s + _OVERRUN_S + load.connections * _CONNECT_EACH_S
        begins_ns = self._expect(Started, deadline).monotonic_ns
        if lead_s:
            time.sleep(max(0, begins_ns - time.monotonic_ns()) / 1e9)
        edge.at(under_load=True)
        intervals: list[Interval] = []
        count = -(-round(duration_s * 1e9) // round(edge.interval_s * 1e9))  # the last may be shorter
        while isinstance(event := self._next(deadline), IntervalEvent):
            same = event.model_dump(include=set(Interval.model_fields) - {"errors"})
            intervals.append(Interval(**same, errors=event.errors.unanswered))
            edge.passed()
            if len(intervals) == count:
                edge.over()
        if not isinstance(event, Finished):
            raise self._failure(event)
        return _result(event, load, tuple(intervals), _loops(self._target))

    def _expect(self, kind: type[E], deadline: float) -> E:
        event = self._next(deadline)
        if not isinstance(event, kind):
            raise self._failure(event)
        return event

    def _next(self, deadline: float) -> Event:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise DriverError(f"loadgen gave no answer in time{launch.stderr_tail(self._stderr)}") from None
        if line is None:
            raise self._dead()
        try:
            return _EVENT.validate_json(line)
        except ValidationError as error:
            raise DriverError(f"loadgen printed no event of this version: {line[:200]!r}") from error

    def _failure(self, event: Event) -> DriverError:
        if not isinstance(event, Failed):
            return DriverError(f"loadgen said {event.event!r} out of turn")
        if event.code == "refused":
            return _RefusedError(event.message)
        return DriverError(f"loadgen: {event.message} ({event.code}){launch.stderr_tail(self._stderr)}")

    def _dead(self) -> DriverError:
        how = launch.how_ended(launch.terminate(self._process, grace_s=_GRACE_S))
        return DriverError(f"loadgen {how}{launch.stderr_tail(self._stderr)}")


class _RefusedError(DriverError):
    """The phase did not begin; the session stays usable."""


def _read_lines(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _loops(target: Target) -> int:
    """Return the number of the driver's event loops: one for each of its CPUs, if it can have so many."""
    return min(len(target.cpus), _THREADS_MAX)


def _result(event: Finished, load: Load, intervals: tuple[Interval, ...], loops: int) -> LoadResult:
    """Build the result of a phase by so many event loops."""
    encoded = event.model_dump(include={"corrected", "uncorrected", "send_lateness"})
    same = event.model_dump(include=set(LoadResult.model_fields) - encoded.keys() - {"hlog"})
    return LoadResult(
        **same,
        **{name: None if one is None else latency_from_histogram(one) for name, one in encoded.items()},
        driver="loadgen",
        load=load,
        latency_from_s=event.lead.duration_s if event.lead else 0.0,
        driver_cpu_s=event.cpu_s,
        driver_cpu_share=event.cpu_s / (event.duration_s * loops),
        driver_loop_cpu_share=event.busiest_loop_cpu_s / event.duration_s if loops > 1 else None,
        intervals=intervals,
        hlog=None if event.hlog is None else Path(event.hlog).name,
    )
