"""wrk2 (giltene/wrk2) as a load driver: constant rate, latencies from the intended send time.

Every phase is one process. What wrk2 cannot do is said before anything is measured, not approximated
(`wrk2_schedule`): closed loops, ramps, fractions of a request per second, windows of which it throws most latencies
away. Meanings and limits of its figures: `wrk2_figures`.

About one process in twenty opens its first connection nearly a second late, and its schedule begins then: no latency
shows it, and a second of requests is missing. Its event loop (`aeProcessEvents` in `src/ae.c`) waits up to a second for
a timer that is overdue. Such a process is ended before it has sent anything, and another one is started; with several
threads only the first to open a connection is looked at.

Not handled: `sent`, `unsent`, send lateness and per-second intervals, which wrk2 does not tell.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from jdkmatrix.drivers.base import DriverError, Phase, Target
from jdkmatrix.drivers.wrk2_figures import STOP_CHECK_S, Wrk2Output, opening_s
from jdkmatrix.drivers.wrk2_output import identify, parse, version_of
from jdkmatrix.drivers.wrk2_schedule import (
    asked_s,
    cannot_measure,
    cannot_send,
    due_requests,
    nearest,
    thread_count,
    whole_timeout_s,
)
from jdkmatrix.drivers.wrk2_script import wrk2_script
from jdkmatrix.host import launch
from jdkmatrix.records.load_results import LoadResult
from jdkmatrix.records.run import DriverFacts
from jdkmatrix.terms.loads import Load, RateLoad

ENVIRONMENT_VARIABLE = "MATRIX_WRK2"

_VERSION_TIMEOUT_S = 10.0
_OVERRUN_S = 10.0  # for start, joining threads and printing on a busy machine
_GRACE_S = 2.0
_BECOME_TIMEOUT_S = 5.0
_POLL_S = 0.002
# In time it takes some 10 ms; late, a second less what the timer was overdue.
_OPENS_WITHIN_S = 0.7
_STARTS_MAX = 8


def find_wrk2(env: Mapping[str, str], path: str | None) -> Wrk2Driver | str:
    """The wrk2 that `MATRIX_WRK2` names, else `wrk2` or `wrk` on the search path `path`; or why there is none.

    wrk2 installs itself as `wrk`, and so does plain wrk: each candidate is asked for its version and options.
    """
    named = env.get(ENVIRONMENT_VARIABLE)
    if named:
        found = shutil.which(named, path=path)
        if found is None:
            return f"{ENVIRONMENT_VARIABLE}={named!r} is not an executable file"
        driver = _examine(Path(found))
        return driver if isinstance(driver, Wrk2Driver) else f"{ENVIRONMENT_VARIABLE}={named!r}: {driver}"
    reasons = []
    for name in ("wrk2", "wrk"):
        found = shutil.which(name, path=path)
        if found is not None:
            driver = _examine(Path(found))
            if isinstance(driver, Wrk2Driver):
                return driver
            reasons.append(driver)
    return "; ".join(reasons) or f"no wrk2 on PATH; set {ENVIRONMENT_VARIABLE} to its executable"


def _examine(binary: Path) -> Wrk2Driver | str:
    try:
        answer = subprocess.run(
            [binary, "-v"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        return f"{binary} cannot be started: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{binary} -v gave no answer within {_VERSION_TIMEOUT_S:.0f} s"
    text = answer.stdout.decode(errors="replace")
    program, version = identify(text), version_of(text)
    if program is None or version is None:
        return f"{binary} is neither wrk2 nor wrk: -v printed {text.partition(chr(10))[0][:80]!r}"
    if program == "wrk":
        return (
            f"{binary} is plain wrk {version}, which can neither hold a rate nor correct latencies for coordinated "
            "omission; wrk2 is needed (its usage lists -R, --rate)"
        )
    with binary.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Wrk2Driver(binary=binary, version=version, sha256=digest)


@dataclass(frozen=True)
class Wrk2Driver:
    """A wrk2 that was found and identified; a `drivers.base.Driver`."""

    binary: Path
    version: str
    sha256: str

    @property
    def facts(self) -> DriverFacts:
        return DriverFacts(name="wrk2", version=self.version, sha256=self.sha256, jdk=None, java_version=None)

    def cannot(self, phase: Phase) -> str | None:
        return cannot_measure(phase)

    def open(self, target: Target) -> Wrk2Session:
        return Wrk2Session(self, target)


class Wrk2Session:
    """Phases against one URL; a `drivers.base.DriverSession`. One process per phase, so nothing carries over."""

    def __init__(self, driver: Wrk2Driver, target: Target) -> None:
        self._driver = driver
        self._target = target
        self._command: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._first_unique: int | None = 0

    @property
    def command(self) -> tuple[str, ...]:
        """Of the latest phase; empty before the first."""
        return self._command

    @property
    def pid(self) -> None:
        return None

    def wait_ready(self) -> None:
        """Every phase is a process of its own."""

    def nearest(self, load: RateLoad) -> RateLoad:
        return nearest(load, self._target.timeout_s)

    def run(self, load: Load, duration_s: float, *, label: str) -> LoadResult:
        """One phase of at least `duration_s` (`wrk2_schedule.asked_s`); the result has the real duration.

        Everything that wrk2 prints is kept as LABEL.txt in the log folder, whatever becomes of the phase. A mix of
        requests is there as LABEL.lua.
        """
        reason = cannot_send(load, cpus=len(self._target.cpus), timeout_s=self._target.timeout_s)
        if reason is not None or not isinstance(load, RateLoad):
            raise DriverError(reason or f"wrk2 cannot make the load {load.kind!r}")
        threads = thread_count(load.connections, len(self._target.cpus))
        lasts_s = asked_s(load, threads, duration_s)
        script = self._write_script(load, threads, label)
        self._command = command_line(self._driver.binary, self._target, load, threads, lasts_s, script)
        # Unknown until the phase has told how many numbers it may have used.
        first_unique, self._first_unique = self._first_unique, None
        log = self._target.log_dir / f"{label}.txt"
        started_ns, status, cpu_s = self._run_process(log, load.connections, _bound_s(self._target, load, lasts_s))
        ended_ns = time.monotonic_ns()
        text = log.read_text(errors="replace")
        if status < 0:
            raise DriverError(f"wrk2 was killed by signal {-status}; see {log}")
        try:
            output = parse(text)
        except DriverError as error:
            raise DriverError(f"{error} (exit status {status}; see {log})") from None
        if status != 0:
            raise DriverError(f"wrk2 printed a whole run and ended with exit status {status}; see {log}")
        if output.corrected is None or output.uncorrected is None:
            raise DriverError(f"wrk2 printed no latency distribution although -L and -U were given; see {log}")
        self._first_unique = None if first_unique is None else first_unique + threads * most_requests(output)
        return LoadResult(
            driver="wrk2",
            load=load,
            started_monotonic_ns=started_ns,
            ended_monotonic_ns=ended_ns,
            duration_s=output.duration_s,
            latency_from_s=output.latency_from_s,
            due=due_requests(load, threads, lasts_s),
            sent=None,
            unsent=None,
            completed=output.requests,
            non_2xx=output.non_2xx,
            errors=output.errors,
            reconnects=None,
            bytes_read=round(output.bytes_read.value),
            throughput_rps=output.requests / output.duration_s,
            corrected=output.corrected.latency(),
            uncorrected=output.uncorrected.latency(),
            send_lateness=None,
            driver_cpu_s=cpu_s,
            # A thread uses one CPU at most: CPUs without a thread would hide that the driver is at its limit.
            driver_cpu_share=cpu_s / (output.duration_s * threads),
            intervals=(),
        )

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            launch.terminate(process, grace_s=_GRACE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write_script(self, load: RateLoad, threads: int, label: str) -> Path | None:
        mix = self._target.requests
        if mix is None:
            return None
        if self._first_unique is None and mix.has_unique:
            raise DriverError("an earlier phase of this wrk2 session failed: its unique numbers must not come again")
        path = self._target.log_dir / f"{label}.lua"
        authority = urlsplit(self._target.url).netloc
        path.write_text(wrk2_script(mix, authority, threads=threads, first_unique=self._first_unique or 0))
        return path

    def _run_process(self, log: Path, connections: int, bound_s: float) -> tuple[int, int, float]:
        """When it was started (CLOCK_MONOTONIC, ns), exit status and CPU seconds of wrk2 alone."""
        try:
            for _ in range(_STARTS_MAX):
                started_ns = time.monotonic_ns()
                process = self._started(log)
                launch_cpu_s = _cpu_until_replaced(process)
                if _opens_in_time(process, connections):
                    break
                self.close()
            else:
                raise DriverError(
                    f"wrk2 opened no connection within {_OPENS_WITHIN_S} s, {_STARTS_MAX} times; see {log}"
                )
            cpu_s = _wait(process, bound_s)
        finally:
            self.close()
        if cpu_s is None:
            raise DriverError(f"wrk2 had not ended after {bound_s:.0f} s and was stopped; see {log}")
        return started_ns, process.returncode, max(cpu_s - launch_cpu_s, 0.0)

    def _started(self, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as sink:
            self._process = launch.spawn(
                self._command,
                cpus=self._target.cpus,
                cgroups=[self._target.cgroup] if self._target.cgroup else [],
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        return self._process


def command_line(
    binary: Path, target: Target, load: RateLoad, threads: int, lasts_s: int, script: Path | None = None
) -> tuple[str, ...]:
    """wrk2's arguments for one phase; pure."""
    return (
        str(binary),
        f"-t{threads}",
        f"-c{load.connections}",
        f"-d{lasts_s}s",
        f"-R{load.rate_rps:.0f}",
        "-L",
        "-U",
        "--timeout",
        f"{whole_timeout_s(target.timeout_s)}s",
        *(() if script is None else ("-s", str(script))),
        target.url,
    )


