"""An experiment: a table of matrix.toml, the program's arguments, how the program's JSON becomes readings, and
how they are shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of, row_of, size_of
from jdkmatrix.domain.loads import CountLoad, GivenLoad, InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.domain.tables import Jvm, Limits, RemoteAnswers, Table
from jdkmatrix.records.readings import ProgramResult, WindowReading
from jdkmatrix.stats.percentiles import are_bounds, enough_beyond

Seen = Mapping[str, Any]  # as in the program's JSON
PER_CPU = ("fjp-fifo", "fjp-lifo", "work-stealing")  # pools with a thread per CPU


def at(seen: object, keys: str) -> Any:
    """Follow keys separated by dots; None if there is nothing at that place."""
    for key in keys.split("."):
        seen = seen.get(key) if isinstance(seen, Mapping) else None
    return seen


def _lower_bounds(keys: str, seen: object) -> int:
    """Return how many values of the distribution at these keys are lower bounds."""
    return (at(seen, "lower_bounds") or 0) if keys.partition(".")[0] in ("latency", "latency_to_end", "waited") else 0


@dataclass(frozen=True)
class Measurand:
    """A metric of an experiment. `id`: its name on pages, in exports and in claims; `unit`: "1/s", "s", "ms", "µs",
    "KiB", "%", "" for a count; `alone`: its name where it stands without those before it.

    `at`: its keys below `seen`, where it is `per` times as large, or how it is read from `seen`. `expected`: the value
    to expect, or its keys; None: what the program's formula says, if that is about the keys in `at`. `of_all`: it
    covers all that the program was asked to do: a program that stopped early does not have it."""

    id: str
    unit: str
    at: str | Callable[[Seen], float | None]
    per: float = 1.0
    more_is_better: bool = False
    alone: str | None = None
    expected: str | float | None = None
    of_all: bool = False

    @property
    def title(self) -> str:
        return self.alone or self.id

    def is_tail_of_few(self, result: ProgramResult) -> bool:
        """Return whether it is a percentile with too few values beyond it."""
        percent, count = self._percentile_of(result)
        return percent not in ("", "50") and count is not None and not enough_beyond(count, percent)

    def is_bound(self, result: ProgramResult) -> bool:
        """Return whether it is a percentile that is only a lower bound: what had not ended is among the latencies with
        the time that it had waited."""
        percent, count = self._percentile_of(result)
        return are_bounds(_lower_bounds(str(self.at), result.seen), count, percent) if count else False

    def _percentile_of(self, result: ProgramResult) -> tuple[str, int | None]:
        """Return which percentile it is, "" if it is none, and of how many values, if that is known."""
        keys, _, percent = self.at.partition(".percentiles_us.") if isinstance(self.at, str) else ("", "", "")
        return percent, at(result.seen, f"{keys}.count") if percent else None

    def reading(self, result: ProgramResult) -> WindowReading | None:
        """Read it; None if the program could not tell. Raises: ValueError: it is no finite number."""
        if self.of_all and result.outcome != "complete":
            return None
        found = at(result.seen, self.at) if isinstance(self.at, str) else self.at(result.seen or {})
        if found is None:
            return None
        return WindowReading(metric=self.id, value=float(found) / self.per, expected=self._expected(result))

    def _expected(self, result: ProgramResult) -> float | None:
        if self.expected is not None:
            return self.expected if isinstance(self.expected, float) else float(at(result.seen, self.expected))
        told = result.expected
        if told is None or told.value is None or told.quantity != self.at:
            return None
        return told.value / self.per


class FactRow(NamedTuple):
    """A fact about one fork, in words."""

    name: str
    value: str
    title: str | None = None


class Distribution(NamedTuple):
    """`seen`: as the program has it; `lower_bounds`: how many of its values are."""

    measures: str
    seen: Seen
    lower_bounds: int


@dataclass(frozen=True)
class Details:
    """The details that a fork's page shows beside its readings. `sections`: what only this experiment has, each under a
    title of its own."""

    facts: tuple[FactRow, ...] = ()
    distributions: tuple[Distribution, ...] = ()
    sections: tuple[tuple[str, tuple[FactRow, ...]], ...] = ()


@dataclass(frozen=True)
class Spread:
    """One metric over forks, represented by their median: two or three have no more to say. `sign`: "≥" if it is a
    lower bound."""

    name: str
    title: str
    unit: str
    median: float
    least: float
    most: float
    forks: int
    expected: float | None
    sign: str = ""

    @property
    def over_expected(self) -> float | None:
        """The median as a multiple of what is expected; None if nothing is expected, or 0."""
        return self.median / self.expected if self.expected else None

    def signed(self, text: str) -> str:
        """Return the median's text with the sign before it."""
        return f"{self.sign} {text}".lstrip()


