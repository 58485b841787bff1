"""Measure one fork of an experiment without a server: run the program once, on its CPUs and in its box.

Whatever happens is recorded: a fork that fails keeps its reason and its logs.
"""

from __future__ import annotations

import subprocess
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from jdkmatrix import launch
from jdkmatrix.alone.command import arguments, longest_s
from jdkmatrix.alone.host_watch import HostWatch, enclosing
from jdkmatrix.alone.parts import AloneParts
from jdkmatrix.config.model import Matrix
from jdkmatrix.config.parts import Limits
from jdkmatrix.doctor.base import Host
from jdkmatrix.errors import MatrixError
from jdkmatrix.host.limit_groups import limit_groups
from jdkmatrix.host.limits import plan_limits, read_limit_host
from jdkmatrix.measure.draft import logs_of, now_utc, pinning_of
from jdkmatrix.measure.faults import INTERNAL_ERROR, code_of
from jdkmatrix.measure.gates import Means, host_reasons, remote_reasons
from jdkmatrix.measure.kernel import kernel_settings
from jdkmatrix.measure.limit_outcome import outcomes
from jdkmatrix.measure.limit_watch import LimitWatch
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.measure.windows import Listener
from jdkmatrix.plan import PlannedFork
from jdkmatrix.probes.clock_speed import read_clock_speed
from jdkmatrix.records import (
    Enforcement,
    ExperimentFork,
    ExperimentResult,
    Outcome,
    Pressure,
    Reason,
    RemoteStats,
    Status,
    TaskLoad,
)
from jdkmatrix.sut.remote import RemoteProcess

STDOUT_LOG = "standalone.out"
STDERR_LOG = "standalone.err"
_GRACE_S = 2.0
_RESULT: TypeAdapter[ExperimentResult] = TypeAdapter(ExperimentResult)


class AloneError(MatrixError):
    """The program ended without a result."""


@dataclass(frozen=True)
class AloneSetup:
    """Everything that one fork needs. `log_dir` exists."""

    planned: PlannedFork
    load: TaskLoad
    matrix: Matrix
    duration_s: float
    precision: float  # that the profile promises, as a share
    irq_time_accounting: bool | None  # as host/irq_time.py found it
    parts: AloneParts
    pinner: Pinner
    log_dir: Path
    log_prefix: str  # from the cell file to `log_dir`


@dataclass
class _Draft:
    started_at: str = field(default_factory=now_utc)
    failed: bool = False
    reasons: list[Reason] = field(default_factory=list)
    command: tuple[str, ...] = ()
    remote_command: tuple[str, ...] = ()
    host: Pressure | None = None
    host_span_s: float | None = None
    clock_speed_before: float | None = None
    clock_speed_after: float | None = None
    remote: RemoteStats | None = None
    result: ExperimentResult | None = None
    limits: tuple[Enforcement, ...] = ()
    outcomes: tuple[Outcome, ...] = ()

    def fail(self, code: str, message: str) -> None:
        self.failed = True
        self.reasons.append(Reason(code=code, message=message))


def measure_alone(setup: AloneSetup, listener: Listener) -> ExperimentFork:
    """Never raises for what can go wrong with the program: that is a result. Ctrl-C passes through, with all processes
    ended."""
    draft = _Draft()
    try:
        with (
            kernel_settings(Host(root=Path("/"), results=setup.log_dir), setup.parts.kernel),
            _remote(setup, draft) as remote,
        ):
            _measure(setup, remote, draft, listener)
    except MatrixError as error:
        draft.fail(code_of(error), str(error))
    except Exception as error:
        draft.fail(INTERNAL_ERROR, f"{type(error).__name__}: {error}")
        (setup.log_dir / "traceback.txt").write_text(traceback.format_exc())
    draft.reasons += [Reason(code=hit.code, message=hit.message, figures=hit.figures) for hit in draft.outcomes]
    return _finished(setup, draft)


def parse_result(output: str) -> ExperimentResult:
    """The program's last line; a JVM may have had something to say before it.

    Raises:
        AloneError: there is none, or it is not what it should be.
    """
    lines = output.strip().splitlines()
    if not lines:
        raise AloneError("it printed no result")
    try:
        return _RESULT.validate_json(lines[-1])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise AloneError(f"its last line is no result: {where}: {first['msg']}") from None


@contextmanager
def _remote(setup: AloneSetup, draft: _Draft) -> Iterator[RemoteProcess | None]:
    parts = setup.parts.remote
    if parts is None:
        yield None
        return
    cpus = setup.parts.cpu_sets.remote
    cgroup = setup.pinner.group("remote", cpus)
    with RemoteProcess(parts.jar, parts.java, cpus=cpus, log_dir=setup.log_dir, cgroup=cgroup) as remote:
        draft.remote_command = tuple(remote.command)
        remote.wait_ready()
        yield remote


