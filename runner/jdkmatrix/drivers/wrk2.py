"""Measurements by wrk2 (giltene/wrk2): constant rate, latencies from the intended send time.

Each phase is one process. It begins to count when all its connections are open and wrk2 has discarded what it recorded
until then (`wrk2_figures`: calibration): completed requests, latencies and its own CPU time count from there on, and
the phase's edge reads the server there. What wrk2 cannot do is reported before anything is measured, not approximated
(`wrk2_schedule`): closed loops, ramps, fractions of a request per second, short windows. Meanings and limits of its
figures: `wrk2_figures`.

A thread of wrk2 may open its first connections nearly a second late, and all at once, so that they stay in step: its
event loop (`aeProcessEvents` in `src/ae.c`) waits up to a second for a timer that is overdue, as the first one is once
the thread has needed a millisecond to set up its connections (seen in 2 of 12 processes with 50, in all with 1,000).
So all its threads are woken a few times at once: a process that was stopped and goes on returns from epoll_wait(2).

Not handled: `sent`, `unsent`, send lateness and per-second intervals, which wrk2 does not report. Errors are those of
the whole process; so are answers of status 400 and above, of which a phase gets its share. It takes 3xx for 2xx.
"""

from __future__ import annotations

import itertools
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from jdkmatrix.domain.loads import Load, RateLoad
from jdkmatrix.drivers.base import UNHEARD, DriverError, Edge, Phase, Target
from jdkmatrix.drivers.wrk2_figures import STOP_CHECK_S, Wrk2Output, calibrated_s, opening_s
from jdkmatrix.drivers.wrk2_output import identify, parse, version_of
from jdkmatrix.drivers.wrk2_schedule import asked_s, cannot_measure, cannot_send, due_requests, thread_count
from jdkmatrix.drivers.wrk2_script import wrk2_script
from jdkmatrix.host import launch
from jdkmatrix.probes.process import SutGoneError, cpu_time_ns
from jdkmatrix.provision.seal import sha256_of
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.run import DriverFacts

ENVIRONMENT_VARIABLE = "MATRIX_WRK2"

_VERSION_TIMEOUT_S = 10.0
_OVERRUN_S = 10.0  # for starting, joining threads and printing on a busy machine
_GRACE_S = 2.0
_BECOME_TIMEOUT_S = 5.0
_POLL_S = 0.002
_WAKINGS = 10
_BETWEEN_WAKINGS_S = 0.01  # two connections are opened in it
_OWN_FILES = 64
_AHEAD_S = 0.1  # for what takes time before an edge: two questions to the server, if it answers soon


def find_wrk2(env: Mapping[str, str], path: str | None) -> Wrk2 | str:
    """Find the wrk2 that `MATRIX_WRK2` names, else the first `wrk2` or `wrk` on the search path `path` that is one; or
    return why there is none.

    wrk2 installs itself as `wrk`, and so does plain wrk: each candidate is asked for its version and options.
    """
    if named := env.get(ENVIRONMENT_VARIABLE):
        found = shutil.which(named, path=path)
        if found is None:
            return f"{ENVIRONMENT_VARIABLE}={named!r} is not an executable file"
        driver = _examine(Path(found))
        return driver if isinstance(driver, Wrk2) else f"{ENVIRONMENT_VARIABLE}={named!r}: {driver}"
    reasons: dict[str, None] = {}
    for name, folder in itertools.product(("wrk2", "wrk"), (path or os.defpath).split(os.pathsep)):
        if folder and (found := shutil.which(name, path=folder)):
            driver = _examine(Path(found))
            if isinstance(driver, Wrk2):
                return driver
            reasons[driver] = None
    return "; ".join(reasons) or f"no wrk2 on PATH; set {ENVIRONMENT_VARIABLE} to its executable"


def _examine(binary: Path) -> Wrk2 | str:
    try:
        answer = launch.ask([binary, "-v"], timeout_s=_VERSION_TIMEOUT_S, stderr=subprocess.STDOUT)
    except OSError as error:
        return f"{binary} cannot be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{binary} -v gave no answer within {_VERSION_TIMEOUT_S:.0f} s"
    text = answer.stdout
    program, version = identify(text), version_of(text)
    if program is None or version is None:
        return f"{binary} is neither wrk2 nor wrk: -v printed {text.partition(chr(10))[0][:80]!r}"
    if program == "wrk":
        return (
            f"{binary} is plain wrk {version}, which can neither hold a rate nor correct latencies for coordinated "
            "omission; wrk2 is needed (its usage lists -R, --rate)"
        )
    return Wrk2(binary=binary, version=version, sha256=sha256_of(binary))


