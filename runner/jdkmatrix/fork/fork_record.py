"""The values and interfaces that every kind of measurement shares, from the setup of a cell to the record of a fork."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from jdkmatrix.config.model import Matrix, Profile, Workload
from jdkmatrix.domain.tables import Database, Limits, RemoteAnswers
from jdkmatrix.experiments.base import Experiment
from jdkmatrix.fork.confinement import Confiner
from jdkmatrix.fork.database import DatabaseProcess
from jdkmatrix.fork.planned import PlannedFork
from jdkmatrix.fork.remote import RemoteProcess
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.loads.kinds import AnyLoad
from jdkmatrix.provision.postgres import Postgres
from jdkmatrix.records.database import DatabaseFacts
from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.limits import Enforcement, LimitHit
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.run import Calibration, HostFacts


def now_utc() -> str:
    """Return the current time as records keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Listener(Protocol):
    """A receiver of a fork's progress: a progress bar, a log, or nobody."""

    def step(self, text: str) -> None: ...


@dataclass(frozen=True)
class RemoteParts:
    """`java` is an executable of JDK 21 or newer."""

    jar: Path
    java: Path
    answers: RemoteAnswers


@dataclass(frozen=True)
class DatabaseParts:
    postgres: Postgres
    asked: Database


class Round(NamedTuple):
    """A window of `duration_s`, after `lead_s` of the same load that is not measured. `number`: 1.. `of` how many; 0:
    it belongs to none."""

    number: int
    lead_s: float
    duration_s: float
    of: int = 0


class Measurement(Protocol):
    """The measurement inside one fork; its findings survive whatever ends the fork."""

    def opened(self, remote: RemoteProcess | None, database: DatabaseProcess | None) -> AbstractContextManager[object]:
        """Run its process, started and warm on enter; the final checks run on exit, unless something has ended it
        before.

        Raises:
            MatrixError: it did not go through to its end.
        """

    def rewarm(self, duration_s: float) -> None:
        """Load it for `duration_s` and discard the results. Raises: MatrixError: it cannot go on."""

    def measure(self, turn: Round | None) -> None:
        """Measure the window of this turn; None: all its own windows, one after another. Raises as `rewarm`."""

    def judged(self) -> tuple[Status, tuple[Reason, ...]]:
        """Return whether the figures may be used, and why not; called for a fork that ran to its end."""

    def record(self) -> Mapping[str, Any]:
        """Return the fields of Fork beside those of its envelope."""


@dataclass(frozen=True, kw_only=True)
class CellSetup(ABC):
    """Everything that is needed to start and measure the forks of one cell, resolved.

    `workload`: its table in matrix.toml; `calibration`: None where nothing burns; `burn_rounds`: the work of a request
    or task, 0 for none; `kernel`: files and the text that they hold while a fork runs; `heap_bytes`: the maximum size
    of the heap, 0 where it is not known; `why_no_turns`: why its forks cannot take turns with others; `unpinned_jdks`:
    folders of JDKs that others may change, including its driver’s, with the sha256 of their files; `inputs`: everything
    else that decides the result, as JSON.
    """

    matrix: Matrix
    profile: Profile
    host: HostFacts
    confiner: Confiner
    load: AnyLoad
    workload: Workload | Experiment
    cpu_sets: CpuSets
    calibration: Calibration | None
    burn_rounds: int
    jvm_flags: Mapping[str, str]
    kernel: Mapping[str, str]
    remote: RemoteParts | None
    inputs: Mapping[str, Any]
    database: DatabaseParts | None = None
    heap_bytes: int = 0
    why_no_turns: str | None = None
    unpinned_jdks: Mapping[Path, str] = field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        """The resource limits of its process."""
        return self.workload.limits or Limits()

    @abstractmethod
    def begin(self, fork: ForkDraft, listener: Listener) -> Measurement:
        """Create the measurement of a fork, without starting anything yet."""


@dataclass
class ForkDraft:
    """A fork from its start to its record. `scratch` is its own and deleted afterwards; `log_dir` exists and stays,
    `log_prefix` leads there from the cell file."""

    cell: CellSetup
    planned: PlannedFork
    scratch: Path
    log_dir: Path
    log_prefix: str
    started_at: str = field(default_factory=now_utc)
    started_s: float = field(default_factory=time.monotonic)
    failed: bool = False
    reasons: list[Reason] = field(default_factory=list)
    command: tuple[str, ...] = ()
    remote_command: tuple[str, ...] = ()
    database: DatabaseFacts | None = None
    clock_speed_after: float | None = None
    limits: tuple[Enforcement, ...] = ()
    outcomes: tuple[LimitHit, ...] = ()

    def fail(self, code: str, message: str, *, figures: Mapping[str, float] | None = None) -> None:
        self.failed = True
        self.reasons.append(Reason(code=code, message=message, figures=dict(figures or {})))


def fork_record_of(draft: ForkDraft, measurement: Measurement) -> Fork:
    """Build the record of a fork that has ended, however it ended."""
    status, reasons = (Status.FAILED, ()) if draft.failed else measurement.judged()
    hits = [Reason(code=hit.code, message=hit.message, figures=hit.figures) for hit in draft.outcomes]
    cpu_sets, confiner = draft.cell.cpu_sets, draft.cell.confiner
    return Fork(
        fork=draft.planned.fork,
        position=draft.planned.position,
        sequence=draft.planned.sequence,
        status=status,
        reasons=(*draft.reasons, *reasons, *hits),
        started_at=draft.started_at,
        ended_at=now_utc(),
        duration_s=time.monotonic() - draft.started_s,
        command=draft.command,
        remote_command=draft.remote_command,
        database=draft.database,
        confinement=Confinement(
            sut_cpus=cpu_sets.sut,
            driver_cpus=cpu_sets.driver,
            remote_cpus=cpu_sets.remote,
            method=confiner.method,
            why_not_cgroup=confiner.why_not_cgroup,
            overlapped=cpu_sets.overlapped,
            compromises=tuple(given_up.message for given_up in cpu_sets.compromises),
        ),
        clock_speed_after=draft.clock_speed_after,
        limits=draft.limits,
        outcomes=draft.outcomes,
        logs=_logs(draft.log_dir, draft.log_prefix),
        **measurement.record(),
    )


_UNLISTED = ("warmup-", "rewarm", "lead")


def _logs(log_dir: Path, prefix: str) -> dict[str, str]:
    """Return the log files to list, by name; `prefix` leads to `log_dir` from the cell file. The driver's warm-up logs
    stay on disk, unlisted: there are dozens."""
    files = sorted(path for path in log_dir.rglob("*") if path.is_file())
    names = [str(path.relative_to(log_dir)) for path in files if not path.name.startswith(_UNLISTED)]
    return {name: f"{prefix}/{name}" for name in names}