@dataclass(frozen=True)
class ChartFigure:
    """A reading that is drawn. `title`: that of its axis, with the unit. `linear_to`: logarithmic from there on; None:
    linear."""

    name: str
    short: str
    title: str
    linear_to: float | None = None


@dataclass(frozen=True)
class ReadingGroup:
    """Readings that are shown side by side, on one scale if `same_scale`."""

    id: str
    title: str
    words: str
    figures: tuple[ChartFigure, ...]
    same_scale: bool = False


@dataclass(frozen=True)
class Page:
    """`glossary`: the names that its formulas use. `apart`: axes that get charts of their own; every other one is named
    on the rows of a chart."""

    title: str
    introduction: str
    glossary: str
    apart: tuple[str, ...]
    groups: tuple[ReadingGroup, ...]


@dataclass(frozen=True)
class Given:
    """Arguments that the runner decides. `rounds`: the work of a task, 0 for none; `url`: that of the remote system,
    if any."""

    rounds: int
    rounds_per_us: float
    duration_s: float
    url: str | None


@dataclass(frozen=True)
class CompleteCell:
    """A cell of one JDK whose usable forks all came to their end. `table`: what was asked for, None if its file does
    not say; `place`: what tells it from others of its kind and JDK; `subject`: the name of its rows (`Experiment.row`),
    which no other cell of its JDK has with the same arm; `seen`: what its program saw, in its usable forks."""

    key: CellKey
    load: TaskLoad
    table: Experiment | None
    place: str
    subject: str
    seen: Sequence[Seen]
    spreads: Mapping[str, Spread]


Sentences = Iterator[tuple[str, str]]


class Experiment(Table, ABC):
    """A table [experiments.NAME]. `jvm`: options; without them the JVM has its own defaults, not those of [jvm].
    `limits`: the box that it runs in."""

    # The executors that it supports, with N for any number.
    ARMS: ClassVar[tuple[str, ...]]
    LOADS: ClassVar[tuple[type[InFlightLoad | TaskRateLoad | CountLoad], ...]]
    METRICS: ClassVar[tuple[Measurand, ...]]  # the leading one first
    DISTRIBUTIONS: ClassVar[Mapping[str, str]] = {}  # the dotted keys of each, by what it measures
    PAGE: ClassVar[Page]
    # True if it is measured for a given time, in one piece; else until all is done.
    TIMED: ClassVar[bool]
    # What its program accepts: the fewest and the most tasks at once, and the most threads of a fixed-size pool.
    AT_ONCE: ClassVar[tuple[int, int]] = (1, 1_000_000)
    POOL_MAX: ClassVar[int] = 32_767

    experiment: str
    jvm: Jvm | None = None
    limits: Limits | None = None

    @abstractmethod
    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        """Return the program's arguments after `-jar standalone.jar`. Raises: TypeError: a load that it has not."""

    @abstractmethod
    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """Return how long it takes from the start of the program. `measured_s`: for how long it is to be measured."""

    @abstractmethod
    def longest_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """Return the seconds after which the program counts as hung."""

    @classmethod
    def readings(cls, result: ProgramResult) -> tuple[WindowReading, ...]:
        """Read the metrics, the leading one first, without those that are unknown. Raises: as Measurand.reading."""
        return tuple(found for one in cls.METRICS if (found := one.reading(result)) is not None) if result.seen else ()

    @classmethod
    @abstractmethod
    def facts(cls, seen: Seen) -> Iterator[FactRow]:
        """Yield the facts beside figures. Raises: KeyError, TypeError, ValueError: it is not of this experiment."""

    @classmethod
    def sections(cls, seen: Seen) -> Iterator[tuple[str, tuple[FactRow, ...]]]:
        """Yield what only this experiment has, each part under a title of its own. Raises: as `facts`."""
        yield from ()

    @classmethod
    def details(cls, seen: Seen) -> Details:
        """Collect the details of a fork. Raises: as `facts`."""
        told = ((name, at(seen, keys), _lower_bounds(keys, seen)) for name, keys in cls.DISTRIBUTIONS.items())
        return Details(
            tuple(cls.facts(seen)),
            tuple(Distribution(*one) for one in told if one[1] is not None and one[1]["count"] > 0),
            tuple(cls.sections(seen)),
        )

    @classmethod
    @abstractmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        """Yield the answer first: the outcome on one JDK, in sentences made of figures, each after what it is about."""

    @property
    def works(self) -> bool:
        """True if it uses the `burn_us` axis."""
        return False

    @property
    def calls(self) -> RemoteAnswers | None:
        """The answers of the remote system that it calls; None if it calls none."""
        return None

    @property
    def waits_for_disk(self) -> bool:
        """True if its tasks wait until what they wrote is on disk."""
        return False

    @property
    def libraries(self) -> tuple[str, ...]:
        """The folders of workloads/libraries that its program has on its class path."""
        return ()

    @property
    def row(self) -> str | None:
        """The parameter that names its rows instead of its arms."""
        return None

    def vm_options(self, executor: str) -> tuple[str, ...]:
        """Return an executor's JVM options beside those of `jvm`. Structured concurrency is a preview before JDK 28."""
        return ("--enable-preview",) if base_of(executor) == "structured" else ()

    def has_arm(self, executor: str) -> bool:
        """Return whether this executor, whatever its tuning, is one of its arms."""
        return row_of(executor) in self.ARMS

    def has_load(self, load: GivenLoad) -> bool:
        return isinstance(load, self.LOADS)

    def count(self, cell: CellKey, load: TaskLoad) -> int:
        """Return how many run at once. Raises: TypeError: a load that it has not."""
        if not isinstance(load, CountLoad):
            raise cannot_have(self, cell, load)
        return load.count

    @classmethod
    def load_kinds(cls) -> tuple[str, ...]:
        return tuple(str(kind.model_fields["kind"].default) for kind in cls.LOADS)

    def why_not(self, cell: CellKey, load: GivenLoad) -> str | None:
        """Return why this is none of its cells; None if it is one. Requests to a remote system wait for it; nothing
        else does."""
        name = cell.workload
        if not self.has_arm(cell.executor):
            return f"{name} has no arm {cell.executor} (it has {', '.join(self.ARMS)})"
        if not self.has_load(load):
            return f"{name} cannot run under {cell.load} (it takes loads of the kind {' or '.join(self.load_kinds())})"
        if self.works != (cell.burn_us > 0):
            return f"{name} {'needs tasks that compute: a duration' if self.works else 'has no tasks that compute'}"
        if cell.wait_us and self.calls is None:
            return f"{name} calls no remote system, and so has no answer to wait for"
        return None

    def why_never(self, cell: CellKey, load: TaskLoad) -> str | None:
        """Return why its program refuses this one of its cells; None if it does not."""
        least, most = self.AT_ONCE
        if isinstance(load, CountLoad) and not least <= load.count <= most:
            return f"{cell.workload} runs {least:,} to {most:,} at once, and {cell.load} is {load.count:,}"
        size = size_of(cell.executor)
        if size is not None and size > self.POOL_MAX:
            return f"{cell.workload} takes pools of {self.POOL_MAX:,} threads at most, and {cell.executor} has {size:,}"
        return None


def cannot_have(experiment: Experiment, cell: CellKey, load: TaskLoad) -> TypeError:
    return TypeError(f"{cell.cell_id}: {experiment.experiment} cannot run with {load.kind}")


def with_size(executor: str) -> str:
    """Return an executor such as `fixed-50` as the program writes it."""
    size = size_of(executor)
    return base_of(executor) if size is None else f"{row_of(executor).removesuffix('-N')}:{size}"


def executor_argument(cell: CellKey) -> str:
    """Return the cell's executor as the program writes it; a pool with a thread per CPU has their number in it."""
    base = base_of(cell.executor)
    return f"{base}:{cell.cpus}" if base in PER_CPU else with_size(base)


def with_reading(cells: Sequence[CompleteCell], name: str) -> list[tuple[CompleteCell, Spread]]:
    """Return the cells that have this reading, each with its spread."""
    return [(cell, spread) for cell in cells if (spread := cell.spreads.get(name))]
