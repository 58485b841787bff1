"""What a fork is measured with, what is known of it so far, and the record that this becomes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from jdkmatrix.config.model import Matrix
from jdkmatrix.domain.tables import Limits, RemoteAnswers
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.method.measuring import Turns
from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.limits import Enforcement, LimitHit
from jdkmatrix.records.reasons import Reason, Status


def now_utc() -> str:
    """The time of day as records keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Listener(Protocol):
    """Hears how a fork goes on; a progress bar, a log, or nobody."""

    def step(self, text: str) -> None: ...


@dataclass(frozen=True)
class RemoteParts:
    """`java` is an executable of JDK 21 or newer."""

    jar: Path
    java: Path
    answers: RemoteAnswers


class Round(NamedTuple):
    """A window of `duration_s`, behind `lead_s` of the same load that nobody looks at. `number`: 1.."""

    number: int
    lead_s: float
    duration_s: float


class Opened(Protocol):
    """What is measured, started and warm. Each raises MatrixError where it cannot go on."""

    def rewarm(self, duration_s: float) -> None:
        """Load for so long, to be thrown away."""

    def measure(self, turn: Round | None) -> None:
        """A window, as this turn has it; None: all its own windows, one after another."""


class Measurement(Protocol):
    """What is measured inside one fork; what it has seen survives whatever ends it."""

    def opened(self, remote: RemoteProcess | None) -> AbstractContextManager[Opened]:
        """Its process, from its start to its end; what is to be checked at the end is checked on exit, unless something
        has ended it before.

        Raises:
            MatrixError: it did not go through to its end.
        """

    def judged(self) -> tuple[Status, tuple[Reason, ...]]:
        """Of a fork that went through to its end: may its figures be used, and why not."""

    def record(self) -> Mapping[str, Any]:
        """Fields of Fork, beside those of its envelope."""


class Subject(Protocol):
    """What is measured inside the forks of one cell: an application on a server, or an experiment without one."""

    @property
    def load(self) -> AnyLoad: ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its table of matrix.toml, as JSON."""

    @property
    def limits(self) -> Limits:
        """The box that its process runs in."""

    def why_no_turns(self, wait_us: int, turns: Turns) -> str | None:
        """Why it cannot be measured in turns with others where its remote system answers after so long; None where it
        can."""

    def begin(self, setup: ForkSetup, draft: ForkDraft, listener: Listener) -> Measurement:
        """Starts nothing yet."""


@dataclass(frozen=True)
class CellParts:
    """What one cell is measured with. `burn_rounds`: the work of a request or task, 0 for none; `kernel`: files and
    what they hold while a fork runs; `inputs`: everything else that decides the result, as JSON; `heap_bytes`: the most
    that the heap may have, 0 where it is not known."""

    subject: Subject
    cpu_sets: CpuSets
    burn_rounds: int
    jvm_flags: Mapping[str, str]
    kernel: Mapping[str, str]
    remote: RemoteParts | None
    inputs: Mapping[str, Any]
    heap_bytes: int = 0


@dataclass(frozen=True)
class ForkSetup:
    """Everything that one fork needs. `windows` of `window_s`: where it is measured by itself; `precision`: what the
    profile promises of ratios, a share; `irq_time_accounting`: as host/irq_time.py found it. `scratch` is its own and
    gone afterwards; `log_dir` exists and stays, `log_prefix` leads there from the cell file."""

    planned: PlannedFork
    parts: CellParts
    matrix: Matrix
    windows: int
    window_s: float
    precision: float
    irq_time_accounting: bool | None
    confiner: Confiner
    scratch: Path
    log_dir: Path
    log_prefix: str


@dataclass
class ForkDraft:
    """What is known so far of the envelope."""

    started_at: str = field(default_factory=now_utc)
    started_s: float = field(default_factory=time.monotonic)
    failed: bool = False
    reasons: list[Reason] = field(default_factory=list)
    command: tuple[str, ...] = ()
    remote_command: tuple[str, ...] = ()
    clock_speed_after: float | None = None
    limits: tuple[Enforcement, ...] = ()
    outcomes: tuple[LimitHit, ...] = ()

    def fail(self, code: str, message: str, *, figures: Mapping[str, float] | None = None) -> None:
        self.failed = True
        self.reasons.append(Reason(code=code, message=message, figures=dict(figures or {})))


def finished(setup: ForkSetup, draft: ForkDraft, measurement: Measurement) -> Fork:
    status, reasons = (Status.FAILED, ()) if draft.failed else measurement.judged()
    hits = [Reason(code=hit.code, message=hit.message, figures=hit.figures) for hit in draft.outcomes]
    return Fork(
        fork=setup.planned.fork,
        position=setup.planned.position,
        sequence=setup.planned.sequence,
        status=status,
        reasons=(*draft.reasons, *reasons, *hits),
        started_at=draft.started_at,
        ended_at=now_utc(),
        duration_s=time.monotonic() - draft.started_s,
        command=draft.command,
        remote_command=draft.remote_command,
        confinement=_confinement(setup.parts.cpu_sets, setup.confiner),
        clock_speed_after=draft.clock_speed_after,
        limits=draft.limits,
        outcomes=draft.outcomes,
        logs=_logs(setup.log_dir, setup.log_prefix),
        **measurement.record(),
    )


def _confinement(cpu_sets: CpuSets, confiner: Confiner) -> Confinement:
    return Confinement(
        sut_cpus=cpu_sets.sut,
        driver_cpus=cpu_sets.driver,
        remote_cpus=cpu_sets.remote,
        method=confiner.method,
        why_not_cgroup=confiner.why_not_cgroup,
        overlapped=cpu_sets.overlapped,
        compromises=tuple(given_up.message for given_up in cpu_sets.compromises),
    )


_UNLISTED = ("warmup-", "rewarm", "lead")


def _logs(log_dir: Path, prefix: str) -> dict[str, str]:
    """What a reader may want to see; `prefix` leads there from the cell file. The driver's logs of the warm-up stay on
    disk, unlisted: there are dozens."""
    files = sorted(path for path in log_dir.rglob("*") if path.is_file())
    names = [str(path.relative_to(log_dir)) for path in files if not path.name.startswith(_UNLISTED)]
    return {name: f"{prefix}/{name}" for name in names}
