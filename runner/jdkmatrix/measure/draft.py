"""What a fork is measured with, what is known of it so far, and the record that this becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jdkmatrix.config.model import Matrix, Workload
from jdkmatrix.config.parts import RemoteAnswers
from jdkmatrix.config.request_mix import RequestMix
from jdkmatrix.drivers.base import Driver
from jdkmatrix.host.cpusets import CpuSets
from jdkmatrix.measure.gates import burn_off, measured_status, too_few_valid
from jdkmatrix.measure.pinning import Pinner
from jdkmatrix.measure.warmup import why_not_steady
from jdkmatrix.plan import PlannedFork
from jdkmatrix.probes.memory import MemorySampler
from jdkmatrix.probes.sampler import Sampler
from jdkmatrix.records import (
    Audit,
    BurnCheck,
    Calibration,
    Capacity,
    CellLoad,
    Enforcement,
    Fork,
    Outcome,
    Pinning,
    Proof,
    Reason,
    Status,
    Warmup,
    Window,
)
from jdkmatrix.stats.capacity import is_known
from jdkmatrix.sut.instance import Instance


def now_utc() -> str:
    """The time of day as records keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class RemoteParts:
    """`java` is an executable of JDK 21 or newer."""

    jar: Path
    java: Path
    answers: RemoteAnswers


@dataclass(frozen=True)
class CellParts:
    """What one cell is measured with. `inputs`: the versions and hashes of its parts, as JSON. `calibration`: behind
    `burn_rounds`; None where nothing burns."""

    load: CellLoad
    driver: Driver
    cpu_sets: CpuSets
    burn_rounds: int
    jvm_flags: Mapping[str, str]
    instance: Instance
    kernel: Mapping[str, str]  # files and what they hold while a fork runs
    workload: Workload
    remote: RemoteParts | None
    mix: RequestMix | None
    inputs: Mapping[str, Any]
    calibration: Calibration | None = None


@dataclass(frozen=True)
class ForkSetup:
    """Everything that one fork needs. `precision`: what the profile promises of ratios, a share; `calibration`: as in
    CellParts. `scratch` is its own and gone afterwards; `log_dir` stays."""

    planned: PlannedFork
    load: CellLoad
    matrix: Matrix
    windows: int
    window_s: float
    precision: float  # that the profile promises for a ratio, as a share
    irq_time_accounting: bool | None  # as host/irq_time.py found it
    burn_rounds: int
    cpu_sets: CpuSets
    pinner: Pinner
    driver: Driver
    instance: Instance
    kernel: Mapping[str, str]  # files and what they hold while it runs
    workload: Workload
    remote: RemoteParts | None  # of the system that the server calls
    mix: RequestMix | None  # paths below the server's host and port
    scratch: Path
    log_dir: Path
    log_prefix: str  # from the cell file to `log_dir`
    calibration: Calibration | None = None


@dataclass
class Draft:
    """What is known so far."""

    started_at: str = field(default_factory=now_utc)
    failed: bool = False
    reasons: list[Reason] = field(default_factory=list)
    sut_command: tuple[str, ...] = ()
    driver_command: tuple[str, ...] = ()
    first_response_s: float | None = None
    proof: Proof | None = None
    burn_check: BurnCheck | None = None
    warmup: Warmup | None = None
    windows: list[Window] = field(default_factory=list)
    clock_speed_after: float | None = None
    capacity: Capacity | None = None
    sampler: Sampler | None = None
    memory: MemorySampler | None = None
    audit: Audit | None = None
    limits: tuple[Enforcement, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    remote_command: tuple[str, ...] = ()

    def fail(self, code: str, message: str, *, figures: Mapping[str, float] | None = None) -> None:
        self.failed = True
        self.reasons.append(Reason(code=code, message=message, figures=dict(figures or {})))


def finish(setup: ForkSetup, draft: Draft) -> Fork:
    rules = setup.matrix
    status = Status.FAILED if draft.failed else measured_status(draft.windows, draft.warmup, rules.thresholds)
    if status is Status.NOT_STEADY:
        draft.reasons.append(
            Reason(
                code="not-steady",
                message=why_not_steady(draft.warmup, rules.warmup) if draft.warmup else "no warm-up",
            )
        )
    if status is Status.INVALID:
        draft.reasons.append(too_few_valid(draft.windows))
    off = burn_off(draft.burn_check, rules.thresholds)
    if off and status is not Status.FAILED:
        status = Status.INVALID
        draft.reasons.append(off)
    if draft.capacity and not is_known(draft.capacity):
        message = f"the search for the capacity came to no end: {draft.capacity.outcome}"
        draft.reasons.append(Reason(code="no-capacity", message=message))
    draft.reasons += [Reason(code=hit.code, message=hit.message, figures=hit.figures) for hit in draft.outcomes]
    return Fork(
        fork=setup.planned.fork,
        position=setup.planned.position,
        sequence=setup.planned.sequence,
        status=status,
        reasons=tuple(draft.reasons),
        started_at=draft.started_at,
        ended_at=now_utc(),
        sut_command=draft.sut_command,
        driver_command=draft.driver_command,
        pinning=pinning_of(setup.cpu_sets, setup.pinner),
        first_response_s=draft.first_response_s,
        proof=draft.proof,
        burn_check=draft.burn_check,
        warmup=draft.warmup,
        windows=tuple(draft.windows),
        clock_speed_after=draft.clock_speed_after,
        capacity=draft.capacity,
        samples=draft.sampler.samples if draft.sampler else (),
        memory=draft.memory.readings if draft.memory else (),
        audit=draft.audit,
        limits=draft.limits,
        outcomes=draft.outcomes,
        remote_command=draft.remote_command,
        logs=logs_of(setup.log_dir, setup.log_prefix),
    )


def pinning_of(cpu_sets: CpuSets, pinner: Pinner) -> Pinning:
    """As it is recorded."""
    return Pinning(
        sut_cpus=cpu_sets.sut,
        driver_cpus=cpu_sets.driver,
        remote_cpus=cpu_sets.remote,
        method=pinner.method,
        why_not_cgroup=pinner.why_not_cgroup,
        overlapped=cpu_sets.overlapped,
        compromises=tuple(given_up.message for given_up in cpu_sets.compromises),
    )


def logs_of(log_dir: Path, prefix: str) -> dict[str, str]:
    """What a reader may want to see; `prefix` leads there from the cell file. The driver's logs of the warm-up stay on
    disk, unlisted: there are dozens."""
    files = sorted(path for path in log_dir.rglob("*") if path.is_file())
    names = [str(path.relative_to(log_dir)) for path in files if not path.name.startswith("warmup-")]
    return {name: f"{prefix}/{name}" for name in names}
