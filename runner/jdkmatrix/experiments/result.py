"""The line of JSON that the program `standalone` prints: what all experiments have in it.

Every figure is the program's own, read by it inside its process; field by field this is what it prints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from jdkmatrix.domain.record import Record

OutcomeWord = Literal[
    "complete",
    "threads-refused",
    "tasks-refused",
    "files-refused",
    "requests-failed",
    "out-of-memory",
    "timed-out",
    "not-on-this-jdk",
]


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

    def of(self, quantity: str, per: float = 1.0) -> float | None:
        """The value, divided by `per`, where it is that of `quantity`."""
        return self.value / per if self.quantity == quantity and self.value is not None else None


NOTHING_EXPECTED = Expected(quantity=None, formula="none", value=None, source="")


class Distribution(Record):
    """`histogram_ns`: an HdrHistogram in the V2 compressed base64 encoding."""

    count: int
    min_us: float
    mean_us: float
    max_us: float
    percentiles_us: dict[str, float]
    histogram_ns: str


def percentile_ms(found: Distribution | None, name: str) -> float | None:
    return None if found is None else found.percentiles_us[name] / 1000


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


class Reading(NamedTuple):
    """A figure. `unit` as it is printed: "1/s", "s", "ms", "KiB", "%", "" for a count. `expected`: what the
    experiment's formula says, in the same unit."""

    name: str
    unit: str
    value: float
    expected: float | None = None


@dataclass(frozen=True)
class Spread:
    """Of one reading over forks."""

    name: str
    unit: str
    median: float
    least: float
    most: float
    forks: int
    expected: float | None


def known(name: str, unit: str, value: float | None) -> Iterator[Reading]:
    """A reading that the program may leave out."""
    if value is not None:
        yield Reading(name, unit, value)


class FactRow(NamedTuple):
    """A fact of one fork in words."""

    name: str
    value: str
    title: str | None = None


class Seen(Record, ABC):
    """What an experiment has seen."""

    @abstractmethod
    def readings(self, expected: Expected) -> Iterator[Reading]:
        """The leading figure first; what the program could not tell is left out."""

    @abstractmethod
    def counts(self) -> Iterator[FactRow]:
        """What stands beside the figures."""

    def distributions(self) -> Iterator[tuple[str, Distribution | None]]:
        """By what each is of; one that is None or empty is not shown."""
        yield from ()

    def sections(self) -> Iterator[tuple[str, tuple[FactRow, ...]]]:
        """What only this experiment has, each below a title of its own."""
        yield from ()


class ExperimentResult(Record):
    """Each experiment narrows `experiment` to its name and `seen` to its own."""

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
    seen: Seen | None

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The leading one first; those that the program could not tell are left out."""
        return tuple(self.seen.readings(self.expected or NOTHING_EXPECTED)) if self.seen else ()
