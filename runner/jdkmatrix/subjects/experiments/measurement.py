"""Measure an experiment without a server: run its program once, on its CPUs and in its box."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from jdkmatrix.domain.loads import TaskLoad
from jdkmatrix.experiments.base import Experiment, Given
from jdkmatrix.fork.database import DatabaseProcess
from jdkmatrix.fork.faults import ProgramError
from jdkmatrix.fork.fork_record import CellSetup, ForkDraft, Listener, Round
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.fork.resource_limits import ResourceLimits, limited
from jdkmatrix.fork.watchdog import DiskFullError
from jdkmatrix.host import launch
from jdkmatrix.host.ending import (
    OutOfMemoryError,
    check_launched,
    check_not_killed,
    check_not_stopped,
    oom_kills,
    ran_out_of_memory,
)
from jdkmatrix.host.priority import ahead_of_others
from jdkmatrix.method.gate import Observation, WindowContext
from jdkmatrix.method.gates import refusals
from jdkmatrix.probes.clock_speed import mean_clock_speed
from jdkmatrix.reading import text_if_readable
from jdkmatrix.records.pressure import Pressure
from jdkmatrix.records.readings import ProgramResult, WindowReading
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.remote import RemoteStats
from jdkmatrix.records.windows import ProgramWindow
from jdkmatrix.subjects.experiments.host_watch import HostWatch, Stretch, enclosing, longest_s

STDOUT_LOG = "standalone.out"
STDERR_LOG = "standalone.err"
FOLDER = "{folder}"  # in a command: a folder of the fork's own, removed afterwards
_GRACE_S = 2.0
_SPARE_S = 60.0  # beyond the time that it is given: for its start, and a busy host


@dataclass(frozen=True, kw_only=True)
class ProgramCell(CellSetup):
    """An experiment under a load. `command`: up to the program's own arguments."""

    load: TaskLoad
    workload: Experiment
    command: tuple[str, ...]

    def begin(self, fork: ForkDraft, listener: Listener) -> ProgramMeasurement:
        return ProgramMeasurement(self, fork, listener)