def most_requests(output: Wrk2Output) -> int:
    """How many requests wrk2 asked its script for at most: answered, lost and outstanding ones, and one as a trial."""
    return output.requests + output.errors.read + output.errors.write + output.connections + 1


def _bound_s(target: Target, load: RateLoad, lasts_s: int) -> float:
    return lasts_s + STOP_CHECK_S + opening_s(load.connections, 1) + target.timeout_s + _OVERRUN_S


def _cpu_until_replaced(process: subprocess.Popen[bytes]) -> float:
    """CPU seconds that `launch` used before it became the command; 0 if the command ended before that was seen.

    They are in the process's own account and would make wrk2 look some 30 ms more expensive.
    """
    deadline = time.monotonic() + _BECOME_TIMEOUT_S
    proc = Path("/proc") / str(process.pid)
    launcher = os.fsencode(launch.__file__)
    while time.monotonic() < deadline and not _ended(process):
        arguments = (proc / "cmdline").read_bytes()
        # Empty for a moment in the middle of exec.
        if arguments and launcher not in arguments.split(b"\0"):
            return int((proc / "schedstat").read_text().split()[0]) / 1e9
        time.sleep(_POLL_S)
    return 0.0


def _opens_in_time(process: subprocess.Popen[bytes], connections: int) -> bool:
    """Has it opened connections, beyond the one with which it tries its URL, or ended?"""
    deadline = time.monotonic() + _OPENS_WITHIN_S
    while not _ended(process):
        if _sockets(process.pid) >= min(2, connections):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _sockets(pid: int) -> int:
    found = 0
    with suppress(OSError):  # it has ended
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                found += str(descriptor.readlink()).startswith("socket:")
    return found


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Without reaping it, so that its folder in /proc stays and `_wait` gets its account."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _wait(process: subprocess.Popen[bytes], bound_s: float) -> float | None:
    """Wait for the end and reap; CPU seconds (user and system) of the process, or None when the bound came first."""
    descriptor = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(bound_s * 1000):
            return None
    finally:
        os.close(descriptor)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime
