"""What an experiment is: a table of matrix.toml, the program's arguments, and how its figures are shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from jdkmatrix.domain.cell_key import CellKey
from jdkmatrix.domain.executors import base_of, row_of, size_of
from jdkmatrix.domain.loads import CountLoad, InFlightLoad, TaskLoad, TaskRateLoad
from jdkmatrix.domain.tables import Jvm, Limits, RemoteAnswers, Table
from jdkmatrix.experiments.result import ExperimentResult, Spread


@dataclass(frozen=True)
class ChartFigure:
    """A reading that is drawn. `title`: of its axis, with the unit. `linear_to`: logarithmic from there on; None:
    linear."""

    name: str
    short: str
    title: str
    linear_to: float | None = None


@dataclass(frozen=True)
class Group:
    """Readings that stand beside each other, on one scale where `same_scale`."""

    id: str
    title: str
    words: str
    figures: tuple[ChartFigure, ...]
    same_scale: bool = False


@dataclass(frozen=True)
class Page:
    """`glossary`: the names that its formulas use. `apart`: axes that make charts of their own; every other one is told
    on the rows of a chart. `alone`: readings that need more words where they stand alone."""

    title: str
    introduction: str
    glossary: str
    apart: tuple[str, ...]
    groups: tuple[Group, ...]
    alone: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Given:
    """What the runner decides. `rounds`: the work of a task, 0 for none; `url`: of the remote system, if any."""

    rounds: int
    rounds_per_us: float
    duration_s: float
    url: str | None


class CompleteCell(Protocol):
    """A cell of one JDK, all of whose usable forks came to their end."""

    @property
    def key(self) -> CellKey: ...
    @property
    def load(self) -> TaskLoad: ...
    @property
    def table(self) -> Experiment | None:
        """What was asked for; None where its file does not say."""

    @property
    def place(self) -> str:
        """What tells it from others of its kind and JDK."""

    @property
    def subject(self) -> str:
        """What its rows are named by (`Experiment.row`); no other cell of its JDK has the same and the same arm."""

    @property
    def load_words(self) -> str: ...
    @property
    def results(self) -> Sequence[ExperimentResult]:
        """Of its usable forks."""

    def spread(self, name: str) -> Spread | None: ...


Sentences = Iterator[tuple[str, str]]


class Experiment(Table, ABC):
    """A table [experiments.NAME]. `jvm`: options, without which the JVM has its own defaults, not those of [jvm].
    `limits`: the box that it runs in."""

    # The executors that it has, with N for any number.
    ARMS: ClassVar[tuple[str, ...]]
    LOADS: ClassVar[tuple[type[InFlightLoad | TaskRateLoad | CountLoad], ...]]
    RESULT: ClassVar[type[ExperimentResult]]
    PAGE: ClassVar[Page]
    # Is it measured for a time, in one piece? Else until all is done.
    TIMED: ClassVar[bool]

    experiment: str
    jvm: Jvm | None = None
    limits: Limits | None = None

    @abstractmethod
    def arguments(self, cell: CellKey, load: TaskLoad, given: Given) -> tuple[str, ...]:
        """Behind `-jar standalone.jar`.

        Raises:
            TypeError: a load that it has not.
        """

    @abstractmethod
    def expected_s(self, cell: CellKey, load: TaskLoad, measured_s: float) -> float:
        """How long it takes from the start of the program on. `measured_s`: for how long it is to be measured."""

    @abstractmethod
    def longest_s(self, measured_s: float) -> float:
        """After so long the program hangs."""

    @classmethod
    @abstractmethod
    def sentences(cls, cells: Sequence[CompleteCell]) -> Sentences:
        """The answer first: what it came to on one JDK, in sentences made of figures, each behind what it is about."""

    @property
    def works(self) -> bool:
        """Does it use the axis `burn_us`?"""
        return False

    @property
    def calls(self) -> RemoteAnswers | None:
        """How the remote system that it calls answers."""
        return None

    @property
    def row(self) -> str | None:
        """What its rows are named by instead of its arms."""
        return None

    def vm_options(self, executor: str) -> tuple[str, ...]:
        """What the JVM needs for it, beside what `jvm` says. Structured concurrency is a preview before JDK 28."""
        return ("--enable-preview",) if base_of(executor) == "structured" else ()

    def problems(self) -> Iterator[str]:
        """What is wrong with its table: "KEY: why"."""
        yield from ()

    def has_arm(self, executor: str) -> bool:
        """Is this executor, whatever its tuning, one of its arms?"""
        return row_of(executor) in self.ARMS

    def has_load(self, load: TaskLoad) -> bool:
        return isinstance(load, self.LOADS)

    @classmethod
    def load_kinds(cls) -> tuple[str, ...]:
        return tuple(str(kind.model_fields["kind"].default) for kind in cls.LOADS)

    def fits(self, executor: str, burn_us: int, wait_us: int, load: TaskLoad) -> bool:
        """Is this one of its cells? A request to a remote system waits for it, nothing else does."""
        if not (self.has_arm(executor) and self.has_load(load)):
            return False
        return self.works == (burn_us > 0) and (self.calls is not None or wait_us == 0)


def cannot_have(experiment: Experiment, cell: CellKey, load: TaskLoad) -> TypeError:
    return TypeError(f"{cell.cell_id}: {experiment.experiment} cannot run with {load.kind}")


def with_size(executor: str) -> str:
    """`fixed-50` as the program writes it."""
    size = size_of(executor)
    return base_of(executor) if size is None else f"{row_of(executor).removesuffix('-N')}:{size}"


def with_reading(cells: Sequence[CompleteCell], name: str) -> list[tuple[CompleteCell, Spread]]:
    """Those that have it."""
    return [(cell, spread) for cell in cells if (spread := cell.spread(name))]