@dataclass(frozen=True)
class Wrk2:
    """An executable that was found and identified as wrk2."""

    binary: Path
    version: str
    sha256: str

    @property
    def facts(self) -> DriverFacts:
        return DriverFacts(name="wrk2", version=self.version, sha256=self.sha256, jdk=None, java_version=None)

    def cannot(self, phase: Phase) -> str | None:
        """See `drivers.base.Driver`."""
        files_max = _open_files_max()
        if phase.load.connections + _OWN_FILES > files_max:
            return f"{phase.load.connections:,} connections: a process may open only {files_max:,} files (ulimit -Hn)"
        return cannot_measure(phase)


class _Ran(NamedTuple):
    """`began_ns`, `ended_ns`: of the part that counts, by CLOCK_MONOTONIC; `cpu_s`: wrk2's CPU time in it."""

    began_ns: int
    ended_ns: int
    status: int
    cpu_s: float


class Wrk2Session:
    """Measured phases against one URL, one process each: nothing carries over but the unique numbers of a mix."""

    def __init__(self, wrk2: Wrk2, target: Target) -> None:
        self._wrk2 = wrk2
        self._target = target
        self.command: tuple[str, ...] = ()  # of the latest phase; empty before the first
        self._process: subprocess.Popen[bytes] | None = None
        self._first_unique: int | None = 0

    def begin_at(self, unique: int) -> None:
        """Begin unique numbers here: all below are taken."""
        self._first_unique = unique

    def run(
        self, load: Load, duration_s: float, *, label: str, edge: Edge = UNHEARD, lead_s: float = 0.0
    ) -> LoadResult:
        """Run one phase, of which at least `duration_s` count, in whole seconds of wrk2's; the result has the real
        duration. A rate needs no lead: it has the part that wrk2 discards.

        Everything that wrk2 prints is kept as LABEL.txt in the log folder, whatever becomes of the phase; so is a mix
        of requests as LABEL.lua.
        """
        reason = cannot_send(load, cpus=len(self._target.cpus), timeout_s=self._target.timeout_s)
        if reason is not None or not isinstance(load, RateLoad):
            raise DriverError(reason or f"wrk2 cannot generate the load {load.kind!r}")
        threads = thread_count(load.connections, len(self._target.cpus))
        lead, lasts_s = calibrated_s(load.connections, threads), asked_s(load, threads, duration_s)
        script = self._write_script(load, threads, label)
        self.command = command_line(self._wrk2.binary, self._target, load, threads, lasts_s, script)
        # Unknown until the phase has told how many numbers it may have used.
        first_unique, self._first_unique = self._first_unique, None
        log = self._target.log_dir / f"{label}.txt"
        ran = self._run_process(log, threads, lead, _bound_s(self._target, load, lasts_s), edge)
        text = log.read_text(errors="replace")
        if ran.status < 0:
            raise DriverError(f"wrk2 was killed by signal {-ran.status}; see {log}")
        try:
            output = parse(text)
        except DriverError as error:
            raise DriverError(f"{error} (exit status {ran.status}; see {log})") from None
        if ran.status != 0:
            raise DriverError(f"wrk2 printed a complete run but ended with exit status {ran.status}; see {log}")
        if output.corrected is None or output.uncorrected is None:
            raise DriverError(f"wrk2 printed no latency distribution although -L and -U were given; see {log}")
        self._first_unique = None if first_unique is None else first_unique + threads * most_requests(output)
        # A thread that waits for its next answer stops late, and counts nothing that comes after the end.
        ran_s, duration_s = output.duration_s - lead, min(output.duration_s, lasts_s) - lead
        if duration_s <= 0:
            raise DriverError(f"wrk2 ended after {output.duration_s:g} s, before its latencies count; see {log}")
        completed = output.corrected.total_count if output.calibrated else output.requests
        return LoadResult(
            driver="wrk2",
            load=load,
            started_monotonic_ns=ran.began_ns,
            ended_monotonic_ns=ran.ended_ns,
            duration_s=duration_s,
            awaited_s=ran_s - duration_s,
            latency_from_s=lead,
            due=due_requests(load, threads, lead, lasts_s),
            sent=None,
            unsent=None,
            completed=completed,
            non_2xx=output.non_2xx_among(completed),
            errors=output.errors,
            reconnects=None,
            bytes_read=None,
            throughput_rps=completed / duration_s,
            corrected=output.corrected.latency(),
            uncorrected=output.uncorrected.latency(),
            send_lateness=None,
            driver_cpu_s=ran.cpu_s,
            # A thread uses one CPU at most: CPUs without a thread would hide that the driver is at its limit.
            driver_cpu_share=ran.cpu_s / (ran_s * threads),
            intervals=(),
        )

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            launch.terminate(process, grace_s=_GRACE_S)

    def _write_script(self, load: RateLoad, threads: int, label: str) -> Path | None:
        mix = self._target.requests
        if mix is None:
            return None
        if self._first_unique is None and mix.has_unique:
            raise DriverError("an earlier phase of this wrk2 session failed: its unique numbers must not be used again")
        path = self._target.log_dir / f"{label}.lua"
        authority = urlsplit(self._target.url).netloc
        path.write_text(wrk2_script(mix, authority, threads=threads, first_unique=self._first_unique or 0))
        return path

    def _run_process(self, log: Path, threads: int, lead: float, bound_s: float, edge: Edge) -> _Ran:
        try:
            process = self._started(log)
            _wait_for_threads(process, threads)
            edge_at_s = time.monotonic() + lead
            for _ in range(_WAKINGS):
                time.sleep(_BETWEEN_WAKINGS_S)
                _wake(process)
            _ends_by(process, edge_at_s - min(lead, _AHEAD_S + edge.ahead_s))
            edge.ahead(edge_at_s)
            _ends_by(process, edge_at_s)
            began_ns, lead_cpu_s = time.monotonic_ns(), _cpu_s(process)
            edge.at(under_load=True)  # takes a quarter of a second if the server has thousands of threads
            if not _ends_by(process, time.monotonic() + bound_s):
                raise DriverError(f"wrk2 had not ended after {bound_s:.0f} s and was stopped; see {log}")
            ended_ns = time.monotonic_ns()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            edge.over()
        finally:
            self.close()
        cpu_s = usage.ru_utime + usage.ru_stime - lead_cpu_s
        return _Ran(began_ns, ended_ns, process.returncode, max(cpu_s, 0.0))

    def _started(self, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as sink:
            self._process = launch.spawn(
                self.command,
                cpus=self._target.cpus,
                cgroups=[self._target.cgroup] if self._target.cgroup else [],
                open_files_max=_open_files_max(),
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        return self._process


def _open_files_max() -> int:
    """Return the hard limit: unlike a JVM, wrk2 does not raise its soft one."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def command_line(
    binary: Path, target: Target, load: RateLoad, threads: int, lasts_s: int, script: Path | None = None
) -> tuple[str, ...]:
    """Return wrk2's command line for one phase. Pure."""
    return (
        str(binary),
        f"-t{threads}",
        f"-c{load.connections}",
        f"-d{lasts_s}s",
        f"-R{load.rate_rps:.0f}",
        "-L",
        "-U",
        "--timeout",
        f"{math.ceil(target.timeout_s)}s",
        *(() if script is None else ("-s", str(script))),
        target.url,
    )


def most_requests(output: Wrk2Output) -> int:
    """Return the most requests that wrk2 can have asked its script for: answered, lost and outstanding, and a trial."""
    return output.requests + output.errors.read + output.errors.write + output.connections + 1


def _bound_s(target: Target, load: RateLoad, lasts_s: int) -> float:
    return lasts_s + STOP_CHECK_S + opening_s(load.connections, 1) + target.timeout_s + _OVERRUN_S


def _wait_for_threads(process: subprocess.Popen[bytes], threads: int) -> None:
    """Wait until all of its threads run beside the first, which `launch` has none of, or it has ended."""
    deadline = time.monotonic() + _BECOME_TIMEOUT_S
    while time.monotonic() < deadline and not _ended(process):
        if len(list(Path(f"/proc/{process.pid}/task").iterdir())) > threads:
            return
        time.sleep(_POLL_S)


def _wake(process: subprocess.Popen[bytes]) -> None:
    """Let every thread return from what it waits for (signal(7), "Interruption of system calls by stop signals")."""
    os.kill(process.pid, signal.SIGSTOP)  # Popen.send_signal would reap one that has ended
    try:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    finally:
        os.kill(process.pid, signal.SIGCONT)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether it has ended, without reaping it: its folder in /proc stays, and `os.wait4` gets its usage."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ends_by(process: subprocess.Popen[bytes], deadline_s: float) -> bool:
    """Wait for its end until `deadline_s` of the monotonic clock, without reaping it; return whether it has ended."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (OSError, AttributeError):  # Linux before 5.3, also where Python was built; a container that forbids it
        while not (ended := _ended(process)) and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
        return ended
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000))
    finally:
        os.close(descriptor)


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    try:
        return cpu_time_ns(process.pid) / 1e9
    except SutGoneError:
        return 0.0
