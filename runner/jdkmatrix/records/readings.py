"""A program that loads itself: what it said of the one window that it measured."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import FiniteFloat

from jdkmatrix.domain.record import Record

OutcomeWord = Literal[
    "complete",
    "threads-refused",
    "tasks-refused",
    "files-refused",
    "requests-failed",
    "out-of-memory",
    "timed-out",
    "hung",
    "not-on-this-jdk",
]

# Of a server with a quota of CPU time: periods in which it ran, in how many of them it was throttled, for how long.
QUOTA_PERIODS, THROTTLED_PERIODS, THROTTLED_US = "quota_periods", "throttled_periods", "throttled_us"
# Of an application on a database: CPU time of all its processes.
DATABASE_CPU_US = "database_cpu_us"


class WindowReading(Record):
    """A figure of a window. `metric`: the id of its metric, which says its unit; `expected`: known before it was
    measured, in the same unit."""

    metric: str
    value: FiniteFloat
    expected: FiniteFloat | None = None


class Problem(Record):
    """Why an outcome is not "complete". `at_count`: how many threads, tasks or requests there were by then."""

    message: str
    at_count: int | None
    advice: str | None


class Expected(Record):
    """Known before it ran. `quantity`: the key below `seen`, with dots, that the formula is about; `value` in its unit.
    None: there is no single figure."""

    quantity: str | None
    formula: str
    value: float | None
    source: str


class VmFacts(Record):
    java_version: str
    name: str
    vm_version: str
    vendor: str
    options: tuple[str, ...]
    processors: int
    max_heap_bytes: int
    collectors: tuple[str, ...]
    kernel: str
    arch: str


class MeasuredSpan(Record):
    """When the figures were taken: start, warm-up and writing of the program are not in it. By CLOCK_MONOTONIC."""

    start_monotonic_ns: int
    end_monotonic_ns: int

    @property
    def duration_s(self) -> float:
        return (self.end_monotonic_ns - self.start_monotonic_ns) / 1e9


class ProgramResult(Record):
    """The line of JSON that the program `standalone` prints. Every figure is its own, read inside its process; what is
    in `seen` is up to the experiment."""

    schema_version: Literal[1]
    version: str
    experiment: str
    started_utc: str
    outcome: OutcomeWord
    problem: Problem | None
    asked: dict[str, Any]
    expected: Expected | None  # None: this JDK has not what it is about
    measured_span: MeasuredSpan | None = None  # None: nothing was measured
    vm: VmFacts
    seen: dict[str, Any] | None