@dataclass
class ProgramMeasurement:
    cell: ProgramCell
    fork: ForkDraft
    listener: Listener
    host: Pressure | None = None
    host_span_s: float | None = None
    clock_speed_before: float | None = None
    remote: RemoteStats | None = None
    reasons: list[Reason] = field(default_factory=list)
    result: ProgramResult | None = None
    readings: tuple[WindowReading, ...] = ()
    _remote: RemoteProcess | None = field(default=None, init=False)

    @contextmanager
    def opened(self, remote: RemoteProcess | None, database: DatabaseProcess | None) -> Iterator[None]:
        self._remote = remote
        yield

    def rewarm(self, duration_s: float) -> None:
        """Do nothing: its program warms up by itself."""

    def measure(self, turn: Round | None) -> None:
        """Run the program in one piece, whatever its turn. Raises: ProgramError: it gave no result."""
        remote = self._remote
        cell, cpus = self.cell, self.cell.cpu_sets
        self.fork.command = self._command(remote)
        self.listener.step(f"running {self.cell.workload.experiment}")
        with limited(cell.limits, cell.confiner.group("sut", cpus.sut)) as box:
            self.fork.limits = box.plan.enforced
            if remote:
                remote.stats(reset=True)
            self.clock_speed_before = mean_clock_speed(cpus.sut)
            remote_pid = remote.pid if remote else None
            watched = HostWatch(cpus.all, remote_pid, waits_for_disk=cell.workload.waits_for_disk)
            oom_kills_before = oom_kills()
            try:
                status = self._watched(box, watched)
            finally:
                self.fork.outcomes = box.outcomes(
                    "the program", (text_if_readable(self.fork.log_dir / STDERR_LOG) or "").splitlines()
                )
            self.fork.clock_speed_after = mean_clock_speed(cpus.sut)
            self.remote = remote.stats() if remote else None
        try:
            if status != 0 and not box.ended_it:
                self._check_end(status, oom_kills_before)
            self.result, self.readings = self._result(status)
        finally:
            span = self.result.measured_span if self.result else None
            stretch = enclosing(watched.moments, span)
            self.host = stretch.pressure(cpus, irq_time_accounting=cell.host.irq_time_accounting)
            self.host_span_s = stretch.duration_s
        self._judge(stretch, self.host)
        problem = self.result.problem
        self.listener.step(f"{self.result.outcome}: {problem.message}" if problem else self.result.outcome)

    def judged(self) -> tuple[Status, tuple[Reason, ...]]:
        """Judge the fork: a limit that was hit is a finding; any other reason is a gate that was not passed."""
        return (Status.INVALID if self.reasons else Status.OK), tuple(self.reasons)

    def record(self) -> dict[str, Any]:
        window = ProgramWindow(
            host=self.host,
            host_span_s=self.host_span_s,
            clock_speed=self.clock_speed_before,
            remote=self.remote,
            reasons=tuple(self.reasons),
            readings=self.readings,
            result=self.result,
        )
        return {"program": window}

    @property
    def _duration_s(self) -> float:
        return self.cell.profile.windows * self.cell.profile.window_s

    def _command(self, remote: RemoteProcess | None) -> tuple[str, ...]:
        cell = self.cell
        given = Given(
            rounds=cell.burn_rounds,
            rounds_per_us=cell.calibration.rounds_per_us if cell.calibration else 0.0,
            duration_s=self._duration_s,
            url=remote.url if remote else None,
        )
        command = (word.replace(FOLDER, str(self.fork.scratch)) for word in cell.command)
        return (*command, *cell.workload.arguments(self.fork.planned.key, cell.load, given))

    def _watched(self, box: ResourceLimits, host: HostWatch) -> int:
        started_ns = time.monotonic_ns()
        with (
            host,
            self._process(box) as process,
            ahead_of_others(),
            box.watch(process.pid, process.kill, started_ns=started_ns),
            host.follow(process.pid),
        ):
            longest_s = self.cell.workload.longest_s(self.fork.planned.key, self.cell.load, self._duration_s)
            return _wait(process, longest_s + _SPARE_S)

    @contextmanager
    def _process(self, box: ResourceLimits) -> Iterator[subprocess.Popen[bytes]]:
        log_dir = self.fork.log_dir
        with (log_dir / STDOUT_LOG).open("wb") as out, (log_dir / STDERR_LOG).open("wb") as err:
            process = launch.spawn(
                self.fork.command,
                cpus=self.cell.cpu_sets.sut,
                cgroups=box.cgroups,
                open_files_max=box.plan.open_files_max,
                env=launch.clean_environment(),
                stdout=out,
                stderr=err,
            )
        try:
            yield process
        finally:
            launch.terminate(process, grace_s=_GRACE_S)

    def _check_end(self, status: int, oom_kills_before: int) -> None:
        """Raises: KilledError: somebody else has ended it; LaunchError: it was never run; DiskFullError: it found its
        disk full; OutOfMemoryError: it had no memory left."""
        errors = self.fork.log_dir / STDERR_LOG
        log = "\n".join(text_if_readable(path) or "" for path in (errors, self.fork.log_dir / STDOUT_LOG))
        check_launched(status, log)
        if "No space left on device" in log:
            raise DiskFullError(f"the program ran out of disk space{launch.stderr_tail(errors)}")
        check_not_killed("the program", status, log=log, oom_kills_before=oom_kills_before)
        if said := ran_out_of_memory(log, status, oom_kills_before=oom_kills_before):
            how = launch.how_ended(status)
            raise OutOfMemoryError(f"the program ran out of memory, and {how}: {said}{launch.stderr_tail(errors)}")

    def _result(self, status: int) -> tuple[ProgramResult, tuple[WindowReading, ...]]:
        log_dir = self.fork.log_dir
        if status != 0:
            raise ProgramError(f"the program {launch.how_ended(status)}{launch.stderr_tail(log_dir / STDERR_LOG)}")
        said = (log_dir / STDOUT_LOG).read_text(encoding="utf-8", errors="replace")
        return parse_result(said, self.cell.workload)

    def _judge(self, stretch: Stretch, host: Pressure) -> None:
        cpus, span = self.cell.cpu_sets, self.result.measured_span if self.result else None
        seen = Observation(
            host=host,
            remote=stretch.of_remote(self.remote) if self.remote else None,
            readings_s=longest_s(span) if span else None,
        )
        context = WindowContext(
            service_s=self.fork.planned.key.wait_us / 1e6,
            remote_cpus=len(cpus.remote),
            precision=self.cell.profile.promised_precision,
            sut_cpus=len(cpus.sut),
        )
        self.reasons += refusals(seen, self.cell.matrix.thresholds, context)


def parse_result(output: str, experiment: Experiment) -> tuple[ProgramResult, tuple[WindowReading, ...]]:
    """Parse the program's last line, and its readings; a JVM may have printed something before it.

    Raises:
        ProgramError: there is none, or it is not what it should be.
    """
    lines = output.strip().splitlines()
    if not lines:
        raise ProgramError("it printed no result")
    try:
        result = ProgramResult.model_validate_json(lines[-1])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise ProgramError(f"its last line is not a result: {where}: {first['msg']}") from None
    if result.experiment != experiment.experiment:
        raise ProgramError(f"its last line is not a result: of {result.experiment}, not {experiment.experiment}")
    if result.seen is None:
        return result, ()
    try:
        experiment.details(result.seen)
        return result, experiment.readings(result)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"its last line is not a result: seen: {type(error).__name__}: {error}") from None


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> int:
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        check_not_stopped("the program", process.pid)
        raise ProgramError(f"the program had not ended after {timeout_s:.0f} s") from None
