"""The findings so far in a fork of a server, and their judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jdkmatrix.figures.unsteady import why_not_steady
from jdkmatrix.method.gates import Thresholds, burn_off, measured_status, too_few_valid
from jdkmatrix.method.warmup import WarmupRules, is_calm
from jdkmatrix.records.forks import Audit, BurnCheck, Proof
from jdkmatrix.records.memory import MemoryReading
from jdkmatrix.records.outside import OutsideProof
from jdkmatrix.records.reasons import Reason, Status
from jdkmatrix.records.windows import Capacity, Sample, Warmup, Window
from jdkmatrix.stats.capacity import SearchOutcome, is_known


@dataclass
class Findings:
    """The fields of `Fork` of the same names; `samples` and `memory` grow while their samplers run."""

    driver_command: tuple[str, ...] = ()
    first_response_s: float | None = None
    proof: Proof | None = None
    outside: OutsideProof | None = None
    burn_check: BurnCheck | None = None
    warmup: Warmup | None = None
    windows: list[Window] = field(default_factory=list)
    capacity: Capacity | None = None
    samples: Sequence[Sample] = ()
    memory: Sequence[MemoryReading] = ()
    audit: Audit | None = None

    def judged(self, limits: Thresholds, rules: WarmupRules) -> tuple[Status, tuple[Reason, ...]]:
        """Judge a fork that went through to its end. `rules`: those by which it was warmed up."""
        status = measured_status(self.windows, self.warmup, limits)
        reasons: list[Reason] = []
        if status is Status.NOT_STEADY:
            compiling = self.warmup is not None and not is_calm(self.warmup.windows, rules)
            why = why_not_steady(self.warmup, compiling=compiling) if self.warmup else "no warm-up"
            reasons.append(Reason(code="not-steady", message=why))
        if status is Status.INVALID:
            reasons.append(too_few_valid(self.windows))
        if off := burn_off(self.burn_check, limits):
            status = Status.INVALID
            reasons.append(off)
        if self.capacity and not is_known(self.capacity):
            if self.capacity.outcome == SearchOutcome.INVALID_WINDOWS.value:
                status = Status.INVALID
            message = f"the capacity search ended without a result: {self.capacity.outcome}"
            reasons.append(Reason(code="no-capacity", message=message))
        return status, tuple(reasons)