def _measure(setup: AloneSetup, remote: RemoteProcess | None, draft: _Draft, listener: Listener) -> None:
    parts = setup.parts
    draft.command = (
        *parts.command,
        *arguments(
            parts.experiment,
            setup.planned.key,
            setup.load,
            rounds=parts.burn_rounds,
            rounds_per_us=parts.rounds_per_us,
            duration_s=setup.duration_s,
            url=remote.url if remote else None,
        ),
    )
    pinned = setup.pinner.group("sut", parts.cpu_sets.sut)
    plan = plan_limits(parts.experiment.limits or Limits(), read_limit_host(pinned))
    draft.limits = plan.enforced
    listener.step(f"running {parts.experiment.experiment}")
    with limit_groups(plan, pinned) as groups:
        if remote:
            remote.stats(reset=True)
        draft.clock_speed_before = read_clock_speed(parts.cpu_sets.sut[-1])
        started_ns = time.monotonic_ns()
        with (
            HostWatch(remote.pid if remote else None) as host,
            _process(
                setup, draft.command, [*([pinned] if pinned else []), *groups.folders], plan.open_files_max
            ) as process,
        ):
            watch = LimitWatch(process.pid, plan, groups.counters, process.kill, started_ns=started_ns)
            with watch, host.follow(process.pid):
                status = _wait(process, longest_s(parts.experiment, setup.duration_s))
        draft.clock_speed_after = read_clock_speed(parts.cpu_sets.sut[-1])
        draft.remote = remote.stats() if remote else None
        if plan.enforced:
            draft.outcomes = outcomes(
                who="the program",
                limits=plan.limits,
                counters=watch.counters,
                seen=watch.seen,
                log_lines=_lines(setup.log_dir / STDERR_LOG),
            )
    try:
        draft.result = _result(setup, status)
    finally:
        span = draft.result.measured_span if draft.result else None
        seen = enclosing(host.moments, span)
        draft.host = seen.pressure(parts.cpu_sets, irq_time_accounting=setup.irq_time_accounting)
        draft.host_span_s = seen.duration_s
    thresholds = setup.matrix.thresholds
    means = Means(precision=setup.precision, sut_cpus=len(parts.cpu_sets.sut))
    draft.reasons += host_reasons(draft.host, thresholds, means)
    if draft.remote and parts.remote:
        delay_s = setup.planned.key.wait_us / 1e6
        means = replace(means, service_s=delay_s, remote_cpus=len(parts.cpu_sets.remote))
        draft.reasons += remote_reasons(seen.of_remote(draft.remote), means, thresholds)
    listener.step(_words(draft.result))


@contextmanager
def _process(
    setup: AloneSetup, command: tuple[str, ...], cgroups: list[Path], open_files_max: int | None
) -> Iterator[subprocess.Popen[bytes]]:
    with (setup.log_dir / STDOUT_LOG).open("wb") as out, (setup.log_dir / STDERR_LOG).open("wb") as err:
        process = launch.spawn(
            command,
            cpus=setup.parts.cpu_sets.sut,
            cgroups=cgroups,
            open_files_max=open_files_max,
            env=launch.clean_environment(),
            stdout=out,
            stderr=err,
        )
    try:
        yield process
    finally:
        launch.terminate(process, grace_s=_GRACE_S)


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> int:
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        raise AloneError(f"the program had not ended after {timeout_s:.0f} s") from None


def _result(setup: AloneSetup, status: int) -> ExperimentResult:
    if status != 0:
        tail = launch.stderr_tail(setup.log_dir / STDERR_LOG)
        raise AloneError(f"the program {launch.how_ended(status)}{tail}")
    return parse_result((setup.log_dir / STDOUT_LOG).read_text(encoding="utf-8", errors="replace"))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _words(result: ExperimentResult) -> str:
    return result.outcome if result.problem is None else f"{result.outcome}: {result.problem.message}"


def _finished(setup: AloneSetup, draft: _Draft) -> ExperimentFork:
    status = Status.FAILED if draft.failed else Status.OK
    hit = {outcome.code for outcome in draft.outcomes}
    if status is Status.OK and any(reason.code not in hit for reason in draft.reasons):
        status = Status.INVALID
    return ExperimentFork(
        fork=setup.planned.fork,
        position=setup.planned.position,
        sequence=setup.planned.sequence,
        status=status,
        reasons=tuple(draft.reasons),
        started_at=draft.started_at,
        ended_at=now_utc(),
        command=draft.command,
        remote_command=draft.remote_command,
        pinning=pinning_of(setup.parts.cpu_sets, setup.pinner),
        host=draft.host,
        host_span_s=draft.host_span_s,
        clock_speed_before=draft.clock_speed_before,
        clock_speed_after=draft.clock_speed_after,
        remote=draft.remote,
        result=draft.result,
        limits=draft.limits,
        outcomes=draft.outcomes,
        logs=logs_of(setup.log_dir, setup.log_prefix),
    )
