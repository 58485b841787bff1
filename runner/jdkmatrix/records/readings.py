"""A program that loads itself: what it reported about the one window that it measured."""

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

# For a server with a CPU quota: periods in which it ran, in how many of them it was throttled, and for how long.
QUOTA_PERIODS, THROTTLED_PERIODS, THROTTLED_US = "quota_periods", "throttled_periods", "throttled_us"
# For an application on a database: CPU time of all processes of that database.
DATABASE_CPU_US = "database_cpu_us"
# Of a plugged executor: how often what plugged it in was called.
HOOK_CALLS = "hook_calls"


class WindowReading(Record):
    """A figure of a window. `metric`: the id of its metric, which gives its unit; `expected`: the value known before it
    was measured, in the same unit."""

    metric: str
    value: FiniteFloat
    expected: FiniteFloat | None = None


class Problem(Record):
    """The cause of an outcome other than "complete". `at_count`: the number of threads, tasks or requests by then."""

    message: str
    at_count: int | None
    advice: str | None


class Expected(Record):
    """A figure known before it ran. `quantity`: the dotted key below `seen` that the formula is about; `value` is in
    its unit. None: there is no single figure."""

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
    """When the figures were taken, without start, warm-up and output of the program. By CLOCK_MONOTONIC."""

    start_monotonic_ns: int
    end_monotonic_ns: int

    @property
    def duration_s(self) -> float:
        return (self.end_monotonic_ns - self.start_monotonic_ns) / 1e9


class ProgramResult(Record):
    """The line of JSON that the program `standalone` prints. Every figure is its own, read inside its process; the
    content of `seen` is up to the experiment."""

    schema_version: Literal[1]
    version: str
    experiment: str
    started_utc: str
    outcome: OutcomeWord
    problem: Problem | None
    asked: dict[str, Any]
    expected: Expected | None  # None: this JDK lacks what it is about
    measured_span: MeasuredSpan | None = None  # None: nothing was measured
    vm: VmFacts
    seen: dict[str, Any] | None
