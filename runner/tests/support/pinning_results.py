"""The output of the pinning experiment's program, and a check of a real one's throughput while carriers are kept."""

from __future__ import annotations

from typing import Any

from jdkmatrix.records.forks import Confinement, Fork
from jdkmatrix.records.readings import ProgramResult
from jdkmatrix.records.reasons import Status
from tests.support.builders import pressure, reasons
from tests.support.records import experiment_fork

RESULT: dict[str, Any] = {
    "schema_version": 1, "experiment": "pinning", "version": "1", "started_utc": "2026-11-22T00:00:00Z",
    "outcome": "complete", "problem": None, "asked": {},
    "expected": {"quantity": "throughput_per_s", "formula": "threads / D", "value": 2000.0, "source": "a rule"},
    "seen": {
        "threads_started": 100, "duration_s": 1.0, "operations": 1990, "throughput_per_s": 1990.0, "latency": None,
        "lower_bounds": 0, "threads_served": 100, "cpu_s": 0.1, "carriers": None,
        "pinned": {"probe": "unavailable", "reason": "made up"},
    },
    "vm": {
        "java_version": "25", "name": "n", "vm_version": "25", "vendor": "v", "options": [], "processors": 1,
        "max_heap_bytes": 1, "collectors": [], "kernel": "k", "arch": "a",
    },
}  # fmt: skip


def result(throughput_per_s: float, **changes: Any) -> ProgramResult:
    seen = {**RESULT["seen"], "throughput_per_s": throughput_per_s}
    return ProgramResult.model_validate({**RESULT, "seen": seen, **changes})


def program_fork(number: int, found: ProgramResult | None, status: Status = Status.OK, *codes: str) -> Fork:
    return experiment_fork(
        fork=number, position=1, sequence=number, status=status, reasons=reasons(*codes), started_at="a", ended_at="b",
        command=("java",), host=pressure(), result=found, logs={},
        confinement=Confinement(sut_cpus=(0, 1), driver_cpus=(), method="sched_setaffinity", overlapped=False),
    )  # fmt: skip


def assert_pinned(per_s: float, expected_per_s: float) -> None:
    """Assert that carriers were kept: a busy host lowers throughput, and nothing but free carriers raises it."""
    assert 0.5 * expected_per_s <= per_s <= 1.15 * expected_per_s, per_s
